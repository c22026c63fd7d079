// The repeat demo against PyTorch's run from seed 42: its batches, its 8,384 parameters, all 360 losses.
#include "models/tutorials/attention_lm.h"

#include <numeric>

#include "tests/vectors.h"
#include "train/optim/adamw.h"
#include "train/tasks/repeat.h"

namespace mote::test::repeat_vectors_test {
namespace {

TEST_CASE("repeat demo: PyTorch's losses, from the first to the last") {
  const Generator random(42);
  {  // what the public program draws before it builds the model
    const Linear qkv(32, 96, random);
    const Linear out(32, 32, random);
    Init(random).normal({16, 12, 32}, 0, 1);
  }
  const AttentionLM m({.vocab_size = 64, .n_embd = 32, .n_head = 4, .block_size = 12}, random);
  Adam optimizer(all_parameters(m), {.lr = 5e-3});
  const RepeatTask task({.symbols = 64, .length = 12});
  const Generator data(42);
  std::vector<real> losses, averages;
  for (std::size_t step = 0; step < 360; ++step) {
    const Batch batch = task.batch(16, Split::train, data);
    optimizer.zero_grad();
    const Tensor loss = m.loss(batch.ids, batch.targets);
    loss.backward();
    optimizer.step();
    losses.push_back(loss.item());
  }
  for (auto epoch = losses.begin(); epoch != losses.end(); epoch += 120)
    averages.push_back(static_cast<real>(std::accumulate(epoch, epoch + 120, 0.0) / 120));

  const VectorFile file("repeat_demo.txt");
  REQUIRE(file.all().size() == 3);
  check_digits(file["parameters"], std::vector<std::int64_t>{parameter_count(m)});
  // float32 against float32 comes to within rounding, which later steps carry on: but not far.
  check_near(file["losses"], Array({360}, losses), 5e-6);
  check_near(file["epoch_averages"], Array({3}, averages), 1e-6);
}

}  // namespace
}  // namespace mote::test::repeat_vectors_test
