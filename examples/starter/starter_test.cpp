// Tests the op, the layer and the task as mote tests its own. Numbers are double here, because float is too coarse to
// check gradients by measured slopes.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "engine/ops/create.h"
#include "neighbours.h"
#include "tests/check_module.h"
#include "tests/check_task.h"
#include "token_mix.h"

namespace starter {
using namespace mote::test;

TEST_CASE("shift") {
  const auto formula = [](const std::vector<Value>& in) {  // of x [T, C]
    const auto& [shape, x] = in[0];
    std::vector<double> y(x.size());
    std::copy_n(x.begin(), x.size() - std::min(x.size(), std::size_t(shape[1])), y.begin() + shape[1]);
    return y;
  };
  check_op("shift", [](In x) { return shift(x[0]); }, formula, {random_array({5, 3}, 1)},
           {.error = [] { shift(ones({4})); }, .error_text = "shift: x [4] must be [..., T, C]"});
}

TEST_CASE("TokenMix") {
  ModuleOptions<TokenMix> options;
  options.names = {"now.weight", "now.bias", "before.weight", "before.bias", "c_proj.weight", "c_proj.bias"};
  options.inputs = {random_array({2, 5, 3}, 1)};
  options.error = [](const TokenMix& m) { m(ones({2, 5, 4})); };
  options.error_text = "linear: x [2, 5, 4] needs a last extent of 3 for weight [6, 3] (in now)";
  check_module(
      "TokenMix", [](Generator& random) { return TokenMix(3, 6, random); },
      [](const TokenMix& m, In x) { return m(x[0]); }, options);
}

TEST_CASE("neighbours") {
  check_task(NeighboursTask(), [](const Sequence& x) { return Sequence{(x[x.size() - 2] + x.back()) % 7}; });
}

}  // namespace starter
