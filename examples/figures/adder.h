// The adder's model: one transformer block of Qwen 3's kind, and the weight sharing of small adders.
#pragma once

#include <cmath>
#include <vector>

#include "engine/engine.h"
#include "nn/nn.h"

/// The sizes and the weight sharing of an adder. Heads are 4 wide. All heads share one head of keys and values.
struct AdderSizes {
  mote::Index width, heads, hidden;
  bool shared = false;  ///< values are keys before their norm; the output projection is the transposed query matrix
  bool arc = false;     ///< digit vectors lie on a circle; learned: radius, angle of digit 0, angle between digits
  bool one_norm = false, one_head_norm = false;  ///< one weight for the three norms; one for the norms of q and k
};

/// A transformer block, followed by an output layer that shares the weights of the embedding. The model is evaluated
/// only at the places that predict the answer. It returns logits [B, 11, 10] of the digits that follow ids[23],
/// ids[24], ... ids[33] of a row.
struct AdderModel : mote::Layer<AdderModel> {
  static constexpr mote::Index first = 23, length = 34;  // first place that predicts the answer; the row's length
  const AdderSizes sizes;
  mote::Parameter digits, query, key, value, out, query_norm, key_norm, norm_1, norm_2, norm_3, gate, up, down;
  mote::Rotary rotary{4, {.base = 3}, length};  // a small base, so that all distances in 34 places look different

  AdderModel(const AdderSizes& s, const mote::Generator& random) : sizes(s) {
    const mote::Init init(random);
    const auto matrix = [&](mote::Index rows, mote::Index columns) {
      const double bound = 1 / std::sqrt(columns);
      return mote::Parameter(init.uniform({rows, columns}, -bound, bound));
    };
    const auto ones = [](mote::Index n) { return mote::Parameter(mote::Array::full({n}, 1)); };
    digits = mote::Parameter(s.arc ? mote::tensor({2, -1.2, 0.27}).array()
                                   : init.normal({10, s.width}, 0, 1 / std::sqrt(s.width)));
    query = matrix(4 * s.heads, s.width);
    key = matrix(4, s.width);
    if (!s.shared) {
      value = matrix(4, s.width);
      out = matrix(s.width, 4 * s.heads);
    }
    query_norm = ones(4);
    key_norm = s.one_head_norm ? query_norm : ones(4);
    norm_1 = ones(s.width);
    norm_2 = s.one_norm ? norm_1 : ones(s.width);
    norm_3 = s.one_norm ? norm_1 : ones(s.width);
    gate = matrix(s.hidden, s.width);
    up = matrix(s.hidden, s.width);
    down = matrix(s.width, s.hidden);
  }

  /// The digits' vectors, [10, width].
  mote::Tensor table() const {
    if (!sizes.arc) return digits;
    const std::vector<mote::Tensor> p = mote::unbind(digits);
    const mote::Tensor angles = p[1] + p[2] * mote::arange(10);
    return mote::cat(
        {mote::stack({mote::cos(angles), mote::sin(angles)}, 1) * p[0], mote::zeros({10, sizes.width - 2})}, 1);
  }
  mote::Tensor forward(const mote::IntArray& ids) const {
    using namespace mote;
    const Tensor vectors = table(), x = embedding(vectors, ids), all = rms_norm(x, norm_1, 1e-6);
    const Tensor asked = slice(all, 1, first, length), keys = linear(all, key);
    const Tensor queries = split_heads(linear(asked, query), sizes.heads);
    const Tensor q = rotary(join_heads(rms_norm(queries, query_norm, 1e-6)), first, sizes.heads);
    const Tensor k = rotary(rms_norm(keys, key_norm, 1e-6), 0);
    const Tensor y =
        attention(q, k, sizes.shared ? keys : linear(all, value), Heads{sizes.heads, 1}, {.causal = true}, Generator());
    const Tensor z = slice(x, 1, first, length) + linear(y, sizes.shared ? transpose(query, 0, 1) : Tensor(out));
    const Tensor m = rms_norm(z, norm_2, 1e-6);
    return linear(rms_norm(z + linear(silu(linear(m, gate)) * linear(m, up), down), norm_3, 1e-6), vectors);
  }
  void visit(mote::Visitor& v) override {
    v("digits", digits);
    v("query", query);
    v("key", key);
    v("value", value);
    v("out", out);
    v("query_norm", query_norm);
    v("key_norm", key_norm);
    v("norm_1", norm_1);
    v("norm_2", norm_2);
    v("norm_3", norm_3);
    v("gate", gate);
    v("up", up);
    v("down", down);
  }
};
