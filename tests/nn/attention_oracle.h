// MultiHeadAttention with all its options in double, and the variants that several tests go through.
#pragma once

#include <complex>

#include "nn/attention.h"
#include "tests/nn/oracles.h"

namespace mote::test {

/// The slopes of ALiBi as its paper has them: a geometric row for powers of two, else that of the next lower one and
/// then every other of the next higher.
inline Row paper_slopes(Index heads) {
  Index power = 1;
  while (power * 2 <= heads) power *= 2;
  const auto row = [](Index n) {
    Row slopes;
    for (Index i = 1; i <= n; ++i) slopes.push_back(std::pow(std::pow(2.0, -8.0 / static_cast<double>(n)), i));
    return slopes;
  };
  Row slopes = row(power);
  const Row finer = row(2 * power);
  for (Index i = 0; static_cast<Index>(slopes.size()) < heads; i += 2) slopes.push_back(finer[at(i)]);
  return slopes;
}

/// The first r = `fraction` of a row of `width` numbers turned, in pairs (i, i + r/2), by position * base^(-2i/r).
inline void turn(double* row, Index width, Index position, const RotaryOptions& o) {
  const Index half = static_cast<Index>(o.fraction * static_cast<double>(width)) / 2;
  for (Index i = 0; i < half; ++i) {
    const double angle =
        static_cast<double>(position) * std::pow(o.base, -static_cast<double>(i) / static_cast<double>(half));
    const std::complex<double> z = std::complex<double>(row[i], row[i + half]) * std::polar(1.0, angle);
    row[i] = z.real(), row[i + half] = z.imag();
  }
}

/// One input or three, row after row: [B, Tq, ..], [B, Tk, ..] twice; `sizes` are B, Tq and Tk. Options as given to the
/// layer. `weights` receives [B, H, Tq, Tk].
inline Row layer_oracle(const Weights& w, const std::string& prefix, Index width, Index H,
                        const MultiHeadAttentionOptions& o, const std::vector<Row>& x, const Shape& sizes,
                        Row* weights = nullptr) {
  const Index B = sizes[0], Tq = sizes[1], Tk = sizes[2];
  const Index D = width / H, G = o.n_kv_head ? o.n_kv_head : H, V = o.value_head ? o.value_head : D;
  /// Rows of `size` numbers from column `first` of [B, T, columns], turned if they are queries or keys: [B, T, size].
  const auto part = [&](const Row& all, Index columns, Index first, Index size, bool turns, Index T) {
    Row out;
    for (Index row = 0; row < B * T; ++row) {
      const Row::const_iterator begin = all.begin() + row * columns + first;
      out.insert(out.end(), begin, begin + size);
      if (turns && o.rotary)
        for (Index c = 0; c < size; c += D) turn(&out[at(row * size + c)], D, row % T, *o.rotary);
    }
    return out;
  };
  Row q, k, v;
  if (o.fused) {
    const Row all = linear_oracle(w, prefix + "c_attn.", x[0]);
    const Index columns = width + G * D + G * V;
    q = part(all, columns, 0, width, true, Tq), k = part(all, columns, width, G * D, true, Tq);
    v = part(all, columns, width + G * D, G * V, false, Tq);
  } else {
    const std::size_t key = x.size() > 1 ? 1 : 0, value = x.size() > 1 ? 2 : 0;
    q = part(linear_oracle(w, prefix + "q_proj.", x[0]), width, 0, width, true, Tq);
    k = part(linear_oracle(w, prefix + "k_proj.", x[key]), G * D, 0, G * D, true, Tk);
    v = linear_oracle(w, prefix + "v_proj.", x[value]);
  }
  const Row slopes = paper_slopes(H);
  Row joined(at(B * Tq * H * V), 0);
  for (Index b = 0; b < B; ++b)
    for (Index h = 0; h < H; ++h)
      for (Index i = 0; i < Tq; ++i) {
        const Index g = h / (H / G), position = i + Tk - Tq;
        Row p(at(Tk), 0);
        double total = 0;
        for (Index j = 0; j < Tk; ++j) {
          if (o.causal && (j > position || (o.window > 0 && position - j >= o.window))) continue;
          double score = 0;
          for (Index d = 0; d < D; ++d)
            score += q[at((b * Tq + i) * width + h * D + d)] * k[at((b * Tk + j) * G * D + g * D + d)];
          score /= std::sqrt(static_cast<double>(D));
          if (o.alibi) score -= slopes[at(h)] * static_cast<double>(std::abs(position - j));
          total += p[at(j)] = std::exp(score);
        }
        for (Index j = 0; j < Tk && total > 0; ++j) {
          p[at(j)] /= total;
          for (Index d = 0; d < V; ++d)
            joined[at((b * Tq + i) * H * V + h * V + d)] += p[at(j)] * v[at((b * Tk + j) * G * V + g * V + d)];
        }
        if (weights) weights->insert(weights->end(), p.begin(), p.end());
      }
  return linear_oracle(w, prefix + (o.fused ? "c_proj." : "o_proj."), joined);
}
inline Row layer_oracle(const Weights& w, Index width, Index H, const MultiHeadAttentionOptions& o,
                        const std::vector<Value>& x) {
  std::vector<Row> rows;
  for (const Value& one : x) rows.push_back(one.x);
  return layer_oracle(w, "", width, H, o, rows, {x[0].shape[0], x[0].shape[1], x.back().shape[1]});
}

struct Variant {
  std::string name;
  Index width, heads;
  MultiHeadAttentionOptions options;
  Index d_in() const { return options.d_in ? options.d_in : width; }
  Index d_out() const { return options.d_out ? options.d_out : width; }
};

/// Every kind of self-attention with every kind of position, causal.
inline std::vector<Variant> causal_variants() {
  std::vector<Variant> kinds{
      {"plain", 8, 2, {}},
      {"separate", 8, 2, {.fused = false}},
      {"grouped", 16, 4, {.n_kv_head = 2}},
      {"multi-query, separate", 12, 3, {.fused = false, .n_kv_head = 1}},
      {"window", 8, 2, {.window = 3}},
      {"grouped, window", 24, 6, {.n_kv_head = 3, .window = 5}},
      {"other widths", 8, 2, {.bias = false, .out_bias = true, .d_in = 5, .d_out = 7, .value_head = 3}}};
  std::vector<Variant> all;
  for (Variant& v : kinds) {
    v.options.causal = true;
    all.push_back(v);
    Variant turned = v, partly = v, biased = v;
    turned.name += ", rotary", turned.options.rotary.emplace();
    partly.name += ", partial rotary", partly.options.rotary = RotaryOptions{.base = 100, .fraction = 0.5, .length = 3};
    biased.name += ", alibi", biased.options.alibi = true;
    all.insert(all.end(), {turned, partly, biased});
  }
  return all;
}

/// A layer of that kind with numbers in all its weights, in evaluation mode or not.
inline MultiHeadAttention layer_of(const Variant& v, Index seed = 1) {
  Generator random(seed);
  MultiHeadAttention m(v.width, v.heads, random, v.options);
  scramble(m);
  return m;
}

}  // namespace mote::test
