// Trains the smallest transformers that add ten-digit numbers. Many trainings start. The better half of them goes on,
// again and again, until one is left. L-BFGS finishes what AdamW cannot. The result is tested on the 10,010 sums of a
// public board (github.com/anadim/AdderBoard).
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
  // `starts` trainings begin. After every `round` steps the worse half of them ends. The last one goes on to `steps`
  // steps.
  Index starts, round, steps;
  double rate;
  int rounds;          // the largest number of rounds of L-BFGS
  double carries = 0;  // at first, the share of sums with many carries; it falls to 0 by half of all steps
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

/// Counts the rows in which every digit of the answer is predicted right. Each digit is predicted from the right
/// digits before it, and not from predicted ones. The count is the same if a model generates the answer, because up to
/// the first mistake both have the same digits.
Index right(const AdderModel& model, const IntArray& ids, const IntArray& answers) {
  const NoGrad no_grad;
  return static_cast<Index>(sum(min(tensor(argmax(model(ids), -1) == answers), {1})).item());
}

struct Start {
  AdderModel model;
  Generator random;
  AdamW optimizer{all_parameters(model), {.weight_decay = 0.01}};
  Index step = 0;
  double loss = 0;  // the mean over the last 200 steps
  Start(const AdderSizes& sizes, std::uint64_t seed) : model(sizes, Generator(seed)), random(seed + 1) {}

  void train(const Plan& r, Index end) {
    loss = 0;
    FitOptions options{.steps = end, .first_step = step};
    options.schedule = [&](Index i) { return r.rate * std::min(1.0, double(r.steps - i) / (0.4 * double(r.steps))); };
    options.on_step = [&](const StepReport& report) {
      loss += report.step >= end - 200 ? report.loss / 200 : 0;
      return true;
    };
    const auto loss_at = [&](Index i) {
      const double carries = r.carries * std::max(0.0, 1 - 2 * double(i) / double(r.steps));
      return loss_of(model, Adder10Task({.carries = carries}).batch(64, Split::train, random));
    };
    fit(optimizer, loss_at, options);
    step = end;
  }
};

/// Runs L-BFGS for up to `rounds` rounds, each on 2,048 new sums. Ends before a round if the model gets all of 20,000
/// other new sums right.
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
    Index size = 228, starts = 0;
    Seeds seeds{1, 1};
    double carries = 0;
    const std::string usage = "[228|122|62|56|52] [SEEDS: 1 or 1-10] [STARTS: up to 64, 0: usual] [CARRIES: 0 to 1]";
    read_words(argc, argv, usage, size, seeds, starts, carries);
    const Plan* const known = std::ranges::find(plans, size, &Plan::parameters);
    if (known == std::end(plans) || starts > 64 || !(carries <= 1)) throw UsageError("a word is none of " + usage);
    Plan r = *known;
    r.starts = starts > 0 ? starts : r.starts;
    r.carries = carries;
    const Adder10Task task;
    const Questions board = task.evaluation(10'010);
    const IntArray ids = concat({board.prompts, board.answers.slice(1, 0, 10)}, 1);
    std::printf("parameters  seed  of 10,010 right  seconds  to check  hash of the weights\n");
    const std::vector<double> reached = of_seeds(seeds, [&](Index seed) {
      const double begin = seconds_now();
      std::vector<std::unique_ptr<Start>> all;
      for (Index i = 0; i < r.starts; ++i)
        all.push_back(std::make_unique<Start>(r.sizes, static_cast<std::uint64_t>(1000 * seed + 2 * i)));
      for (; all.size() > 1; all.resize(all.size() / 2)) {
        parallel_for(std::ssize(all), 1, [&](Index from, Index to) {  // one training is too small for several threads
          for (Index i = from; i < to; ++i) all[i]->train(r, all[i]->step + r.round);
        });
        std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a->loss < b->loss; });
      }
      const Start& best = *all[0];
      all[0]->train(r, r.steps);
      polish(best.model, task, best.random, r.rounds);
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
