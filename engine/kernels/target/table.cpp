// One table of kernels. CMake compiles this file once per instruction set, with MOTE_TARGET_NAME set.
#include "engine/kernels/kernels.h"
#include "engine/kernels/target/attention.h"
#include "engine/kernels/target/descent.h"
#include "engine/kernels/target/elementwise.h"
#include "engine/kernels/target/gemm.h"
#include "engine/kernels/target/norm.h"
#include "engine/kernels/target/rows.h"
#include "engine/kernels/target/softmax.h"
#include "engine/kernels/target/twister.h"

#define MOTE_JOIN(a, b) a##b
#define MOTE_TABLE(name) MOTE_JOIN(name, _table)
#define MOTE_QUOTE(name) #name
#define MOTE_TEXT(name) MOTE_QUOTE(name)

namespace mote::kernels {

const Table& MOTE_TABLE(MOTE_TARGET_NAME)();
const Table& MOTE_TABLE(MOTE_TARGET_NAME)() {
  static constexpr Table table{
      .name = MOTE_TEXT(MOTE_TARGET_NAME),
      .add = binary<[](auto a, auto b) { return a + b; }>,
      .sub = binary<[](auto a, auto b) { return a - b; }>,
      .mul = binary<[](auto a, auto b) { return a * b; }>,
      .div = binary<[](auto a, auto b) { return a / b; }>,
      .maximum = binary<[](auto a, auto b) { return maximum(a, b); }>,
      .minimum = binary<[](auto a, auto b) { return minimum(a, b); }>,
      .pow = binary<[](auto a, auto b) { return v_pow(a, b); }>,
      .neg = unary<[](auto x) { return -x; }>,
      .abs = unary<[](auto x) { return abs(x); }>,
      .sign = unary<[](auto x) { return select(x > 0, 1, select(x < 0, -1, x)); }>,  // NaN gives NaN
      .sqrt = unary<[](auto x) { return sqrt(x); }>,
      .exp = unary<[](auto x) { return v_exp(x); }>,
      .log = unary<[](auto x) { return v_log(x); }>,
      .sin = unary<[](auto x) { return v_sin(x); }>,
      .cos = unary<[](auto x) { return v_cos(x); }>,
      .tanh = unary<[](auto x) { return v_tanh(x); }>,
      .sigmoid = unary<[](auto x) { return v_sigmoid(x); }>,
      .relu = unary<[](auto x) { return select(x <= 0, 0, x); }>,  // NaN, which is not <= 0, passes through
      .gelu = unary<[](auto x) { return v_gelu(x).value; }>,
      .gelu_tanh = unary<[](auto x) { return v_gelu_tanh(x).value; }>,
      .silu = unary<[](auto x) { return v_silu(x).value; }>,
      .gelu_backward = binary<[](auto dy, auto x) { return dy * v_gelu(x).slope; }>,
      .gelu_tanh_backward = binary<[](auto dy, auto x) { return dy * v_gelu_tanh(x).slope; }>,
      .silu_backward = binary<[](auto dy, auto x) { return dy * v_silu(x).slope; }>,
      .relu_backward = binary<[](auto dy, auto y) { return select(y <= 0, 0, dy); }>,
      .tanh_backward = binary<[](auto dy, auto y) { return dy * (1 - y * y); }>,
      .sigmoid_backward = binary<[](auto dy, auto y) { return dy * (1 - y) * y; }>,
      .gelu_again = value_and_gradient<[](auto x) { return v_gelu(x); }>,
      .gelu_tanh_again = value_and_gradient<[](auto x) { return v_gelu_tanh(x); }>,
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
      .attention_recompute_weights = attention_recompute_weights,
      .attention_score_gradient = attention_score_gradient,
      .attention_sum_keys = attention_sum_keys,
      .attention_sum_queries = attention_sum_queries,
      .descend_by_moments = descend_by_moments,
      .descend_by_velocity = descend_by_velocity,
      .lerp = lerp,
      .gemm_rows = tile_rows,
      .gemm_tiles = gemm_tiles,
      .gemm_width = gemm_width,
      .gemm_pack = gemm_pack,
      .gemm_pack_rows = gemm_pack_rows,
      .twist = twist,
      .temper = temper,
      .bits_below_limit = bits_below_limit,
  };
  return table;
}

}  // namespace mote::kernels
