// Run logs: every line is JSON and reads back as what was written, whatever it holds.
#include "train/run/log.h"

#include "engine/io/text/json.h"
#include "tests/sentences.h"
#include "tests/temp_folder.h"
#include "tests/tools.h"

namespace mote::test::log_test {
namespace {

TEST_CASE("attention_levels: rows of 64 letters from 0 to 1, whatever the head sees") {
  CHECK(attention_levels(array({3, 3}, {1, 0, 0, 0.5, 0.5, 0, 0, 1.0 / 63, 62.0 / 63})) == "3:_ gg AB-");
  CHECK(attention_levels(array({2, 2}, {0.5, 0.5, 0.5, 0.5})) == "2:gg gg");  // both directions
  CHECK(attention_levels(array({2, 3}, {0, 0, 1, 1, 0, 0})) == "3:AA_ _");    // other keys than queries
  CHECK(attention_levels(array({2, 2}, {nan, 0, -1, 7})) == "2: A_");
  CHECK(attention_levels(Array::zeros({0, 0})) == "0:");
  CHECK(attention_levels(array({2, 2}, {1, 0, 0.25, 0.75}).transpose(0, 1)) == "2:_Q Av");
  REFUSES(attention_levels(Array::zeros({2, 3, 1})));
}

TEST_CASE("run log: a step's line, also of numbers that JSON does not have") {
  CHECK(log_line(StepReport{0, 600, 2.5, 0.001, 0.75}) ==
        "{\"step\":1,\"loss\":2.5,\"learning_rate\":0.001,\"grad_norm\":0.75}");
  const TempFolder folder;
  const std::string path = folder.path("log.jsonl");
  CHECK(read_steps(path).empty());
  const double odd = inf, none = nan;
  put_file(path, log_line(StepReport{0, 9, odd, 1e-300, 0}) + "\n" + log_line(StepReport{1, 9, none, 1, -odd}) + "\n");
  const std::vector<StepReport> read = read_steps(path);
  REQUIRE(read.size() == 2);
  CHECK((read[0].step == 0 && std::isnan(read[0].loss) && read[0].learning_rate == 1e-300));
  CHECK((read[1].step == 1 && std::isnan(read[1].loss) && std::isnan(read[1].grad_norm)));
  StepReport health{4, 9, 1, 1, 1};
  health.layers = {{"h.0", {0.1, 1.5, 0.25}, {-1e-9, 1e-7, 0}}, {""}};
  health.updates = {{"h.0.\"w\"", 0.001}, {"b", static_cast<double>(inf)}};
  put_file(path, log_line(health) + "\n");
  CHECK(log_line(read_steps(path)[0]) ==
        R"({"step":5,"loss":1.0,"learning_rate":1.0,"grad_norm":1.0,"layers":[)"
        R"({"layer":"h.0","result":{"mean":0.1,"deviation":1.5,"zeros":0.25},)"
        R"("gradient":{"mean":-1e-09,"deviation":1e-07,"zeros":0.0}},)"
        R"({"layer":"","result":{"mean":null,"deviation":null,"zeros":null},)"
        R"("gradient":{"mean":null,"deviation":null,"zeros":null}}],"updates":{"h.0.\"w\"":0.001,"b":null}})");
  put_file(path, "{\"step\":1}\n");
  CHECK(error_of([&] { read_steps(path); }).starts_with(path + " line 1: "));
  put_file(path, log_line(StepReport{}) + "\n{\"step\":2,\n");
  CHECK(error_of([&] { read_steps(path); }).starts_with(path + " line 2: line 1, column"));
}

TEST_CASE("run log: an evaluation's line; texts may hold quotes, new lines, control bytes and half characters") {
  const std::string text = "a \"quoted\"\nline\x01\t\\ \xe2\x82 \xc3\xa9";
  EvaluationReport report{
      100, 0.5, 0.25, {}, {{text, text, true}, {"b", "", false}, {"c", "d", {}}}, {{"AB_", "A-z"}, {"q"}}};
  const std::string line = log_line(report);
  CHECK(line.find('\n') == std::string::npos);
  CHECK(JsonPlace(parse_json(line)).at("exact_match").as_number() == 0.25);
  const TempFolder folder;
  put_file(folder.path("e"), line + "\n" + log_line(EvaluationReport{200, static_cast<double>(nan)}) + "\n");
  const std::vector<EvaluationReport> read = read_evaluations(folder.path("e"));
  REQUIRE(read.size() == 2);
  CHECK((read[0].step == 100 && read[0].loss == 0.5 && read[0].exact_match == 0.25 && !read[0].train_exact_match));
  REQUIRE(read[0].samples.size() == 3);
  CHECK(read[0].samples[0].question == "a \"quoted\"\nline\x01\t\\ \xef\xbf\xbd \xc3\xa9");
  CHECK((read[0].samples[0].right == true && read[0].samples[1].right == false && !read[0].samples[2].right));
  CHECK(read[0].heads == report.heads);
  CHECK((read[1].step == 200 && std::isnan(read[1].loss) && read[1].samples.empty() && read[1].heads.empty()));
  CHECK(log_line(read[0]) == line);
  report.heads = {{}};
  put_file(folder.path("e"), log_line(report) + "\n");
  CHECK(error_of([&] { read_evaluations(folder.path("e")); }) ==
        folder.path("e") + " line 1: heads[0] must have at least one head");
}

}  // namespace
}  // namespace mote::test::log_test
