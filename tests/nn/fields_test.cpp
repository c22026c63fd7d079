// A config's fields as text, by name, and compared; the words of an enum.
#include "nn/fields.h"

#include <array>

#include "tests/sentences.h"
#include "tests/tools.h"

namespace mote::test::fields_test {
namespace {

enum class Color { red, green };
constexpr auto words(Color) { return std::to_array<Word<Color>>({{Color::red, "red"}, {Color::green, "green"}}); }

struct Inner {
  Index width = 4;
  std::optional<double> scale = {};
  template <class V>
  void visit(V& v) {
    v("width", width, "columns");
    v("scale", scale, "factor");
  }
};
struct Outer {
  bool on = true;
  std::string name = "a b";
  Color color = Color::green;
  Inner inner = {};
  template <class V>
  void visit(V& v) {
    v("on", on, "whether");
    v("name", name, "what");
    v("color", color, "which");
    inner.visit(v);
  }
};

TEST_CASE("fields: text in the order of visit, inner configs in their place") {
  const Outer o;
  CHECK(fields_text(o) == "on = true\nname = a b\ncolor = green\nwidth = 4\nscale = default\n");
  CHECK(fields(o)[2].words == "red|green");
  CHECK(fields(o)[3].help == "columns");
}

TEST_CASE("fields: every value that is written reads back as itself, and only that field changes") {
  for (const double x : {0.1, 1.0 / 3, 1e-300, -2.5e17, 5e-324, std::numeric_limits<double>::max()}) {
    Outer o;
    CHECK(set_field(o, "scale", detail::field_text(x)));
    CHECK(o.inner.scale == x);
    CHECK(fields(o) != fields(Outer()));
    CHECK(set_field(o, "scale", "default"));
    CHECK(fields(o) == fields(Outer()));
  }
  CHECK(detail::field_text(1.0 / 3) == "0.3333333333333333");  // not a digit more than it takes
  CHECK(detail::field_text(0.1 + 0.2) == "0.30000000000000004");
  Outer o;
  for (const auto& [name, text] : std::vector<std::pair<std::string, std::string>>{
           {"on", "false"}, {"name", "x"}, {"color", "red"}, {"width", "-9007199254740993"}})
    CHECK(set_field(o, name, text));
  CHECK((!o.on && o.name == "x" && o.color == Color::red && o.inner.width == -9007199254740993));
}

TEST_CASE("fields: what is no value is a sentence, and the field keeps its own") {
  Outer o;
  CHECK(!set_field(o, "Width", "3"));
  REFUSES(set_field(o, "on", "yes"));
  for (const char* text : {"", "-", "4.5", "4 ", " 4", "99999999999999999999x"})
    CHECK(error_of([&] { set_field(o, "width", text); }) == "width: '" + std::string(text) + "' is not a whole number");
  REFUSES(set_field(o, "width", "9223372036854775808"));
  REFUSES(set_field(o, "width", "-9223372036854775809"));
  for (const char* text : {"", "1x", "1,5", " 1", "one"})
    CHECK(error_of([&] { set_field(o, "scale", text); }) == "scale: '" + std::string(text) + "' is not a number");
  REFUSES(set_field(o, "color", "blue"));
  CHECK(fields(o) == fields(Outer()));
}

}  // namespace
}  // namespace mote::test::fields_test
