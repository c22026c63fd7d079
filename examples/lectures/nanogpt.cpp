// nanoGPT's README, the run for a computer without a GPU: a GPT of 0.8 million parameters learns tiny Shakespeare,
// character by character, in 2,000 steps. Its trainer draws weights and batches from one stream, that of
// torch.manual_seed(1337).
#include "examples/lectures/characters.h"
#include "models/models.h"
#include "nn/nn.h"
#include "train/train.h"

using namespace mote;

namespace {

constexpr Index block_size = 64, batch_size = 12, eval_iters = 20;

Pieces get_batch(const std::vector<Index>& data, const Generator& random) {
  return Pieces(data, batch_size, block_size, random);
}

double mean_loss_of(const GPT& model, const std::vector<Index>& data, const Generator& random) {
  const NoGrad no_grad;
  double total = 0;
  for (Index i = 0; i < eval_iters; ++i) {
    const Pieces b = get_batch(data, random);
    total += static_cast<double>(model.loss(b.x, b.y).item());
  }
  return total / eval_iters;
}

/// For a look at how much one weight changes.
void add_to_first_weight(const GPT& model, double added) {
  const Parameter weight = parameters(model).front();
  std::vector<real> values = weight.value().to_vector();
  values.front() += static_cast<real>(added);
  weight.set(Array(weight.shape(), values));
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    std::string path;
    Index seed = 1337, max_iters = 2000;
    double added = 0;
    read_data_words(argc, argv, "FILE: tiny Shakespeare, 1,115,394 bytes [SEED] [STEPS] [ADDED to the first weight]",
                    path, seed, max_iters, added);
    const Characters text(lecture_file(path, 1'115'394));

    const Generator random(seed);
    GPTConfig config{block_size, 65, 4, 4, 128};  // vocabulary, layers, heads, width
    config.bias = false;
    GPT model(config, Init::twice(random));
    if (added != 0) add_to_first_weight(model, added);
    AdamW optimizer(decay_groups(model, 0.1), {.lr = 1e-3, .betas = {0.9, 0.99}});
    const ScheduleOptions schedule{.max_lr = 1e-3, .min_lr = 1e-4, .warmup_steps = 100, .total_steps = 2000};

    Lines line("nanogpt");
    Pieces batch = get_batch(text.train, random);
    for (Index iter = 0; iter <= max_iters; ++iter) {
      optimizer.set_learning_rate(learning_rate(ScheduleKind::cosine, iter, schedule));
      if (iter % 250 == 0) {
        const double on_train = mean_loss_of(model, text.train, random), on_val = mean_loss_of(model, text.val, random);
        line("step " + std::to_string(iter) + ": train loss " + fixed_text(on_train, 4) + ", val loss " +
             fixed_text(on_val, 4));
      }
      const Tensor loss = model.loss(batch.x, batch.y);
      batch = get_batch(text.train, random);
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
