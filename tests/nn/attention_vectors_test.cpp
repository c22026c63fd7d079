// MultiHeadAttention against PyTorch's numbers: one input and three, with masks, with dropout.
#include <map>

#include "nn/multi_head_attention.h"
#include "tests/module_tools.h"
#include "tests/nn/oracles.h"
#include "tests/vectors.h"

namespace mote::test::attention_vectors_test {
namespace {

/// What mote was given and what it computed, under the names of tests/vectors/attention.txt.
using Noted = std::map<std::string, Array>;

void note(Noted& noted, const VectorFile& file, const std::string& name) {
  const auto given = [&](const std::string& part, const Shape& shape) {
    return noted[name + "/" + part] = file[name + "/" + part].array(shape);
  };
  const std::vector<real> sizes = given("sizes", {10}).to_vector();
  const auto size = [&](std::size_t i) { return static_cast<Index>(sizes[i]); };
  const Index B = size(0), Tq = size(1), Tk = size(2), C = size(3), H = size(4), kd = size(5), vd = size(6);
  const bool biased = size(7) == 1, self = size(8) == 1;
  Generator random(1);
  const MultiHeadAttention m(C, H, random, {.dropout = static_cast<double>(given("p", {}).item())},
                             {.bias = biased, .key_width = kd, .value_width = vd});
  const std::vector<std::pair<std::string, const Linear*>> projections{
      {"q", &m.q_proj}, {"k", &m.k_proj}, {"v", &m.v_proj}, {"o", &m.o_proj}};
  for (const auto& [letter, linear] : projections) {
    linear->weight.set(given("w" + letter, linear->weight.shape()));
    if (biased) linear->bias.set(given("b" + letter, {C}));
  }
  Tensor q = Tensor(given("q", {B, Tq, C})).requires_grad_(), k = q, v = q;
  if (!self) {
    k = Tensor(given("k", {B, Tk, kd})).requires_grad_();
    v = Tensor(given("v", {B, Tk, vd})).requires_grad_();
  }
  const Mask may = from_blocked(Tensor(given("blocked", {B, H, Tq, Tk})));
  m.attn_dropout.random.manual_seed(size(9));
  const AttentionOutput got = m.with_weights(q, k, v, may);
  got.output.backward(given("dy", {B, Tq, C}));
  noted[name + "/y"] = got.output.array();
  noted[name + "/weights"] = got.dropped_weights;
  noted[name + "/dq"] = q.grad();
  if (!self) {
    noted[name + "/dk"] = k.grad();
    noted[name + "/dv"] = v.grad();
  }
  for (const auto& [letter, linear] : projections) {
    noted[name + "/dw" + letter] = linear->weight.grad();
    if (biased) noted[name + "/db" + letter] = linear->bias.grad();
  }
}

TEST_CASE("MultiHeadAttention gives PyTorch's outputs, weights after dropout, and gradients of all that has one") {
  const VectorFile file("attention.txt");
  Noted noted;
  for (const char* name : {"self", "across", "masked"}) note(noted, file, name);
  compare_all(file, noted, [](const Vector& v, const Array& got) { check_near(v, got, 1e-6); });
}

}  // namespace
}  // namespace mote::test::attention_vectors_test
