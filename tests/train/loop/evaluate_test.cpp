// Evaluation in the middle of a training: the mean of fixed batches, and that the run goes on as if nothing had been.
#include "train/loop/evaluate.h"

#include "engine/ops/ops.h"
#include "nn/dropout.h"
#include "nn/linear.h"
#include "tests/sentences.h"
#include "tests/tools.h"
#include "train/loop/fit.h"
#include "train/optim/sgd.h"

namespace mote::test::evaluate_test {
namespace {

/// Drops in training, and draws in evaluation, too, as some layers of users do.
struct Noisy : Layer<Noisy> {
  Linear linear;
  Dropout dropout;
  explicit Noisy(const Generator& random) : linear(4, 3, random), dropout(0.3, random) {}
  Tensor forward(const Tensor& x) const {
    const Tensor y = dropout(linear(x));
    const Array noise = randn(y.shape(), dropout.random).array();
    return y + noise;
  }
  void visit(Visitor& v) override {
    v("linear", linear);
    v("dropout", dropout);
  }
};

/// The weights after six steps, interrupted by a look at other data after every `every` (0: never).
Array trained(Index every, std::vector<double>* seen = nullptr) {
  const Generator random(3);
  Noisy m(random);
  m.dropout.train(false);  // a mode of its own
  const Tensor x = random_array({5, 4}, 1);
  const std::vector<Tensor> fixed{random_array({2, 4}, 2), random_array({2, 4}, 3)};
  SGD optimizer(all_parameters(m), {.lr = 0.1});
  fit(optimizer,
      [&](Index step) {
        m.dropout.train(step % 2 == 0);
        const Tensor y = m(x);
        return mean(y * y);
      },
      {.steps = 6, .on_step = [&](const StepReport& r) {
         if (every == 0 || (r.step + 1) % every != 0) return true;
         const bool before = m.dropout.training();
         const double loss = mean_loss(m, fixed, [&](const Tensor& batch) {
           CHECK(!m.training());
           CHECK(!m.dropout.training());
           const Tensor y = m(batch);
           CHECK(!y.requires_grad());
           return MeanLoss(mean(y * y), y.numel());
         });
         CHECK(m.training());
         CHECK(m.dropout.training() == before);
         CHECK(!NoGrad::active());
         if (seen) seen->push_back(loss);
         return true;
       }});
  return m.linear.weight.value();
}

TEST_CASE("mean_loss: evaluating changes no bit of the training") {
  std::vector<double> seen;
  const Array undisturbed = trained(0);
  CHECK(same_bits(trained(1, &seen), undisturbed));
  CHECK(seen.size() == 6);
  CHECK(same_bits(trained(4), undisturbed));
}

TEST_CASE("mean_loss: the mean over the batches; the state comes back after an error, too") {
  const Generator random(3);
  Noisy m(random);
  const GeneratorState start = random.get_state();
  const auto plain = [](double x) { return Tensor(static_cast<real>(x)); };
  CHECK(mean_loss(m, std::vector<double>{1, 2, 6}, [&](double x) { return MeanLoss(plain(x), 7); }) == 3);
  CHECK(mean_loss(m, std::vector<double>{6}, plain) == 6);
  REFUSES(mean_loss(m, std::vector<double>{1, 2}, plain));
  const auto empty = [](int) { return MeanLoss(Tensor(0), 0); };
  for (const std::vector<int>& batches : {std::vector<int>{}, {1, 3}}) REFUSES(mean_loss(m, batches, empty));
  const auto with = [&](Index count) {  // a mean over nothing is NaN, and weighs nothing
    return mean_loss(m, std::vector<Index>{2, count, 4}, [](Index n) {
      return MeanLoss(Tensor(n > 0 ? static_cast<real>(n) : std::numeric_limits<real>::quiet_NaN()), n);
    });
  };
  CHECK(with(3) == doctest::Approx((2 * 2 + 3 * 3 + 4 * 4) / 9.0));  // a MeanLoss weighs as much as it has terms
  CHECK(with(0) == doctest::Approx((2 * 2 + 4 * 4) / 6.0));
  REFUSES(with(-3));
  REFUSES(mean_loss(m, std::vector<int>{1}, [&](int) { return m(random_array({2, 4}, 1)); }));
  CHECK(random.get_state() == start);
  CHECK(m.training());
}

}  // namespace
}  // namespace mote::test::evaluate_test
