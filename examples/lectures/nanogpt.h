// nanoGPT's trainer, step by step, as in the run without a GPU in nanoGPT's README. Weights and batches come from one
// stream.
#pragma once

#include <string>
#include <vector>

#include "engine/base/number_text.h"
#include "models/models.h"
#include "train/train.h"

namespace mote {

/// A run with nanoGPT's settings for a CPU: 4 layers, 4 heads, width 128, block 64, batch 12, 2,000 steps. The lecture
/// `nanogpt` compares the lines of the run with the published lines, and the page that trains a model (examples/page)
/// shows the lines of the run.
class NanoGPTRun {
 public:
  static constexpr Index block_size = 64, batch_size = 12, max_iters = 2000;

  /// A model whose weights are drawn from this stream as nanoGPT draws them.
  static GPT new_model(Index vocab_size, const Generator& random) {
    GPTConfig config{block_size, vocab_size, 4, 4, 128};  // layers, heads, width
    config.bias = false;
    return GPT(config, Init::twice(random));
  }

  /// The last tenth of the text is held out.
  NanoGPTRun(GPT& model, const std::vector<Index>& text, const Generator& random)
      : model_(model),
        random_(random),
        optimizer_(decay_groups(model, 0.1), {.lr = 1e-3, .betas = {0.9, 0.99}}),
        train_(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.size() * 9 / 10)),
        val_(text.begin() + static_cast<std::ptrdiff_t>(train_.size()), text.end()),
        batch_(batch_of_text(train_)) {}

  Index steps() const { return steps_; }

  struct Step {
    double loss = 0, val_loss = 0;
    std::vector<std::string> lines = {};  ///< the lines that nanoGPT's trainer prints
  };
  Step step() {
    Step done;
    optimizer_.set_learning_rate(learning_rate(
        ScheduleKind::cosine, steps_, {.max_lr = 1e-3, .min_lr = 1e-4, .warmup_steps = 100, .total_steps = max_iters}));
    if (steps_ % 250 == 0) {
      const double on_train = mean_loss_of(train_);
      done.val_loss = mean_loss_of(val_);
      done.lines.push_back("step " + std::to_string(steps_) + ": train loss " + fixed_text(on_train, 4) +
                           ", val loss " + fixed_text(done.val_loss, 4));
    }
    const Tensor loss = model_.loss(batch_.ids, batch_.targets);
    batch_ = batch_of_text(train_);
    loss.backward();
    clip_grad_norm(parameters(model_), 1);
    optimizer_.step();
    optimizer_.zero_grad();
    done.loss = static_cast<double>(loss.item());
    if (steps_ % 100 == 0)
      done.lines.push_back("iter " + std::to_string(steps_) + ": loss " + fixed_text(done.loss, 4));
    ++steps_;
    return done;
  }

 private:
  Batch batch_of_text(const std::vector<Index>& data) const {
    const IntArray starts = randint(0, static_cast<Index>(data.size()) - block_size, {batch_size}, random_);
    IntArray x({batch_size, block_size}), y({batch_size, block_size});
    for (Index b = 0; b < batch_size; ++b) {
      const Index* const from = data.data() + starts.at({b});
      std::copy(from, from + block_size, x.mutate() + b * block_size);
      std::copy(from + 1, from + block_size + 1, y.mutate() + b * block_size);
    }
    return {x, y};
  }
  double mean_loss_of(const std::vector<Index>& data) const {
    const NoGrad no_grad;
    double total = 0;
    for (int i = 0; i < 20; ++i) {
      const Batch b = batch_of_text(data);
      total += static_cast<double>(model_.loss(b.ids, b.targets).item());
    }
    return total / 20;
  }

  GPT& model_;
  Generator random_;
  AdamW optimizer_;
  std::vector<Index> train_, val_;
  Batch batch_;
  Index steps_ = 0;
};

}  // namespace mote
