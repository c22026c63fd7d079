// The adder10 task: sums of two numbers of ten digits, as in AdderBoard, a public leaderboard of the smallest models
// that add.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "train/tasks/answer_task.h"

namespace mote {

/// A generator that draws the numbers of Python's random.Random(seed). Like Python, it seeds the Mersenne Twister by
/// init_by_array() (Matsumoto and Nishimura 2002).
inline Generator python_random(std::uint32_t seed) {
  GeneratorState state{.used = 624};
  auto& w = state.words;
  constexpr std::uint32_t n = 624;
  w[0] = 19650218;
  for (std::uint32_t i = 1; i < n; ++i) w[i] = 1812433253 * (w[i - 1] ^ (w[i - 1] >> 30)) + i;
  std::uint32_t at = 1;
  const auto mix = [&](std::uint32_t factor, std::uint32_t more) {
    w[at] = (w[at] ^ ((w[at - 1] ^ (w[at - 1] >> 30)) * factor)) + more;
    if (++at == n) {
      w[0] = w[n - 1];
      at = 1;
    }
  };
  for (std::uint32_t i = 0; i < n; ++i) mix(1664525, seed);
  for (std::uint32_t i = 1; i < n; ++i) mix(1566083941, 0 - at);
  w[0] = 0x80000000;
  Generator random;
  random.set_state(state);
  return random;
}

/// The settings of Adder10Task.
struct Adder10Options {
  double carries = 0;
  template <class V>
  void visit(V& v) {
    v("carries", carries, "share of questions to train on in which two digits add to nine seven times in ten");
  }
};

/// Addition of two numbers of ten digits. A sequence is 0 a 0 0 b 0 sum, in which a and b have ten digits and the sum
/// has eleven. The last digit of each number comes first. The vocabulary is the ten digits. The evaluation set is the
/// 10,010 sums of AdderBoard (github.com/anadim/AdderBoard, 2026): 10,000 that Python's random.Random(2025) draws, and
/// ten hard ones. There are 10^20 pairs of numbers, so the chance that 3,000 training steps draw any of the evaluation
/// sums is about 10^-11. Errors: carries outside 0 to 1.
class Adder10Task final : public AnswerTask {
 public:
  using Options = Adder10Options;
  const Options options;
  static constexpr std::size_t digits = 10;
  static constexpr std::uint64_t below = 10'000'000'000;  // a and b are below

  explicit Adder10Task(const Options& o = {}) : AnswerTask("Adder10Task", 10, 23, 11), options(o) {
    check_in("Adder10Task", o.carries >= 0 && o.carries <= 1, "carries ", o.carries, " must be 0 to 1");
  }

  std::string description() const override { return "the sum of two numbers of ten digits, its last digit first"; }
  Recipe recipe() const override {
    Recipe r;
    r.config = {{"preset", "llama"}, {"n_layer", "1"}, {"n_head", "4"}, {"n_embd", "16"}, {"rotary_base", "3"}};
    r.learning_rate = 0.01;
    r.max_iters = 3000;
    return r;
  }
  Outcome outcome() const override { return {.least = 0.99, .questions = 10'010, .seconds = 7}; }

  Index vocab_size() const override { return symbols; }
  Index separator() const override { return 0; }
  std::string word(Index id) const override { return std::to_string(id); }
  std::string prompt_text(std::span<const Index> prompt) const override {
    return text(std::vector<Index>(prompt.rend() - 11, prompt.rend() - 1)) + " + " +
           text(std::vector<Index>(prompt.rbegin() + 1, prompt.rbegin() + 11));
  }

  std::vector<Index> question(const Generator& random) const override {
    std::vector<Index> a = random_ids(10, 0, 10, random), b = random_ids(10, 0, 10, random);
    if (options.carries > 0 && random.uniform_double() < options.carries)
      for (std::size_t i = 0; i < digits; ++i)
        if (random.uniform_double() < 0.7) b[i] = 9 - a[i];
    return question_of(a, b);
  }
  std::vector<Index> answer(std::span<const Index> question) const override {
    std::vector<Index> sum;
    Index carry = 0;
    for (std::size_t i = 0; i < digits; ++i, carry /= 10) {
      carry += question[1 + i] + question[13 + i];
      sum.push_back(carry % 10);
    }
    sum.push_back(carry);
    return sum;
  }
  /// For Split::validation, returns the first `count` sums of AdderBoard.
  Questions evaluation(Index count, Split split = Split::validation) const override {
    if (split == Split::train) return AnswerTask::evaluation(count, split);
    std::vector<std::vector<Index>> prompts, answers;
    for (const auto& [a, b] : board(count)) {
      prompts.push_back(question_of(digits_of(a), digits_of(b)));
      answers.push_back(answer(prompts.back()));
      prompts.back().push_back(separator());
    }
    return {stack_rows(prompts, 24), stack_rows(answers, 11)};
  }

  /// The first `count` of AdderBoard's 10,010 pairs of numbers. The ten hard pairs come last.
  static std::vector<std::pair<std::uint64_t, std::uint64_t>> board(Index count = 10'010) {
    constexpr std::uint64_t most = below - 1, half = below / 2;
    constexpr std::uint64_t hard[] = {0,          0,          0,    1,    most, 0,          most,
                                      1,          most,       most, half, half, 1111111111, 8888888889,
                                      1234567890, 9876543210, most, most, 1,    most};
    std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
    const Generator random = python_random(2025);
    const auto number = [&] {  // Python's randint(0, 10**10 - 1): draws 34 bits, low word first, until x < 10**10
      for (;;) {
        const std::uint64_t low = random.next_u32(), high = random.next_u32() >> 30;
        if (const std::uint64_t x = high << 32 | low; x < below) return x;
      }
    };
    while (std::ssize(all) < std::min<Index>(count, 10'000)) {
      const std::uint64_t a = number();
      all.emplace_back(a, number());
    }
    for (std::size_t i = 0; i < std::size(hard) && std::ssize(all) < count; i += 2)
      all.emplace_back(hard[i], hard[i + 1]);
    return all;
  }

 private:
  static std::vector<Index> digits_of(std::uint64_t x) {
    std::vector<Index> all(digits);
    for (Index& digit : all) {
      digit = static_cast<Index>(x % 10);
      x /= 10;
    }
    return all;
  }
  static std::vector<Index> question_of(const std::vector<Index>& a, const std::vector<Index>& b) {
    std::vector<Index> all(23, 0);
    std::copy(a.begin(), a.end(), all.begin() + 1);
    std::copy(b.begin(), b.end(), all.begin() + 13);
    return all;
  }
};

}  // namespace mote
