// Lesson 7. A stack of 100 transformer blocks takes a training step, with the norm before each part or after it, and
// shows how much of the gradient reaches the bottom.
#include <cmath>
#include <cstdio>
#include <vector>

#include "engine/engine.h"
#include "examples/program.h"
#include "nn/nn.h"
#include "train/adamw.h"
#include "train/clip.h"

using namespace mote;

namespace {

double norm(const Array& x) { return std::sqrt(static_cast<double>(sum(x * x).item())); }

/// For comparison: the parts of a pre-norm block without the residual sums around them.
struct BareBlock : Layer<BareBlock> {
  LayerNorm ln_1, ln_2;
  SelfAttention attn;
  FeedForward mlp;
  BareBlock(Index width, Index heads, const Generator& random)
      : ln_1(width), ln_2(width), attn(width, heads, random), mlp(width, 4 * width, random) {}
  Tensor forward(const Tensor& x) const { return mlp(ln_2(attn(ln_1(x)))); }
  void visit(Visitor& v) override {
    v("ln_1", ln_1);
    v("ln_2", ln_2);
    v("attn", attn);
    v("mlp", mlp);
  }
};

/// Embeddings, a stack of blocks with PyTorch's default weights, and a head: a model of your own in twenty lines.
template <class Block>
struct Stack : Layer<Stack<Block>> {
  Embedding token, position;
  std::vector<Block> blocks;
  Linear head;
  template <class... Options>
  Stack(Index layers, const Generator& random, const Options&... options)
      : token(32, 32, random), position(16, 32, random), head(32, 32, random) {
    for (Index i = 0; i < layers; ++i) blocks.emplace_back(32, 4, random, options...);
  }
  Tensor forward(const IntArray& ids) const {
    const Tensor tokens = token(ids);
    Tensor x = tokens + slice(position.weight, 0, 0, ids.shape()[1]);
    for (const Block& block : blocks) x = block(x);
    return head(x);
  }
  void visit(Visitor& v) override {
    v("token", token);
    v("position", position);
    v("blocks", blocks);
    v("head", head);
  }
};

/// One training step; prints the loss before and after it, and gradient norms along the stack. Returns the norm at the
/// bottom, or NaN if anything was not finite.
template <class Model>
double one_step(const char* kind, const Model& model) {
  const Generator data(8);
  const IntArray ids = randint(0, 32, {4, 17}, data);
  const IntArray inputs = ids.slice(1, 0, 16), targets = ids.slice(1, 1, 17);
  AdamW optimizer(all_parameters(model), {.lr = 1e-4});
  const auto loss_now = [&] {
    const Tensor logits = model(inputs);
    return cross_entropy(logits, targets);
  };
  const Tensor loss = loss_now();
  loss.backward();
  const double bottom = norm(model.position.weight.grad());
  std::vector<double> blocks;
  for (const NamedParameter& p : named_parameters(model))
    if (p.name.ends_with("c_attn.weight")) blocks.push_back(norm(p.parameter.grad()));
  const double all = clip_grad_norm(parameters(model), 1.0);
  optimizer.step();
  const NoGrad no_grad;
  const double after = static_cast<double>(loss_now().item());
  std::printf("  %-4s %6d   %8.4f   %8.4f   %11.3e   %11.3e   %11.3e\n", kind, static_cast<int>(model.blocks.size()),
              static_cast<double>(loss.item()), after, bottom, blocks.front(), blocks.back());
  return std::isfinite(all) && std::isfinite(after) ? bottom : std::nan("");
}

}  // namespace

int lesson() {
  std::printf(
      "One AdamW step. Gradient norms at the position embedding (the bottom), the first and the last block.\n\n"
      "  norm blocks       loss      after        bottom    block first    block last\n");
  std::vector<double> pre, post, none;
  for (const Index layers : {1, 6, 24, 100}) {
    const auto stack = [&](NormOrder order) {
      return Stack<TransformerBlock>(layers, Generator(7), TransformerBlockOptions{.norm_order = order});
    };
    pre.push_back(one_step("pre", stack(NormOrder::pre)));
    post.push_back(one_step("post", stack(NormOrder::post)));
    none.push_back(one_step("none", Stack<BareBlock>(layers, Generator(7))));
  }
  const bool as_told =
      none.back() < none.front() / 100 && pre.back() > pre.front() / 10 && post.back() > post.front() / 10;
  std::printf(
      "\n\"none\" has the norms of \"pre\" but no residual sums: x = mlp(norm(attn(norm(x)))). There the gradient\n"
      "that reaches the bottom fades with depth; with the sums, in either order of norms, it does not, and nothing\n"
      "overflows. Whether training ends well is another question, which one step does not answer.\n"
      "pre:  y = x + part(norm(x)). The sum x only grows with depth, and with it the logits, the first loss and\n"
      "      the gradients; a GPT has one more norm before its head for that.\n"
      "post: y = norm(x + part(x)). Every block brings its sum back to one size, so the loss starts where that of\n"
      "      one block does; but each norm stands in the way down and rescales the gradient that passes.\n");
  if (!as_told) std::printf("\nNot all of this came out as the text says: see above.\n");
  return as_told ? 0 : 1;
}

int main(int, char** argv) { return run_program(argv[0], lesson); }
