// One table of kernels. CMake compiles this file once per instruction set, with MOTE_TARGET_NAME set.
#include "engine/kernels/kernels.h"
#include "engine/kernels/target/attention.h"
#include "engine/kernels/target/elementwise.h"
#include "engine/kernels/target/gemm_pack.h"
#include "engine/kernels/target/gemm_tiles.h"
#include "engine/kernels/target/limits.h"
#include "engine/kernels/target/norm.h"
#include "engine/kernels/target/optimizer.h"
#include "engine/kernels/target/rows.h"
#include "engine/kernels/target/softmax.h"

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
      .relu = unary<Relu>,
      .gelu = unary<ValueOf<Gelu>>,
      .gelu_tanh = unary<ValueOf<GeluTanh>>,
      .silu = unary<ValueOf<Silu>>,
      .gelu_backward = binary<BackwardOf<Gelu>>,
      .gelu_tanh_backward = binary<BackwardOf<GeluTanh>>,
      .silu_backward = binary<BackwardOf<Silu>>,
      .relu_backward = binary<ReluBackward>,
      .tanh_backward = binary<TanhBackward>,
      .sigmoid_backward = binary<SigmoidBackward>,
      .gelu_again = again<Gelu>,
      .gelu_tanh_again = again<GeluTanh>,
      .scale_kept = scale_kept,
      .sum = sum,
      .max = max,
      .min = min,
      .sum_squared_difference = sum_squared_difference,
      .sum_columns = sum_columns,
      .softmax = softmax,
      .softmax_backward = softmax_backward,
      .log_softmax = log_softmax,
      .log_softmax_backward = log_softmax_backward,
      .log_sum_exp = log_sum_exp,
      .sum_log_softmax = sum_log_softmax,
      .cross_entropy_backward = cross_entropy_backward,
      .layer_norm = norm<true>,
      .rms_norm = norm<false>,
      .layer_norm_backward = norm_backward<true>,
      .rms_norm_backward = norm_backward<false>,
      .attention_weights = attention_weights,
      .attention_weights_again = attention_weights_again,
      .attention_score_gradient = attention_score_gradient,
      .attention_scores_of_one = attention_scores_of_one,
      .attention_sum_keys = attention_sum_keys,
      .attention_sum_queries = attention_sum_queries,
      .adam = adam,
      .sgd = sgd,
      .lerp = lerp,
      .gemm_rows = tile_rows,
      .gemm_tiles = gemm_tiles,
      .gemm_width = gemm_width,
      .gemm_pack = gemm_pack,
      .gemm_pack_rows = gemm_pack_rows,
      .multiply_adds = multiply_adds,
      .limit_values = limit_values,
      .read = read,
  };
  return table;
}

}  // namespace mote::kernels
