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
/// Part of the definition of a sum: the sums of so many rows, of so many blocks, and so on are added in order.
constexpr Index sum_rows = 128;
/// Reduces n contiguous elements to one value.
using Reduce = real(const real* x, Index n);

/// A step of gradient descent by the running means of the gradient and of its square. Means below `smallest` become 0.
struct MomentsDescent {
  real decay1, weight1, decay2, weight2, decay, l2, step_size, correction2_sqrt, eps, smallest;
};
/// A step of gradient descent by a velocity, to which the gradient is added with a weight.
struct VelocityDescent {
  real lr, l2, momentum, weight;
  bool nesterov, first;
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

/// Products a_r . b_j of rows of `width` adjacent elements.
struct RowProducts {
  const real* a;
  Index a_row;
  const real* b;
  Index b_row, width;
};
/// Up to 16 queries of one head of attention, and the keys that any of them sees. Query r sees the first `full` + r of
/// these, or those with keep[lanes * j + r] != 0 where a mask or a window decides. What belongs to a pair of key j and
/// query r, such as its weight w, lies at w[lanes * j + r]. lanes is 16, or 1 for a single query in attention_weights
/// and attention_sum_keys.
struct AttentionBlock {
  Index rows, keys, full, lanes;
  const std::uint8_t* keep;  ///< or null
  RowProducts products;      ///< of queries and keys
  real scale;                ///< of these products
  const real* bias;          ///< or null; bias[r - j] is added to the score of the pair
  real* transposed;          ///< room for 16 * width elements of either products
};
/// Rows x of `width` adjacent elements, whose sums, weighted by w, go to rows y.
struct WeightedRows {
  const real *w, *x;
  Index x_row, width;
  real* y;
  Index y_row;
};

/// One block of k of a matrix product: C [rows, columns] = A [rows, k] B [k, columns], with k at most sum_block.
struct TileBlock {
  Index rows, columns, k;
  /// Element (r, p) of A is a[r * a_row + p * a_k]. Or A is packed, with a_panel from one row of tiles to the next, and
  /// a_panel is 0 if it is not.
  const real* a;
  Index a_row, a_k, a_panel = 0;
  /// Element (p, j) of B is b[p * b_k + j]. Or B is packed in panels of `width` columns, b_panel from one to the next,
  /// and element (p, j) of a panel is so; `width` is 0 if it is not.
  const real* b;
  Index b_k, width = 0, b_panel = 0;
  real* c;
  Index c_row;
  const real* bias;      ///< an element per column, added to C; or null
  bool add;              ///< to what C holds, the blocks of k before this one; else C is set
  real* copy = nullptr;  ///< if A and B are not packed: where to pack B for the rows of tiles after the first
};

struct Table {
  const char* name;  ///< as MOTE_SIMD gives it

  // Element-wise (target/elementwise.h)
  Binary *add, *sub, *mul, *div, *maximum, *minimum, *pow;
  Unary *neg, *abs, *sign, *sqrt, *exp, *log, *sin, *cos, *tanh, *sigmoid, *relu, *gelu, *gelu_tanh, *silu;
  /// Gradients that need x again: dx[i] from (dy[i], x[i]).
  Binary *gelu_backward, *gelu_tanh_backward, *silu_backward;
  /// Gradients that need y: dx[i] from (dy[i], y[i]).
  Binary *relu_backward, *tanh_backward, *sigmoid_backward;
  /// Both of gelu, for a backward pass that kept only x: y[i] = gelu(x[i]) and dx[i] from (dy[i], x[i]). dx may be dy.
  void (*gelu_again)(const real* dy, const real* x, real* y, real* dx, Index n);
  void (*gelu_tanh_again)(const real* dy, const real* x, real* y, real* dx, Index n);
  /// y[i] = x[i] * (scale if bit i % 8 of keep[i / 8] is set, else 0); keep has an even number of bytes.
  void (*scale_kept)(const real* x, const std::uint8_t* keep, real scale, real* y, Index n);

  // Reductions (target/rows.h). Accumulator i mod 16 takes element i; a fixed tree combines the sixteen.
  Reduce *sum, *max, *min;
  real (*sum_squared_difference)(const real* x, real centre, Index n);
  /// y[j] = sum over rows of x[r * stride + j]: r ascending, in blocks of 128 rows.
  void (*sum_columns)(const real* x, Index rows, Index stride, real* y, Index columns);

  // Rows of scores (target/softmax.h): one contiguous row of n; the output may be the input.
  /// keep may be null; a fully masked row gives zeros. stats, if not null, receives {max, sum}.
  void (*softmax)(const real* x, const std::uint8_t* keep, real* y, real* stats, Index n);
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

  // Attention (target/attention.h), one block at a time.
  /// w = softmax over the keys that a query sees, 0 for the others; each query's maximum and sum, unless they are null.
  void (*attention_weights)(const AttentionBlock& b, real* w, real* maxima, real* sums);
  /// The same w from the maxima and sums.
  void (*attention_recompute_weights)(const AttentionBlock& b, real* w, const real* maxima, const real* sums);
  /// The gradient d of the products q_r . k_j from the weights w, whose own gradient is dy_r . v_j, times the scaled
  /// dropout mask if that is not null.
  void (*attention_score_gradient)(const AttentionBlock& b, const RowProducts& dy_v, const real* dropout, const real* w,
                                   real* d);
  /// y_r = (`add`: y_r +) the sum of w x_j over the keys j that query r sees, j ascending.
  void (*attention_sum_keys)(const AttentionBlock& b, const WeightedRows& s, bool add);
  /// y_j += w x_r for the queries r that see key j, r ascending; rows of keys from `unset` on are set instead.
  void (*attention_sum_queries)(const AttentionBlock& b, const WeightedRows& s, Index unset);

  // Gradient descent (target/descent.h), in place on n contiguous elements.
  void (*descend_by_moments)(const MomentsDescent& s, real* value, const real* grad, real* m, real* v, Index n);
  void (*descend_by_velocity)(const VelocityDescent& s, real* value, const real* grad, real* velocity, Index n);
  /// y += share (x - y), a running mean; with values below the smallest normal one as 0.
  void (*lerp)(const real* x, real share, real* y, Index n);

  // Matrix product (target/gemm.h).
  Index gemm_rows;  ///< the most rows of a tile
  void (*gemm_tiles)(const TileBlock& t);
  /// The width of tiles, and so of panels of B, for so many rows.
  Index (*gemm_width)(Index rows);
  /// Packs x in panels of `width` columns j, `panel` apart: out[p * width + j] = x[p * row + j * column] for p < k.
  /// `out` has room for 16 elements more.
  void (*gemm_pack)(const real* x, Index row, Index column, Index k, Index columns, Index width, Index panel,
                    real* out);
  /// Packs A of a block, to which the block then refers. `out` has room for (rows + d) (k + 16), d = rows / gemm_rows +
  /// 1.
  void (*gemm_pack_rows)(TileBlock& t, real* out);

  // The Mersenne Twister (target/twister.h; formulas: mersenne.h).
  /// x[624 + i] for i in [0, n) from the 624 words before; x has room for 15 words more.
  void (*twist)(std::uint32_t* x, Index n);
  /// y[i] = x[i] tempered. y may be x.
  void (*temper)(const std::uint32_t* x, std::uint32_t* y, Index n);
  /// Bit i % 8 of bits[i / 8] for i in [0, n): whether the low 53 bits of the tempered words 2 i (the high half) and
  /// 2 i + 1 are below `limit`, which is at most 2^53. The last byte ends in zeros.
  void (*bits_below_limit)(const std::uint32_t* x, std::uint64_t limit, std::uint8_t* bits, Index n);
};

/// The table in use: MOTE_SIMD, else the widest that this processor supports. Errors: an unsupported MOTE_SIMD.
const Table& table();
/// Every table this processor supports, slowest first; tests cover all of them.
std::vector<const Table*> available_tables();
/// Uses `t` from now on. For tests: results do not change.
void use_table(const Table& t);

}  // namespace mote::kernels
