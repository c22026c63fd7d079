// Lesson 11. A transformer is a stack of blocks. This lesson takes a block apart: the norm, the sum, the MLP, and how
// large the first weights should be.
#include <algorithm>
#include <array>
#include <cmath>

#include "engine/engine.h"
#include "engine/watch/graph_picture.h"
#include "examples/lessons/lesson.h"
#include "nn/nn.h"
#include "train/optim/adamw.h"

using namespace mote;
namespace {
double size_of(const Tensor& x) { return number(mean(abs(x))); }  // 0.8 for normal numbers of deviation 1
/// The norm gives the numbers of a vector the mean 0 and the deviation 1. The deviation is the root of the mean of the
/// squared distances from the mean. So the norm takes the distances from the mean, and divides them by the deviation.
/// (1e-5 is added to the mean of the squares, because equal numbers have the deviation 0.)
Tensor normed(const Tensor& x) {
  const Tensor distance = x - mean(x, {-1}, true);
  return distance * (1 / sqrt(mean(distance * distance, {-1}, true) + 1e-5));
}
void norm_in_numbers() {
  const Tensor x = tensor({{3, 7, 1, 5}, {30, 70, 10, 50}, {103, 107, 101, 105}}), y = normed(x);
  std::cout << "1. By the norm, these rows\n" << x << "\nbecome\n" << y << "\n";
  const Tensor means = mean(y, {-1}), squares = mean(y * y, {-1}), apart = select(y, 0, 0) - y;
  claim(size_of(means) < 1e-6 && size_of(squares - 1) < 1e-4, "each has the mean 0 and the deviation 1");
  claim(size_of(apart) < 1e-5, "ten times as large, or 100 more: what comes after the norm sees no difference");
  claim(LayerNorm(4)(x).to_vector() == y.to_vector(), "mote's layer LayerNorm gives the same, to the last bit");
}
enum class Without { nothing, sum, norm, mlp };
/// A block: attention and then an MLP. In attention the tokens exchange information. In the MLP each token is computed
/// by itself, by lesson 4's two matrices with gelu between them, a relu with a rounded corner. The result of each part
/// is added to x, which is called a residual connection. So x runs through all blocks as one sum, the residual stream,
/// and no earlier result is lost. On the way back the sum hands the whole gradient to x, whatever the part does. The
/// norm stands before a part and not after the sum. After the sum, the norm would rescale the stream in every block,
/// and also the gradient on its way back.
struct Block : Layer<Block> {
  Without without;
  LayerNorm ln_1, ln_2;
  SelfAttention attn;
  FeedForward mlp;
  Block(Index width, Without part, double size, const Generator& random)
      : without(part), ln_1(width), ln_2(width), attn(width, 1, random), mlp(width, 4 * width, random) {
    for (const Parameter& w : parameters(*this))
      if (w.shape().rank() == 2) init::normal(w, 0, size / std::sqrt(static_cast<double>(w.shape()[1])), random);
  }
  Tensor forward(const Tensor& x) const {  // [B, T, C] -> [B, T, C]
    const Tensor heard = attn(without == Without::norm ? x : ln_1(x));
    const Tensor y = without == Without::sum ? heard : x + heard;
    if (without == Without::mlp) return y;
    const Tensor thought = mlp(without == Without::norm ? y : ln_2(y));
    return without == Without::sum ? thought : y + thought;
  }
  void visit(Visitor& v) override { v("ln_1", ln_1), v("ln_2", ln_2), v("attn", attn), v("mlp", mlp); }
};

/// Shows how the sizes of numbers and gradients change over 100 layers. A number of W x is a sum of C products. If
/// the numbers of x have deviation 1 and the numbers of W have deviation s, the sum has deviation s sqrt(C), as in
/// lesson 7. So s = 1 / sqrt(C) keeps the size. The same s also keeps the size of the gradient, which is multiplied by
/// W transposed.
void depths() {
  std::printf(
      "\n2. How large numbers are after some layers 64 wide, and the gradient that comes back from the 100th\n"
      "   layers, and the deviation of their weights          1         10        100       gradient\n");
  // "no norm" means blocks without the norm.
  const char* const names[] = {"matrices,", "matrices,", "matrices,", "blocks,  ", "no norm, "};
  std::array<double, 5> times{0.5, 1, 2, 2, 2}, size{}, grad{};
  const Generator random(2);
  for (std::size_t i = 0; i < 5; ++i) {
    const Tensor first = randn({1, 8, 64}, random).requires_grad_();
    Tensor x = first;
    std::printf("   %s %3.1f / sqrt(inputs)              ", names[i], times[i]);
    for (int n = 1; n <= 100; ++n) {
      x = i < 3 ? linear(x, randn({64, 64}, random) * (times[i] / 8))
                : Block(64, i < 4 ? Without::nothing : Without::norm, times[i], random)(x);
      if (n == 1 || n == 10 || n == 100) std::printf(" %10.1e", size_of(x));
    }
    x.backward(randn(x.shape(), random).array());  // x is no scalar, so backward() needs its gradient, here random
    size[i] = size_of(x);
    grad[i] = size_of(first.grad());
    std::printf(" %14.1e\n", grad[i]);
  }
  claim(size[0] < 1e-20 && grad[0] < 1e-20, "weights half as large: neither numbers nor gradient arrive");
  claim(size[2] > 1e20 && grad[2] > 1e20, "weights twice as large: both explode");
  const auto [least, most] = std::minmax({size[1], grad[1], size[3], grad[3]});
  claim(least > 1e-4 && most < 1e5, "right ones keep both, and so do blocks even with weights that are too large");
  claim(!std::isfinite(size[4]), "without the norm sizes multiply from block to block, until too large to be kept");
}
/// Trains a model of `count` blocks of width 16 for 250 steps, and returns the lowest loss. The model reads two
/// tokens, a and 7 + b, and must say (a + b) mod 7 at the second token. Each step trains on all 49 pairs.
double lowest_loss(Index count, Without part, double size) {
  const Generator random(1);
  Sequential model{Embedding(14, 16, random)};  // layers one after the other
  for (Index i = 0; i < count; ++i) model.add(Block(16, part, size, random));
  if (part != Without::norm) model.add(LayerNorm(16));
  model.add(Linear(16, 7, random));
  IntArray ids({49, 2}), wanted({49});
  for (Index i = 0; i < 49; ++i) {
    ids.mutate()[2 * i] = i / 7;
    ids.mutate()[2 * i + 1] = 7 + i % 7;
    wanted.mutate()[i] = (i / 7 + i % 7) % 7;
  }
  AdamW optimizer(all_parameters(model), {.lr = 5e-3});
  double lowest = 1e30;
  for (int step = 0; step < 250; ++step) {
    optimizer.zero_grad();
    const Tensor loss = cross_entropy(select(model(ids), 1, 1), wanted);
    loss.backward();
    optimizer.step();
    lowest = std::min(lowest, number(loss));
  }
  return lowest;
}
void lesson(const char* file) {
  norm_in_numbers();
  depths();
  if (file) write_file(file, graph_svg(Block(16, {}, 1, Generator(1))(ones({1, 4, 16}).requires_grad_())));
  std::printf("\n3. (a + b) mod 7, 49 pairs:    1 block    16 blocks: lowest loss in 250 steps (guess: ln 7 = 1.95)\n");
  const char* const names[] = {"whole, 1.5 / sqrt(inputs)", "without the sum",           "without the norm",
                               "without the MLP",           "whole, 0.1 / sqrt(inputs)", "whole,  20 / sqrt(inputs)"};
  std::array<double, 6> one{}, deep{};
  for (std::size_t i = 0; i < 6; ++i) {
    const Without part = i < 4 ? static_cast<Without>(i) : Without::nothing;
    const double size = i < 4 ? 1.5 : i == 4 ? 0.1 : 20;
    one[i] = lowest_loss(1, part, size);
    deep[i] = lowest_loss(16, part, size);
    std::printf("   %-26s %8.3g %12.3g\n", names[i], one[i], deep[i]);
  }
  claim(one[0] < 0.5 && deep[0] < 0.5, "whole blocks learn it, be it one or sixteen");
  claim(deep[1] > 1.9, "without the sum sixteen learn nothing (ln 7): all that is known must pass every part");
  claim(deep[2] > deep[0] + 0.3, "nor without the norm: sizes multiply from block to block, as in part 2");
  claim(one[3] > one[0] + 0.2, "without the MLP one block learns it worse: attention just adds up what it hears");
  claim(std::min({one[4], one[5], deep[5]}) > one[0] + 0.2 && deep[4] < 0.01,
        "far too large first weights harm both; far too small ones only one: past sixteen the sum carries x");
  std::printf(
      "\nGiven a file's name it draws a block. Try: 100 blocks without the sum in part 2: how far are the\n"
      "tokens of a row from their mean? In part 3 first weights of 20, and of 0.1, without the norm.\n"
      "Now read examples/lessons/12_gpt_on_one_page.cpp: the whole model.\n");
}
}  // namespace

int main(int n, char** argv) { return run_lesson(n, argv, lesson, "deviation; layer norm; residual; initialisation"); }
