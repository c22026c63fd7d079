// Appendix D of "Build a Large Language Model (From Scratch)": the fifth chapter's training with a warm-up, a cosine,
// and clipped gradients, for 15 epochs.
#include <algorithm>

#include "examples/lectures/book.h"
#include "train/loop/clip.h"
#include "train/optim/adamw.h"

using namespace mote;
namespace book = mote::tutorials::book;

namespace {

const book::Config config{.context_length = 256};
constexpr Index epochs_in_all = 15;

std::string highest_gradient(const book::GPTModel& model) {
  real highest = -std::numeric_limits<real>::infinity();
  for (const Parameter& p : parameters(model)) highest = std::max(highest, max(Tensor(p.grad())).item());
  return plain(Tensor(highest));
}

/// The learning rate of a step: linear warmup from 1e-5 to 1e-3 in `warmup` steps, then cosine decay to 1e-5.
double learning_rate(Index step, Index warmup, Index steps) {
  constexpr double initial = 1e-5, peak = 1e-3, lowest = 1e-5;
  if (step < warmup) return initial + static_cast<double>(step) * ((peak - initial) / static_cast<double>(warmup));
  const double progress = static_cast<double>(step - warmup) / static_cast<double>(steps - warmup);
  return lowest + (peak - lowest) * 0.5 * (1 + std::cos(3.141592653589793 * progress));
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    std::string folder;
    Index epochs = epochs_in_all;
    read_data_words(argc, argv, "FOLDER: with the-verdict.txt, gpt2-vocab.json and gpt2-merges.txt [EPOCHS]", folder,
                    epochs);
    check(epochs >= 0 && epochs <= epochs_in_all, "EPOCHS ", epochs, " must be 0 to 15");
    const book::Story story(folder);
    Lines line("book_d");
    const Generator random(123);
    const book::Loaders data(story, random);
    const Index steps = data.train_loader.size() * epochs_in_all;
    const Index warmup = steps / 5;
    line(std::to_string(warmup));

    // Here the notebook iterates over the batches for 15 epochs, twice, only to show learning rates. Its next cell
    // uses the last batch of these 30 epochs.
    std::vector<Index> last;
    for (Index epoch = 0; epoch < 2 * epochs_in_all; ++epoch)
      for (const std::vector<Index>& rows : data.train_loader) last = rows;
    random.manual_seed(123);
    {
      const book::GPTModel model(config, random);
      book::calc_loss_batch(model, data.train, last).backward();
      line(highest_gradient(model));
      clip_grad_norm(parameters(model), 1.0);
      line(highest_gradient(model));
    }

    random.manual_seed(123);
    book::GPTModel model(config, random);
    AdamW optimizer(all_parameters(model), {.lr = 0.001, .weight_decay = 0.1});
    Index step = 0;
    for (Index epoch = 1; epoch <= epochs; ++epoch) {
      for (const std::vector<Index>& rows : data.train_loader) {
        optimizer.zero_grad();
        optimizer.set_learning_rate(learning_rate(step, warmup, steps));
        book::calc_loss_batch(model, data.train, rows).backward();
        if (step >= warmup) clip_grad_norm(optimizer.parameters(), 1.0);
        optimizer.step();
        if (step % 5 == 0)
          line(formatted("Ep %d (Iter %06d): ", int(epoch), int(step)) + book::evaluate_model(model, data, 1));
        ++step;
      }
      line(book::sample(model, story));
    }
    constexpr int from_step_40_on = 4;  // 4 lines differ, because rounding errors grow at the highest learning rate
    const bool all = epochs == epochs_in_all;
    return line.summary(all, all ? from_step_40_on : 0);
  });
}
