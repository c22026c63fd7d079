// Report_html: a page that is well-formed whatever it shows, needs no other file, and holds the attention as given.
#include "train/report/page.h"

#include "engine/io/text/json.h"
#include "engine/io/text/utf8_stream.h"
#include "tests/markup.h"
#include "tests/sentences.h"
#include "tests/tools.h"

namespace mote::test::page_test {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

/// The data of the script that draws heads.
Json heads_data(const std::string& page) {
  const std::string begin = "id=\"heads-data\">";
  const std::size_t at = page.find(begin) + begin.size();
  return parse_json(page.substr(at, page.find("</script>", at) - at));
}

HeadsThen heads_after(Index step, std::size_t layers, std::size_t heads, std::size_t T) {
  std::string text = std::to_string(T) + ":";
  for (std::size_t q = 0; q < T; ++q) text += (q > 0 ? " " : "") + std::string(q + 1, 'q');
  return {step, std::vector(layers, std::vector(heads, text))};
}

const std::string odd = std::string("</script><!--<script>]]>&amp;\"'`\\u003c \x01\x7f\xff\xe2\x82\xc3\xa9\n\t") + '\0';

TEST_CASE("report: a page in order, with everything in it and nothing from elsewhere") {
  Report report{.title = "copy", .description = "ten symbols"};
  report.facts = {{"exact match", "1000 of 1000"}};
  report.charts = {{.title = "loss", .lines = {{"train", {{1, 2}, {2, 1}}}}}};
  report.tables = {{"first mistakes", {"question", "answer"}, {{"abc", "abd"}}}};
  report.tokens = {"a", "b"};
  report.heads = {heads_after(0, 2, 3, 2), heads_after(100, 2, 3, 2)};
  report.settings = {{"model", {}, {{"n_layer", "2"}}}};
  report.texts = {{"layers", "a  b\n"}};
  const std::string page = report_html(report);
  check_well_formed(page, true);
  for (const char* part : {"<title>copy</title>", "<dt>exact match</dt><dd>1000 of 1000</dd>", "<svg class=\"chart\"",
                           "<h2>first mistakes</h2>", "<td>abd</td>", "<td>n_layer</td><td>2</td>", "<pre>a  b\n</pre>",
                           "default-src 'none'"})
    CHECK_MESSAGE(has(page, part), part);
  for (const char* part : {"http:", "https:", "src=", "href=", "@import", "url("})
    CHECK_MESSAGE(count(page, part) == count(page, std::string(part) + "//www.w3.org/2000/svg"), part);
  const Json data = heads_data(page);
  CHECK(JsonPlace(data).at("heads").at(1).at("step").as_integer() == 100);
  CHECK(JsonPlace(data).at("heads").at(1).at("layers").at(1).at(2).as_string() == "2:q qq");
  CHECK(JsonPlace(data).at("colours").items().size() == 64);
  CHECK(JsonPlace(data).at("colours").at(0).as_string() == "#440154");
  CHECK(JsonPlace(data).at("colours").at(63).as_string() == "#fde725");
  CHECK(report_html(report) == page);
  const std::string bare = report_html({});
  check_well_formed(bare, true);
  CHECK(!has(bare, "<script"));
}

TEST_CASE("report: any text shows as it is and ends nothing") {
  Report report{.title = odd, .description = odd, .facts = {{odd, odd}}};
  report.charts = {{.title = odd, .lines = {{odd, {{1, 1}}, true}}}};
  report.tables = {{odd, {odd}, {{odd}}}};
  report.settings = {{odd, {}, {{odd}}}};
  report.texts = {{odd, odd}};
  report.tokens = {odd, " "};
  report.heads = {heads_after(0, 1, 1, 2)};
  const std::string page = report_html(report);
  check_well_formed(page, true);
  CHECK(valid_utf8(page) == page);
  CHECK(count(page, "</script>") == 2);  // of the data and of the script
  CHECK(!has(page, "<!--"));
  CHECK(has(page, "<td>&lt;/script&gt;&lt;!--&lt;script&gt;]]&gt;&amp;amp;&quot;&#39;`\\u003c ␁␡��é\n\t␀</td>"));
  CHECK(has(report_html({.title = "a\u202eb\u2066"}), "<h1>a\ufffdb\ufffd</h1>"));  // nothing turns a line's direction
  const Json data = heads_data(page);
  CHECK(JsonPlace(data).at("tokens").at(0).as_string() == "</script><!-…");
  CHECK(JsonPlace(data).at("tokens").at(1).as_string() == "␣");
}

TEST_CASE("report: of too many pictures of heads the first, the last and some between; it stays below a megabyte") {
  Report report;
  report.tokens.assign(64, "x");
  for (Index step = 0; step <= 1000; ++step) report.heads.push_back(heads_after(step, 4, 4, 64));
  const std::string page = report_html(report);
  CHECK(page.size() < 1'000'000);
  const Json data = heads_data(page);
  const std::vector<Json>& kept = JsonPlace(data).at("heads").items();
  REQUIRE(kept.size() >= 10);
  CHECK(JsonPlace(kept.front()).at("step").as_integer() == 0);
  CHECK(JsonPlace(kept.back()).at("step").as_integer() == 1000);
  for (std::size_t i = 1; i < kept.size(); ++i)
    CHECK(JsonPlace(kept[i]).at("step").as_integer() > JsonPlace(kept[i - 1]).at("step").as_integer());
}

TEST_CASE("report: heads that change from step to step are an error") {
  Report report;
  report.tokens = {"a", "b"};
  report.heads = {heads_after(7, 1, 2, 2), heads_after(8, 2, 2, 2)};
  REFUSES(report_html(report));
  report.heads = {heads_after(7, 1, 2, 2), heads_after(8, 1, 1, 2)};
  REFUSES(report_html(report));
}

}  // namespace
}  // namespace mote::test::page_test
