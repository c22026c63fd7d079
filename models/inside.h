// A trained GPT taken apart: what each part adds to a logit, the logits after each block, what heads read and write.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/gpt.h"
#include "nn/reach.h"

namespace mote {

/// One forward pass of a GPT, taken apart into what each layer and head adds to the logits. The residual stream x [B,
/// T, C] starts as token + position, and each block adds to it:
///
///     x = x + sum of heads + bias,   x = x + mlp,   and in the end   logits = W norm(x).
///
/// With the last norm's scale held fixed at its value in this pass, the logits are linear in x. So a logit is the sum
/// of what each part has added to it. A Decomposition keeps the weights of the pass, even if the model's weights change
/// later. It computes without gradients. Scopes such as Change (nn/reach.h) take effect if they change values inside
/// attention or a feed-forward network. An attention layer of your own that does not show its heads is one part.
///
/// Errors: those of GPT; a norm_order that is not pre; dropout that is on; a logit that is not the sum of its shares,
/// because a scope changes what a part adds, or because a layer of your own adds something else. Every logit is
/// compared with the sum of its shares. The two may differ by sqrt(epsilon of real), 3.5e-4 in float, times the sum of
/// the absolute values of all terms.
class Decomposition {
 public:
  Decomposition(const GPT& model, const IntArray& ids);

  Tensor logits;               ///< [B, T, V]: the model's logits
  std::vector<Tensor> before;  ///< [B, T, C]: the residual stream before each block, and after the last
  std::vector<Tensor> middle;  ///< [B, T, C]: the residual stream in each block, after attention

  struct Part {
    std::string name;  ///< "token", "position", "0 head 1", "0 bias" of the heads' projection, "0 mlp", ...
    Tensor value;
  };
  /// The parts that sum to the residual stream after the last block, each [B, T, C].
  std::vector<Part> parts() const;
  /// Returns how much each part adds to the logit of `token` at every position, [B, T]. If `less` is given, the shares
  /// are those of the logit of `token` minus the logit of `less`. `token` and `less` are ids that broadcast to [B, T].
  /// The part "norm" is the last norm's bias. All parts together sum to the logit, or to the difference of logits, up
  /// to rounding.
  std::vector<Part> shares(const IntArray& token, const IntArray& less = {}) const;
  /// Returns how much each neuron of a block's feed-forward network adds to the logit, [B, T, N]. `token` and `less`
  /// are as in shares(). The shares of all neurons and of c_proj's bias sum to the share of the network. Errors: a
  /// network other than FeedForward whose result is not c_proj of its neurons. For such a network shares() still has
  /// the share of the whole network.
  Tensor neuron_shares(Integer layer, const IntArray& token, const IntArray& less = {}) const;

  /// The logit lens: the logits that the model would give after fewer blocks, [n_layer + 1, B, T, V]. They are W
  /// norm(x) for the stream x before each block and after the last. The last entry is the model's logits. Source:
  /// nostalgebraist 2020.
  Tensor lens() const;

 private:
  /// The gradient of the logit of `token`, or of its difference to the logit of `less`, with respect to the residual
  /// stream: [B, T, C]. The scale of the last norm is held fixed.
  Tensor direction(const IntArray& token, const IntArray& less) const;
  Tensor unembedding(const IntArray& token, const IntArray& less) const;
  void check_sums() const;

  GPTConfig config_;
  std::map<std::string, Tensor> weights_, values_;
};

/// A matrix of low rank r, kept as the product of left [m, r] and right [r, n]. The effect of a head on a row x is
/// (x left) right, so the product itself is not needed.
struct FactoredMatrix {
  Tensor left, right;
  Tensor product() const { return matmul(left, right); }
  double norm() const;  ///< the Frobenius norm, computed from [r, r] matrices
};
/// The product of two matrices, kept as factors.
FactoredMatrix operator*(const FactoredMatrix& a, const FactoredMatrix& b);
/// The sum of two matrices, kept as factors, such as that of two heads that write to the same stream.
FactoredMatrix operator+(const FactoredMatrix& a, const FactoredMatrix& b);

/// The OV matrix of a head, [C, C]. A head that attends to a row x adds x OV to the stream. x is a row of the output of
/// the block's norm. Biases are left out.
FactoredMatrix ov(const GPT& model, Integer layer, Integer head);
/// The QK matrix of a head, [C, C]. The query of a row x and the key of a row y have the score x QK y^T. Biases,
/// rotation and scale are left out.
FactoredMatrix qk(const GPT& model, Integer layer, Integer head);
/// The share of tokens whose own logit grows the most when a head attends to them. `written` is ov() of a head, or the
/// sum of ov() of several heads. The vector of each token goes through the block's norm, `written`, the weight of the
/// last norm, and lm_head. Sources: Elhage et al. 2021; the top-1 share as in the course ARENA.
double copying_score(const GPT& model, Integer layer, const FactoredMatrix& written);
/// The composition score |a b| / (|a| |b|), which says how much a later head reads of what an earlier head writes. a is
/// ov() of the earlier head. b is a matrix of the later head: qk() for its queries, the transposed qk() for its keys,
/// and ov() for its values. Random matrices have a score of about 1 / sqrt(C). Source: Elhage et al. 2021.
double composition(const FactoredMatrix& a, const FactoredMatrix& b);
/// The transpose of a matrix, kept as factors.
FactoredMatrix transposed(const FactoredMatrix& a);

/// A function that measures how well a model does: logits [B, T, V] -> one number, a Tensor of rank 0.
using Metric = std::function<Tensor(const Tensor& logits)>;
/// Returns a table of activation patching, with a row for each layer and a column for each position or head. An entry
/// is the metric of model(ids) if one value inside the model is replaced by its value in model(other). `value` says
/// which value of each block is replaced. "" is the result of the block. ".attn", ".mlp" or the name of another layer
/// inside the block is the result of this layer. These values are replaced at one position at a time, so the table is
/// [n_layer, T]. ".attn heads" is the result of one head, which is replaced at all positions, so the table is [n_layer,
/// H]. ids and other are [B, T]. If `other` is not defined, the value is replaced by 0. All entries are computed in one
/// batched pass, which scopes around the call see. attention_text() and attention_svg() show the table. Errors: ids and
/// `other` of different shapes, or empty; another text as `value`; dropout that is on; the errors of Change
/// (nn/reach.h).
Tensor patch_table(const GPT& model, const IntArray& ids, const IntArray& other, const std::string& value,
                   const Metric& metric);

/// How much the metric falls without each head, [n_layer, H]. `ablated` is measured with the head's output set to 0.
/// `gradient` is a cheap linear estimate, the sum of head output times gradient from one backward pass. The gradients
/// of the model's parameters stay as they are. Source: Michel et al. 2019. Errors: those of patch_table; weights that
/// are frozen; NoGrad.
struct HeadImportance {
  Tensor ablated, gradient;
};
HeadImportance head_importance(const GPT& model, const IntArray& ids, const Metric& metric);

}  // namespace mote
