// nanoGPT's README, the run for a computer without a GPU: a GPT of 0.8 million parameters learns tiny Shakespeare,
// character by character, in 2,000 steps. Its trainer draws weights and batches from one stream, that of
// torch.manual_seed(1337).
#include <set>

#include "examples/lectures/lecture.h"
#include "models/models.h"
#include "nn/nn.h"
#include "train/train.h"

using namespace mote;

namespace {

constexpr Index block_size = 64, batch_size = 12, eval_iters = 20;

/// Each character's place among all that the text has, in their order.
std::vector<Index> encoded(const std::string& text) {
  const std::set<char> characters(text.begin(), text.end());
  std::map<char, Index> id;
  for (const char c : characters) id.emplace(c, static_cast<Index>(id.size()));
  std::vector<Index> ids;
  for (const char c : text) ids.push_back(id.at(c));
  return ids;
}

struct Piece {
  IntArray x, y;  // [12, 64], y one position further
};

/// Pieces of the text from random places.
Piece get_batch(const std::vector<Index>& data, const Generator& random) {
  std::vector<IntArray> x, y;
  for (const Index from : randint(0, std::ssize(data) - block_size, {batch_size}, random).to_vector()) {
    const std::span<const Index> piece(data.data() + from, block_size + 1);
    x.emplace_back(Shape{block_size}, piece.first(block_size));
    y.emplace_back(Shape{block_size}, piece.last(block_size));
  }
  return {stack(x), stack(y)};
}

double mean_loss_of(const GPT& model, const std::vector<Index>& data, const Generator& random) {
  const NoGrad no_grad;
  double total = 0;
  for (Index i = 0; i < eval_iters; ++i) {
    const Piece b = get_batch(data, random);
    total += static_cast<double>(model.loss(b.x, b.y).item());
  }
  return total / eval_iters;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    std::string path;
    Index seed = 1337, max_iters = 2000;
    read_words(argc, argv, "FILE: tiny Shakespeare, 1,115,394 bytes [SEED] [STEPS]", path, seed, max_iters);
    const std::vector<Index> data = encoded(lecture_file(path, 1'115'394));
    const auto border = data.begin() + std::ssize(data) * 9 / 10;
    const std::vector<Index> train(data.begin(), border), val(border, data.end());

    const Generator random(seed);
    GPTConfig config{block_size, 65, 4, 4, 128};  // vocabulary, layers, heads, width
    config.bias = false;
    GPT model(config, Init::twice(random));
    AdamW optimizer(decay_groups(model, 0.1), {.lr = 1e-3, .betas = {0.9, 0.99}});
    const ScheduleOptions schedule{.max_lr = 1e-3, .min_lr = 1e-4, .warmup_steps = 100, .total_steps = 2000};

    Lines line("nanogpt");
    Piece batch = get_batch(train, random);
    for (Index iter = 0; iter <= max_iters; ++iter) {
      optimizer.set_learning_rate(learning_rate(ScheduleKind::cosine, iter, schedule));
      if (iter % 250 == 0) {
        const double on_train = mean_loss_of(model, train, random), on_val = mean_loss_of(model, val, random);
        line("step " + std::to_string(iter) + ": train loss " + fixed_text(on_train, 4) + ", val loss " +
             fixed_text(on_val, 4));
      }
      const Tensor loss = model.loss(batch.x, batch.y);
      batch = get_batch(train, random);
      loss.backward();
      clip_grad_norm(parameters(model), 1);
      optimizer.step();
      optimizer.zero_grad();
      if (iter % 100 == 0)
        line("iter " + std::to_string(iter) + ": loss " + fixed_text(static_cast<double>(loss.item()), 4));
    }
    return line.summary(max_iters >= 2000);
  });
}
