// JSON values: construction, access and its errors, text and back.
#include "engine/io/text/json.h"

#include "tests/comma_locale.h"
#include "tests/random_text.h"
#include "tests/sentences.h"
#include "tests/tools.h"

namespace mote::test::json_test {
namespace {

using Kind = Json::Kind;

TEST_CASE("json: values of every kind") {
  CHECK(Json().is(Kind::null));
  CHECK(Json(nullptr).is(Kind::null));
  CHECK(JsonPlace(Json(true)).as_bool());
  CHECK(JsonPlace(Json(7)).as_integer() == 7);
  CHECK(JsonPlace(Json(std::uint8_t(200))).as_integer() == 200);
  CHECK(Json(7u) == Json(7));
  CHECK(!(Json(7) == Json(7.0)));
  CHECK(JsonPlace(Json(-1LL)).as_integer() == -1);
  REFUSES(Json(std::uint64_t(1) << 63));
  CHECK(JsonPlace(Json(0.5f)).as_number() == 0.5);
  CHECK(JsonPlace(Json(3)).as_number() == 3);
  CHECK(JsonPlace(Json("text")).as_string() == "text");
  CHECK(JsonPlace(Json("")).as_string().empty());
  CHECK(Json(std::string("text")) == Json(std::string_view("text")));
  CHECK(JsonPlace(Json::array()).items().empty());
  CHECK(JsonPlace(Json::object()).members().empty());

  Json object = Json::object({{"b", 1}, {"a", Json::array({1, "two", nullptr, true, 0.5})}});
  object.add("c", Json::object()).add("d", Json::array().push_back(1).push_back(2));
  CHECK(text_of(object) == R"({"b":1,"a":[1,"two",null,true,0.5],"c":{},"d":[1,2]})");
  const Json copy = object;
  object.add("e", 1);
  CHECK(JsonPlace(copy).find("e") == nullptr);
  CHECK(JsonPlace(object).at("e").as_integer() == 1);
  CHECK(!(copy == object));
  object = copy;
  CHECK(copy == object);
  CHECK(!(parse_json(R"({"a":1,"b":2})") == parse_json(R"({"b":2,"a":1})")));
}

TEST_CASE("json: errors of access name the document and the path") {
  const Json config = parse_json(R"({"n_layer":"12","rope":{"theta":1e4,"on":null},"sizes":[1,{"x.y":-1}],
    "b":true})");
  const JsonPlace at(config, "config.json");
  CHECK(at.at("rope").at("theta").as_number() == 1e4);
  CHECK(at.at("sizes").at(0).as_integer() == 1);
  CHECK(at.find("absent") == nullptr);
  const auto error = [&](auto f) { return error_of([&] { f(); }); };
  CHECK_SENTENCE(error([&] { at.at("n_layer").as_integer(); }));
  CHECK_SENTENCE(error([&] { at.at("n_head"); }));
  CHECK_SENTENCE(error([&] { at.at("rope").at("base"); }));
  CHECK_SENTENCE(error([&] { at.at("rope").at("on").as_bool(); }));
  CHECK_SENTENCE(error([&] { at.at("rope").at("theta").as_integer(); }));
  CHECK_SENTENCE(error([&] { at.at("rope").items(); }));
  CHECK_SENTENCE(error([&] { at.at("sizes").members(); }));
  CHECK_SENTENCE(error([&] { at.at("sizes").at(2); }));
  CHECK_SENTENCE(error([&] { at.at("sizes").at(1).at("x.y").as_bool(); }));
  CHECK_SENTENCE(error([&] { at.at("b").as_number(); }));
  CHECK_SENTENCE(error([&] { at.at("b").as_string(); }));
  CHECK_SENTENCE(error([&] { at.as_string(); }));
  CHECK_SENTENCE(error([&] { at.at("sizes").fail("must be sorted"); }));
  CHECK_SENTENCE(error([&] { JsonPlace(config).at("rope").at("theta").as_string(); }));
  CHECK_SENTENCE(error([] { Json(1).push_back(2); }));
  CHECK_SENTENCE(error([] { Json().add("a", 2); }));
}

TEST_CASE("json: text, indented as Python's json.dumps(x, indent=2) does") {
  const Json value = parse_json(R"({"a":[1,[],{}],"b":{"c":null},"d":"\u00e9"})");
  CHECK(text_of(value, 2) ==
        "{\n"
        "  \"a\": [\n"
        "    1,\n"
        "    [],\n"
        "    {}\n"
        "  ],\n"
        "  \"b\": {\n"
        "    \"c\": null\n"
        "  },\n"
        "  \"d\": \"\xc3\xa9\"\n"
        "}");
  CHECK(parse_json(text_of(value, 2)) == value);
  CHECK(text_of(Json::array({1, 2}), 0) == "[\n1,\n2\n]");
  CHECK(text_of(Json::array(), 4) == "[]");
  CHECK(text_of(Json::array({2.0, 1e20, -3e-7})) == "[2.0,1e+20,-3e-07]");
}

TEST_CASE("json: what has no text") {
  const auto error = [](const Json& value) { return error_of([&] { text_of(value); }); };
  CHECK_SENTENCE(error(Json::object({{"loss", Json::array({1.0, NAN})}})));
  CHECK_SENTENCE(error(-INFINITY));
  CHECK_SENTENCE(error(Json::array({"a\xff"})));
  CHECK_SENTENCE(error(Json::object({{"a", Json::object({{"\xc3", 1}})}})));
  CHECK_SENTENCE(error(Json::object({{"a", 1}, {"a", 2}})));
  CHECK_SENTENCE(error(Json::object({{std::string(1, '\0'), 1}})));
}

TEST_CASE("json: values lie at most 64 deep in each other, whatever makes them") {
  Json deep;
  const auto nest = [&](int times) {
    for (int i = 0; i < times; ++i) {
      Json outer = Json::array();
      outer.push_back(std::move(deep));
      deep = std::move(outer);
    }
  };
  REFUSES(nest(300'000));
  deep = nullptr;
  nest(64);
  CHECK(parse_json(text_of(deep)) == deep);
  const auto refused = [&](auto f) { return error_of([&] { f(); }).ends_with("nested deeper than 64"); };
  CHECK(refused([&] { Json::array({1, deep}); }));
  CHECK(refused([&] { Json::object({{"a", deep}}); }));
  CHECK(refused([&] { Json::object().add("a", deep); }));
  Json list = Json::array();
  CHECK(refused([&] { list.push_back(deep); }));
  list.push_back(1);
  CHECK(list == Json::array({1}));
}

TEST_CASE("json: a value is assigned what lies in it") {
  const std::string long_text(100, 'x');
  for (const Json& inner : {Json(7), Json(1.5), Json(long_text), Json::array({1, long_text}), Json()}) {
    Json list = Json::array({inner, 8});
    list = JsonPlace(list).items()[0];
    CHECK(list == inner);
    Json object = Json::object({{"a", inner}});
    object = JsonPlace(object).members()[0].value;
    CHECK(object == inner);
    Json same = inner;
    same = static_cast<const Json&>(same);
    CHECK(same == inner);
  }
}

template <class T>
T random_bits(Dice& dice) {
  const std::string bytes = random_bytes(dice, sizeof(T));
  T x{};
  std::memcpy(&x, bytes.data(), sizeof x);
  return x;
}
Json random_value(Dice& dice, int depth) {
  const std::string text = "\"\\/\x1f\x7f{"[dice.below(6)] + random_text(dice, dice.below(6));
  const std::size_t kind = dice.below(depth > 0 ? 8 : 6);
  if (kind == 0) return nullptr;
  if (kind == 1) return dice.below(2) == 1;
  if (kind == 2) return random_bits<std::int64_t>(dice);
  if (const double x = random_bits<double>(dice); kind == 3 && std::isfinite(x)) return x;
  if (kind <= 4) return static_cast<double>(dice.below(2000)) / 8 - 100;
  if (kind == 5) return text;
  Json list = Json::array(), object = Json::object();
  for (std::size_t n = dice.below(5); n > 0; --n) {
    list.push_back(random_value(dice, depth - 1));
    std::string name = std::to_string(n) + text;
    std::erase(name, '\0');
    object.add(std::move(name), random_value(dice, depth - 1));
  }
  return kind == 6 ? list : object;
}

TEST_CASE("json: random values come back from their text, to the last bit of every number") {
  Dice dice(1);
  for (int i = 0; i < 1000; ++i) {
    const Json value = random_value(dice, 4);
    const std::string text = text_of(value);
    const Json back = parse_json(text);
    CHECK(back == value);
    CHECK(text_of(back) == text);
    CHECK(parse_json(text_of(value, 1)) == value);
  }
  CHECK(std::signbit(JsonPlace(parse_json(text_of(Json(-0.0)))).as_number()));
}

TEST_CASE("json: independent of the locale") {
  const CommaLocale germany;
  CHECK(text_of(Json::array({1234567, 1234567.5, 0.25})) == "[1234567,1234567.5,0.25]");
  CHECK(JsonPlace(parse_json("1234567.5")).as_number() == 1234567.5);
}

}  // namespace
}  // namespace mote::test::json_test
