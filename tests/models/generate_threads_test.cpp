// One model in several threads at once: it generates what it would alone, and its modes survive.

#include <atomic>
#include <thread>

#include "tests/models/gpt_tools.h"

namespace mote::test::generate_threads_test {
namespace {

constexpr int threads_at_once = 4, texts = 6;

IntArray text_of(GPT& model, int number) {
  return model.generate(ints({{1, 2, number % 7}}), 12, {.temperature = 1, .top_k = 5}, Generator(number));
}

/// What threads generate together, compared with `alone`.
void generate_together(GPT& model, const std::vector<IntArray>& alone) {
  std::atomic<int> right{0};
  std::vector<std::thread> pool;
  for (int t = 0; t < threads_at_once; ++t)
    pool.emplace_back([&] {
      for (int i = 0; i < texts; ++i) right += equal(text_of(model, i), alone[static_cast<std::size_t>(i)]);
    });
  for (std::thread& t : pool) t.join();
  CHECK(right == threads_at_once * texts);
}

TEST_CASE("generate: several threads share a model, in either mode") {
  GPTConfig config = toy();
  config.dropout = 0.5;
  GPT model = lively_gpt(config);
  std::vector<IntArray> alone;
  for (int i = 0; i < texts; ++i) alone.push_back(text_of(model, i));
  REQUIRE(!model.training());
  generate_together(model, alone);
  CHECK(!model.training());
  model.train();
  model.transformer.h[1].eval();
  generate_together(model, alone);
  CHECK(model.training());
  CHECK((model.transformer.drop.training() && !model.transformer.h[1].training()));
}

TEST_CASE("generate: training in one thread while another evaluates is an error, not a pass without dropout") {
  GPTConfig config = toy();
  config.dropout = 0.5;
  GPT model = lively_gpt(config);
  const IntArray ids = ints({{1, 2, 3}});
  const auto error_there = [&] {
    std::string error;
    std::thread([&] { error = error_of([&] { model(ids); }); }).join();
    return error;
  };
  model.train();
  CHECK(error_there() == "(no error)");
  {
    const Evaluation evaluation(model);
    CHECK(error_there() ==
          "training: another thread keeps this Dropout in evaluation mode (generate, Evaluation): call eval() before "
          "threads share it, and train it alone (in transformer.drop)");
  }
  CHECK(error_there() == "(no error)");
  model.eval();
  const Evaluation evaluation(model);
  CHECK(error_there() == "(no error)");
}

TEST_CASE("Evaluation: a mode set during one takes effect at its end; they nest") {
  GPT model = lively_gpt(toy());
  {
    const Evaluation outer(model);
    {
      const Evaluation inner(model.transformer.h[0]);
      model.train();
    }
    CHECK(!model.training());
    CHECK(!model.transformer.h[0].training());
  }
  CHECK((model.training() && model.transformer.h[0].training()));
}

}  // namespace
}  // namespace mote::test::generate_threads_test
