// The table of kernels, one per instruction set, and how to get the one in use.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/real.h"

namespace mote::kernels {

/// y[i] = f(x[i * sx]) for i in [0, n). A stride of 0 repeats one element; y is contiguous.
using Unary = void(const real* x, Index sx, real* y, Index n);
/// y[i] = f(a[i * sa], b[i * sb]).
using Binary = void(const real* a, Index sa, const real* b, Index sb, real* y, Index n);
/// Reduces n contiguous elements to one value.
using Reduce = real(const real* x, Index n);

/// The constants of one Adam or AdamW step and of one SGD step, computed in double (formulas: train/adamw.h and
/// train/sgd.h).
struct AdamStep {
  real beta1, one_minus_beta1, beta2, one_minus_beta2, decay, l2, step_size, correction2_sqrt, eps;
};
struct SgdStep {
  real lr, l2, momentum, keep;
  bool nesterov, first;
};
/// The gradient of a step, which is first multiplied by `scale`. The product is stored in `scaled`, unless that is null:
/// then scale is 1.
struct ScaledGrad {
  const real* values;
  real* scaled;
  real scale;
};

/// The weights of a norm, null where there are none, and what it adds to the variance.
struct NormWeights {
  const real *weight, *bias;
  real eps;
};
/// What a norm's gradients are computed from: rows of dy and x, the weight or null, {mean, inv_std} of every row.
struct NormInputs {
  const real *dy, *x, *weight, *stats;
};
/// Where they go, null where they are not wanted: dx is written, the others are added to.
struct NormGradients {
  real *dx, *d_weight, *d_bias;
};

/// One row's target of cross-entropy: `sharp` at one class and `spread` at all; the gradient is scaled by `scale`.
struct TargetRow {
  Index index;
  real sharp, spread, scale;
};

/// What a matrix product does with C: sets it, continues its chains of multiply-adds, or adds finished chains to it.
enum class Into { set, resume, add };

struct Table {
  const char* name;  ///< "portable", "avx2", "avx512" or "neon"

  // Element-wise (target/elementwise.h)
  Binary *add, *sub, *mul, *div, *maximum, *minimum, *pow;
  Unary *neg, *abs, *sign, *sqrt, *exp, *log, *sin, *cos, *tanh, *sigmoid, *erf, *relu, *gelu, *gelu_tanh, *silu;
  /// Gradients that need x again: dx[i] from (dy[i], x[i]).
  Binary *gelu_backward, *gelu_tanh_backward, *silu_backward;
  /// Gradients that need y: dx[i] from (dy[i], y[i]).
  Binary *relu_backward, *tanh_backward, *sigmoid_backward;
  /// Both of gelu, for a backward pass that kept only x: y[i] = gelu(x[i]) and dx[i] from (dy[i], x[i]). dx may be dy.
  void (*gelu_again)(const real* dy, const real* x, real* y, real* dx, Index n);
  void (*gelu_tanh_again)(const real* dy, const real* x, real* y, real* dx, Index n);
  /// y[i] = x[i] * (scale if bit i % 16 of keep[i / 16] is set, else 0).
  void (*scale_kept)(const real* x, const std::uint16_t* keep, real scale, real* y, Index n);

  // Reductions (target/rows.h). Accumulator i mod 16 takes element i; a fixed tree combines the sixteen.
  Reduce *sum, *max, *min;
  real (*sum_squared_difference)(const real* x, real centre, Index n);
  /// y[j] = sum over rows of x[r * stride + j]: r ascending, in blocks of 128 rows.
  void (*sum_columns)(const real* x, Index rows, Index stride, real* y, Index columns);

  // Rows of scores (target/softmax.h): one contiguous row of n; the output may be the input.
  /// keep may be null; a fully masked row gives zeros. stats, if not null, receives {max, sum}.
  void (*softmax)(const real* x, const std::uint8_t* keep, real* y, real* stats, Index n);
  /// The same y from the {max, sum} that softmax computed.
  void (*softmax_again)(const real* x, const std::uint8_t* keep, const real* stats, real* y, Index n);
  void (*softmax_backward)(const real* dy, const real* y, real* dx, Index n);
  void (*log_softmax)(const real* x, real* y, Index n);
  void (*log_softmax_backward)(const real* dy, const real* y, real* dx, Index n);
  /// stats = {max, log(sum(exp(x - max)))}, so that log_softmax is x - stats[0] - stats[1].
  void (*log_sum_exp)(const real* x, real* stats, Index n);
  /// The sum of log_softmax over the row.
  real (*sum_log_softmax)(const real* x, const real* stats, Index n);
  /// dx = (softmax(x) - sharp onehot(index) - spread) scale.
  void (*cross_entropy_backward)(const real* x, const real* stats, const TargetRow& target, real* dx, Index n);

  // Norms (target/norm.h) of `rows` contiguous rows of n >= 1.
  /// y = (x - mean) * inv_std * weight + bias; stats receives {mean, inv_std} of every row; rms_norm's mean is 0.
  void (*layer_norm)(const real* x, const NormWeights& weights, real* y, real* stats, Index rows, Index n);
  void (*rms_norm)(const real* x, const NormWeights& weights, real* y, real* stats, Index rows, Index n);
  void (*layer_norm_backward)(const NormInputs& in, const NormGradients& out, Index rows, Index n);
  void (*rms_norm_backward)(const NormInputs& in, const NormGradients& out, Index rows, Index n);

  // Optimizer steps (target/optimizer.h), in place on n contiguous elements.
  void (*adam)(const AdamStep& s, real* value, const ScaledGrad& grad, real* m, real* v, Index n);
  void (*sgd)(const SgdStep& s, real* value, const ScaledGrad& grad, real* velocity, Index n);

  // Matrix product (target/gemm_tile.h): C[i, j] = sum over k of A[i, k] B[k, j], k ascending, for a tile of
  // rows <= tile_rows by columns <= tile_columns.
  Index tile_rows, tile_columns;
  void (*gemm_tile)(Index k, const real* a, Index a_row, Index a_k, const real* b, Index b_k, real* c, Index c_row,
                    Index rows, Index columns, Into into);

  // Products of a few rows (target/gemv.h): c[r, j] = sum over k of a[r, k] b[k, j], plus bias[j] if it is given. k runs
  // in blocks of `block`: each a chain from zero, added in order. Columns are adjacent; k is at least 1.
  void (*gemv)(Index rows, Index columns, Index k, Index block, const real* a, Index a_row, const real* b, Index b_k,
               const real* bias, real* c, Index c_row);

  // What the processor can do at best (target/limits.h).
  /// x[i] = a b + x[i] for `limit_values` values in registers, 8 times in each round.
  void (*multiply_adds)(Index rounds, real a, real b, real* x);
  Index limit_values;
  /// The sum of n elements but for the last n mod 128, as fast as they come from memory.
  real (*read)(const real* x, Index n);
};

/// The table in use: MOTE_SIMD, else the widest that this processor supports. Errors: an unsupported MOTE_SIMD.
const Table& table();
/// Every table this processor supports, slowest first; tests cover all of them.
std::vector<const Table*> available_tables();
/// Uses `t` from now on. For tests and benchmarks: results do not change.
void use_table(const Table& t);

}  // namespace mote::kernels
