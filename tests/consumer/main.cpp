// A user's program: a Linear learns y = 2 x + 1.
#include <cstdio>

#include "engine/ops/ops.h"
#include "nn/check_fields.h"
#include "nn/gradcheck.h"
#include "nn/linear.h"

int main() {
  mote::Generator random(123);
  const mote::Linear layer(1, 1, random);
  const mote::Tensor x = mote::tensor({{-1.0}, {0.0}, {1.0}, {2.0}});
  const mote::Tensor target = x * mote::real(2) + mote::real(1);
  mote::check_fields([&] { layer(x); });  // visit() lists both parameters
  mote::real loss = 0;
  for (int step = 0; step < 300; ++step) {
    const mote::Tensor y = mote::mean(mote::pow(layer(x) - target, mote::real(2)));
    y.backward();
    loss = y.item();
    for (const mote::Parameter& p : mote::parameters(layer)) {
      p.mutate()[0] -= mote::real(0.1) * p.grad().item();
      p.zero_grad();
    }
  }
  const mote::GradcheckResult right = mote::gradcheck(layer, x);
  std::printf("%s\nloss %g\n", right.text.c_str(), static_cast<double>(loss));
  return right && loss < mote::real(1e-6) ? 0 : 1;
}
