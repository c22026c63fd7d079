// What is here: lesson 7. A stack of 100 transformer blocks takes a training step, with the norm before each part and
//   after it, and shows how much of the gradient arrives at the bottom.
// What is not: training such a stack to the end.
// Read next: ../nn/transformer_block.h.
#include <cmath>
#include <cstdio>
#include <vector>

#include "engine/engine.h"
#include "nn/nn.h"
#include "train/adamw.h"
#include "train/clip.h"

using namespace mote;

namespace {

double norm(const Array& x) { return std::sqrt(static_cast<double>(sum(x * x).item())); }

/// Embeddings, a stack of blocks with PyTorch's default weights, and a head: a model of one's own in twenty lines.
struct Stack : Layer<Stack> {
  Embedding token, position;
  std::vector<TransformerBlock> blocks;
  Linear head;
  Stack(NormOrder order, Index layers, const Generator& random)
      : token(32, 32, random), position(16, 32, random), head(32, 32, random) {
    for (Index i = 0; i < layers; ++i) blocks.emplace_back(32, 4, random, TransformerBlockOptions{.order = order});
  }
  Tensor forward(const Tokens& ids) const {
    const Tensor tokens = token(ids);
    Tensor x = tokens + slice(position.weight, 0, 0, ids.shape()[1]);
    for (const TransformerBlock& block : blocks) x = block(x);
    return head(x);
  }
  void visit(Visitor& v) override {
    v("token", token);
    v("position", position);
    v("blocks", blocks);
    v("head", head);
  }
};

/// One step of training; prints its loss before and after and gradient norms along the way.
bool one_step(NormOrder order, Index layers) {
  const Generator random(7), data(8);
  const Stack model(order, layers, random);
  const Tokens ids = randint(0, 32, {4, 17}, data);
  const Tokens inputs = ids.slice(1, 0, 16), targets = ids.slice(1, 1, 17);
  AdamW optimizer(all_parameters(model), {.lr = 1e-4});
  const auto loss_now = [&] {
    const Tensor logits = model(inputs);
    return cross_entropy(logits, targets);
  };
  const Tensor loss = loss_now();
  loss.backward();
  const double bottom = norm(model.position.weight.grad());
  const double first = norm(model.blocks.front().attn.c_attn->weight.grad());
  const double last = norm(model.blocks.back().attn.c_attn->weight.grad());
  const double all = clip_grad_norm(parameters(model), 1.0);
  optimizer.step();
  const NoGrad no_grad;
  const double after = static_cast<double>(loss_now().item());
  std::printf("  %-4s %6d   %8.4f   %8.4f   %11.3e   %11.3e   %11.3e\n", order == NormOrder::pre ? "pre" : "post",
              static_cast<int>(layers), static_cast<double>(loss.item()), after, bottom, first, last);
  return std::isfinite(all) && std::isfinite(after) && bottom > 0;
}

}  // namespace

int main() {
  std::printf(
      "One AdamW step. Gradient norms at the position embedding (the bottom), the first and the last block.\n\n"
      "  norm blocks       loss      after        bottom    block first    block last\n");
  bool finite = true;
  for (const Index layers : {1, 6, 24, 100})
    for (const NormOrder order : {NormOrder::pre, NormOrder::post}) finite = one_step(order, layers) && finite;
  std::printf(
      "\nAt the start nothing overflows and nothing fades, in either order: residual sums let the gradient through.\n"
      "Whether training ends well is another question, which one step does not answer.\n"
      "pre:  y = x + part(norm(x)). The sum x only grows with depth, and with it the logits, the first loss and\n"
      "      the gradients; a GPT has one more norm before its head for that.\n"
      "post: y = norm(x + part(x)). Every block brings its sum back to one size, so the loss starts where that of\n"
      "      one block does; but each norm stands in the way down and rescales the gradient that passes.\n");
  return finite ? 0 : 1;
}
