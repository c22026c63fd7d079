// Checks 40: evaluate cheaply.

// hint: At the beginning: const NoGrad no_grad; const Evaluation evaluation(model); both end with the function.
// hint: Per batch: total += cross_entropy(model(x), classes).item() * classes.numel(), and count += classes.numel().
// why: A graph keeps the arrays that backward() needs. So a loss that has a graph keeps all arrays of its batch.
// why: item() returns a number without a graph, so even a sum over a thousand batches keeps no graph alive.
// why: mote's mean_loss (train/loop/evaluate.h) does this and restores random streams, so later steps stay the same.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Examples = std::pair<Tensor, IntArray>;
using Evaluate = double(Sequential& model, const std::vector<Examples>& batches);

enum Kind { none, unweighted, undivided, of_batches, drops, kept, records, left, trains };
/// The mean loss, with the mistake `kind`. Uses eval() and train() instead of Evaluation.
template <Kind kind>
static double evaluated(Sequential& model, const std::vector<Examples>& batches) {
  const bool training = model.training();
  if (kind != drops) model.eval();
  std::optional<NoGrad> no_grad;
  if (kind != records && kind != kept) no_grad.emplace();
  Tensor total = 0;
  double count = 0;
  for (const auto& [x, classes] : batches) {
    const double n = kind == unweighted ? 1 : classes.numel();
    const Tensor loss = cross_entropy(model(x), classes) * n;
    total = total + (kind == kept ? loss : loss.detach());
    count += kind == of_batches ? 1 : n;
  }
  if (kind != left) model.train(training || kind == trains);
  return total.item() / (kind == undivided ? 1 : count);
}

/// A layer that returns x as it is, and notes at each call whether graphs are recorded and how many graph nodes are
/// alive.
struct Notes : Layer<Notes> {
  static inline bool recorded;
  static inline std::vector<Index> nodes;  // the number of graph nodes alive at each call
  Tensor forward(const Tensor& x) const {
    recorded = recorded || !NoGrad::active();
    nodes.push_back(live_nodes());
    return x;
  }
  void visit(Visitor&) override {}
};

static void check(Evaluate evaluate) {
  const Tensor x = randn({12, 3}, Generator(1));
  const IntArray classes = randint(0, 4, {12}, Generator(2));
  std::vector<Examples> batches;
  for (const auto& [from, to] : {std::pair(0, 5), {5, 9}, {9, 11}, {11, 12}})
    batches.emplace_back(slice(x, 0, from, to), classes.slice(0, from, to));
  for (const bool training : {true, false}) {
    const auto made = [training] {
      const Generator random(1);
      Sequential model{Notes(), Linear(3, 8, random), Tanh(), Dropout(0.4, random), Linear(8, 4, random)};
      model.train(training);
      return model;
    };
    Sequential model = made(), whole = made();
    whole.eval();
    const double right = cross_entropy(whole(x), classes).item();  // the loss of all batches as one
    Notes::recorded = false;
    Notes::nodes.clear();
    expect_close("The mean loss of all examples", evaluate(model, batches), right);
    expect(Notes::nodes.size() == batches.size(), "Call the model once for each batch.");
    expect(Notes::nodes[3] == Notes::nodes[1], "graphs kept");
    expect(!Notes::recorded, "records");
    expect(model.training() == training, "another mode");
    const auto& [first, of_first] = batches[0];
    expect_close("The mean loss of the first batch alone, asked next,", evaluate(model, {batches[0]}),
                 cross_entropy(whole(first), of_first).item());
  }
}

static const Row<Evaluate> rows[] = {
    {"mean of means", "This is the mean of the batches' means: the examples of a small batch count more than others.",
     evaluated<unweighted>},
    {"another divisor", "Divide the sum of all losses by the number of examples.", evaluated<undivided>,
     evaluated<of_batches>},
    {"dropout", "Dropout still drops: only in evaluation mode does the whole network answer.", evaluated<drops>},
    {"graphs kept", "The graphs of all batches are alive until the end: add up numbers by item(), not Tensors.",
     evaluated<kept>},
    {"records", "The number is right, but each batch records a graph that nobody needs: NoGrad prevents it.",
     evaluated<records>},
    {"another mode",
     "Afterwards the model has to be in the mode in which it was: a training would go on without dropout, or an "
     "evaluation with it.",
     evaluated<left>, evaluated<trains>},
    {"hard-coded", of_example, [](Sequential&, const std::vector<Examples>&) { return 1.25; }},
};
static const Table table(check, rows);

#ifdef PROVE
namespace solution {
double loss_over(Sequential& model, const std::vector<Examples>& batches) {
  const NoGrad no_grad;
  const Evaluation evaluation(model);
  double total = 0, count = 0;
  for (const auto& [x, classes] : batches) {
    total += cross_entropy(model(x), classes).item() * classes.numel();
    count += classes.numel();
  }
  return total / count;
}
}  // namespace solution
static const Right right([] { check(solution::loss_over); }, [] { check(evaluated<none>); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(loss_over); }, YOURS, {"mean_loss"});
}
