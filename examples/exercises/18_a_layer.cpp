// 18: a layer of your own
// Difficulty 3 of 5, 15 minutes.
#include "examples/exercises/exercise.h"

// RMSNorm is what Llama has in the place of LayerNorm: each row is divided by the root of the mean of its squares, and
// every column is scaled by a weight that is learned and begins as 1.
//
//   y = x / sqrt(mean(x^2, last axis) + 1e-5) * weight          x [..., n], weight [n]
//
// A layer of mote is a struct: its constructor makes the parameters, forward() computes, and visit() lists every
// parameter under its name. What visit() does not list is neither trained nor saved, and nothing warns.
//
// You may use: Parameter(Array::full({n}, 1)), n numbers that are 1; mean(x, {axis}, true), sqrt; v("name", field).
struct MyRMSNorm : Layer<MyRMSNorm> {
  Parameter weight;

  explicit MyRMSNorm(Index n) {
    your_code_here();  // replace this line
  }
  Tensor forward(const Tensor& x) const {
    your_code_here();  // replace this line
  }
  void visit(Visitor& v) override {
    your_code_here();  // replace this line
  }
};
