// Table, the table of kernels for one instruction set, and table(), which returns the table in use.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/real.h"

namespace mote::kernels {

/// y[i] = f(x[i * sx]) for i in [0, n). A stride sx of 0 repeats one element. y is contiguous.
using Unary = void(const real* x, Index sx, real* y, Index n);
/// y[i] = f(a[i * sa], b[i * sb]).
using Binary = void(const real* a, Index sa, const real* b, Index sb, real* y, Index n);
/// The number of terms that a sum over rows adds in one chain. This many rows form a block, this many blocks form a
/// larger block, and so on. The number is fixed, because the bits of a sum depend on it.
constexpr Index sum_rows = 128;
/// Reduces n contiguous elements to one value.
using Reduce = real(const real* x, Index n);

/// The constants of an Adam step, which uses the running means of the gradient and of its square. Running means whose
/// magnitude is below `smallest` become 0. The formula is in target/descent.h.
struct MomentsDescent {
  real decay1, weight1, decay2, weight2, decay, l2, step_size, correction2_sqrt, eps, smallest;
};
/// The constants of a step of SGD with momentum. `weight` = 1 - dampening multiplies the gradient that is added to
/// the velocity. The formula is in target/descent.h.
struct VelocityDescent {
  real lr, l2, momentum, weight;
  bool nesterov, first;
};

/// The weight and bias of a norm, null if the norm has none, and eps, which is added to the variance.
struct NormWeights {
  const real *weight, *bias;
  real eps;
};
/// The inputs of a norm's backward pass: rows of dy and x, the weight or null, and {mean, inv_std} of every row.
struct NormInputs {
  const real *dy, *x, *weight, *stats;
};
/// The outputs of a norm's backward pass. dx is overwritten, and d_weight and d_bias are added to. A gradient that is
/// not wanted is null.
struct NormGradients {
  real *dx, *d_weight, *d_bias;
};

/// The target probabilities of one row of cross-entropy. Every class has probability `spread`, and class `index` has
/// `sharp` in addition. The gradient is multiplied by `scale`.
struct TargetRow {
  Index index;
  real sharp, spread, scale;
};

/// Two matrices a and b. A kernel computes the dot products a_r . b_j of their rows. A row has `width` adjacent
/// elements. The rows of a are a_row elements apart, and the rows of b are b_row elements apart.
struct RowProducts {
  const real* a;
  Index a_row;
  const real* b;
  Index b_row, width;
};
/// Up to 16 queries of one attention head, and the keys that any of these queries sees (attends to). Without a mask
/// or a window, query r sees the first `full` + r keys. With a mask or a window, query r sees key j if
/// keep[lanes * j + r] is not 0. An array with one value for each pair of a key and a query, such as the weights w,
/// stores the value of key j and query r at w[lanes * j + r]. lanes is 16, or 1 for a single query in
/// attention_weights and attention_sum_keys.
struct AttentionBlock {
  Index rows, keys, full, lanes;
  const std::uint8_t* keep;  ///< null without a mask or a window
  RowProducts products;      ///< the dot products of queries and keys
  real scale;                ///< multiplies these products
  const real* bias;          ///< null, or bias[r - j] is added to the score of query r and key j
  real* transposed;          ///< scratch memory of 16 * width elements, for the larger width of `products` and dy_v
};
/// The operands of a weighted sum of rows: the weights w, the rows x of `width` adjacent elements, and the rows y of
/// the result.
struct WeightedRows {
  const real *w, *x;
  Index x_row, width;
  real* y;
  Index y_row;
};

/// One block of a matrix product: C [rows, columns] = A [rows, k] B [k, columns], with k at most sum_block. A longer k
/// is cut into several blocks, whose products are added.
struct TileBlock {
  Index rows, columns, k;
  /// Element (r, p) of A is a[r * a_row + p * a_k]. If A is packed, each row of tiles has a panel of A, and the panels
  /// are a_panel elements apart. If A is not packed, a_panel is 0.
  const real* a;
  Index a_row, a_k, a_panel = 0;
  /// Element (p, j) of B is b[p * b_k + j]. If B is packed, this holds within a panel of `width` columns, and the
  /// panels are b_panel elements apart. If B is not packed, `width` is 0.
  const real* b;
  Index b_k, width = 0, b_panel = 0;
  real* c;
  Index c_row;
  const real* bias;      ///< null, or one element per column, which is added to C
  bool add;              ///< whether to add to C, which holds the earlier blocks of k, instead of setting C
  real* copy = nullptr;  ///< null, or memory into which the kernel packs B; only if A and B are not packed yet
};

struct Table {
  const char* name;  ///< the value of MOTE_SIMD that selects this table

  // Element-wise (target/elementwise.h)
  Binary *add, *sub, *mul, *div, *maximum, *minimum, *pow;
  Unary *neg, *abs, *sign, *sqrt, *exp, *log, *sin, *cos, *tanh, *sigmoid, *relu, *gelu, *gelu_tanh, *silu;
  /// Gradients that are computed from the op's input x: dx[i] from (dy[i], x[i]).
  Binary *gelu_backward, *gelu_tanh_backward, *silu_backward;
  /// Gradients that are computed from the op's result y: dx[i] from (dy[i], y[i]).
  Binary *relu_backward, *tanh_backward, *sigmoid_backward;
  /// Computes gelu and its gradient together, for a backward pass that has kept only x. y[i] = gelu(x[i]), and dx[i]
  /// is computed from (dy[i], x[i]). dx may be dy.
  void (*gelu_again)(const real* dy, const real* x, real* y, real* dx, Index n);
  void (*gelu_tanh_again)(const real* dy, const real* x, real* y, real* dx, Index n);
  /// y[i] = x[i] * (scale if bit i % 8 of keep[i / 8] is set, else 0). keep has an even number of bytes, because 16
  /// bits are read at a time.
  void (*scale_kept)(const real* x, const std::uint8_t* keep, real scale, real* y, Index n);

  // Reductions (target/rows.h). Element i goes into accumulator i mod 16, and a fixed tree combines the 16
  // accumulators.
  Reduce *sum, *max, *min;
  real (*sum_squared_difference)(const real* x, real centre, Index n);
  /// y[j] = the sum of x[r * stride + j] over rows r, in ascending order and in blocks of sum_rows rows.
  void (*sum_columns)(const real* x, Index rows, Index stride, real* y, Index columns);

  // Softmax and cross-entropy (target/softmax.h) of one contiguous row of n elements. The output may overwrite the
  // input.
  /// y = softmax(x). An element with keep[i] = 0 is masked and gets y[i] = 0, so a fully masked row gives zeros. keep
  /// may be null. stats, if not null, receives {max, sum of exp(x - max)}.
  void (*softmax)(const real* x, const std::uint8_t* keep, real* y, real* stats, Index n);
  void (*softmax_backward)(const real* dy, const real* y, real* dx, Index n);
  void (*log_softmax)(const real* x, real* y, Index n);
  void (*log_softmax_backward)(const real* dy, const real* y, real* dx, Index n);
  /// stats = {max, log(sum(exp(x - max)))}, so that log_softmax is x - stats[0] - stats[1].
  void (*log_sum_exp)(const real* x, real* stats, Index n);
  /// The sum of log_softmax(x) over the row, from the stats of log_sum_exp().
  real (*sum_log_softmax)(const real* x, const real* stats, Index n);
  /// dx = (softmax(x) - sharp one_hot(index) - spread) scale, from the stats of log_sum_exp().
  void (*cross_entropy_backward)(const real* x, const real* stats, const TargetRow& target, real* dx, Index n);

  // Norms (target/norm.h) of `rows` contiguous rows of n >= 1 elements.
  /// y = (x - mean) * inv_std * weight + bias. stats receives {mean, inv_std} of every row. rms_norm uses 0 as the
  /// mean.
  void (*layer_norm)(const real* x, const NormWeights& weights, real* y, real* stats, Index rows, Index n);
  void (*rms_norm)(const real* x, const NormWeights& weights, real* y, real* stats, Index rows, Index n);
  void (*layer_norm_backward)(const NormInputs& in, const NormGradients& out, Index rows, Index n);
  void (*rms_norm_backward)(const NormInputs& in, const NormGradients& out, Index rows, Index n);

  // Attention (target/attention.h), one block at a time.
  /// w = the softmax of a query's scores over the keys that the query sees, and 0 for the other keys. maxima and sums,
  /// if not null, receive each query's largest score and sum of exponentials.
  void (*attention_weights)(const AttentionBlock& b, real* w, real* maxima, real* sums);
  /// Computes the w of attention_weights again, from the maxima and sums that it stored.
  void (*attention_recompute_weights)(const AttentionBlock& b, real* w, const real* maxima, const real* sums);
  /// Computes d, the gradient of the dot products q_r . k_j, from the attention weights `w`. The gradient of the
  /// weights is dy_r . v_j, times the scaled dropout mask `dropout` if that is not null.
  void (*attention_score_gradient)(const AttentionBlock& b, const RowProducts& dy_v, const real* dropout, const real* w,
                                   real* d);
  /// y_r = the sum of w x_j over the keys j that query r sees, in ascending j. If `add`, the sum is added to y_r.
  void (*attention_sum_keys)(const AttentionBlock& b, const WeightedRows& s, bool add);
  /// y_j += w x_r for the queries r that see key j, in ascending r. For keys from `unset` on, y_j holds no value yet
  /// and starts at 0.
  void (*attention_sum_queries)(const AttentionBlock& b, const WeightedRows& s, Index unset);

  // Gradient descent (target/descent.h), in place on n contiguous elements.
  void (*descend_by_moments)(const MomentsDescent& s, real* value, const real* grad, real* m, real* v, Index n);
  void (*descend_by_velocity)(const VelocityDescent& s, real* value, const real* grad, real* velocity, Index n);
  /// y += share (x - y), as for a running mean. Results whose magnitude is below the smallest normal number become 0.
  void (*lerp)(const real* x, real share, real* y, Index n);

  // Matrix product (target/gemm.h).
  Index gemm_rows;  ///< the largest number of rows of a tile
  void (*gemm_tiles)(const TileBlock& t);
  /// The number of columns of a tile, and so of a panel of B, in a product of `rows` rows.
  Index (*gemm_width)(Index rows);
  /// Packs x into panels of `width` columns, `panel` elements apart. In the first panel, out[p * width + j] =
  /// x[p * row + j * column] for p < k. `out` must have room for 16 elements beyond the last panel.
  void (*gemm_pack)(const real* x, Index row, Index column, Index k, Index columns, Index width, Index panel,
                    real* out);
  /// Packs A of the block t into `out`, and makes t refer to the packed A. `out` must have room for
  /// (rows + d) * (k + 16) elements, where d = rows / gemm_rows + 1 is the largest possible number of panels.
  void (*gemm_pack_rows)(TileBlock& t, real* out);

  // The Mersenne Twister (target/twister.h; formulas: mersenne.h).
  /// Computes x[624 + i] for i in [0, n), each from the 624 words before it. x must have room for 15 more words.
  void (*twist)(std::uint32_t* x, Index n);
  /// y[i] = x[i] tempered. y may be x.
  void (*temper)(const std::uint32_t* x, std::uint32_t* y, Index n);
  /// For i in [0, n), bit i % 8 of bits[i / 8] becomes 1 if draw i is below `limit`, otherwise 0. `limit` is at most
  /// 2^53. Draw i is the low 53 bits of a 64-bit number, whose high half is the tempered word 2 i and whose low half
  /// is the tempered word 2 i + 1. The unused bits of the last byte are 0.
  void (*bits_below_limit)(const std::uint32_t* x, std::uint64_t limit, std::uint8_t* bits, Index n);
};

/// The table in use. By default this is the table that MOTE_SIMD names, or the fastest one that this processor
/// supports if MOTE_SIMD is not set. Errors: an unsupported MOTE_SIMD.
const Table& table();
/// Every table this processor supports, slowest first. Tests cover all of them.
std::vector<const Table*> available_tables();
/// Makes `t` the table in use. Only tests need this, because results do not depend on the table.
void use_table(const Table& t);

}  // namespace mote::kernels
