// What tests of the tutorials' classes share: results that come with weights, classes of three inputs.
#pragma once

#include "engine/ops/ops.h"
#include "tests/check_module.h"

namespace mote::test {

/// Output and weights in one row: of a loss of both, the weights have a gradient of their own.
template <class Pair>
Tensor both(const Pair& results) {
  return concat({reshape(results.first, {-1}), reshape(results.second, {-1})});
}

/// check_module of an attention of query, key and value, all of width 8, whose first projection is W_q.
template <class Make, class Run>
void check_attention_of_three(const Make& make, const Run& run, const std::vector<std::string>& names) {
  check_module("MultiHeadAttention", make, run,
               {.names = names,
                .inputs = {random_array({2, 3, 8}, 1), random_array({2, 5, 8}, 2), random_array({2, 5, 8}, 3)},
                .error =
                    [](const auto& m) {
                      const Tensor x = Array::zeros({2, 3, 6});
                      m(x, x, x);
                    },
                .error_text = "linear: x [2, 3, 6] needs a last extent of 8 for weight [8, 8] (in W_q)"});
}

}  // namespace mote::test
