// What a trained GPT is made of inside: whose sum a logit is, what each block would say, what its heads read and write.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/gpt.h"
#include "nn/reach.h"

namespace mote {

/// One run of a GPT, taken apart. A block adds to a stream x [B, T, C] that starts as token + position:
///
///     x = x + sum of heads + bias,   x = x + mlp,   and in the end   logits = W norm(x).
///
/// With the norm's scale as it was in this run, all after it is linear. So a logit is the sum of what each part has
/// added to it. It keeps the weights of the run, whatever becomes of the model. Under NoGrad. Scopes that change what
/// is inside attention or a network are seen. An attention of your own is one part if it shows no heads.
///
/// Errors: those of GPT; a norm_order that is not pre; dropout that is on. A logit that is not the sum of its shares: a
/// scope changes what a part adds, or a layer of your own adds something else. Every logit is compared. It may be off
/// by sqrt(epsilon of real) times the sum of its terms' absolute values. In float that is 3.5e-4 of the sum.
class Decomposition {
 public:
  Decomposition(const GPT& model, const IntArray& ids);

  Tensor logits;               ///< [B, T, V]: the model's
  std::vector<Tensor> before;  ///< [B, T, C]: the stream before each block, and after the last
  std::vector<Tensor> middle;  ///< [B, T, C]: in each block, between attention and feed-forward network

  struct Part {
    std::string name;  ///< "token", "position", "0 head 1", "0 bias" of the heads' projection, "0 mlp", ...
    Tensor value;
  };
  /// What the stream after the last block is the sum of, [B, T, C].
  std::vector<Part> parts() const;
  /// What each part adds to the logit of `token` at every place, [B, T], or to that less the logit of another token.
  /// Tokens are ids that broadcast to [B, T]. "norm" is the last norm's bias. Their sum is that logit, to rounding.
  std::vector<Part> shares(const IntArray& token, const IntArray& less = {}) const;
  /// The same of each neuron of a block's feed-forward network, [B, T, N]: their sum and the bias's is its share.
  /// Errors: a network that is not c_proj of its neurons, as FeedForward is: then it is one share.
  Tensor neuron_shares(Integer layer, const IntArray& token, const IntArray& less = {}) const;

  /// The logit lens: what each block would have the model say, [n_layer + 1, B, T, V]. It is W norm(x) for the stream
  /// before each block and after the last. The last rows are the logits. Source: nostalgebraist 2020.
  Tensor lens() const;

 private:
  /// By how much a logit grows with the stream: [B, T, C].
  Tensor direction(const IntArray& token, const IntArray& less) const;
  Tensor unembedding(const IntArray& token, const IntArray& less) const;
  void check_sums() const;

  GPTConfig config_;
  std::map<std::string, Tensor> weights_, values_;
};

/// A matrix as a product, left [m, r] right [r, n] with a small r. It is never multiplied out: what a head does to a
/// row x is (x left) right.
struct FactoredMatrix {
  Tensor left, right;
  Tensor product() const { return matmul(left, right); }
  double norm() const;  ///< the root of the sum of all squares, by [r, r] matrices
};
FactoredMatrix operator*(const FactoredMatrix& a, const FactoredMatrix& b);
/// Of heads that write side by side.
FactoredMatrix operator+(const FactoredMatrix& a, const FactoredMatrix& b);

/// [C, C]: a row x that the head looks at, as its block's norm gives it, makes it write x OV, without biases.
FactoredMatrix ov(const GPT& model, Integer layer, Integer head);
/// [C, C]: a query of row x and a key of row y have the score x QK y^T. Biases, rotation and scale are left out.
FactoredMatrix qk(const GPT& model, Integer layer, Integer head);
/// The share of tokens t whose own logit `written` makes grow most of all when it looks at t. `written` is ov of a
/// head, or of several with +. For t's vector e: e norm, e OV, last norm's gain, W. Source: Elhage et al. 2021; top-1
/// as ARENA.
double copying_score(const GPT& model, Integer layer, const FactoredMatrix& written);
/// |a b| / (|a| |b|): how much the later head's matrix reads of what the earlier one writes. For keys of the later one
/// composition(ov, qk transposed): of its queries composition(ov, qk), of its values composition(ov, ov). That of
/// random matrices is about 1 / sqrt(C). Source: Elhage et al. 2021.
double composition(const FactoredMatrix& a, const FactoredMatrix& b);
FactoredMatrix transposed(const FactoredMatrix& a);

/// A number that says how well a model does: logits [B, T, V] -> [].
using Metric = std::function<Tensor(const Tensor& logits)>;
/// The metric of model(ids) where one place has what the run of `other` had there. All places run in one batched pass.
/// Scopes around it see that pass. `value` is named as behind a block's name. "" is what the block returns; ".attn",
/// ".mlp" or any layer inside is what that layer gives. These are exchanged at one position each: [n_layer, T]. ".attn
/// heads" is what one head gives, exchanged at all positions: [n_layer, H]. ids, other [B, T]; an undefined `other`: 0
/// is put there. attention_text() and attention_svg() show the table. Errors: ids of two shapes, or empty; another
/// value; dropout that is on; those of Change.
Tensor patch_table(const GPT& model, const IntArray& ids, const IntArray& other, const std::string& value,
                   const Metric& metric);

/// How much the metric falls without each head, [n_layer, H]. It is measured by taking the head out. It is also
/// estimated from one backward pass as the sum of head x gradient, which is cheap and linear. The model's gradients
/// stay as they are. Source: Michel et al. 2019. Errors: those of patch_table; weights that are frozen; NoGrad.
struct HeadImportance {
  Tensor ablated, gradient;
};
HeadImportance head_importance(const GPT& model, const IntArray& ids, const Metric& metric);

}  // namespace mote
