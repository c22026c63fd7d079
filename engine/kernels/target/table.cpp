// One table of kernels. CMake compiles this file once per instruction set, with MOTE_TARGET_NAME set.
#include "engine/kernels/kernels.h"
#include "engine/kernels/target/attention.h"
#include "engine/kernels/target/elementwise.h"
#include "engine/kernels/target/gemm_pack.h"
#include "engine/kernels/target/gemm_tiles.h"
#include "engine/kernels/target/limits.h"
#include "engine/kernels/target/optimizer.h"
#include "engine/kernels/target/rows.h"

#define MOTE_JOIN(a, b) a##b
#define MOTE_TABLE(name) MOTE_JOIN(name, _table)
#define MOTE_QUOTE(name) #name
#define MOTE_TEXT(name) MOTE_QUOTE(name)

namespace mote::kernels {

const Table& MOTE_TABLE(MOTE_TARGET_NAME)();
const Table& MOTE_TABLE(MOTE_TARGET_NAME)() {
  static constexpr Table table{
      .name = MOTE_TEXT(MOTE_TARGET_NAME),
      .add = binary<Plus>,
      .sub = binary<Minus>,
      .mul = binary<Times>,
      .div = binary<Divided>,
      .maximum = binary<Maximum>,
      .minimum = binary<Minimum>,
      .pow = binary<Pow>,
      .neg = unary<Neg>,
      .abs = unary<Abs>,
      .sign = unary<Sign>,
      .sqrt = unary<Sqrt>,
      .exp = unary<Exp>,
      .log = unary<Log>,
      .sin = unary<Sin>,
      .cos = unary<Cos>,
      .tanh = unary<Tanh>,
      .sigmoid = unary<Sigmoid>,
      .erf = unary<Erf>,
      .relu = unary<Relu>,
      .gelu = unary<Gelu>,
      .gelu_tanh = unary<GeluTanh>,
      .silu = unary<Silu>,
      .relu_backward = binary<ReluBackward>,
      .gelu_backward = binary<GeluBackward>,
      .gelu_tanh_backward = binary<GeluTanhBackward>,
      .silu_backward = binary<SiluBackward>,
      .tanh_backward = binary<TanhBackward>,
      .sigmoid_backward = binary<SigmoidBackward>,
      .sum = sum,
      .max = max,
      .min = min,
      .sum_squared_difference = sum_squared_difference,
      .sum_columns = sum_columns,
      .softmax = softmax,
      .softmax_again = softmax_again,
      .softmax_backward = softmax_backward,
      .log_softmax = log_softmax,
      .log_softmax_backward = log_softmax_backward,
      .layer_norm = layer_norm,
      .layer_norm_backward = layer_norm_backward,
      .rms_norm = rms_norm,
      .rms_norm_backward = rms_norm_backward,
      .add_scaled_product = add_scaled_product,
      .attention_weights = attention_weights,
      .attention_weights_again = attention_weights_again,
      .attention_score_gradient = attention_score_gradient,
      .attention_scores_of_one = attention_scores_of_one,
      .attention_sum_keys = attention_sum_keys,
      .attention_sum_queries = attention_sum_queries,
      .adam = adam,
      .sgd = sgd,
      .gemm_tiles = gemm_tiles,
      .gemm_width = gemm_width,
      .gemm_pack = gemm_pack,
      .multiply_adds = multiply_adds,
      .limit_values = limit_values,
      .read = read,
  };
  return table;
}

}  // namespace mote::kernels
