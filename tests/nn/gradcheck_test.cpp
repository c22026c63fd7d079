// gradcheck of a module in one call: right and wrong layers, ids and masks, dropout, small gradients.
#include "nn/gradcheck.h"

#include "nn/nn.h"
#include "tests/sentences.h"
#include "tests/support.h"

namespace mote::test::gradcheck_test {
namespace {

/// down(x) + up(x), but the gradient of up's weight is off by `factor`.
struct Wrong : Layer<Wrong> {
  Linear down, up;
  real factor;
  Wrong(const Generator& random, double f) : down(3, 2, random), up(3, 2, random), factor(static_cast<real>(f)) {}
  Tensor forward(const Tensor& x) const {
    const Tensor y = down(x);
    return y + linear(x, wrong_gradient(up.weight, factor), up.bias);
  }
  void visit(Visitor& v) override { v("down", down), v("up", up); }
};

TEST_CASE("gradcheck of a module: right layers pass, with ids, masks and dropout, and nothing changes") {
  const Generator random(1);
  const Array x = random_array({2, 3, 4}, 2);
  const Linear linear_layer(4, 2, random);
  linear_layer.weight.set_grad(Array::full({2, 4}, 7));
  const Array before = linear_layer.weight.value();
  const GradcheckResult result = gradcheck(linear_layer, Tensor(x));
  CHECK_MESSAGE(result, result.text);
  CHECK(result.without_gradient.empty());
  CHECK(same_bits(linear_layer.weight.value(), before));
  CHECK(linear_layer.weight.grad().to_vector() == std::vector<real>(8, real(7)));
  CHECK(!linear_layer.bias.grad().defined());

  const auto passes = [](const GradcheckResult& r) { CHECK_MESSAGE(r.ok, r.text); };
  passes(gradcheck(LayerNorm(4), x));  // an Array is a tensor, too
  passes(gradcheck(Embedding(5, 3, random), ints({{1, 4, 1}})));
  const SelfAttention dropping(4, 2, random, {.dropout = 0.3});
  const GeneratorState state = random.get_state();
  passes(gradcheck(dropping, x, padding_mask({3, 2}, 3)));
  CHECK(random.get_state() == state);
  const MultiHeadAttention across(4, 2, random, {}, {.bias = false, .key_width = 3, .value_width = 3});
  passes(gradcheck(across, x, random_array({2, 5, 3}, 3), random_array({2, 5, 3}, 4)));
  const TransformerBlock block(4, 2, random, {.norm_order = NormOrder::post});
  passes(gradcheck(GradcheckOptions{.mode = GradcheckOptions::Mode::directional}, block, x));
}

TEST_CASE("gradcheck of a module: a wrong gradient is noticed, and its parameter is named") {
  const Generator random(1);
  const Array x = random_array({2, 3}, 2, 1, 2);
  const GradcheckResult wrong = gradcheck(Wrong(random, f64 ? 1.0001 : 1.25), x);
  CHECK(!wrong);
  CHECK_MESSAGE(wrong.text.starts_with("up.weight at ["), wrong.text);
  CHECK(gradcheck(Wrong(random, 1), x));
  const Wrong half(random, 1);
  half.up.weight.set_trainable(false);
  CHECK(gradcheck(half, x));  // frozen: not checked
  REFUSES((void)gradcheck(half, random_array({2, 4}, 1)));
}

TEST_CASE("gradcheck of a module: small gradients are checked as sharply, in double") {
  if (!f64) return;
  const Generator random(1);
  const Array tiny = random_array({2, 3}, 2, 1e-3, 2e-3);  // the gradients of the weights are as small
  CHECK(gradcheck(Wrong(random, 1), tiny));
  CHECK(!gradcheck(Wrong(random, 1.0001), tiny));
}

TEST_CASE("gradcheck of a module: an error in backward leaves the gradients as they were") {
  struct SendsNothing : Layer<SendsNothing> {
    Parameter weight = Parameter(Array::full({2}, 1));
    Tensor forward(const Tensor& x) const {
      Op op("sends nothing", x, weight);
      return op.record(x.array() * weight.value(), save(x.array()), [](const Array&, Grads&, const Array&) {});
    }
    void visit(Visitor& v) override { v("weight", weight); }
  };
  const SendsNothing layer;
  layer.weight.set_grad(Array::full({2}, 5));
  CHECK(error_of([&] { (void)gradcheck(layer, random_array({2}, 1)); }) != "(no error)");
  CHECK(layer.weight.grad().defined());
}

}  // namespace
}  // namespace mote::test::gradcheck_test
