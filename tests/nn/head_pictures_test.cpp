// Head_scores on weights made by hand, describe(), attention_text, and attention_svg as a picture.
#include "nn/head_pictures.h"

#include <functional>
#include <set>
#include <sstream>

#include "engine/ops/view.h"
#include "tests/markup.h"
#include "tests/sentences.h"
#include "tests/tools.h"

namespace mote::test::head_pictures_test {
namespace {

/// Weights [T, T] of one head, by a rule that gives the weight of key j for query t.
Array head(Index T, const std::function<double(Index t, Index j)>& rule) {
  Array w = Array::zeros({T, T});
  real* out = w.mutate();
  for (Index t = 0; t < T; ++t)
    for (Index j = 0; j < T; ++j) *out++ = static_cast<real>(rule(t, j));
  return w;
}
double on(bool here) { return here ? 1 : 0; }
Array previous_head(Index T) {
  return head(T, [](Index t, Index j) { return on(j == std::max<Index>(0, t - 1)); });
}
Array first_head(Index T) {
  return head(T, [](Index, Index j) { return on(j == 0); });
}
Array uniform_head(Index T) {
  return head(T, [](Index t, Index j) { return on(j <= t) / static_cast<double>(t + 1); });
}

/// Weights of several heads, or of several rows of a batch, as one array with an axis more in front.
Array joined(const std::vector<Array>& parts) {
  std::vector<Tensor> tensors;
  for (const Array& part : parts) tensors.push_back(part.unsqueeze(0));
  return concat(tensors, 0).array();
}

TEST_CASE("head_scores of a previous-token head, a first-token head and a uniform one") {
  const IntArray ids = ints({{3, 1, 4, 0, 5}});  // no token twice: nothing to say about induction
  const std::vector<HeadScore> s = head_scores(joined({previous_head(5), first_head(5), uniform_head(5)}), ids);
  REQUIRE(s.size() == 3);
  CHECK(s[0].previous == 1);
  CHECK(s[0].first == doctest::Approx(0.25));  // of queries 1 to 4, for the first the token before is the first token
  CHECK(s[0].induction == 0);
  CHECK(s[0].entropy == 0);
  CHECK(s[1].first == 1);
  CHECK(s[1].previous == doctest::Approx(0.25));
  CHECK(s[1].entropy == 0);
  CHECK(s[2].entropy == doctest::Approx(1));
  CHECK(s[2].first == doctest::Approx((1. / 2 + 1. / 3 + 1. / 4 + 1. / 5) / 4));
  CHECK(s[2].previous == doctest::Approx(s[2].first));
  CHECK(s[2].induction == 0);
}

TEST_CASE("head_scores of an induction head: what followed the same token earlier") {
  const IntArray ids = ints({{7, 8, 9, 7, 8, 9}});
  const Array looks = head(6, [](Index t, Index j) { return on(j == (t < 3 ? 0 : t - 2)); });  // 7 8 9 [7] -> 8
  const HeadScore s = head_scores(looks.unsqueeze(0), ids).at(0);
  CHECK(s.induction == 1);  // queries 3, 4, 5; the others have seen nothing twice and do not count
  CHECK(s.previous == doctest::Approx(1. / 5));
  CHECK(s.first == doctest::Approx(2. / 5));
  const Array misses = head(6, [](Index t, Index j) { return on(j == (t < 3 ? 0 : t - 3)); });  // at the token itself
  CHECK(head_scores(misses.unsqueeze(0), ids).at(0).induction == 0);
  // Two earlier occurrences: both followers count. The query itself follows one where a token stands twice in a row.
  const Array both = head(5, [](Index t, Index j) { return t == 4 && (j == 1 || j == 3) ? 0.5 : 0; });
  CHECK(head_scores(both.unsqueeze(0), ints({{1, 2, 1, 3, 1}})).at(0).induction == doctest::Approx(0.5));
  const Array itself = head(2, [](Index t, Index j) { return on(t == j); });
  CHECK(head_scores(itself.unsqueeze(0), ints({{4, 4}})).at(0).induction == 1);
}

TEST_CASE("head_scores averages over a batch, counting each row's own queries") {
  const Array one = previous_head(4).unsqueeze(0), two = first_head(4).unsqueeze(0);
  const HeadScore s = head_scores(joined({one, two}), ints({{0, 1, 2, 3}, {5, 5, 6, 7}})).at(0);
  CHECK(s.previous == doctest::Approx((3 + 1) / 6.));
  CHECK(s.first == doctest::Approx((1 + 3) / 6.));
  CHECK(s.induction == 0);  // only the second row has a query that counts, and it looks elsewhere
  const HeadScore other = head_scores(joined({two, one}), ints({{0, 1, 2, 3}, {5, 5, 6, 7}})).at(0);
  CHECK(other.previous == s.previous);
  CHECK(head_scores(one, ints({0, 1, 2, 3})).at(0).previous == 1);
  CHECK(head_scores(Array::full({2, 1, 1}, 1), ints({{0}})).at(1).entropy == 0);  // nothing before: no score
  CHECK(head_scores(Array::zeros({0, 3, 3}), ints({{0, 1, 2}})).empty());
}

TEST_CASE("head_scores refuses what does not fit") {
  const auto says = [](const Shape& weights, const IntArray& ids) {
    return error_of([&] { head_scores(Array::zeros(weights), ids); });
  };
  const std::string shape = " must be [H, T, T] or [B, H, T, T]";
  CHECK(says({2, 3, 4}, ints({{0, 1, 2}})) == "head_scores: weights [2, 3, 4]" + shape);
  CHECK(says({3, 3}, ints({{0, 1, 2}})) == "head_scores: weights [3, 3]" + shape);
  CHECK_SENTENCE(says({2, 1, 3, 3}, IntArray({3, 2})));
  CHECK_SENTENCE(says({2, 3, 3}, ints({{0, 1}})));
}

TEST_CASE("describe names what stands out") {
  CHECK(describe({{0.9, 0.1, 0.2, 0.3},
                  {0.1, 0.75, 0.2, 0.3},
                  {0.2, 0.1, 0.5, 0.3},
                  {0.1, 0.1, 0, 0.95},
                  {0.4, 0, 0, 0.5},
                  {0.6, 0.6, 0, 1},
                  {std::nan(""), std::nan(""), 0, std::nan("")}}) ==
        "head  previous  first  induction  entropy\n"
        "   0      0.90   0.10       0.20     0.30  previous token\n"
        "   1      0.10   0.75       0.20     0.30  first token\n"
        "   2      0.20   0.10       0.50     0.30  induction\n"
        "   3      0.10   0.10       0.00     0.95  nearly uniform\n"
        "   4      0.40   0.00       0.00     0.50\n"
        "   5      0.60   0.60       0.00     1.00  nearly uniform\n"  // of two tokens each gets half
        "   6       nan    nan       0.00      nan\n");
  CHECK(describe(std::vector<HeadScore>{}) == "head  previous  first  induction  entropy\n");
}

TEST_CASE("attention_text: glyphs by weight, blank future, heads side by side") {
  const Array one = array({3, 3}, {1, 0, 0, 0.5, 0.5, 0, 0.05, 0.2, 0.75});
  const std::vector<std::string> names{"a", "bc", "d"};
  CHECK(attention_text(one, names) ==
        "   a | @     |\n"
        "  bc | + +   |\n"
        "   d | . : # |\n");
  CHECK(attention_text(one, names, false) ==
        "   a | @ . . |\n"
        "  bc | + + . |\n"
        "   d | . : # |\n");
  CHECK(attention_text(joined({one.unsqueeze(0), one.unsqueeze(0)}).reshape({2, 3, 3}), names) ==
        "       head 0  head 1\n"
        "   a | @     | @     |\n"
        "  bc | + +   | + +   |\n"
        "   d | . : # | . : # |\n");
  CHECK(attention_text(array({1, 3}, {1, nan, 2}), {"é"}) == "  é | @ . @ |\n");  // the one query is the last of three
  CHECK(attention_text(array({2, 3}, {1, 0, 0.5, 1, 0, 0}), {"a", "b"}) ==
        "  a | @ . + |\n  b | @ . . |\n");  // not causal
  CHECK(attention_text(Array::zeros({0, 3, 3}), names).empty());
  const std::string many = attention_text(Array::full({3, 30, 30}, 1), std::vector<std::string>(30, "x"));
  CHECK(many.find(" head 0") < many.find(" head 1"));
  CHECK(std::count(many.begin(), many.end(), '\n') == 3 * 31);  // too wide to stand side by side
  std::size_t longest = 0, start = 0;
  for (std::size_t end = many.find('\n'); end != std::string::npos; start = end + 1, end = many.find('\n', start))
    longest = std::max(longest, end - start);
  CHECK(longest <= 120);
  REFUSES(attention_text(one, {"a"}));
  REFUSES(attention_text(Array::zeros({3}), names));
}

TEST_CASE("characters_of: UTF-8 characters whole, other bytes alone") {
  using Strings = std::vector<std::string>;
  CHECK(characters_of("") == Strings{});
  CHECK(characters_of("aé€😀") == Strings{"a", "é", "€", "😀"});
  CHECK(characters_of("\xc3\xa9\xa9") == Strings{"\xc3\xa9", "\xa9"});
  CHECK(characters_of("\xf8\x90\x80\x80") == Strings{"\xf8", "\x90", "\x80", "\x80"});
  CHECK(characters_of("\xe2\x82") == Strings{"\xe2", "\x82"});  // cut off
}

/// How often `text` is all of a text element.
std::size_t texts(const std::string& svg, const std::string& text) {
  const std::string part = ">" + text + "</text>";
  std::size_t n = 0;
  for (std::size_t at = svg.find(part); at != std::string::npos; at = svg.find(part, at + 1)) ++n;
  return n;
}

/// What each element's name="value" says, in their order.
std::vector<std::string> values(const std::string& svg, const std::string& name) {
  std::vector<std::string> all;
  const std::string key = " " + name + "=\"";
  for (std::size_t at = svg.find(key); at != std::string::npos; at = svg.find(key, at + 1))
    all.push_back(svg.substr(at + key.size(), svg.find('"', at + key.size()) - at - key.size()));
  return all;
}

std::vector<std::string> letters(Index n) {
  std::vector<std::string> labels;
  for (Index i = 0; i < n; ++i) labels.emplace_back(1, static_cast<char>('a' + i));
  return labels;
}

/// The colour of every cell of the first head, from its paths; no cell is painted twice.
std::vector<std::string> cells_of(const std::string& svg, Index Tq, Index Tk) {
  std::vector<std::string> cells(static_cast<std::size_t>(Tq * Tk), "#440154");
  for (std::size_t at = svg.find("<path"); at != std::string::npos; at = svg.find("<path", at + 1)) {
    const std::string path = svg.substr(at, svg.find('>', at) - at);
    std::istringstream d(values(path, "d").at(0));
    char letter;
    Index x, y, run, back;
    while (d >> letter >> x >> y >> letter >> run >> letter >> back >> letter >> back >> letter)
      for (Index j = x; j < x + run; ++j) {
        std::string& cell = cells.at(static_cast<std::size_t>(y * Tk + j));
        CHECK((back == -run && cell == "#440154"));
        cell = values(path, "fill").at(0);
      }
  }
  return cells;
}

TEST_CASE("attention_svg: eight heads are two rows of four, with titles and tokens on both axes") {
  Array w = Array::zeros({8, 3, 3});
  for (Index h = 0; h < 8; ++h)
    for (Index t = 0; t < 3; ++t) w.mutate()[(h * 3 + t) * 3 + t] = 1;
  const std::string svg = attention_svg(w, letters(3), letters(3), "a title");
  check_well_formed(svg);
  CHECK(texts(svg, "a title") == 1);
  for (int h = 0; h < 8; ++h) CHECK(texts(svg, "Head " + std::to_string(h)) == 1);
  CHECK(texts(svg, "Head 8") == 0);
  for (const std::string& letter : letters(3)) CHECK(texts(svg, letter) == 16);  // a row and a column in each
  std::set<std::string> xs, ys;                                                  // where the heads stand
  for (const std::string& place : values(svg, "transform"))
    if (const std::size_t comma = place.find(','); place.starts_with("translate(") && comma != std::string::npos) {
      xs.insert(place.substr(0, comma));
      ys.insert(place.substr(comma));
    }
  CHECK(xs.size() == 5);  // four columns and the scale of colours
  CHECK(ys.size() == 2);
  CHECK(values(svg, "stop-color").front() == "#440154");
  CHECK(values(svg, "stop-color").back() == "#fde725");
}

TEST_CASE("attention_svg: colours are viridis from 0 to 1, every cell in its place") {
  const std::vector<double> weights{0, 0.5, 1, 1, 0.25, std::nan(""), 2, -1};
  const std::string svg = attention_svg(array({1, 2, 4}, weights), letters(2), letters(4), "one head");
  check_well_formed(svg);
  CHECK(cells_of(svg, 2, 4) == std::vector<std::string>{"#440154", "#21908d", "#fde725", "#fde725", "#3b518b",
                                                        "#440154", "#fde725", "#440154"});
  CHECK(texts(svg, "d") == 1);  // more keys than queries
  CHECK(texts(svg, "a") == 2);
  CHECK((texts(svg, "Head 0") == 1 && texts(svg, "Head 1") == 0));
}

TEST_CASE("attention_svg: every head shows its own weights") {
  const std::size_t one =
      values(attention_svg(array({1, 2, 2}, {1, 0, 0.5, 0.5}), letters(2), letters(2), ""), "d").size();
  const auto both = [](const std::vector<double>& w) {
    return values(attention_svg(array({2, 2, 2}, w), letters(2), letters(2), ""), "d").size();
  };
  CHECK(both({1, 0, 0.5, 0.5, 0, 0, 0, 0}) == one);  // a head without weights has no path
  CHECK(both({0, 0, 0, 0, 1, 0, 0.5, 0.5}) == one);
}

TEST_CASE("attention_svg: any label is text: escapes, UTF-8, and what is neither") {
  const std::vector<std::pair<std::string, std::string>> labels{{"<&>", "&lt;&amp;&gt;"},
                                                                {"→日", "→日"},
                                                                {"a\xff!", "a\ufffd!"},
                                                                {"\n\t\x01", "␊␉␁"},
                                                                {"", ""},
                                                                {"twenty characters ..", "twenty characte…"},
                                                                {"sixteen char. ..", "sixteen char. .."}};
  std::vector<std::string> given;
  for (const auto& label : labels) given.push_back(label.first);
  const Index n = static_cast<Index>(given.size());
  const std::string svg = attention_svg(Array::zeros({1, n, n}), given, given, "<\"&'> \xe2\x82");
  check_well_formed(svg);
  for (const auto& label : labels) CHECK_MESSAGE(texts(svg, label.second) >= 2, label.second);
  CHECK(texts(svg, "&lt;&quot;&amp;&#39;&gt; \ufffd") == 1);
}

TEST_CASE("attention_svg counts characters, not bytes") {
  const auto width = [](const std::string& label) {
    const std::vector<std::string> all(3, label);
    return std::stoi(values(attention_svg(Array::zeros({4, 3, 3}), all, all, ""), "width").at(0));
  };
  CHECK(width("éééééé") == width("abcdef"));
  CHECK(width("&&&&&&") == width("abcdef"));
  CHECK(width("日日日") == width("abcdef"));  // as wide as two letters each
  CHECK(width("abcdefgh") > width("abcdef"));
  CHECK(width(std::string(17, 'x')) == width(std::string(99, 'x')));
}

TEST_CASE("attention_svg of a sentence stays small; sizes of 0 are pictures too") {
  Array w = Array::zeros({8, 64, 64});
  for (Index i = 0; i < w.numel(); ++i)
    w.mutate()[i] = static_cast<real>(i * 7919 % 1000) / 1000;  // the worst: no runs
  const std::vector<std::string> labels(64, "x");
  CHECK(attention_svg(w, labels, labels, "noise").size() < 700000);
  CHECK(attention_svg(uniform_head(64).unsqueeze(0), labels, labels, "uniform").size() < 30000);
  check_well_formed(attention_svg(Array::zeros({0, 2, 2}), letters(2), letters(2), "none"));
  check_well_formed(attention_svg(Array::zeros({2, 0, 0}), {}, {}, "empty"));
}

TEST_CASE("attention_svg refuses what does not fit") {
  REFUSES(attention_svg(zeros_of(2, 3).array(), letters(2), letters(3), ""));
  REFUSES(attention_svg(zeros_of(1, 2, 3).array(), letters(3), letters(3), ""));
}

TEST_CASE("pictures of heads with names of their own") {
  const Array w = Array::full({2, 1, 1}, 1);
  CHECK(attention_text(w, letters(1), true, {"wide", "narrow"}) ==
        "      wide narrow\n"
        "  a | @ | @ |\n");
  const std::string svg = attention_svg(w, letters(1), letters(1), "", {"a < b", "narrow"});
  check_well_formed(svg);
  CHECK(svg.find(">a &lt; b</text>") != std::string::npos);
  CHECK(svg.find("Head") == std::string::npos);
  REFUSES(attention_text(w, letters(1), true, {"one"}));
  REFUSES(attention_svg(w, letters(1), letters(1), "", {"one"}));
}

}  // namespace
}  // namespace mote::test::head_pictures_test
