// JSON values: construction, access and its errors, text and back.
#include "engine/io/text/json.h"

#include <locale>

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
  CHECK(error_of([] { Json(std::uint64_t(1) << 63); }) ==
        "JSON: 9223372036854775808 is above the largest integer, 2^63 - 1");
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
  CHECK(error([&] { at.at("n_layer").as_integer(); }) == "config.json: n_layer must be an integer, not a string");
  CHECK(error([&] { at.at("n_head"); }) == "config.json: n_head is missing");
  CHECK(error([&] { at.at("rope").at("base"); }) == "config.json: rope.base is missing");
  CHECK(error([&] { at.at("rope").at("on").as_bool(); }) == "config.json: rope.on must be a boolean, not null");
  CHECK(error([&] { at.at("rope").at("theta").as_integer(); }) ==
        "config.json: rope.theta must be an integer, not a number with a fraction or an exponent");
  CHECK(error([&] { at.at("rope").items(); }) == "config.json: rope must be an array, not an object");
  CHECK(error([&] { at.at("sizes").members(); }) == "config.json: sizes must be an object, not an array");
  CHECK(error([&] { at.at("sizes").at(2); }) == "config.json: sizes has 2 items, too few for one at position 2");
  CHECK(error([&] { at.at("sizes").at(1).at("x.y").as_bool(); }) ==
        "config.json: sizes[1].\"x.y\" must be a boolean, not an integer");
  CHECK(error([&] { at.at("b").as_number(); }) == "config.json: b must be a number, not a boolean");
  CHECK(error([&] { at.at("b").as_string(); }) == "config.json: b must be a string, not a boolean");
  CHECK(error([&] { at.as_string(); }) == "config.json: the document must be a string, not an object");
  CHECK(error([&] { at.at("sizes").fail("must be sorted"); }) == "config.json: sizes must be sorted");
  CHECK(error([&] { JsonPlace(config).at("rope").at("theta").as_string(); }) ==
        "JSON: rope.theta must be a string, not a number with a fraction or an exponent");
  CHECK(error([] { Json(1).push_back(2); }) == "JSON: the document must be an array, not an integer");
  CHECK(error([] { Json().add("a", 2); }) == "JSON: the document must be an object, not null");
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
}

TEST_CASE("json: what has no text") {
  const auto error = [](const Json& value) { return error_of([&] { text_of(value); }); };
  CHECK(error(Json::object({{"loss", Json::array({1.0, NAN})}})) == "JSON: loss[1] is nan, which JSON cannot express");
  CHECK(error(-INFINITY) == "JSON: the document is -inf, which JSON cannot express");
  CHECK(error(Json::array({"a\xff"})) == "JSON: [0] holds text that is not UTF-8: \"a?\"");
  CHECK(error(Json::object({{"a", Json::object({{"\xc3", 1}})}})) == "JSON: a holds text that is not UTF-8: \"?\"");
  CHECK(error(Json::object({{"a", 1}, {"a", 2}})) == "JSON: the document has two members with the name a");
  CHECK(error(Json::object({{std::string(1, '\0'), 1}})) == "JSON: the document has a name that holds U+0000");
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
  CHECK(error_of([&] { nest(300'000); }) == "JSON: arrays and objects are nested deeper than 64");
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

struct Draws {
  std::uint64_t state;
  std::uint64_t operator()(std::uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
  }
  std::uint64_t bits() {
    const std::uint64_t high = operator()(std::uint64_t(1) << 31) << 33;
    return high ^ operator()(std::uint64_t(1) << 31) << 12 ^ operator()(1 << 12);
  }
  double number() {
    for (;;) {
      const std::uint64_t b = bits();
      double x = 0;
      std::memcpy(&x, &b, sizeof x);
      if (std::isfinite(x)) return x;
    }
  }
  std::string text() {
    static const std::string pieces[] = {"a",    "\"",   "\\", "/",        std::string(1, '\0'), "\n",
                                         "\x1f", "\x7f", " ",  "\xc3\xa9", "\xe2\x82\xac",       "\xf0\x9f\x98\x80",
                                         "{",    "\t"};
    std::string made;
    for (std::uint64_t n = operator()(6); n > 0; --n) made += pieces[operator()(std::size(pieces))];
    return made;
  }
  Json value(int depth) {
    switch (operator()(depth > 0 ? 9 : 7)) {
      case 0:
        return nullptr;
      case 1:
        return operator()(2) == 1;
      case 2:
        return static_cast<std::int64_t>(bits());
      case 3:
        return static_cast<Index>(bits() >> 40);
      case 4:
        return number();
      case 5:
        return static_cast<double>(static_cast<std::int64_t>(operator()(2000)) - 1000) / 8;
      case 6:
        return text();
      case 7: {
        Json list = Json::array();
        for (std::uint64_t n = operator()(5); n > 0; --n) list.push_back(value(depth - 1));
        return list;
      }
      default: {
        Json object = Json::object();
        for (std::uint64_t n = operator()(5); n > 0; --n) {
          std::string name = std::to_string(n) + text();
          std::erase(name, '\0');
          object.add(std::move(name), value(depth - 1));
        }
        return object;
      }
    }
  }
};

TEST_CASE("json: random values come back from their text, to the last bit of every number") {
  Draws draws{1};
  for (int i = 0; i < 1000; ++i) {
    const Json value = draws.value(4);
    const std::string text = text_of(value);
    const Json back = parse_json(text);
    CHECK(back == value);
    CHECK(text_of(back) == text);
    CHECK(parse_json(text_of(value, 1)) == value);
  }
  CHECK(std::signbit(JsonPlace(parse_json(text_of(Json(-0.0)))).as_number()));
}

struct Commas : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST_CASE("json: independent of the locale") {
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Commas));
  const std::string text = text_of(Json::array({1234567, 1234567.5, 0.25}));
  const double back = JsonPlace(parse_json("1234567.5")).as_number();
  std::locale::global(before);
  CHECK(text == "[1234567,1234567.5,0.25]");
  CHECK(back == 1234567.5);
}

}  // namespace
}  // namespace mote::test::json_test
