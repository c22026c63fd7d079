// Checks 35: mend an evaluation that is a matter of luck.

// hint: Which layer draws random numbers, and when is it meant to draw?
// hint: const Evaluation evaluation(model); as the first line of loss_on() switches dropout off while loss_on() runs.
// why: Dropout makes training harder on purpose, but an evaluation asks how good the whole network is.
// why: eval() and NoGrad are independent: eval() changes the mode of layers, and NoGrad stops the recording of a graph.
// why: An Evaluation restores the mode of each layer at the end of its scope. After eval() you have to call train().
#include "examples/exercises/answers/check.h"

namespace of_check {
using Points = std::pair<Tensor, IntArray>;
using Train = std::vector<double>(Sequential& model, const Points& seen, const Points& others, int steps);

enum Kind { none, never_off, no_grad, off_for_good, off_at_once, p_is_0, layer_2_alone };
template <Kind kind>
static std::vector<double> train_with(Sequential& model, const Points& seen, const Points& others, int steps) {
  if (kind == off_at_once) model.eval();
  if (kind == p_is_0) model.at<Dropout>(2).p = 0;
  AdamW optimizer(all_parameters(model), {.lr = 0.01});
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    cross_entropy(model(seen.first), seen.second).backward();
    optimizer.step();
    const bool off = kind == none || kind == off_for_good || (kind == layer_2_alone && model.size() > 2);
    if (off) model.eval();
    std::optional<NoGrad> scope;
    if (kind == no_grad) scope.emplace();
    losses.push_back(cross_entropy(model(others.first), others.second).item());
    if (off && kind != off_for_good) model.train();
  }
  return losses;
}

/// A layer that returns x as it is, and notes whether NoGrad was active in any call.
struct NoticesNoGrad : Layer<NoticesNoGrad> {
  static inline bool seen;
  Tensor forward(const Tensor& x) const { return seen = seen || NoGrad::active(), x; }
  void visit(Visitor&) override {}
};

static void check(Train train) {
  const Points seen(randn({6, 2}, Generator(1)), ints({0, 1, 2, 0, 1, 2}));
  const Points others(randn({5, 2}, Generator(2)), ints({2, 2, 0, 1, 1}));
  const auto run = [&](Train f, Sequential model) { return tensor(f(model, seen, others, 5)); };
  const auto made = [] {
    const Generator random(3);
    return Sequential{Linear(2, 8, random), Tanh(), Dropout(0.3, random), Linear(8, 3, random), NoticesNoGrad()};
  };
  const Tensor lucky = run(train_with<never_off>, made()), right = run(train_with<none>, made());
  NoticesNoGrad::seen = false;
  Sequential model = made();
  const Tensor got = tensor(train(model, seen, others, 5));
  expect(model.at<Dropout>(2).p == 0.3, "p changed");
  expect(!close(got, lucky) || !NoticesNoGrad::seen, "NoGrad alone");
  expect_close("The row of losses on others, from the same weights and random numbers,", got, right);
  const auto early = [] { return Sequential{Dropout(0.3, Generator(4)), Linear(2, 3, Generator(5))}; };
  expect(close(run(train, early()), run(train_with<none>, early())), "one layer alone");
}

static const Row<Train> rows[] = {
    {"a matter of luck", "The loss on others is a matter of luck: with other random numbers it is another one.",
     train_with<never_off>},
    {"NoGrad alone", "NoGrad saves the graph, but it does not make the loss on others less a matter of luck.",
     train_with<no_grad>},
    {"off for good", "After the first evaluation dropout is off for good, and all later steps train without it.",
     train_with<off_for_good>},
    {"off at once", "Now dropout is off from the beginning, and the training goes without it.",
     train_with<off_at_once>},
    {"one layer alone",
     "With a model whose first layer is dropout, the losses are still a matter of luck: ask all of its layers.",
     train_with<layer_2_alone>},
    {"p changed", "You have changed p and so the training, which was right.", train_with<p_is_0>},
    {"hard-coded", of_example,
     [](Sequential&, const Points&, const Points&, int) {
       return std::vector<double>{0.445, 0.505, 0.423, 0.45, 0.484};
     }},
};
static const Table table(check, rows);

#ifdef PROVE
namespace solution {
double loss_on(Sequential& model, const Points& points) {
  const Evaluation evaluation(model);
  const NoGrad no_grad;  // changes no number, but avoids a graph that nobody needs
  const auto& [x, classes] = points;
  return cross_entropy(model(x), classes).item();
}

/// Trains on `seen`. Returns the loss on `others` after each step.
std::vector<double> train_with_dropout(Sequential& model, const Points& seen, const Points& others, int steps) {
  AdamW optimizer(all_parameters(model), {.lr = 0.01});
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    cross_entropy(model(seen.first), seen.second).backward();
    optimizer.step();
    losses.push_back(loss_on(model, others));
  }
  return losses;
}
}  // namespace solution
static const Right right([] { check(solution::train_with_dropout); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(train_with_dropout); });
}
