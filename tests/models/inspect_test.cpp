// Head_scores on weights made by hand, describe(), and attention_svg as XML and as a picture.
#include "models/inspect.h"

#include <doctest/doctest.h>

#include <cctype>
#include <functional>
#include <limits>
#include <map>
#include <sstream>

#include "engine/ops/view.h"
#include "tests/tools.h"

namespace mote::test::inspect_test {
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
  CHECK(error_of([] {
          head_scores(Array::zeros({2, 3, 4}), ints({{0, 1, 2}}));
        }) == "head_scores: weights [2, 3, 4] must be [H, T, T] or [B, H, T, T]");
  CHECK(error_of([] {
          head_scores(Array::zeros({3, 3}), ints({{0, 1, 2}}));
        }) == "head_scores: weights [3, 3] must be [H, T, T] or [B, H, T, T]");
  CHECK(error_of([] {
          head_scores(Array::zeros({2, 1, 3, 3}), ints({{0, 1}, {2, 3}, {4, 5}}));
        }) == "head_scores: ids [3, 2] do not fit weights [2, 1, 3, 3]");
  CHECK(error_of([] {
          head_scores(Array::zeros({2, 3, 3}), ints({{0, 1}}));
        }) == "head_scores: ids [1, 2] do not fit weights [2, 3, 3]");
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
        "   1      0.90   0.10       0.20     0.30  previous token\n"
        "   2      0.10   0.75       0.20     0.30  first token\n"
        "   3      0.20   0.10       0.50     0.30  induction\n"
        "   4      0.10   0.10       0.00     0.95  nearly uniform\n"
        "   5      0.40   0.00       0.00     0.50\n"
        "   6      0.60   0.60       0.00     1.00  nearly uniform\n"  // of two tokens each gets half
        "   7       nan    nan       0.00      nan\n");
  CHECK(describe({}) == "head  previous  first  induction  entropy\n");
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
        "       head 1  head 2\n"
        "   a | @     | @     |\n"
        "  bc | + +   | + +   |\n"
        "   d | . : # | . : # |\n");
  CHECK(attention_text(array({1, 3}, {1, nan, 2}), {"é"}) == "  é | @ . @ |\n");  // the one query is the last of three
  CHECK(attention_text(array({2, 3}, {1, 0, 0.5, 1, 0, 0}), {"a", "b"}) ==
        "  a | @ . + |\n  b | @ . . |\n");  // not causal
  CHECK(attention_text(Array::zeros({0, 3, 3}), names).empty());
  const std::string many = attention_text(Array::full({3, 30, 30}, 1), std::vector<std::string>(30, "x"));
  CHECK(many.find(" head 1") < many.find(" head 2"));
  CHECK(std::count(many.begin(), many.end(), '\n') == 3 * 31);  // too wide to stand side by side
  std::size_t longest = 0, start = 0;
  for (std::size_t end = many.find('\n'); end != std::string::npos; start = end + 1, end = many.find('\n', start))
    longest = std::max(longest, end - start);
  CHECK(longest <= 120);
  CHECK(error_of([&] { attention_text(one, {"a"}); }) == "attention_text: 1 labels do not fit weights [3, 3]");
  CHECK(error_of([&] { attention_text(Array::zeros({3}), names); }) ==
        "attention_text: weights [3] must be [Tq, Tk] or [H, Tq, Tk]; a batch's row b is select(0, b)");
}

TEST_CASE("characters_of: UTF-8 characters whole, other bytes alone") {
  using Strings = std::vector<std::string>;
  CHECK(characters_of("") == Strings{});
  CHECK(characters_of("aé€😀") == Strings{"a", "é", "€", "😀"});
  CHECK(characters_of("\xc3\xa9\xa9") == Strings{"\xc3\xa9", "\xa9"});
  CHECK(characters_of("\xf8\x90\x80\x80") == Strings{"\xf8", "\x90", "\x80", "\x80"});
  CHECK(characters_of("\xe2\x82") == Strings{"\xe2", "\x82"});  // cut off
}

/// A picture read back: elements by name with their attributes, and all texts. `problem` says what is no XML.
struct Xml {
  std::string problem;
  std::map<std::string, std::vector<std::map<std::string, std::string>>> elements;
  std::vector<std::string> texts;
  std::size_t count(const std::string& text) const {
    return static_cast<std::size_t>(std::count(texts.begin(), texts.end(), text));
  }
};

Xml read_xml(const std::string& s) {
  Xml xml;
  std::vector<std::string> open;
  std::size_t i = 0;
  const auto name = [&] {
    std::string n;
    while (i < s.size() && (std::isalnum(static_cast<unsigned char>(s[i])) || s[i] == '-')) n += s[i++];
    return n;
  };
  const auto entities = [&](const std::string& text) {
    for (std::size_t k = text.find('&'); k != std::string::npos; k = text.find('&', k + 1)) {
      bool known = false;
      for (const char* e : {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"})
        known = known || text.compare(k, std::string(e).size(), e) == 0;
      if (!known) xml.problem = "a bare & in " + text;
    }
    return text;
  };
  while (i < s.size() && xml.problem.empty()) {
    if (s[i] != '<') {
      const std::size_t end = std::min(s.find('<', i), s.size());
      const std::string text = entities(s.substr(i, end - i));
      if (open.empty() && text != "\n") xml.problem = "text outside";
      if (text.find('>') != std::string::npos) xml.problem = "a bare > in " + text;
      if (!open.empty() && open.back() == "text") xml.texts.push_back(text);
      i = end;
    } else if (s[i + 1] == '/') {
      i += 2;
      const std::string n = name();
      if (open.empty() || open.back() != n || s[i++] != '>') return xml.problem = "</" + n + "> closes nothing", xml;
      open.pop_back();
    } else {
      ++i;
      const std::string n = name();
      if (n.empty()) return xml.problem = "a bare <", xml;
      std::map<std::string, std::string> attributes;
      while (s[i] == ' ') {
        ++i;
        const std::string key = name();
        if (key.empty() || s[i] != '=' || s[i + 1] != '"') return xml.problem = "attribute " + key + " of " + n, xml;
        const std::size_t end = s.find('"', i + 2);
        if (attributes.count(key)) xml.problem = key + " twice";
        attributes[key] = entities(s.substr(i + 2, end - i - 2));
        i = end + 1;
      }
      xml.elements[n].push_back(attributes);
      if (s[i] == '/')
        ++i;
      else
        open.push_back(n);
      if (s[i++] != '>') return xml.problem = "<" + n + " does not end", xml;
    }
  }
  if (!open.empty()) xml.problem = open.back() + " stays open";
  return xml;
}

std::vector<std::string> letters(Index n) {
  std::vector<std::string> labels;
  for (Index i = 0; i < n; ++i) labels.emplace_back(1, static_cast<char>('a' + i));
  return labels;
}

/// The weight of every cell of the first head, from its paths: -1 for a cell that no path or two paths paint.
std::vector<std::string> cells_of(const Xml& xml, Index Tq, Index Tk) {
  std::vector<std::string> cells(static_cast<std::size_t>(Tq * Tk), "#440154");
  if (!xml.elements.count("path")) return cells;
  for (const auto& path : xml.elements.at("path")) {
    std::istringstream d(path.at("d"));
    char letter;
    Index x, y, run, back;
    while (d >> letter >> x >> y >> letter >> run >> letter >> back >> letter >> back >> letter) {
      CHECK(back == -run);
      for (Index j = x; j < x + run; ++j) {
        std::string& cell = cells.at(static_cast<std::size_t>(y * Tk + j));
        CHECK(cell == "#440154");
        cell = path.at("fill");
      }
    }
  }
  return cells;
}

TEST_CASE("attention_svg: eight heads are two rows of four, with titles and tokens on both axes") {
  Array w = Array::zeros({8, 3, 3});
  for (Index h = 0; h < 8; ++h)
    for (Index t = 0; t < 3; ++t) w.mutate()[(h * 3 + t) * 3 + t] = 1;
  const Xml xml = read_xml(attention_svg(w, letters(3), letters(3), "a title"));
  REQUIRE(xml.problem == "");
  CHECK(xml.count("a title") == 1);
  for (int h = 1; h <= 8; ++h) CHECK(xml.count("Head " + std::to_string(h)) == 1);
  CHECK(xml.count("Head 9") == 0);
  for (const std::string& letter : letters(3)) CHECK(xml.count(letter) == 16);  // a row and a column in each
  std::map<std::string, int> xs, ys;                                            // where the heads stand
  for (const auto& g : xml.elements.at("g"))
    if (const auto at = g.find("transform"); at != g.end() && at->second.starts_with("translate(")) {
      const std::size_t comma = at->second.find(',');
      ++xs[at->second.substr(10, comma - 10)], ++ys[at->second.substr(comma)];
    }
  CHECK(xs.size() == 5);  // four columns and the scale of colours
  CHECK(ys.size() == 2);
  const auto& gradient = xml.elements.at("stop");
  CHECK(gradient.front().at("stop-color") == "#440154");
  CHECK(gradient.back().at("stop-color") == "#fde725");
}

TEST_CASE("attention_svg: colours are viridis from 0 to 1, every cell in its place") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> values{0, 0.5, 1, 1, 0.25, nan, 2, -1};
  Array w = Array::zeros({1, 2, 4});
  for (std::size_t i = 0; i < 8; ++i) w.mutate()[i] = static_cast<real>(values[i]);
  const Xml xml = read_xml(attention_svg(w, letters(2), letters(4), "one head"));
  REQUIRE(xml.problem == "");
  CHECK(cells_of(xml, 2, 4) == std::vector<std::string>{"#440154", "#21908d", "#fde725", "#fde725", "#3b518b",
                                                        "#440154", "#fde725", "#440154"});
  CHECK(xml.count("d") == 1);  // more keys than queries
  CHECK(xml.count("a") == 2);
  CHECK(xml.count("Head 1") == 1);
  CHECK(xml.count("Head 2") == 0);
}

TEST_CASE("attention_svg: any label is text: escapes, UTF-8, and what is neither") {
  const std::vector<std::string> labels{"<&>",
                                        "\"'",
                                        "é",
                                        "→日",
                                        "\xc3",
                                        "a\xff"
                                        "b",
                                        "\xed\xa0\x80",
                                        "\n\t\x01",
                                        "\xc0\x80",
                                        "\xef\xbf\xbf",
                                        "\xf0\x9f\x98\x80",
                                        "",
                                        "twenty characters ..",
                                        "sixteen char. .."};
  const Index n = static_cast<Index>(labels.size());
  const Xml xml = read_xml(attention_svg(Array::zeros({1, n, n}), labels, labels, "<\"&'> \xe2\x82"));
  CHECK(xml.problem == "");
  for (const char* shown : {"&lt;&amp;&gt;", "&quot;&apos;", "é", "→日", "?", "a?b", "???", "\\n\\t?", "??",
                            "\xf0\x9f\x98\x80", "twenty characte…", "sixteen char. .."})
    CHECK_MESSAGE(xml.count(shown) >= 2, shown);
  CHECK(xml.count("&lt;&quot;&amp;&apos;&gt; ??") == 1);
}

TEST_CASE("attention_svg counts characters, not bytes") {
  const auto width = [](const std::string& label) {
    const std::vector<std::string> all(3, label);
    return std::stoi(
        read_xml(attention_svg(Array::zeros({4, 3, 3}), all, all, "")).elements.at("svg").at(0).at("width"));
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
  CHECK(read_xml(attention_svg(Array::zeros({0, 2, 2}), letters(2), letters(2), "none")).problem == "");
  CHECK(read_xml(attention_svg(Array::zeros({2, 0, 0}), {}, {}, "empty")).problem == "");
}

TEST_CASE("attention_svg refuses what does not fit") {
  CHECK(error_of([] {
          attention_svg(Array::zeros({2, 3}), letters(2), letters(3), "");
        }) == "attention_svg: weights [2, 3] must be [H, Tq, Tk]");
  CHECK(error_of([] {
          attention_svg(Array::zeros({1, 2, 3}), letters(3), letters(3), "");
        }) == "attention_svg: 3 and 3 labels do not fit weights [1, 2, 3]");
  CHECK(error_of([] {
          attention_svg(Array::zeros({1, 2, 3}), letters(2), letters(2), "");
        }) == "attention_svg: 2 and 2 labels do not fit weights [1, 2, 3]");
}

}  // namespace
}  // namespace mote::test::inspect_test
