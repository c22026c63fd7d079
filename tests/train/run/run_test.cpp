// Run: models that mote does not have, on data of their own: trained, stopped, resumed, reported; what it refuses.
#include "train/run/run.h"

#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "engine/base/number_text.h"
#include "engine/ops/ops.h"
#include "nn/nn.h"
#include "tests/sentences.h"
#include "tests/temp_folder.h"
#include "tests/tools.h"
#include "train/report/report.h"
#include "train/run/dataset.h"

namespace mote::test::run_test {
namespace {

/// Classifies points of the plane; with dropout, so that a run also has a stream of its layers to keep.
struct Net : Layer<Net> {
  Linear in, out;
  Dropout drop;
  explicit Net(const Init& init) : in(2, 16, init), out(16, 3, init), drop(0.1, init.random()) {}
  Tensor forward(const Tensor& x) const { return out(drop(tanh(in(x)))); }
  void visit(Visitor& v) override {
    v("in", in);
    v("out", out);
    v("drop", drop);
  }
};

/// Points of three clouds, and which each is of.
Dataset clouds() {
  const Generator random(7);
  Array x = randn({300, 2}, random).array();
  IntArray y({300});
  for (Index i = 0; i < 300; ++i) {
    y.mutate()[i] = i % 3;
    x.mutate()[2 * i + i % 3 % 2] += real(i % 3 == 0 ? -3 : 3);
  }
  return Dataset(x, y, 0.2, "clouds");
}

Recipe recipe() {
  Recipe r;
  r.max_iters = 30;
  r.batch_size = 16;
  r.learning_rate = 0.02;
  r.warmup_iters = 3;
  r.eval_interval = 10;
  r.ema_decay = 0.9;
  return r;
}

std::string newest_bytes(const std::string& folder) { return get_file(newest_checkpoint(folder)); }

TEST_CASE("Run: a model and data of one's own, stopped at any step and resumed, ends in the same bytes") {
  const TempFolder folder;
  const Dataset data = clouds();
  Net straight(Generator(1));
  std::optional<Run> kept(std::in_place, data, subject_of(straight), recipe(),
                          RunOptions{.folder = folder.path("a"), .save_interval = 7});
  Run& run = *kept;
  std::ostringstream told;
  CHECK(run.train([&](const RunEvent& r) { told << r << "\n"; }, 10));
  CHECK(run.steps() == 30);
  REQUIRE(run.ending()->answers);
  CHECK(run.ending()->answers->total == 60);
  CHECK(run.ending()->answers->fraction() > 0.9);
  const Index right = run.ending()->answers->exact;
  write_report(run);
  kept.reset();  // and its lock
  CHECK(told.str().starts_with("evaluation after 0 steps: held-out loss "));
  CHECK(told.str().find("\nstep 10/30 | loss ") != std::string::npos);
  CHECK(told.str().find("\nevaluation after 30 steps: ") != std::string::npos);
  CHECK(told.str().find("exact match on 60 questions: ") != std::string::npos);
  for (const Index stop : {1, 9, 10, 29}) {
    const std::string path = folder.path("b" + std::to_string(stop));
    const RunOptions options{.folder = path, .save_interval = 7};
    {
      Net net(Generator(1));
      Run first(data, subject_of(net), recipe(), options);
      CHECK(!first.train(
          [&](const RunEvent& r) {
            const auto* const step = std::get_if<StepReport>(&r);
            return !step || step->step + 1 < stop;
          },
          1));
      CHECK((first.steps() == stop && !first.ending()));
    }
    Net other(Generator(99));  // whatever it is, the checkpoint's weights take its place
    Run second(data, subject_of(other), recipe(), options);
    CHECK(second.steps() == stop);
    CHECK(second.train([](const RunEvent&) {}));
    write_report(second);
    CHECK(newest_bytes(path) == newest_bytes(folder.path("a")));
    for (const char* const file : {"log.jsonl", "evaluations.jsonl", "best.safetensors", "report.html", "loss.svg"})
      CHECK_MESSAGE(get_file(path + "/" + file) == get_file(folder.path("a") + "/" + file), file, " after ", stop);
  }
  // One that is finished is only asked again.
  Net again(Generator(1));
  Run finished(data, subject_of(again), recipe(), {.folder = folder.path("a"), .save_interval = 7});
  const std::string before = get_file(folder.path("a") + "/log.jsonl");
  CHECK(finished.train([](const RunEvent&) {}));
  CHECK(get_file(folder.path("a") + "/log.jsonl") == before);
  CHECK(finished.ending()->answers->exact == right);
}

TEST_CASE("Run: after a step or an evaluation that failed, only a new Run of the folder goes on, to the same bits") {
  const TempFolder folder;
  const Dataset data = clouds();
  Net straight(Generator(1));
  {
    Run run(data, subject_of(straight), recipe(), {.folder = folder.path("a"), .save_interval = 7});
    run.train([](const RunEvent&) {});
  }
  for (const bool in_evaluation : {false, true}) {
    const std::string path = folder.path(in_evaluation ? "evaluation" : "step");
    Net net(Generator(1));
    Subject subject = subject_of(net);
    int calls = 0;
    const auto fails_once = [&calls](int call) {
      if (++calls == call) throw Error("no more data");
    };
    if (in_evaluation)
      subject.answer = [answer = subject.answer, fails_once](const Questions& q) mutable {
        fails_once(2);
        return answer(q);
      };
    else
      subject.loss = [loss = subject.loss, fails_once](const Batch& b) mutable {
        fails_once(13);
        return loss(b);
      };
    {
      Run run(data, subject, recipe(), {.folder = path, .save_interval = 7});
      CHECK(error_of([&] { run.train([](const RunEvent&) {}); }) == "no more data");
      REFUSES(run.save());
      REFUSES(run.step());
    }
    Run again(data, subject, recipe(), {.folder = path, .save_interval = 7});
    again.train([](const RunEvent&) {});
    CHECK(newest_bytes(path) == newest_bytes(folder.path("a")));
    for (const char* const file : {"log.jsonl", "evaluations.jsonl", "best.safetensors"})
      CHECK_MESSAGE(get_file(path + "/" + file) == get_file(folder.path("a") + "/" + file), file);
  }
  REFUSES(Run(data, Subject{}, recipe(), {}));
  Run run(data, subject_of(straight), recipe(), {});
  REFUSES(run.train(std::function<bool(const RunEvent&)>()));
}

TEST_CASE("Run: a kill between the last checkpoint and the removal of earlier ones leaves no file") {
  const TempFolder folder;
  const std::string path = folder.path("run");
  const Dataset data = clouds();
  const RunOptions options{.folder = path, .save_interval = 7};
  const auto train = [&] {
    Net net(Generator(1));
    Run run(data, subject_of(net), recipe(), options);
    CHECK(run.train([](const RunEvent&) {}));
  };
  train();
  const std::vector<std::string> names = checkpoint_names(path);
  for (const char* const left : {"/step-00000007.safetensors", "/step-00000016.safetensors"})  // old, and between
    put_file(path + left, get_file(path + "/" + names.back()));
  CHECK(checkpoint_names(path) != names);
  train();
  CHECK(checkpoint_names(path) == names);
}

TEST_CASE("Run: evaluating, keeping and watching change no bit of what is learned") {
  const Dataset data = clouds();
  const auto trained = [&](Index eval_interval, Index samples, const std::string& folder) {
    Net net(Generator(1));
    Recipe r = recipe();
    r.eval_interval = eval_interval;
    Run run(data, subject_of(net), r, {.folder = folder, .samples = samples});
    run.train([](const RunEvent&) {});
    return net.out.weight.value();
  };
  const TempFolder folder;
  const Array plain = trained(0, 0, "");
  CHECK(same_bits(trained(1, 5, ""), plain));
  CHECK(same_bits(trained(3, 1, folder.path("kept")), plain));
}

TEST_CASE("Run: a mistake is named by its row, of many questions, too") {
  Array x({400, 1}, std::vector<real>(400, 1));
  for (Index i = 0; i < 400; i += 2) x.mutate()[i] = -1;
  Linear sign(1, 2, Generator(1));
  sign.weight.set(Array({2, 1}, std::vector<real>{-1, 1}));
  int found = 0;
  for (Index row = 0; row < 400; row += 40) {
    IntArray y({400});
    for (Index i = 0; i < 400; ++i) y.mutate()[i] = (x.data()[i] > 0) != (i == row);
    const Dataset data(x, y, 0.9, "signs");
    Run run(data, subject_of(sign), {.max_iters = 1, .batch_size = 1, .learning_rate = 1e-9});
    run.train([](const RunEvent&) {});
    const Answers& all = *run.ending()->answers;
    CHECK(all.mistakes.size() == static_cast<std::size_t>(all.total - all.exact));
    for (const Answers::Mistake& m : all.mistakes) CHECK(m.question == "row " + std::to_string(row));
    found += static_cast<int>(all.mistakes.size());
  }
  CHECK(found > 6);
}

TEST_CASE("Run: what a folder has and what is wanted must be one run") {
  const TempFolder folder;
  const Dataset data = clouds();
  const auto begin = [&](const Recipe& r, RunOptions options, Index seed = 1) {
    Net net{Generator(seed)};
    Run run(data, subject_of(net), r, options);
    return run.train([](const RunEvent&) {});
  };
  const std::string path = folder.path("r");
  CHECK(begin(recipe(), {.folder = path}));
  Recipe other = recipe();
  other.learning_rate = 0.5;
  CHECK(
      error_of([&] { begin(other, {.folder = path}); }) ==
      "the run in " + path +
          " has learning_rate 0.02 (here 0.5): give the same, or choose another folder, or remove this one (max_iters "
          "and what says how often to look and to save may change)");
  CHECK(error_of([&] {
          begin(other, {.folder = path, .seed = 2});
        }).starts_with("the run in " + path + " has seed 1 (here 2), learning_rate 0.02 (here 0.5): "));
  CHECK(error_of([&] { begin(recipe(), {.folder = path, .fresh = true}); }).starts_with("there is a run in " + path));
  const Array x = randn({300, 2}, Generator(8)).array();
  Net net(Generator(1));
  CHECK(error_of([&] {
          const Dataset other_data(x, IntArray({300}, 2), 0.2, "clouds");
          Run(other_data, subject_of(net), recipe(), {.folder = path});
        }).starts_with("the run in " + path + " has data_crc32 "));  // other data of the same name
  Recipe shorter = recipe();
  shorter.max_iters = 20;
  CHECK(error_of([&] { begin(shorter, {.folder = path}); }) ==
        "the run in " + path + " has taken 30 steps, which is more than max_iters 20");
  Recipe longer = recipe();
  longer.max_iters = 40;
  longer.eval_interval = 7;
  CHECK(begin(longer, {.folder = path, .samples = 3, .keep = 1}));
  CHECK(newest_checkpoint(path).ends_with("step-00000040.safetensors"));
  REFUSES(begin(recipe(), {.seed = -1}));
  REFUSES(begin(recipe(), {.keep = 0}));
  put_file(folder.path("config.json"), "{}");
  CHECK(error_of([&] { begin(recipe(), {.folder = folder.path()}); }) ==
        folder.path() + " already has a config.json: choose another folder");
}

TEST_CASE("Run: every setting that differs is named at once, those that may change and new ones are not") {
  const auto checked = [](const Metadata& saved, const std::vector<SettingsGroup>& now) {
    const TempFolder folder;
    save_safetensors(folder.path("x"), {{"a", Array::zeros({1})}}, saved);
    return error_of([&] { check_settings(SafetensorsFile(folder.path("x")), now, "runs/r"); });
  };
  const std::vector<SettingsGroup> now{{"g", {{"seed", "1", "", ""}, {"keep", "3", "", "", {.may_change = true}}}},
                                       {"model", {{"seed", "5", "", ""}}}};
  CHECK(checked({{"settings.g.seed", "1"}, {"settings.g.keep", "5"}, {"settings.model.seed", "5"}}, now) ==
        "(no error)");
  CHECK(checked({{"settings.g.seed", "2"}, {"settings.g.colour", "red"}, {"settings.model.seed", "6"}}, now)
            .starts_with("the run in runs/r has colour red (here unknown), seed 2 (here 1), seed 6 (here 5): give "));
  CHECK(checked({}, now) == "(no error)");  // a new setting is what is wanted now
}

TEST_CASE("Run: a folder that is another's by now, a log that somebody cut, a pipe in a file's place") {
  const TempFolder folder;
  const Dataset data = clouds();
  Recipe r = recipe();
  const auto interfered = [&](const std::string& path, const std::function<void()>& interfere) {
    Net net(Generator(1));
    return error_of([&] {
      Run run(data, subject_of(net), r, {.folder = path, .save_interval = 5});
      run.train(
          [&](const RunEvent& report) {
            if (const auto* const step = std::get_if<StepReport>(&report); step && step->step == 12) interfere();
          },
          1);
      write_report(run);
    });
  };
  const std::string a = folder.path("a"), moved = folder.path("moved");
  CHECK(interfered(a, [&] {
          std::filesystem::rename(a, moved);
          Net net(Generator(2));
          Run(data, subject_of(net), r, {.folder = a, .seed = 2}).train([](const RunEvent&) {});
        }) == "cannot write into '" + a + "': it was moved or replaced since this run began");
  const std::string b = folder.path("b");
  CHECK(interfered(b, [&] {
          std::filesystem::resize_file(b + "/log.jsonl", 100);
        }).starts_with("somebody has changed '" + b + "/log.jsonl': it has "));
  const std::string c = folder.path("c");
  CHECK(interfered(c, [&] { ::mkfifo((c + "/report.html").c_str(), 0600); }) ==
        "cannot write '" + c + "/report.html': it is not a regular file");
}

/// A net that reads ids and one that gives values.
struct Counter : Layer<Counter> {
  Embedding table;
  Linear out;
  explicit Counter(const Init& init) : table(4, 8, init), out(8, 4, init) {}
  Tensor forward(const IntArray& ids) const { return out(sum(table(ids), {1})); }
  void visit(Visitor& v) override {
    v("table", table);
    v("out", out);
  }
};

TEST_CASE("run_stream: neither seeds nor purposes share a stream, nor does one of them draw as weights do") {
  std::set<std::uint32_t> seen;
  for (Index seed = 0; seed < 1000; ++seed) {
    seen.insert(static_cast<std::uint32_t>(Generator(seed).get_state().seed));
    for (const Draws what : {Draws::batches, Draws::held_out, Draws::example, Draws::samples, Draws::one_batch})
      seen.insert(static_cast<std::uint32_t>(run_stream(seed, what).get_state().seed));
  }
  CHECK(seen.size() == 6 * 1000);
}

TEST_CASE("Dataset: ids or values as inputs, classes or values as targets") {
  const Generator random(3);
  const IntArray ids = randint(0, 4, {200, 5}, random);
  IntArray ones({200});
  for (Index i = 0; i < 200; ++i)
    for (Index t = 0; t < 5; ++t) ones.mutate()[i] += ids.at({i, t}) == 1;
  for (Index i = 0; i < 200; ++i) ones.mutate()[i] = std::min<Index>(ones.at({i}), 3);
  const Dataset counts(ids, ones);
  Counter counter(Generator(1));
  Recipe r = recipe();
  r.max_iters = 300;
  r.ema_decay = 0;
  Run run(counts, subject_of(counter), r);
  CHECK(run.train([](const RunEvent&) {}));
  CHECK(run.ending()->answers->total == 20);
  CHECK(run.ending()->answers->fraction() > 0.9);

  const Array x = randn({100, 2}, random).array();
  const Dataset plane(x, sum(Tensor(x), {1}, true).array());
  Linear linear(2, 1, Generator(1));
  r.weight_decay = 0;
  r.eval_interval = 0;
  Run fitted(plane, subject_of(linear), r);
  CHECK(fitted.train([](const RunEvent&) {}));
  CHECK(!fitted.ending()->answers);
  CHECK(fitted.ending()->loss < 1e-3);
  CHECK(fitted.ending()->loss_of == "all that is held out");

  REFUSES(Dataset(x, ones));
  REFUSES(Dataset(x, x, 0.001));
  REFUSES(Dataset(x, IntArray({100}, -1)));
  REFUSES(Run(counts, subject_of(linear), r).train([](const RunEvent&) {}));
}

/// After id comes id + 1: logits at every position.
struct Successor : Layer<Successor> {
  Tensor forward(const IntArray& ids) const {
    Array y = Array::zeros({ids.shape()[0], ids.shape()[1], 5});
    for (Index n = 0; n < ids.shape()[0]; ++n)
      for (Index t = 0; t < ids.shape()[1]; ++t)
        y.mutate()[(n * ids.shape()[1] + t) * 5 + (ids.at({n, t}) + 1) % 5] = 1;
    return y;
  }
  void visit(Visitor&) override {}
};

TEST_CASE("subject_of: a model that gives logits of each position answers one symbol after the other") {
  Successor model;
  const Questions asked{ints({{0, 3}, {2, 1}}), IntArray({2, 3})};
  CHECK(equal(subject_of(model).answer(asked), ints({{4, 0, 1}, {2, 3, 4}})));
}

TEST_CASE("Run: health measures every layer every N steps, into log and report, and changes no bit") {
  const TempFolder folder;
  const Dataset data = clouds();
  std::map<Index, std::vector<std::vector<real>>> weights;
  std::vector<Array> before, after;  // of the weights of `in`, around the fourth step
  for (const Index every : {0, 2}) {
    Net model(Generator(1));
    Recipe r = recipe();
    r.max_iters = 5;
    const std::string path = folder.path(every ? "measured" : "plain");
    Run run(data, subject_of(model), r, {.folder = path, .health = every});
    run.train(
        [&](const RunEvent& report) {
          const StepReport* const step = std::get_if<StepReport>(&report);
          if (step && every == 0 && step->step == 2) before.push_back(copy_of(model.in.weight.value()));
          if (step && every == 0 && step->step == 3) after.push_back(copy_of(model.in.weight.value()));
        },
        1);
    write_report(run);
    for (const NamedParameter& p : named_parameters(model)) weights[every].push_back(p.parameter.value().to_vector());
  }
  CHECK(weights[0] == weights[2]);
  const std::vector<StepReport> plain = read_steps(folder.path("plain") + "/log.jsonl"),
                                measured = read_steps(folder.path("measured") + "/log.jsonl");
  REQUIRE((plain.size() == 5 && measured.size() == 5));
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(plain[i].layers.empty());
    CHECK(measured[i].loss == plain[i].loss);
    CHECK(measured[i].layers.size() == (i % 2 ? 4 : 0));
    CHECK(measured[i].updates.size() == (i % 2 ? 4 : 0));
  }
  CHECK(measured[3].layers[0].layer == "in");
  CHECK(measured[3].layers[0].result.deviation > 0);
  CHECK(measured[3].layers[0].gradient.deviation > 0);
  CHECK(measured[3].updates[0] == std::pair<std::string, double>("in.weight", update_ratio(before[0], after[0])));
  const std::string page = get_file(folder.path("measured") + "/report.html");
  const auto cells = [](const std::string& what, Index step, double value) {
    return "<td>" + what + "</td><td>" + std::to_string(step) + "</td><td>" + general_text(value, 3) + "</td>";
  };
  for (const Index step : {2, 4}) {
    const StepReport& r = measured[static_cast<std::size_t>(step - 1)];
    CHECK(page.find(cells("in", step, r.layers[0].result.mean)) != std::string::npos);
    CHECK(page.find(cells("in.weight", step, r.updates[0].second)) != std::string::npos);
  }
  CHECK(get_file(folder.path("plain") + "/report.html").find("<h2>Layers") == std::string::npos);
}

}  // namespace
}  // namespace mote::test::run_test
