// Attention layers against PyTorch's numbers: one input and three, with masks, with dropout.
#include <map>

#include "nn/multi_head_attention.h"
#include "nn/self_attention.h"
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
  const Attended got = m.with_weights(q, k, v, may);
  got.output.backward(given("dy", {B, Tq, C}));
  noted[name + "/y"] = got.output.array();
  noted[name + "/weights"] = got.dropped_weights;
  noted[name + "/dq"] = q.grad();
  if (!self) noted[name + "/dk"] = k.grad(), noted[name + "/dv"] = v.grad();
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

/// Weights as waves: equal to those given to PyTorch below.
void set_waves(const SelfAttention& m) {
  m.c_attn.weight.set(wave({12, 4}, 0.7, 0.1));
  m.c_attn.bias.set(wave({12}, 0.3, 0.2));
  m.c_proj.weight.set(wave({4, 4}, 1.3, 0.4));
  m.c_proj.bias.set(wave({4}, 0.9, 0.6));
}

TEST_CASE("SelfAttention gives PyTorch's output and weights") {
  // s(n, a, b) = torch.tensor([math.sin(a * i + b) for i in range(n)]); x = s(12, 1, .5).view(3, 1, 4)
  // F.multi_head_attention_forward(x, x, x, 4, 2, s(48, .7, .1).view(12, 4), s(12, .3, .2), None, None, False, 0.,
  //     s(16, 1.3, .4).view(4, 4), s(4, .9, .6), True, None, True, mask, average_attn_weights=False)   [float64]
  // mask = None, then torch.triu(torch.ones(3, 3), 1).bool()
  const std::vector<double> outputs[2] = {
      {1.64801906206305, 0.345285559405491, -1.01905538776045, -1.09335666510875, 0.256144772999569, -0.231210085832433,
       -0.167376740149048, 0.28119027012218, 1.17896816193294, 0.778609489668209, -0.143965516827377,
       -0.706692208534986},
      {1.72594914929227, 1.82149566476995, 0.286272614420991, -1.34643090939876, 0.274425969215707, -0.20143777764607,
       -0.157760290908378, 0.260428895511752, 1.17896816193294, 0.778609489668209, -0.143965516827377,
       -0.706692208534986}};
  const std::vector<double> weights[2] = {
      {0.0441707257100873, 0.921735522192538, 0.0340937520973751, 0.0633619062644486, 0.866870371991832,
       0.0697677217437196, 0.660932637731298, 9.2239070253367e-05, 0.338975123198448, 0.710063970562201,
       0.149488431152361, 0.140447598285438, 0.000579333342968259, 0.974649997771372, 0.02477066888566,
       0.994594383245899, 0.000212201458532588, 0.0051934152955682},
      {1, 0, 0, 0.0681140697280688, 0.931885930271931, 0, 0.660932637731298, 9.2239070253367e-05, 0.338975123198448, 1,
       0, 0, 0.00059404831713407, 0.999405951682866, 0, 0.994594383245899, 0.000212201458532588, 0.0051934152955682}};
  for (const std::size_t is_causal : {0u, 1u}) {
    Generator random(1);
    const SelfAttention m(4, 2, random, {.causal = is_causal == 1});
    set_waves(m);
    const Attended got = with_weights(m, wave({1, 3, 4}, 1, 0.5));
    CHECK(got.weights.shape() == Shape{1, 2, 3, 3});
    CHECK(distance(got.output.to_vector(), outputs[is_causal]) < (f64 ? 1e-13 : 1e-5));
    CHECK(distance(got.weights.to_vector(), weights[is_causal]) < (f64 ? 1e-13 : 1e-5));
  }
}

}  // namespace
}  // namespace mote::test::attention_vectors_test
