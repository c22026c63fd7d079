// RNN, LSTM and Conv1d, three layers that mote's library does not have, to show how a layer is written. Names, weights
// and results are those of torch.nn.
#pragma once

#include <vector>

#include "engine/engine.h"
#include "nn/init.h"
#include "nn/module.h"

namespace mote::lectures {

/// h_t = tanh(W_ih x_t + b_ih + W_hh h_(t-1) + b_hh) with h_0 = 0: x [B, T, in] -> every h_t [B, T, hidden].
struct RNN : Layer<RNN> {
  Parameter weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0;

  RNN(Integer in, Integer hidden, const Init& init) {
    const double bound = 1 / std::sqrt(static_cast<double>(Index(hidden)));
    weight_ih_l0 = Parameter(init.uniform({hidden, in}, -bound, bound));
    weight_hh_l0 = Parameter(init.uniform({hidden, hidden}, -bound, bound));
    bias_ih_l0 = Parameter(init.uniform({hidden}, -bound, bound));
    bias_hh_l0 = Parameter(init.uniform({hidden}, -bound, bound));
  }
  Tensor forward(const Tensor& x) const {
    const Tensor from_x = linear(x, weight_ih_l0, bias_ih_l0);  // for all steps at once
    Tensor h = zeros({x.size(0), weight_hh_l0.shape()[0]});
    std::vector<Tensor> all;
    for (Index t = 0; t < x.size(1); ++t) {
      h = tanh(select(from_x, 1, t) + linear(h, weight_hh_l0, bias_hh_l0));
      all.push_back(h);
    }
    return stack(all, 1);
  }
  void visit(Visitor& v) override {
    v("weight_ih_l0", weight_ih_l0);
    v("weight_hh_l0", weight_hh_l0);
    v("bias_ih_l0", bias_ih_l0);
    v("bias_hh_l0", bias_hh_l0);
  }
};

/// Long short-term memory. The gates i, f, g and o are the four parts of W_ih x_t + b_ih + W_hh h_(t-1) + b_hh, in
/// this order. The cell is c_t = sigmoid(f) c_(t-1) + sigmoid(i) tanh(g), and the output is h_t = sigmoid(o)
/// tanh(c_t), with c_0 = h_0 = 0. x [B, T, in] -> every h_t [B, T, hidden]. Source: Hochreiter and Schmidhuber 1997.
struct LSTM : Layer<LSTM> {
  Parameter weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0;

  LSTM(Integer in, Integer hidden, const Init& init) {
    const double bound = 1 / std::sqrt(static_cast<double>(Index(hidden)));
    weight_ih_l0 = Parameter(init.uniform({4 * hidden, in}, -bound, bound));
    weight_hh_l0 = Parameter(init.uniform({4 * hidden, hidden}, -bound, bound));
    bias_ih_l0 = Parameter(init.uniform({4 * hidden}, -bound, bound));
    bias_hh_l0 = Parameter(init.uniform({4 * hidden}, -bound, bound));
  }
  Tensor forward(const Tensor& x) const {
    const Tensor from_x = linear(x, weight_ih_l0, bias_ih_l0);
    Tensor h = zeros({x.size(0), weight_hh_l0.shape()[1]});
    Tensor c = h;
    std::vector<Tensor> all;
    for (Index t = 0; t < x.size(1); ++t) {
      const std::vector<Tensor> gates = chunk(select(from_x, 1, t) + linear(h, weight_hh_l0, bias_hh_l0), 4, 1);
      c = sigmoid(gates[1]) * c + sigmoid(gates[0]) * tanh(gates[2]);
      h = sigmoid(gates[3]) * tanh(c);
      all.push_back(h);
    }
    return stack(all, 1);
  }
  void visit(Visitor& v) override {
    v("weight_ih_l0", weight_ih_l0);
    v("weight_hh_l0", weight_hh_l0);
    v("bias_ih_l0", bias_ih_l0);
    v("bias_hh_l0", bias_hh_l0);
  }
};

/// A convolution over time: y_t = b + the sum of W_i x_(t+i) over i from 0 to width - 1. x [B, in, T] -> [B, out, T -
/// width + 1]; weight [out, in, width].
struct Conv1d : Layer<Conv1d> {
  Parameter weight, bias;

  Conv1d(Integer in, Integer out, Integer width, const Init& init) {
    const double bound = 1 / std::sqrt(static_cast<double>(Index(in * width)));
    weight = Parameter(init.uniform({out, in, width}, -bound, bound));
    bias = Parameter(init.uniform({out}, -bound, bound));
  }
  Tensor forward(const Tensor& x) const {
    const Index width = weight.shape()[2], length = x.size(2) - width + 1;
    Tensor y = unsqueeze(bias, 1);
    for (Index i = 0; i < width; ++i) y = y + matmul(select(weight, 2, i), slice(x, 2, i, i + length));
    return y;
  }
  void visit(Visitor& v) override {
    v("weight", weight);
    v("bias", bias);
  }
};

}  // namespace mote::lectures
