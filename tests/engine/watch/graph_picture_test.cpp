// A graph as a picture: what its boxes say, before and after backward, folded, and that none hides another.
#include <random>
#include <regex>

#include "engine/ops/ops.h"
#include "engine/watch/graph_picture.h"
#include "tests/comma_locale.h"
#include "tests/support.h"

namespace mote::test::graph_picture_test {
namespace {

using Lines = std::vector<std::string>;
using Arrows = std::vector<std::pair<std::size_t, std::size_t>>;

TEST_CASE("graph picture: values and gradients, as far as there are any") {
  const Tensor a = tensor(2).requires_grad_();
  Tensor b = tensor({{1, -1.5}, {0.25, 3}}).requires_grad_();
  GraphRecorder seen;
  const Tensor c = a * b, d = c * c, e = sum(d + ones({13, 2, 2}));
  seen.name(a, "a").name(b, "b").name(c, "c");
  const Diagram bare = graph_diagram(e), before = graph_diagram(e, &seen);
  CHECK(bare.boxes[0].lines == Lines{"leaf", "[]"});
  CHECK(bare.notes.back() == "no values: no GraphRecorder has seen the ops");
  CHECK(bare.arrows == Arrows{{0, 2}, {1, 2}, {2, 3}, {2, 3}, {3, 4}, {4, 5}});
  CHECK(before.boxes[1].lines == Lines{"a", "[]", "value          2"});
  CHECK(before.notes.back() == "no gradients yet: backward() has not run");
  e.backward();
  const Diagram after = graph_diagram(e, &seen);
  CHECK(after.boxes[0].lines == Lines{"constant", "[13, 2, 2]"});
  CHECK(after.boxes[1].lines == Lines{"a", "[]", "value          2", "grad       640.2"});  // 13 * 2a * the sum of b^2
  CHECK(after.boxes[2].lines == Lines{"b", "[2, 2]", "value          1       -1.5", "            0.25          3",
                                      "grad         104       -156", "              26        312"});
  CHECK(after.boxes[3].lines[0] == "c = mul");
  CHECK(after.boxes[4].lines.back() == "keeps " + std::to_string(8 * sizeof(real)) + " bytes");  // both factors
  CHECK(after.arrows == Arrows{{1, 3}, {2, 3}, {3, 4}, {3, 4}, {4, 5}, {0, 5}, {5, 6}});
  CHECK(after.boxes[0].colour != after.boxes[1].colour);
  CHECK(after.notes.size() == 2);
  CHECK_THROWS_WITH(graph_svg(e),
                    "graph_svg: backward() has consumed this graph: draw it before, or let a GraphRecorder "
                    "see its ops");
  CHECK_THROWS_WITH(graph_svg(c.detach()),
                    "graph_svg: the result has no graph: nothing that it was computed from requires a gradient");
  b.zero_grad();
  CHECK(graph_diagram(e, &seen).boxes[2].lines.size() == 4);
}

TEST_CASE("graph picture: the same bytes wherever the program runs") {
  const auto picture = [] {
    const Tensor a = tensor({2.5, -1234567, 0.0001234, 4e9}).requires_grad_();
    GraphRecorder seen;
    const Tensor y = a * a;
    sum(y).backward();
    return graph_svg(y, seen);
  };
  const std::string here = picture();
  CHECK(here.find("value        2.5 -1.235e+06  0.0001234      4e+09") != std::string::npos);
  const CommaLocale germany;
  CHECK(picture() == here);
}

TEST_CASE("graph picture: a recorder that came late, and one that saw two steps") {
  Parameter w(Array::full({}, 2));
  const Tensor c = w * w;
  GraphRecorder seen;
  const Tensor late = exp(c);
  CHECK(graph_diagram(late, &seen).boxes[0].lines == Lines{"parameter", "[]"});
  CHECK(graph_diagram(late, &seen).boxes[1].lines == Lines{"mul", "[]", "value          4"});
  CHECK(graph_diagram(late, &seen).arrows == Arrows{{0, 1}, {0, 1}, {1, 2}});
  CHECK(graph_diagram(c, &seen).arrows == Arrows{{0, 1}, {0, 1}});
  late.backward();
  w.zero_grad();
  w.set(Array::full({}, 3));
  const Tensor again = w * w;
  CHECK(graph_diagram(again, &seen.name(w, "w")).boxes[0].lines == Lines{"w", "[]", "value          3"});
  CHECK_THROWS_WITH(seen.name(Tensor(1), "k"), "GraphRecorder: 'k' requires no gradient: no graph has it");
}

TEST_CASE("graph picture: beyond 40 steps as many boxes as the outer layers need, beyond 400 an error") {
  static std::string path;
  const auto in = [](const std::string& layer, Tensor x, int ops) {
    path = layer;
    const auto told = [](const LayerScope&) { return path; };
    const LayerScope scope{nullptr, nullptr, told, told};
    const During<const LayerScope*> inside(thread_context.layer, layer.empty() ? nullptr : &scope);
    const Parameter w(Array::full({2}, 1));
    while (ops-- > 0) x = x * w;
    return x;
  };
  const Tensor x = tensor({1, 2}).requires_grad_();
  const GraphRecorder seen;
  Tensor y = x;
  for (const char* block : {"h.0", "h.1"})
    y = y + in(block + std::string(".b"), in(block + std::string(".a"), y, 9), 9);
  const Diagram folded = graph_diagram(y, &seen);
  Lines names;
  for (const DiagramBox& box : folded.boxes) names.push_back(box.lines[0]);
  CHECK(names == Lines{"leaf", "h.0.a: 9 ops", "h.0.b: 9 ops", "add", "h.1.a: 9 ops", "h.1.b: 9 ops", "add"});
  CHECK(folded.boxes[1].lines[2] == "2 parameters");
  CHECK(folded.arrows == Arrows{{0, 1}, {1, 2}, {0, 3}, {2, 3}, {3, 4}, {4, 5}, {3, 6}, {5, 6}});
  for (int i = 2; i < 20; ++i) y = in("h." + std::to_string(i) + ".a", in("h." + std::to_string(i) + ".b", y, 2), 2);
  CHECK(graph_diagram(y, &seen).boxes.size() == 5 + 18);  // a box for each block
  CHECK_THROWS_WITH(graph_svg(in("", y, 500), seen), doctest::Contains("call the parts as layers"));
}

TEST_CASE("diagram: no box hides another, every arrow ends at the top of a box, all lies within the page") {
  std::mt19937 random(1);
  for (int round = 0; round < 30; ++round) {
    const std::size_t n = 2 + random() % 40;
    Diagram diagram;
    for (std::size_t i = 0; i < n; ++i) {
      diagram.boxes.push_back({Lines(1 + random() % 4, std::string(1 + random() % 20, '<')), "#ffffff"});
      for (std::size_t k = 0; i > 0 && k < random() % 4; ++k) diagram.arrows.emplace_back(random() % i, i);
    }
    const std::string svg = diagram_svg(diagram);
    const std::string number = "\"([-0-9.e]+)\"";
    std::smatch page;
    REQUIRE(std::regex_search(svg, page, std::regex("<svg [^>]* width=" + number + " height=" + number)));
    struct Box {
      double left, top, right, bottom;
    };
    std::vector<Box> boxes;
    const std::regex rect("<rect x=" + number + " y=" + number + " width=" + number + " height=" + number);
    for (std::sregex_iterator m(svg.begin(), svg.end(), rect), end; m != end; ++m) {
      const double x = std::stod((*m)[1]), y = std::stod((*m)[2]);
      boxes.push_back({x, y, x + std::stod((*m)[3]), y + std::stod((*m)[4])});
    }
    REQUIRE(boxes.size() == n);
    for (std::size_t i = 0; i < n; ++i) {
      CHECK(boxes[i].left >= -0.5);
      CHECK(boxes[i].right + 20 <= std::stod(page[1]));
      CHECK(boxes[i].bottom + 20 <= std::stod(page[2]));
      for (std::size_t j = 0; j < i; ++j)
        CHECK((boxes[i].right < boxes[j].left || boxes[j].right < boxes[i].left || boxes[i].bottom < boxes[j].top ||
               boxes[j].bottom < boxes[i].top));
    }
    const std::regex path("<path d=\"M([-0-9.e]+) ([-0-9.e]+)C[^\"]*? ([-0-9.e]+) ([-0-9.e]+)\" marker");
    std::size_t arrow = 0;
    for (std::sregex_iterator m(svg.begin(), svg.end(), path), end; m != end; ++m, ++arrow) {
      const Box &from = boxes[diagram.arrows[arrow].first], &to = boxes[diagram.arrows[arrow].second];
      CHECK(std::stod((*m)[2]) == doctest::Approx(from.bottom));
      CHECK(std::stod((*m)[4]) == doctest::Approx(to.top));
      CHECK(std::stod((*m)[3]) > to.left);
      CHECK(std::stod((*m)[3]) < to.right);
      CHECK(from.bottom < to.top);
    }
    CHECK(arrow == diagram.arrows.size());
  }
}

TEST_CASE("diagram: as DOT") {
  CHECK_THROWS_WITH(diagram_svg({{{{"a"}, ""}}, {{0, 0}}, {}}),
                    "diagram_svg: the arrow from box 0 to box 0 must lead to a later one of the boxes");
  CHECK(diagram_dot({{{{"a \"b\" \\", "[2]"}, "#ffffff"}, {{"c"}, "#dddddd"}}, {{0, 1}, {0, 1}}, {}}) ==
        "digraph {\n  node [shape=box style=\"rounded,filled\"]\n"
        "  n0 [fillcolor=\"#ffffff\" label=\"a \\\"b\\\" \\\\\\n[2]\"]\n  n1 [fillcolor=\"#dddddd\" label=\"c\"]\n"
        "  n0 -> n1\n  n0 -> n1\n}\n");
}

}  // namespace
}  // namespace mote::test::graph_picture_test
