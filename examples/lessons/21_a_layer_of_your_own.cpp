// Lesson 21. A layer of your own: a convolution before attention. With it one layer of attention solves the task for
// which lesson 16 needed two.
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "examples/lessons/lesson.h"
#include "nn/gradcheck.h"
#include "nn/nn.h"
#include "train/train.h"

using namespace mote;

namespace {
/// A convolution: y_t = w_0 x_t + w_1 x_(t-1) + w_2 x_(t-2), for each of the C numbers of a token by itself. Before
/// the first token x counts as 0. A layer is a struct. Its fields are its parameters and layers, visit() lists the
/// fields, and forward() computes. forward() consists of ops that know their gradients, so nobody writes a backward().
/// x [B, T, C] -> [B, T, C].
struct Convolution : Layer<Convolution> {
  static constexpr Index reach = 3;
  Parameter weight;  // [3, C]: begins as 1, 0, 0, so that at first y is x

  explicit Convolution(Index width) : weight(beginning(width)) {}

  Tensor forward(const Tensor& x) const {
    check_in("Convolution", x.dim() == 3, "x ", x.shape(), " must be [B, T, C]");
    const Index T = x.size(1);
    Tensor y = x * select(weight, 0, 0);
    for (Index back = 1; back < std::min(reach, T); ++back) {
      const Tensor nothing = zeros({x.size(0), back, x.size(2)});
      const Tensor earlier = concat({nothing, slice(x, 1, 0, T - back)}, 1);  // row t is x_(t - back)
      y = y + earlier * select(weight, 0, back);
    }
    return y;
  }
  void visit(Visitor& v) override { v("weight", weight); }

 private:
  static Array beginning(Index width) {
    Array w = Array::zeros({reach, width});
    std::fill(w.mutate(), w.mutate() + width, real(1));
    return w;
  }
};

/// A model with one layer of attention, with or without a convolution before the attention. ids
/// [B, T] -> scores [B, T, V].
struct Model : Layer<Model> {
  Embedding tokens, places;
  LayerNorm ln, ln_f;
  std::optional<Convolution> mix;
  SelfAttention attn;
  Linear out;

  Model(const Task& task, bool with_mix, const Generator& random)
      : tokens(task.vocab_size(), width, random),
        places(task.block_size(), width, random),
        ln(width),
        ln_f(width),
        attn(width, 4, random),
        out(width, task.vocab_size(), random) {
    for (const Parameter& p : {tokens.weight, places.weight}) init::normal(p, 0, 0.02, random);
    if (with_mix) mix.emplace(width);
  }

  Tensor forward(const IntArray& ids) const {
    const Tensor token = tokens(ids);
    const Tensor x = token + slice(places.weight, 0, 0, ids.shape()[1]);
    const Tensor normed = ln(x);
    return out(ln_f(x + attn(mix ? (*mix)(normed) : normed)));
  }
  void visit(Visitor& v) override {
    v("tokens", tokens);
    v("places", places);
    v("ln", ln);
    v("mix", mix);
    v("attn", attn);
    v("ln_f", ln_f);
    v("out", out);
  }

 private:
  static constexpr Index width = 64;
};

/// Checks the gradients of the layer against measured slopes, and that the layer is causal. mote tests its own layers
/// in this way.
void check_the_layer() {
  const Convolution layer(4);
  const Tensor x = randn({2, 5, 4}, Generator(1));
  const GradcheckResult gradients = gradcheck(layer, x.array());
  std::printf("1. The layer alone, 4 numbers wide: %d parameters\n", static_cast<int>(parameter_count(layer)));
  claim(gradients.ok, "its gradients are the slopes that differences measure");
  claim(layer(x).to_vector() == x.to_vector(), "as it begins, it changes nothing");
  const Tensor earlier = layer(slice(x, 1, 0, 3));
  claim(slice(layer(x), 1, 0, 3).to_vector() == earlier.to_vector(),
        "it is causal: later tokens change no earlier one");
}

/// Trains the model, and returns the share of 1000 held-out questions that it then answers without a mistake.
double train(const char* name, const Task& task, Model& model) {
  Run run(task, subject_of(model), task.recipe());
  run.train([](const RunEvent&) {});
  const double right = run.evaluator().ending(0).answers->fraction();
  std::printf("   %-28s %6.1f %%\n", name, 100 * right);
  return right;
}

void lesson() {
  check_the_layer();
  const auto task = make_task("induction");
  Model plain(*task, false, Generator(1)), mixed(*task, true, Generator(1));
  std::printf("\n2. Rows of letters that begin again, lesson 16's. One layer of attention, right of 1000 questions:\n");
  const double without = train("alone", *task, plain);
  const double with = train("behind the convolution", *task, mixed);
  claim(without < 0.4, "alone, no key can tell which letter stands before it");
  claim(with > 0.99, "behind the convolution it can: 192 numbers more, and one layer is enough");

  const Tensor size = mean(abs(Tensor(mixed.mix->weight)), {1});
  std::cout << "\n3. How much it takes of the token itself, of the one before, and of the one before that:\n"
            << size << "\n";
  claim(number(select(size, 0, 1)) > 0.1, "it has learned to look one token back");
  const IntArray row = task->evaluation(1).prompts;
  const Array weights = attention_maps(mixed, row)[0].weights.select(0, 0);
  const std::string found = task->best_head_text(row.to_vector(), {weights});
  std::printf("   %s\n", found.c_str());
  std::printf(
      "\nTry: put the convolution behind attention. Let it reach over two tokens, or over one (without the claim of\n"
      "part 3): what does it need?\n"
      "Now read nn/write_a_layer.md for its test, and nn/put_it_into_gpt.md: the same inside GPT's block.\n");
}
}  // namespace

int main(int, char** argv) { return run_lesson(argv, lesson, "layer; convolution; induction head"); }
