// Loops of one's own, stopped after any step and resumed: accumulated gradients, every optimizer, a DataLoader that is
// stopped within an epoch.
#include "models/gpt.h"
#include "tests/check_module.h"
#include "tests/file_calls.h"
#include "tests/sentences.h"
#include "tests/temp_folder.h"
#include "train/keep/checkpoint.h"
#include "train/keep/folder.h"
#include "train/loop/clip.h"
#include "train/loop/data_loader.h"
#include "train/loop/ema.h"
#include "train/loop/schedule.h"
#include "train/optim/adamw.h"
#include "train/optim/muon.h"
#include "train/optim/sgd.h"

namespace mote::test::resume_test {
namespace {

GPTConfig small() {
  GPTConfig c;
  c.block_size = 4;
  c.vocab_size = 5;
  c.n_layer = 1;
  c.n_head = 2;
  c.n_embd = 8;
  c.dropout = 0.25;
  return c;
}

/// Hundreds of files need not be on the disk.
class WithoutSync {
 public:
  WithoutSync() {
    calls_.sync = [](int) { return 0; };
    calls_.sync_folder = [](const char*) { return 0; };
    file_calls = &calls_;
  }
  ~WithoutSync() { file_calls = &system_file_calls; }
  WithoutSync(const WithoutSync&) = delete;

 private:
  FileCalls calls_ = system_file_calls;
};

using Make = std::unique_ptr<Optimizer> (*)(const Module&);
const std::pair<const char*, Make> optimizers[] = {
    {"SGD with momentum",
     [](const Module& m) -> std::unique_ptr<Optimizer> {
       return std::make_unique<SGD>(all_parameters(m), SGDOptions{.lr = 0.1, .momentum = 0.9});
     }},
    {"AdamW",
     [](const Module& m) -> std::unique_ptr<Optimizer> {
       return std::make_unique<AdamW>(decay_groups(m, 0.1), AdamWOptions{.lr = 0.01});
     }},
    {"Muon",
     [](const Module& m) -> std::unique_ptr<Optimizer> {
       return std::make_unique<Muon>(muon_groups(m, 0.1), MuonOptions{.lr = 0.01});
     }},
    {"Adam", [](const Module& m) -> std::unique_ptr<Optimizer> {
       return std::make_unique<Adam>(all_parameters(m), AdamOptions{.lr = 0.01});
     }}};

/// Somebody's own training: a shuffled data set of 22 rows in batches of 4, three of which make a step.
struct Run {
  Generator random{3};
  GPT model{small(), random};
  std::unique_ptr<Optimizer> optimizer;
  EMA ema;
  IntArray rows;
  DataLoader loader;
  DataLoader::Iterator batches;
  Index step = 0;
  double worst = -std::numeric_limits<double>::infinity();  // of a value that begins as no number a config may have
  std::vector<double> losses;
  Checkpoint checkpoint;

  Run(Make make, const DataLoaderOptions& options)
      : optimizer(make(model)),
        ema(model, {.decay = 0.75}),
        rows(randint(0, 5, {22, 5}, Generator(8))),
        loader(rows.shape()[0], options, random),
        batches(loader.begin()) {
    checkpoint.add("model", model);
    checkpoint.add("optimizer", *optimizer);
    checkpoint.add("ema", ema);
    checkpoint.add("random", random);
    checkpoint.add("batches", batches);
    checkpoint.add("step", step);
    checkpoint.add("worst", worst);
  }
  std::vector<Index> next_batch() {
    if (batches == loader.end()) batches = loader.begin();
    const std::vector<Index> batch = *batches;
    ++batches;
    return batch;
  }
  void train(Index end) {
    for (; step < end; ++step) {
      optimizer->zero_grad();
      double sum = 0;
      for (int micro = 0; micro < 3; ++micro) {
        const IntArray ids = take_rows(rows, next_batch());
        const Tensor loss = model.loss(ids.slice(1, 0, 4), ids.slice(1, 1, 5)) / 3;
        loss.backward();
        sum += static_cast<double>(loss.item());
      }
      clip_grad_norm(optimizer->parameters(), 0.2);
      optimizer->set_learning_rate(
          learning_rate(ScheduleKind::cosine, step, {.max_lr = 0.05, .warmup_steps = 2, .total_steps = 8}));
      optimizer->step();
      ema.update();
      worst = std::max(worst, sum);
      losses.push_back(sum);
    }
  }
};

TEST_CASE("resume: accumulated gradients, every optimizer, stopped within an epoch: the same bits") {
  const TempFolder folder;
  const WithoutSync fast;
  const DataLoaderOptions all[] = {
      {.batch_size = 4, .shuffle = true}, {.batch_size = 4, .shuffle = true, .drop_last = true}, {.batch_size = 4}};
  for (const auto& [optimizer, make] : optimizers)
    for (const DataLoaderOptions& options : all) {
      const std::string name = optimizer;
      Run whole(make, options);
      whole.train(8);
      whole.checkpoint.save(folder.path("whole"));
      for (Index stop = 0; stop <= 8; ++stop) {
        Run first(make, options);
        first.train(stop);
        first.checkpoint.save(folder.path("half"));
        Run second(make, options);
        second.train(2);  // anything: all of it is replaced
        second.losses = first.losses;
        second.checkpoint.load(folder.path("half"));
        second.train(8);
        second.checkpoint.save(folder.path("end"));
        CHECK(second.losses == whole.losses);
        CHECK_MESSAGE(get_file(folder.path("end")) == get_file(folder.path("whole")), name << " after " << stop);
      }
    }
}

TEST_CASE("resume: a DataLoader goes on with the very next batch, wherever its epoch was left") {
  const TempFolder folder;
  const WithoutSync fast;
  const std::string path = folder.path("loader");
  enum class Rows { in_order, shuffled, replaced };
  for (const bool generator : {false, true})
    for (const Rows rows : {Rows::in_order, Rows::shuffled, Rows::replaced})
      for (const Index size : {0, 1, 6, 7})
        for (int taken = 0; taken < 8; ++taken)
          for (const bool looked : {false, true}) {
            if (size == 0 && rows != Rows::in_order) continue;
            const auto options = [&](const Generator& random) {
              DataLoaderOptions o{.batch_size = 3};
              o.shuffle = rows == Rows::shuffled;
              o.replacement = rows == Rows::replaced;
              if (o.replacement) o.num_samples = 70;
              if (generator) o.generator = random;
              return o;
            };
            const auto rest = [](DataLoader& loader, DataLoader::Iterator& it, const Generator& random) {
              std::vector<std::vector<Index>> batches;
              for (int epoch = 0; epoch < 2; ++epoch, it = loader.begin())
                for (; it != loader.end(); ++it) batches.push_back(*it);
              batches.push_back(random.randperm(9));
              return batches;
            };
            Generator random(4);
            DataLoader loader(size, options(random), random);
            auto it = loader.begin();
            for (int i = 0; i < taken; ++i) ++it;
            if (looked) static_cast<void>(*it);
            Checkpoint save;
            save.add("random", random);
            save.add("batches", it);
            save.save(path);
            const auto expected = rest(loader, it, random);

            Generator other(77);
            DataLoader same(size, options(other), other);
            auto resumed = same.begin();
            ++resumed;
            Checkpoint load;
            load.add("random", other);
            load.add("batches", resumed);
            load.load(path);
            CHECK(rest(same, resumed, other) == expected);
          }
}

TEST_CASE("resume: another data set or batch size is refused, and so is a position that is none") {
  const TempFolder folder;
  const std::string path = folder.path("loader");
  Generator random(4);
  const auto saved = [&](Index size, const DataLoaderOptions& options, bool load) {
    const DataLoader loader(size, options, random);
    auto it = loader.begin();
    ++it;
    Checkpoint run;
    run.add("batches", it);
    load ? run.load(path) : run.save(path);
  };
  saved(10, {.batch_size = 4, .shuffle = true}, false);
  const std::string start = "checkpoint: " + path + " does not fit this run:";
  const auto refused = [&](Index size, const DataLoaderOptions& options) {
    return error_of([&] { saved(size, options, true); });
  };
  CHECK(refused(10, {.batch_size = 4, .shuffle = true}) == "(no error)");
  CHECK(refused(11, {.batch_size = 4, .shuffle = true}) ==
        start + "\n  'batches.dataset_size' is 10 in the file, but 11 in this run");
  CHECK(refused(10, {.batch_size = 5}) == start +
                                              "\n  'batches.batch_size' is 4 in the file, but 5 in this run"
                                              "\n  'batches.shuffle' is true in the file, but false in this run");
  for (const Index next : {-1, 11, 5}) {  // 5 without an order
    save_safetensors(path, {{"batches.order", IntArray({0})}, {"batches.rows", IntArray({0})}},
                     {{"mote.checkpoint", "1"},
                      {"mote.real", sizeof(real) == 8 ? "double" : "float"},
                      {"batches.dataset_size", "10"},
                      {"batches.batch_size", "4"},
                      {"batches.shuffle", "true"},
                      {"batches.drop_last", "false"},
                      {"batches.next", std::to_string(next)},
                      {"batches.fetched", "false"},
                      {"batches.finished", "false"}});
    const DataLoader loader(10, {.batch_size = 4, .shuffle = true}, random);
    auto it = loader.begin();
    Checkpoint run;
    run.add("batches", it);
    run.load(path);
    REFUSES(static_cast<void>(*it));
  }
}

}  // namespace
}  // namespace mote::test::resume_test
