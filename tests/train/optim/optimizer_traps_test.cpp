// Finite numbers raise no floating-point exception in an optimizer's step.

#include "tests/tools.h"
#include "tests/traps.h"
#include "train/optim/adamw.h"
#include "train/optim/muon.h"
#include "train/optim/sgd.h"

namespace mote::test::optimizer_traps_test {
namespace {

#ifdef FE_DIVBYZERO

TEST_CASE("traps: no optimizer raises one") {
  on_all_hardware({1}, [&] {
    for (const Index n : {1, 7, 16, 19}) {
      const Parameter p(Array::full({n}, 1));
      p.set_grad(Array::full({n}, 2));
      AdamW adam({{{{"p", p}}}}, {.eps = 0});
      SGD sgd({{{{"p", p}}}}, {.lr = 0.1, .momentum = 0.9, .nesterov = true});
      CHECK(raised([&] { adam.step(), sgd.step(), adam.step(), sgd.step(); }) == 0);
    }
    for (const real g : {real(2), real(0), std::numeric_limits<real>::denorm_min()}) {
      const Parameter p(Array::full({5, 3}, 1));
      p.set_grad(Array::full({5, 3}, g));
      Muon muon({{{{{"p", p}}}}, {}});
      CHECK(raised([&] { muon.step(), muon.step(); }) == 0);
    }
  });
}

#endif

}  // namespace
}  // namespace mote::test::optimizer_traps_test
