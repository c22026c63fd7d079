// Runs beside each other: a table, a page, and where two of them part.
#include "train/report/compare.h"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "engine/ops/ops.h"
#include "nn/nn.h"
#include "tests/temp_folder.h"
#include "tests/tools.h"
#include "train/run/dataset.h"
#include "train/run/run.h"

namespace mote::test::compare_test {
namespace {

/// A run that learns to tell whether a number is above 0.
void train(const std::string& folder, Index seed, double learning_rate, Index steps = 12) {
  const Array x = randn({100, 1}, Generator(3)).array();
  IntArray y({100});
  for (Index i = 0; i < 100; ++i) y.mutate()[i] = x.data()[i] > 0;
  const Dataset data(x, y, 0.2, "signs");
  Linear net(1, 2, Generator(seed));
  Run run(data, subject_of(net),
          {.max_iters = steps, .batch_size = 4, .learning_rate = learning_rate, .eval_interval = 6},
          {.folder = folder, .seed = seed, .save_interval = 4});
  run.train([](const RunEvent&) {});
}

TEST_CASE("runs_table: the settings that differ, and what came of each run") {
  const TempFolder folder;
  train(folder.path("a"), 1, 0.1);
  train(folder.path("b"), 2, 0.1);
  train(folder.path("c"), 2, 0.2);
  std::filesystem::create_directory(folder.path("no run"));
  const std::vector<RunRecord> runs = read_runs(folder.path(""));
  REQUIRE(runs.size() == 3);
  CHECK(read_run(folder.path("a") + "/").name == "a");
  CHECK(runs[0].steps.size() == 12);
  CHECK(runs[0].evaluations.size() == 3);
  CHECK(runs[0].seconds > 0);
  put_file(folder.path("a") + "/rates.jsonl",
           "{\"step\":0,\"seconds\":0}\n{\"step\":4,\"seconds\":2}\n"
           "{\"step\":4,\"seconds\":0}\n{\"step\":8,\"seconds\":2.5}\n{\"st");
  CHECK(read_run(folder.path("a")).seconds == 4.5);  // of two processes, the second cut off
  const ReportTable table = runs_table(runs);
  CHECK(table.columns == std::vector<std::string>{"run", "seed", "learning_rate", "steps", "training loss",
                                                  "held-out loss", "best", "right", "seconds"});
  REQUIRE(table.rows.size() == 3);
  CHECK(std::vector<std::string>(table.rows[2].begin(), table.rows[2].begin() + 4) ==
        std::vector<std::string>{"c", "2", "0.2", "12"});
  CHECK(table.rows[0][7].ends_with(" %"));
  const std::string page = runs_html("three runs", runs);
  CHECK(page.find("<title>three runs</title>") != std::string::npos);
  CHECK(page.find("whole answers that are right, held out") != std::string::npos);
  CHECK_THROWS_WITH_AS(read_run(folder.path("no run")), ("there is no run in " + folder.path("no run")).c_str(), Error);
}

TEST_CASE("first_differences: nothing between equal runs, else settings, the first step, tensor and element") {
  const TempFolder folder;
  train(folder.path("a"), 1, 0.1);
  train(folder.path("again"), 1, 0.1);
  CHECK(first_differences(folder.path("a"), folder.path("again")).empty());

  train(folder.path("other"), 1, 0.2);
  const std::vector<std::string> found = first_differences(folder.path("a"), folder.path("other"));
  REQUIRE(found.size() == 4);
  CHECK(found[0] == "setting learning_rate: 0.1 | 0.2");
  CHECK(found[1].starts_with("step 1 is the first that differs: learning rate "));
  CHECK(found[2].starts_with("evaluation 6 is the first that differs: loss "));
  CHECK(found[3].starts_with("step-00000004.safetensors: model."));  // the first of the three that both keep

  // One bit of one weight, in a checkpoint whose log is the same.
  const std::string path = folder.path("again") + "/step-00000008.safetensors";
  const SafetensorsFile file(path);
  std::vector<NamedArray> tensors;
  for (const TensorEntry& t : file.tensors()) {
    if (t.dtype == DType::i64) {
      tensors.push_back({t.name, file.int_array(t)});
      continue;
    }
    Array x = file.array(t);
    if (t.name == "model.weight") x.mutate()[1] = std::nextafter(x.data()[1], real(9));
    tensors.push_back({t.name, x});
  }
  save_safetensors(path, tensors, file.metadata());
  const std::vector<std::string> one = first_differences(folder.path("a"), folder.path("again"));
  REQUIRE(one.size() == 1);
  CHECK(one[0].starts_with("step-00000008.safetensors: model.weight: largest difference "));
  CHECK(one[0].find(" in 1 of 2 elements, the first at [1, 0]: ") != std::string::npos);

  // Evaluations and the best; a log without its beginning.
  train(folder.path("best"), 1, 0.1);
  std::filesystem::copy_file(folder.path("other") + "/best.safetensors", folder.path("best") + "/best.safetensors",
                             std::filesystem::copy_options::overwrite_existing);
  std::string log = get_file(folder.path("best") + "/log.jsonl"),
              looks = get_file(folder.path("best") + "/evaluations.jsonl");
  put_file(folder.path("best") + "/log.jsonl", log.substr(log.find('\n') + 1));
  put_file(folder.path("best") + "/evaluations.jsonl", looks.replace(looks.rfind("loss\":"), 7, "loss\":1"));
  const std::vector<std::string> parts = first_differences(folder.path("a"), folder.path("best"));
  REQUIRE(parts.size() == 3);
  CHECK(parts[0] == "steps that only one of them has: 1 | 0");
  CHECK(parts[1].starts_with("evaluation 12 is the first that differs: loss "));
  CHECK(parts[2].starts_with("best.safetensors: "));

  train(folder.path("longer"), 1, 0.1, 13);
  CHECK(first_differences(folder.path("a"), folder.path("longer"))[0] == "setting max_iters: 12 | 13");
}

TEST_CASE("tensor_difference: integers are compared as integers, however large") {
  const TempFolder folder;
  const Index large = (Index{1} << 60) + 1;
  save_safetensors(folder.path("a"), {{"n", IntArray({2}, std::vector<Index>{3, large})}}, {});
  save_safetensors(folder.path("b"), {{"n", IntArray({2}, std::vector<Index>{3, large - 1})}}, {});
  const SafetensorsFile a(folder.path("a")), b(folder.path("b"));
  CHECK(tensor_difference(a, a.tensors()[0], b) ==
        "largest difference 1, relative 8.67e-19, in 1 of 2 elements, the first at [1]: 1152921504606846977 | "
        "1152921504606846976");
  CHECK(tensor_difference(a, a.tensors()[0], a).empty());
}

TEST_CASE("tensor_difference: of random streams no element is shown") {
  const TempFolder folder;
  const std::string said = "another state of this random stream";
  for (const char* const name : {"data", "model.transformer.drop.random"}) {
    save_safetensors(folder.path("a"), {{name, IntArray({2}, std::vector<Index>{3, 4})}}, {});
    save_safetensors(folder.path("b"), {{name, IntArray({2}, std::vector<Index>{3, 5})}}, {});
    const SafetensorsFile a(folder.path("a")), b(folder.path("b"));
    CHECK(tensor_difference(a, a.tensors()[0], b) == said);
    CHECK(tensor_difference(a, a.tensors()[0], a).empty());
  }
}

}  // namespace
}  // namespace mote::test::compare_test
