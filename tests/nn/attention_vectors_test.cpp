// What is here: MultiHeadAttention against numbers of torch.nn.MultiheadAttention: across, with masks, with dropout.
// What is not: the numbers (../vectors/attention.txt), initial weights (init_vectors_test.cpp).
// Read next: attention_options_test.cpp.
#include "nn/attention.h"
#include "tests/tools.h"
#include "tests/vectors.h"

namespace mote::test {
namespace {

TEST_CASE("MultiHeadAttention gives PyTorch's outputs, weights after dropout, and gradients") {
  const VectorFile file("attention.txt");
  const double tolerance = 1e-6;
  for (const std::string name : {"self", "across", "masked"}) {
    CAPTURE(name);
    const auto size = [&](std::size_t i) { return static_cast<Index>(file[name + "/sizes"].number(i)); };
    const auto given = [&](const char* part, const Shape& shape) { return file[name + "/" + part].array(shape); };
    const Index B = size(0), Tq = size(1), Tk = size(2), C = size(3), H = size(4), kd = size(5), vd = size(6);
    const bool biased = size(7) == 1, self = size(8) == 1;
    Generator random(1);
    const MultiHeadAttention m(C, H, random,
                               {.bias = biased,
                                .dropout = file[name + "/p"].number(0),
                                .resid_dropout = 0,
                                .fused = false,
                                .key_width = kd,
                                .value_width = vd});
    m.q_proj->weight.set(given("wq", {C, C}));
    m.k_proj->weight.set(given("wk", {C, kd}));
    m.v_proj->weight.set(given("wv", {C, vd}));
    m.c_proj.weight.set(given("wo", {C, C}));
    if (biased) {
      m.q_proj->bias.set(given("bq", {C}));
      m.k_proj->bias.set(given("bk", {C}));
      m.v_proj->bias.set(given("bv", {C}));
      m.c_proj.bias.set(given("bo", {C}));
    }
    Tensor q = Tensor(given("q", {B, Tq, C})).requires_grad_(), k = q, v = q;
    if (!self) {
      k = Tensor(given("k", {B, Tk, kd})).requires_grad_();
      v = Tensor(given("v", {B, Tk, vd})).requires_grad_();
    }
    const Mask may = from_blocked(Tensor(given("blocked", {B, H, Tq, Tk})));
    m.attn_dropout.random.manual_seed(size(9));
    const Attended got = m.with_weights(q, k, v, may);
    check_near(file[name + "/y"], got.output.array(), tolerance);
    check_near(file[name + "/weights"], got.dropped_weights, tolerance);
    got.output.backward(given("dy", {B, Tq, C}));
    check_near(file[name + "/dq"], q.grad(), tolerance);
    if (!self) {
      check_near(file[name + "/dk"], k.grad(), tolerance);
      check_near(file[name + "/dv"], v.grad(), tolerance);
    }
    check_near(file[name + "/dwq"], m.q_proj->weight.grad(), tolerance);
    check_near(file[name + "/dwk"], m.k_proj->weight.grad(), tolerance);
    check_near(file[name + "/dwv"], m.v_proj->weight.grad(), tolerance);
    check_near(file[name + "/dwo"], m.c_proj.weight.grad(), tolerance);
  }
}

}  // namespace
}  // namespace mote::test
