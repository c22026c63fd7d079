// Run: models that are no GPT, killed or stopped anywhere, made longer, reported from their folders; and whose a
// checkpoint is.
#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <map>

#include "engine/base/version.h"
#include "engine/ops/ops.h"
#include "nn/nn.h"
#include "tests/temp_folder.h"
#include "tests/tools.h"
#include "train/loop/stop_signal.h"
#include "train/report/report.h"
#include "train/run/dataset.h"
#include "train/run/run.h"

namespace mote::test::any_model_test {
namespace {

/// Two latents look at a row of ids by cross-attention; classes come out of them.
struct CrossNet : Layer<CrossNet> {
  Embedding table;
  Parameter latents;
  MultiHeadAttention look;
  Linear out;
  explicit CrossNet(const Init& init)
      : table(5, 8, init), latents(init.normal({2, 8}, 0, 1)), look(8, 2, init), out(16, 3, init) {}
  Tensor forward(const IntArray& ids) const {
    const Tensor x = table(ids);
    const Tensor queries = expand(unsqueeze(latents, 0), {ids.shape()[0], 2, 8});
    return out(reshape(look(queries, x, x), {ids.shape()[0], 16}));
  }
  void visit(Visitor& v) override {
    v("table", table);
    v("latents", latents);
    v("look", look);
    v("out", out);
  }
};

/// An encoder: every position sees every other, and the first answers.
struct Encoder : Layer<Encoder> {
  Embedding table;
  SelfAttention look;
  Linear out;
  explicit Encoder(const Init& init)
      : table(5, 8, init), look(8, 2, init, {.causal = false, .dropout = 0.1}), out(8, 3, init) {}
  Tensor forward(const IntArray& ids) const { return out(select(look(table(ids)), 1, 0)); }
  void visit(Visitor& v) override {
    v("table", table);
    v("look", look);
    v("out", out);
  }
};

/// A convolution over three neighbours.
struct ConvNet : Layer<ConvNet> {
  Linear window, out;
  bool relu_inside;
  explicit ConvNet(const Init& init, bool relu = false) : window(12, 8, init), out(8, 3, init), relu_inside(relu) {}
  Tensor forward(const Tensor& x) const {
    const Index T = x.size(1);
    const Tensor three = cat({slice(x, 1, 0, T - 2), slice(x, 1, 1, T - 1), slice(x, 1, 2, T)}, -1);
    const Tensor h = window(three);
    return out(mean(relu_inside ? relu(h) : tanh(h), {1}));
  }
  void visit(Visitor& v) override {
    v("window", window);
    v("out", out);
  }
};

/// How many ones there are, at most two, in rows of six ids.
Dataset ids_data(Real held_out = 0.2) {
  const IntArray ids = randint(0, 5, {120, 6}, Generator(3));
  IntArray classes({120});
  for (Index n = 0; n < 120; ++n)
    for (Index t = 0; t < 6; ++t)
      if (ids.at({n, t}) == 1 && classes.at({n}) < 2) classes.mutate()[n] += 1;
  return Dataset(ids, classes, held_out, "ones");
}
Dataset values_data() {
  const Array x = randn({120, 5, 4}, Generator(4)).array();
  IntArray classes({120});
  for (Index n = 0; n < 120; ++n) classes.mutate()[n] = x.at({n, 2, 1}) > 0.5 ? 2 : x.at({n, 1, 0}) > 0;
  return Dataset(x, classes, 0.2, "windows");
}

Recipe recipe(Index steps) {
  Recipe r;
  r.max_iters = steps;
  r.batch_size = 8;
  r.learning_rate = 0.01;
  r.schedule = ScheduleKind::constant;
  r.eval_interval = 5;
  r.eval_iters = 2;
  return r;
}

/// All files of a run but rates.jsonl, which has times.
std::map<std::string, std::string> files_of(const std::string& folder) {
  std::map<std::string, std::string> all;
  for (const std::string& name : list_folder(folder))
    if (name != "rates.jsonl") all[name] = get_file(folder + "/" + name);
  return all;
}
void check_same_files(const std::string& folder, const std::string& other) {
  const auto a = files_of(folder), b = files_of(other);
  for (const auto& file : a) {
    REQUIRE_MESSAGE(b.count(file.first), file.first << " is missing in " << other);
    CHECK_MESSAGE(b.at(file.first) == file.second, file.first << " differs in " << other);
  }
  CHECK(a.size() == b.size());
}

/// Trains one step() after the other, at most so many training steps. Saves where it stops, unless it is killed.
template <class Model>
void take(const Data& data, const Recipe& r, const std::string& folder, Index most, bool killed = false) {
  Model model(Generator(1));
  Run run(data, subject_of(model), r, {.folder = folder, .save_interval = 4});
  const Index first = run.steps();
  while (run.steps() - first < most && run.step()) {
  }
  if (run.ending()) return;
  if (!killed) run.save();
}
template <class Model>
void to_the_end(const Data& data, const Recipe& r, const std::string& folder) {
  take<Model>(data, r, folder, 1000);
  write_report(folder);
}

template <class Model>
void check_resumed(const Data& data) {
  const TempFolder folder;
  to_the_end<Model>(data, recipe(23), folder.path("whole"));
  for (const bool killed : {false, true})
    for (const Index most : {1, 3, 5, 9}) {
      const std::string path = folder.path(std::to_string(most) + (killed ? "killed" : "stopped"));
      Index before = -1;
      for (Index part = 0; part < 3; ++part) {
        take<Model>(data, recipe(23), path, most + part, killed && part < 2);
        const std::vector<std::string> names = checkpoint_names(path);
        CHECK(std::ssize(names) <= 3);
        before = std::max(before, std::ssize(names));
      }
      write_report(path);  // of a run that is not at its end, but for one that took 9 + 10 + 11 steps
      CHECK((get_file(path + "/report.html").find("stopped after") == std::string::npos) == (most == 9));
      to_the_end<Model>(data, recipe(23), path);
      check_same_files(folder.path("whole"), path);
    }
  // Made longer, from an end between two evaluations and two checkpoints, twice.
  for (const Index steps : {7, 11, 23}) to_the_end<Model>(data, recipe(steps), folder.path("longer"));
  check_same_files(folder.path("whole"), folder.path("longer"));
}

TEST_CASE("Run: cross-attention, an encoder, a convolution end in the same files, however often stopped or killed") {
  check_resumed<CrossNet>(ids_data());
  check_resumed<Encoder>(ids_data());
  check_resumed<ConvNet>(values_data());
}

TEST_CASE("Run: heads are shown as they are, of other keys and in both directions") {
  const TempFolder folder;
  to_the_end<CrossNet>(ids_data(), recipe(5), folder.path("cross"));
  to_the_end<Encoder>(ids_data(), recipe(5), folder.path("encoder"));
  to_the_end<ConvNet>(values_data(), recipe(5), folder.path("conv"));
  const auto head = [&](const std::string& name) {
    const auto all = read_evaluations(folder.path(name) + "/evaluations.jsonl");
    return all.back().heads.empty() ? "" : all.back().heads.at(0).at(0);
  };
  const std::string cross = head("cross"), encoder = head("encoder");
  CHECK(cross.starts_with("6:"));
  CHECK(std::count(cross.begin(), cross.end(), ' ') == 1);  // two latents
  CHECK(encoder.starts_with("6:"));
  CHECK(encoder.find(' ') == 8);  // the first row has all six keys
  CHECK(head("conv").empty());
  CHECK(get_file(folder.path("cross") + "/report.html").find("attends to other positions") != std::string::npos);
  CHECK(file_exists(folder.path("encoder") + "/heads.svg"));
  CHECK(!file_exists(folder.path("cross") + "/heads.svg"));
}

TEST_CASE("Run: a checkpoint knows whose it is") {
  const TempFolder folder;
  const std::string path = folder.path("run");
  const Dataset ids = ids_data();
  take<Encoder>(ids, recipe(10), path, 6);
  const auto refusal = [&](const auto& go_on) { return error_of(go_on); };
  CHECK(refusal([&] { take<CrossNet>(ids, recipe(10), path, 1); }) ==
        "the run in " + path +
            " is of class Encoder, not CrossNet: go on with the program that made it, or choose another folder");
  CHECK(refusal([&] {
          take<Encoder>(ids_data(0.5), recipe(10), path, 1);
        }).starts_with("the run in " + path + " has held_out 24 (here 60): "));
  IntArray other({120}, 1);
  const Dataset relabelled(randint(0, 5, {120, 6}, Generator(3)), other, 0.2, "ones");
  CHECK(refusal([&] {
          take<Encoder>(relabelled, recipe(10), path, 1);
        }).starts_with("the run in " + path + " has data_crc32 "));
  const IntArray rows = randint(0, 5, {120, 6}, Generator(3));
  CHECK(Dataset(rows, other).settings() != Dataset(rows.reshape({120, 2, 3}), other).settings());

  // The same fields, another function: only its loss tells.
  const Dataset values = values_data();
  const std::string conv = folder.path("conv");
  take<ConvNet>(values, recipe(10), conv, 6);
  const auto with_relu = [&](bool accept) {
    ConvNet model(Generator(1), true);
    Run run(values, subject_of(model), recipe(10), {.folder = conv, .accept_changes = accept, .save_interval = 4});
    return run.steps();
  };
  const std::string text = refusal([&] { with_relu(false); });
  CHECK(text.find("step-00000006.safetensors had the loss ") != std::string::npos);
  CHECK(text.find(" on a fixed batch, and now it is ") != std::string::npos);
  CHECK(text.find(std::string("(") + version() + " then, ") != std::string::npos);
  CHECK(with_relu(true) == 6);
}

TEST_CASE("Run: each of twelve changes between two halves is refused by name") {
  const TempFolder folder;
  const std::string path = folder.path("run");
  const IntArray ids = randint(0, 5, {120, 6}, Generator(3));
  const auto data = [&](const IntArray& rows, Index last_class = 0) {
    IntArray classes({rows.shape()[0]});
    classes.mutate()[rows.shape()[0] - 1] = last_class;
    return Dataset(rows, classes, 0.2, "zeros");
  };
  take<Encoder>(data(ids), recipe(10), path, 6);

  const auto refused = [&](const std::string& name, const Dataset& now, const Recipe& r, const RunOptions& options) {
    RunOptions here = options;
    here.folder = path;
    here.save_interval = 4;
    Encoder model(Generator(1));
    const std::string said = error_of([&] { Run(now, subject_of(model), r, here); });
    CHECK_MESSAGE(said.find(name) != std::string::npos, said);
    CHECK_MESSAGE(said.find(path) != std::string::npos, said);
  };
  const Recipe r = recipe(10);
  IntArray one_id = ids.contiguous();
  one_id.mutate()[119 * 6 + 5] = (one_id.values()[119 * 6 + 5] + 1) % 5;
  refused("data_crc32", data(one_id), r, {});
  refused("data_crc32", data(ids, 2), r, {});
  refused("inputs [120, 6] (here [119, 6])", data(ids.slice(0, 0, 119)), r, {});
  refused("seed 1 (here 2)", data(ids), r, {.seed = 2});
  const auto with = [&](const std::string& name, const auto& change) {
    Recipe changed = recipe(10);
    change(changed);
    refused(name, data(ids), changed, {});
  };
  with("batch_size 8 (here 9)", [](Recipe& x) { x.batch_size = 9; });
  with("learning_rate 0.01 (here 0.02)", [](Recipe& x) { x.learning_rate = 0.02; });
  with("optimizer adamw (here sgd)", [](Recipe& x) { x.optimizer = OptimizerKind::sgd; });
  with("schedule constant (here cosine)", [](Recipe& x) { x.schedule = ScheduleKind::cosine; });
  with("weight_decay", [](Recipe& x) { x.weight_decay = 0; });
  with("grad_clip", [](Recipe& x) { x.grad_clip = 2; });
  with("ema_decay", [](Recipe& x) { x.ema_decay = 0.9; });
  with("beta2", [](Recipe& x) { x.beta2 = 0.95; });
  with("steps, which is more than max_iters 5", [](Recipe& x) { x.max_iters = 5; });
}

TEST_CASE("Run: a signal is heard while questions are answered; the run ends in the same files later") {
  const TempFolder folder;
  const Dataset data = ids_data();
  to_the_end<Encoder>(data, recipe(7), folder.path("whole"));
  const std::string path = folder.path("stopped");
  {
    Encoder model(Generator(1));
    Run run(data, subject_of(model), recipe(7), {.folder = path, .save_interval = 4});
    const StopSignal stop;
    const bool ended = run.train(std::function<bool(const RunEvent&)>([](const RunEvent& event) {
      const auto* const step = std::get_if<StepReport>(&event);
      if (step && step->step == 6) std::raise(SIGTERM);  // the last step is done, the questions are not asked
      return true;
    }));
    CHECK(!ended);
    CHECK(!run.ending());
    CHECK(run.steps() == 7);
  }
  write_report(path);
  CHECK(get_file(path + "/report.html").find("stopped after") != std::string::npos);
  to_the_end<Encoder>(data, recipe(7), path);
  check_same_files(folder.path("whole"), path);
}

TEST_CASE("Run: step() does one thing after the other, and says what happened") {
  const TempFolder folder;
  Encoder model(Generator(1));
  const Dataset data = ids_data();
  Run run(data, subject_of(model), recipe(6), {.folder = folder.path("run"), .save_interval = 4});
  std::string told;
  Index calls = 0;
  for (; run.step(); ++calls)
    for (const RunEvent& event : run.events()) told += "SLCWE"[event.index()];
  CHECK(told == "LSSSSCSLCSCLE");  // L: a look, S: a step, C: a checkpoint, E: the end
  CHECK(calls == 8);
  CHECK(!run.step());
  CHECK(run.events().empty());
  CHECK(run.ending());
}

/// A config whose names are those of a run's options.
struct Sized : Layer<Sized> {
  struct Config {
    Index batch_size = 3, seed = 4, keep = 5;
    template <class V>
    void visit(V& v) {
      v("batch_size", batch_size, "");
      v("seed", seed, "");
      v("keep", keep, "");
    }
  } config;
  Linear out;
  explicit Sized(const Init& init) : out(4, 3, init) {}
  Tensor forward(const Tensor& x) const { return out(mean(x, {1})); }
  void visit(Visitor& v) override { v("out", out); }
};

TEST_CASE("Run: a model's config may use any name") {
  const TempFolder folder;
  const Dataset data = values_data();
  for (const Index seed : {4, 6}) {
    Sized model(Generator(1));
    model.config.seed = seed;
    const std::string text = error_of([&] { Run(data, subject_of(model), recipe(3), {.folder = folder.path("r")}); });
    CHECK(text.starts_with(seed == 4 ? "(no error)" : "the run in " + folder.path("r") + " has seed 4 (here 6): "));
  }
}

}  // namespace
}  // namespace mote::test::any_model_test
