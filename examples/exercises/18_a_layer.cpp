// 18: a layer of your own
// Difficulty 3 of 5, 15 minutes.
#include "examples/exercises/exercise.h"

// Llama uses RMSNorm instead of LayerNorm. Each row is divided by the square root of the mean of its squares. Then
// every column is scaled by a learned weight that begins as 1.
//
//   y = x / sqrt(mean(x^2, last axis) + 1e-5) * weight          x [..., n], weight [n]
//
// A layer of mote is a struct: its constructor makes the parameters, forward() computes, and visit() lists every
// parameter under its name. A parameter that visit() does not list is neither trained nor saved, without any warning.
//
// You may use: Parameter(Array::full({n}, 1)), a parameter of n ones; mean(x, {axis}, true); sqrt; v("name", field),
// which lists a field under a name.
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
