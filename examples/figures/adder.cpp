// The smallest adders of ten digits, trained from nothing: of many starts the best half goes on, and goes on, until one
// is left; L-BFGS ends what AdamW cannot. Judged by the 10,010 sums of a public board (github.com/anadim/AdderBoard).
#include "examples/figures/adder.h"

#include <algorithm>
#include <memory>

#include "examples/figures/lbfgs.h"
#include "examples/figures/record.h"
#include "train/tasks/adder10.h"
#include "train/train.h"

using namespace mote;

namespace {

struct Plan {
  int parameters;
  AdderSizes sizes;
  int starts, round, steps;  // how many begin, after how many steps half of them end, and all steps of the last
  double rate;
  int rounds;  // of L-BFGS, at most
};
const Plan plans[] = {{228, {4, 2, 6}, 16, 1000, 8000, 0.01, 4},
                      {122, {3, 1, 3}, 32, 800, 12000, 0.03, 8},
                      {62, {3, 1, 2, true, true}, 64, 500, 10000, 0.02, 16},
                      {56, {3, 1, 2, true, true, true}, 64, 500, 10000, 0.02, 16},
                      {52, {3, 1, 2, true, true, true, true}, 64, 500, 10000, 0.02, 16}};
constexpr Index asked = AdderModel::first, end = AdderModel::length;

Tensor loss_of(const AdderModel& model, const Batch& sums) {
  return cross_entropy(model(sums.ids), sums.targets.slice(1, asked, end));
}

/// How many rows have every digit of the answer right, each after right ones: the same that answering digit by digit
/// gets right, for there the first wrong one spoils a row, too.
Index right(const AdderModel& model, const IntArray& ids, const IntArray& answers) {
  const NoGrad no_grad;
  Index all = 0;
  for (Index row = 0; row < ids.shape()[0]; row += 1001) {
    const Index last = std::min(row + 1001, ids.shape()[0]);
    const Tensor hits = tensor(eq(argmax(model(ids.slice(0, row, last)), -1), answers.slice(0, row, last)));
    all += static_cast<Index>(sum(min(hits, {1})).item());
  }
  return all;
}

struct Start {
  AdderModel model;
  Generator random;
  AdamW optimizer{all_parameters(model), {.weight_decay = 0.01}};
  Index step = 0;
  double loss = 0;  // the mean over the last steps
  Start(const AdderSizes& sizes, std::uint64_t seed) : model(sizes, Generator(seed)), random(seed + 1) {}

  void train(const Task& task, const Plan& r, Index end) {
    loss = 0;
    FitOptions options{.steps = end, .first_step = step};
    options.schedule = [&](Index i) { return r.rate * std::min(1.0, double(r.steps - i) / (0.4 * r.steps)); };
    options.on_step = [&](const StepReport& report) {
      loss += report.step >= end - 200 ? report.loss / 200 : 0;
      return true;
    };
    fit(
        optimizer, [&](Index) { return loss_of(model, task.batch(64, Split::train, random)); }, options);
    step = end;
  }
};

/// L-BFGS over 2,048 sums, then others, until of 20,000 that come next none is wrong.
void polish(const AdderModel& model, const Task& task, const Generator& random, int rounds) {
  for (; rounds > 0; --rounds) {
    const Batch test = task.batch(20'000, Split::train, random), sums = task.batch(2048, Split::train, random);
    if (right(model, test.ids, test.targets.slice(1, asked, end)) == 20'000) return;
    lbfgs(
        parameters(model), [&] { return loss_of(model, sums); }, 800);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    Index size = 228;
    std::optional<Index> given;
    Seeds seeds{1, 1};
    const std::string usage = "[228|122|62|56|52] [SEEDS: 1 or 1-10] [STARTS: 1 to 64]";
    read_words(argc, argv, usage, size, seeds, given);
    const Plan* r = nullptr;
    for (const Plan& plan : plans) r = plan.parameters == size ? &plan : r;
    const Index starts = given.value_or(r ? r->starts : 0);
    if (starts < 1 || starts > 64) throw UsageError("it is given " + usage);
    const Adder10Task task;
    const Questions board = task.evaluation(10'010);
    const IntArray ids = concat({board.prompts, board.answers.slice(1, 0, 10)}, 1);
    std::printf("parameters  seed  of 10,010 right  seconds  to check  hash of the weights\n");
    const std::vector<double> reached = of_seeds(seeds, [&](Index seed) {
      const double begin = seconds_now();
      std::vector<std::unique_ptr<Start>> all;
      for (Index i = 0; i < starts; ++i)
        all.push_back(std::make_unique<Start>(r->sizes, static_cast<std::uint64_t>(1000 * seed + 2 * i)));
      for (; all.size() > 1; all.resize(all.size() / 2)) {
        for (const auto& start : all) start->train(task, *r, start->step + r->round);
        std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a->loss < b->loss; });
      }
      Start& best = *all[0];
      best.train(task, *r, r->steps);
      polish(best.model, task, best.random, r->rounds);
      const double trained = seconds_now();
      const Index good = right(best.model, ids, board.answers);
      std::printf("%10d %5d %16d %8.0f %9.2f  %016llx\n", static_cast<int>(parameter_count(best.model)),
                  static_cast<int>(seed), static_cast<int>(good), trained - begin, seconds_now() - trained,
                  hash_of(parameters(best.model)));
      return good == 10'010 ? 1.0 : 0.0;
    });
    const auto whole = std::count(reached.begin(), reached.end(), 1);
    std::printf("%d of %d seeds have all sums right\n", static_cast<int>(whole), static_cast<int>(reached.size()));
    return 0;
  });
}
