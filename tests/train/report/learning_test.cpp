// learning_svg: a frame for each evaluation, visible in its turn; the colours of the weights; what has no heads.
#include "train/report/learning.h"

#include "engine/ops/create.h"
#include "nn/head_pictures.h"
#include "tests/markup.h"
#include "tests/sentences.h"
#include "tests/tools.h"

namespace mote::test::learning_test {
namespace {

EvaluationReport evaluation(Index step, const std::vector<std::vector<std::string>>& heads) {
  EvaluationReport report;
  report.step = step;
  report.loss = 1.0 / static_cast<double>(step + 1);
  report.heads = heads;
  return report;
}

Index count(const std::string& text, const std::string& part) {
  Index found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++found;
  return found;
}

const Chart losses{.title = "loss", .lines = {{"training", {{0, 2}, {100, 1}}}}};

TEST_CASE("learning_svg: a frame for each evaluation, one after the other") {
  const std::string half = attention_levels(tensor({{1, 0}, {0.5, 0.5}}).array());
  const std::string svg = learning_svg(losses, {evaluation(0, {{half, half}, {half}}), evaluation(50, {{half}, {half}}),
                                                evaluation(100, {{half}, {half, half}})});
  check_well_formed(svg);
  CHECK(count(svg, "<animate ") == 3);
  CHECK(svg.find("values=\"visible;hidden\" keyTimes=\"0;0.1667\"") != std::string::npos);
  CHECK(svg.find("values=\"hidden;visible;hidden\" keyTimes=\"0;0.1667;0.3333\"") != std::string::npos);
  CHECK(svg.find("values=\"hidden;visible\" keyTimes=\"0;0.3333\"") != std::string::npos);
  CHECK(count(svg, "<g visibility=\"visible\">") == 1);  // the last one, where nothing moves
  CHECK(svg.find("after 50 steps: held-out loss 0.020") != std::string::npos);
  CHECK(count(svg, "<rect ") == 3 + 2 + 3);  // a background for each head
  CHECK(count(svg, ">layer 1<") == 1);
  CHECK(count(svg, ">head 1<") == 1);

  // 1 in the brightest colour, both halves of the second row in one stroke of the middle one.
  CHECK(count(svg, "<path stroke=\"" + detail::viridis(64) + "\" d=\"M0 0h1\"/>") == 8);
  CHECK(count(svg, "<path stroke=\"" + detail::viridis(32) + "\" d=\"M0 1h2\"/>") == 8);
}

TEST_CASE("learning_svg: up to twelve evaluations, the first and the last among them; other layers are left out") {
  const std::string one = attention_levels(tensor({{0.2, 0.3, 0.5}}).array());
  std::vector<EvaluationReport> many;
  for (Index step = 0; step <= 1000; step += 10) many.push_back(evaluation(step, {{one}}));
  const std::string svg = learning_svg(losses, many);
  CHECK(count(svg, "<animate ") == 12);
  CHECK(svg.find("after 0 steps") != std::string::npos);
  CHECK(svg.find("after 1000 steps") != std::string::npos);
  CHECK(count(learning_svg(losses, {many[0], evaluation(5, {{one}, {one}}), evaluation(6, {}), many[1]}),
              "<animate ") == 2);
}

TEST_CASE("learning_svg: nothing of fewer than two evaluations with heads; damaged weights are refused") {
  CHECK(learning_svg(losses, {}).empty());
  CHECK(learning_svg(losses, {evaluation(1, {{"1:_"}})}).empty());
  CHECK(learning_svg(losses, {evaluation(1, {{"1:_"}}), evaluation(2, {})}).empty());
  for (const std::string damaged : {"", ":", "x:A", "2:A?", "1:AA", "9999999:A"}) {
    CAPTURE(damaged);
    REFUSES(learning_svg(losses, {evaluation(1, {{"1:_"}}), evaluation(2, {{damaged}})}));
  }
  CHECK(!learning_svg({}, {evaluation(1, {{"1:_"}}), evaluation(2, {{"3:"}})}).empty());  // no losses, a row of zeros
}

}  // namespace
}  // namespace mote::test::learning_test
