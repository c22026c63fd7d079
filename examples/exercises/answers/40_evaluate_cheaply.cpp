// Checks 40: evaluate cheaply.

// hint: At the beginning: const NoGrad no_grad; const Evaluation evaluation(model); they end with the function.
// hint: Per batch: total += cross_entropy(model(x), classes).item() * classes.numel(), and count += classes.numel().
// why: A graph holds what its rules need: as long as a loss with one lives, so does all that its batch has computed.
// why: item() gives a number that knows nothing of its graph: with it a sum over a thousand batches stays small.
// why: mote's mean_loss (train/loop/evaluate.h) does this, and puts random streams back, too, so that no step changes.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Examples = std::pair<Tensor, IntArray>;
using Evaluate = double(Sequential& model, const std::vector<Examples>& batches);
enum Mistake { none, unweighted, undivided, drops, kept, records, left, trains, constant };
static const std::map<Mistake, std::string> sentences = {
    {unweighted, "This is the mean of the batches' means: the examples of a small batch count more than others."},
    {undivided, "This is the sum of all losses: divide it by the number of examples."},
    {drops, "Dropout still drops: only in evaluation mode does the whole network answer."},
};

/// A layer that does nothing but note how it is called.
struct Notes : Layer<Notes> {
  static inline bool recorded;
  static inline std::vector<Index> nodes;  // alive at the beginning of each batch
  Tensor forward(const Tensor& x) const {
    recorded = recorded || !NoGrad::active();
    nodes.push_back(live_nodes());
    return x;
  }
  void visit(Visitor&) override {}
};

/// Rightly, or with a mistake, by what Evaluation is made of: eval() and train().
static double evaluated(Sequential& model, const std::vector<Examples>& batches, Mistake mistake) {
  if (mistake == constant) return 1.25;
  const bool training = model.training();
  if (mistake != drops) model.eval();
  std::optional<NoGrad> no_grad;
  if (mistake != records && mistake != kept) no_grad.emplace();
  Tensor total = 0;
  double count = 0;
  for (const auto& [x, classes] : batches) {
    const double n = mistake == unweighted ? 1 : classes.numel();
    const Tensor loss = cross_entropy(model(x), classes) * n;
    total = total + (mistake == kept ? loss : loss.detach());
    count += n;
  }
  if (mistake != left) model.train(training || mistake == trains);
  return total.item() / (mistake == undivided ? 1 : count);
}

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
    const double right = cross_entropy(whole(x), classes).item();  // all batches as one
    Notes::recorded = false, Notes::nodes.clear();
    const double got = evaluate(model, batches);
    const auto [recorded, nodes] = std::pair(Notes::recorded, Notes::nodes);  // before the others below are noted, too
    for (const auto& [mistake, sentence] : sentences) {
      Sequential fresh = made();
      if (training) expect_not(got, evaluated(fresh, batches, mistake), sentence);
    }
    expect_close("The mean loss of all examples", got, right);
    expect(nodes.size() == batches.size(), "Call the model once for each batch.");
    expect(nodes[3] == nodes[1],
           "The graphs of all batches are alive until the end: add up numbers, by item(), not Tensors.");
    expect(!recorded, "The number is right, but each batch records a graph that nobody needs.");
    expect(model.training() || !training,
           "Afterwards the model is still in evaluation mode: the training would go on without dropout.");
    expect(!model.training() || training, "The model was in evaluation mode before, but now it is in training mode.");
  }
}

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

template <Mistake mistake>
void wrongly() {
  check([](Sequential& model, const std::vector<Examples>& batches) { return evaluated(model, batches, mistake); });
}
static const Tried tried[] = {
    {"solution", "", [] { check(solution::loss_over); }},
    {"by modes", "", wrongly<none>},
    {"mean of means", "mean of the batches' means", wrongly<unweighted>},
    {"sum", "sum of all losses", wrongly<undivided>},
    {"dropout", "Dropout still drops", wrongly<drops>},
    {"adds up graphs", "alive until the end", wrongly<kept>},
    {"records", "records a graph", wrongly<records>},
    {"stays in evaluation", "still in evaluation mode", wrongly<left>},
    {"always trains", "was in evaluation mode before", wrongly<trains>},
    {"hard-coded", "The mean loss of all examples", wrongly<constant>},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(loss_over); }, YOURS, {"mean_loss"});
}
