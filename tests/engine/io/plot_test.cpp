// plot_svg: where points lie, what is left out, and that any text is safe in it.
#include "engine/io/plot.h"

#include <doctest/doctest.h>

#include <limits>

namespace mote::test::plot_test {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("plot: points lie by their logarithms") {
  const std::string svg =
      plot_svg("times", "ms",
               {{"left", "width", {{1, 1}, {10, 100}, {100, 10000}}, {{10, 50}}}, {"right", "T", {{5, 100}}, {}}});
  CHECK(svg.starts_with("<svg "));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(count(svg, "<circle ") == 4);
  CHECK(has(svg, "M60.0 304.0L180.0 184.0L300.0 64.0"));  // a straight line
  CHECK(has(svg, "cx=\"450.0\" cy=\"184.0\""));           // alone: in the middle, on the common axis of y
  CHECK((has(svg, ">10000</text>") && has(svg, ">width</text>") && has(svg, ">times</text>")));
}

TEST_CASE("plot: nothing, and what a logarithm cannot show") {
  CHECK(plot_svg("", "", {}).ends_with("</svg>\n"));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::string svg = plot_svg("a < b & c", "", {{"", "", {{0, 1}, {1, -1}, {nan, 1}, {1, nan}}, {}}});
  CHECK(count(svg, "<circle ") == 0);
  CHECK(!has(svg, "nan"));
  CHECK(has(svg, "a &lt; b &amp; c"));
}

}  // namespace
}  // namespace mote::test::plot_test
