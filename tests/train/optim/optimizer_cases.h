// The parameters and gradients that the optimizer tests and tests/vectors/optimizers.txt start from.
#pragma once

#include <cstring>
#include <functional>
#include <vector>

#include "models/gpt.h"
#include "train/optim/optimizer.h"

namespace mote::test {

using Groups = std::vector<ParameterGroup>;

inline Array made(const Shape& shape, const std::function<double(Index)>& f) {
  Array a = Array::empty(shape);
  real* const out = a.mutate();
  for (Index i = 0; i < a.numel(); ++i) out[i] = static_cast<real>(f(i));
  return a;
}
inline const std::vector<Shape> shapes{{1}, {3}, {17}, {5, 7}};
inline double start(Index k, Index i) { return (static_cast<double>((37 * i + 11 * k + 5) % 64) - 31.5) / 16; }
inline double gradient(Index s, Index k, Index i) {
  return static_cast<double>((29 * i + 53 * s + 7 * k) % 97 - 48) / 32;
}

/// Parameters p0 .. p3 in one group, starting from start().
inline Groups four() {
  const char* const names[] = {"p0", "p1", "p2", "p3"};
  Groups groups(1);
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    const Array value = made(shapes[k], [&](Index i) { return start(static_cast<Index>(k), i); });
    groups[0].parameters.push_back({names[k], Parameter(value)});
  }
  return groups;
}
/// Step s's gradients; in step 3 the third parameter has none.
inline void set_gradients(const Optimizer& o, Index s) {
  for (std::size_t k = 0; k < o.parameters().size(); ++k) {
    const Parameter& p = o.parameters()[k];
    const Index kk = static_cast<Index>(k);
    p.zero_grad();
    if (!(s == 3 && k == 2)) p.set_grad(made(p.shape(), [&](Index i) { return gradient(s, kk, i); }));
  }
}
inline void take_step(Optimizer& o, Index s) {
  set_gradients(o, s);
  o.step();
}
inline std::vector<real> numbers(const Optimizer& o) {
  std::vector<real> all;
  for (const Parameter& p : o.parameters())
    for (const real x : p.value().to_vector()) all.push_back(x);
  return all;
}

/// The four parameters' gradients of step s.
inline void give_gradients(const std::vector<Parameter>& list, Index s) {
  for (std::size_t k = 0; k < shapes.size(); ++k)
    list[k].set_grad(made(shapes[k], [&](Index i) { return gradient(s, static_cast<Index>(k), i); }));
}

/// The smallest GPT, and its parameters as names_of() has them: the matrices of its block, and all that is no matrix.
inline GPTConfig least_gpt() { return {.block_size = 4, .vocab_size = 5, .n_layer = 1, .n_head = 1, .n_embd = 4}; }
inline const std::string gpt_matrices =
    "transformer.h.0.attn.c_attn.weight+ transformer.h.0.attn.c_proj.weight+ transformer.h.0.mlp.c_fc.weight+ "
    "transformer.h.0.mlp.c_proj.weight+ ";
inline const std::string gpt_vectors =
    "transformer.h.0.ln_1.weight transformer.h.0.ln_1.bias transformer.h.0.attn.c_attn.bias "
    "transformer.h.0.attn.c_proj.bias transformer.h.0.ln_2.weight transformer.h.0.ln_2.bias "
    "transformer.h.0.mlp.c_fc.bias transformer.h.0.mlp.c_proj.bias transformer.ln_f.weight transformer.ln_f.bias ";

/// The names in all groups, those that decay with a +.
inline std::string names_of(const Groups& groups) {
  std::string text;
  for (const ParameterGroup& group : groups)
    for (const NamedParameter& p : group.parameters) text += p.name + (*group.weight_decay > 0 ? "+ " : " ");
  return text;
}

inline bool same_bits(const std::vector<real>& a, const std::vector<real>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(real)) == 0);
}

}  // namespace mote::test
