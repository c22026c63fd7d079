// Finite numbers raise no floating-point exception, whatever their count: no 0 / 0 in lanes that are not there.

#include "tests/traps.h"
#include "engine/ops/ops.h"
#include "tests/tools.h"

namespace mote::test::traps_test {
namespace {

#ifdef FE_DIVBYZERO

void everything(Index n) {
  const Generator random(1);
  const auto leaf = [n](std::uint64_t seed) { return Tensor(random_array({3, n}, seed)).requires_grad_(); };
  const Tensor x = leaf(1), y = leaf(2), row = Tensor(random_array({n}, 3)).requires_grad_();
  const Tensor positive = Tensor(random_array({3, n}, 4, 0.5, 2)).requires_grad_();
  const auto check_clean = [n](const char* what, const auto& f) {
    INFO(std::string(what) << ", n = " << n << ", " << std::string(kernels::table().name));
    CHECK(raised([&] { f().backward(Array::full(f().shape(), 1)); }) == 0);
  };
#define CLEAN(...) check_clean(#__VA_ARGS__, [&] { return __VA_ARGS__; })
  CLEAN(div(x, positive));
  CLEAN(x / 3);
  CLEAN(3 / positive);
  CLEAN(div(x, reshape(positive, {3, n}) + row * row));
  CLEAN(mean(x));
  CLEAN(mean(x, 0));
  CLEAN(mean(x, 1));
  CLEAN(var(x, 0));
  CLEAN(pow(positive, 0.3));
  CLEAN(pow(positive, y));
  CLEAN(pow(zeros({3, n}) * x, 2.5));
  CLEAN(log(positive));
  CLEAN(sqrt(positive));
  CLEAN(exp(x));
  CLEAN(sin(x));
  CLEAN(cos(x));
  CLEAN(abs(x));
  CLEAN(tanh(x));
  CLEAN(sigmoid(x));
  CLEAN(relu(x));
  CLEAN(gelu(x));
  CLEAN(gelu(x, GeluForm::tanh));
  CLEAN(silu(x));
  CLEAN(softmax(x));
  CLEAN(softmax(x, 0));
  CLEAN(masked_softmax(x, x > Tensor(0)));
  CLEAN(log_softmax(x));
  CLEAN(softmax(x - 1e30));  // lanes that are not there lie above the largest element
  CLEAN(log_softmax(x - 1e30));
  CLEAN(masked_softmax(x * 1e30, x < Tensor(0)));  // so do elements that are not kept
  CLEAN(layer_norm(x, row, row));
  CLEAN(rms_norm(x, row));
  CLEAN(max(x, {1}));
  CLEAN(max(x, 1).values);
  CLEAN(min(x, {0}));
  CLEAN(maximum(x, y));
  CLEAN(clamp(x, -1, 1));
  CLEAN(matmul(x, transpose(y, 0, 1)));
  CLEAN(linear(x, y, Tensor()));
  CLEAN(mse_loss(x, y));
  CLEAN(dropout(x, 0.4, random));
  CLEAN(attention(x, y, y));
  CLEAN(attention(x, y, y, {.causal = true}));
  CLEAN(attention(x * 1e15, x, y, {.causal = true}));  // and keys that are not seen
  CLEAN(attention(x, y, y, {.mask = mask({{true, false, true}, {false, false, false}, {true, true, true}})}));
  CLEAN(attention(slice(x, 0, 0, 1), zeros({0, n}), zeros({0, n})));
  CLEAN(cross_entropy(x, IntArray({3}), {.label_smoothing = 0.1}));
  CLEAN(cross_entropy(x - 1e30, IntArray({3})));
#undef CLEAN
}

TEST_CASE("traps: no op raises one on finite numbers") {
  on_all_hardware({1}, [&] {
    for (const Index n : {1, 2, 3, 5, 8, 15, 16, 17, 31, 40}) everything(n);
  });
}

#endif  // FE_DIVBYZERO

}  // namespace
}  // namespace mote::test::traps_test
