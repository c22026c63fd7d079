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

/// What a matrix product does with C: sets it, continues its chains of multiply-adds, or adds finished chains to it.
enum class Into { set, resume, add };

/// C [rows, columns] from A [rows, k], k at most sum_block, and panels of B, each `width` columns and b_panel apart:
/// element (p, j) of a panel is b[p * b_k + j]. A width of 0: B is not in panels, its rows are b_k apart. The bias, of one
/// element per column, may be null.
struct TileBlock {
  Index rows, columns, k, width;
  const real *a, *b;
  real* c;
  const real* bias;
  Index a_row, b_k, a_k, b_panel, c_row;
  Into into;
};

struct Table {
  const char* name;  ///< "portable", "avx2", "avx512" or "neon"

  // Element-wise (target/elementwise.h)
  Binary *add, *sub, *mul, *div, *maximum, *minimum, *pow;
  Unary *neg, *abs, *sign, *sqrt, *exp, *log, *sin, *cos, *tanh, *sigmoid, *erf, *relu, *gelu, *gelu_tanh, *silu;
  /// Gradients that need x again: dx[i] from (dy[i], x[i]).
  Binary *relu_backward, *gelu_backward, *gelu_tanh_backward, *silu_backward;
  /// Gradients that need y: dx[i] from (dy[i], y[i]).
  Binary *tanh_backward, *sigmoid_backward;

  // Reductions (target/rows.h). Accumulator i mod 16 takes element i; a fixed tree combines the sixteen.
  Reduce *sum, *max, *min;
  real (*sum_squared_difference)(const real* x, real centre, Index n);
  /// y[j] = sum over rows of x[r * stride + j]: r ascending, in blocks of 128 rows.
  void (*sum_columns)(const real* x, Index rows, Index stride, real* y, Index columns);

  // Rows (target/rows.h): one contiguous row of n.
  /// keep may be null; a fully masked row gives zeros. stats, if not null, receives {max, sum}.
  void (*softmax)(const real* x, const std::uint8_t* keep, real* y, real* stats, Index n);
  /// The same y from the {max, sum} that softmax computed.
  void (*softmax_again)(const real* x, const std::uint8_t* keep, const real* stats, real* y, Index n);
  void (*softmax_backward)(const real* dy, const real* y, real* dx, Index n);
  void (*log_softmax)(const real* x, real* y, Index n);
  void (*log_softmax_backward)(const real* dy, const real* y, real* dx, Index n);
  /// y = (x - mean) * inv_std * weight + bias; weight, bias may be null; stats receives {mean, inv_std}.
  void (*layer_norm)(const real* x, const real* weight, const real* bias, real eps, real* y, real* stats, Index n);
  void (*layer_norm_backward)(const real* dy, const real* x, const real* weight, const real* stats, real* dx, Index n);
  void (*rms_norm)(const real* x, const real* weight, real eps, real* y, real* stats, Index n);
  void (*rms_norm_backward)(const real* dy, const real* x, const real* weight, const real* stats, real* dx, Index n);
  /// y[j] += dy[j] * (x[j] - shift) * scale: one row of a norm's weight gradient.
  void (*add_scaled_product)(const real* dy, const real* x, real shift, real scale, real* y, Index n);

  // Optimizer steps (target/optimizer.h), in place on n contiguous elements.
  void (*adam)(const AdamStep& s, real* value, const real* grad, real* m, real* v, Index n);
  void (*sgd)(const SgdStep& s, real* value, const real* grad, real* velocity, Index n);

  // Matrix product (target/gemm_tiles.h, target/gemm_pack.h): one block of k; the width of its panels for so many rows;
  // and panels of `width` columns (j) copied so that tiles read them in order:
  // out[p * width + j] = x[p * row + j * column] for p < k. `out` has room for 16 elements more.
  void (*gemm_tiles)(const TileBlock& t);
  Index (*gemm_width)(Index rows);
  void (*gemm_pack)(const real* x, Index row, Index column, Index k, Index columns, Index width, real* out);

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
