// The addition task: two numbers of n digits, then their sum with the last digit first or in plain order.
#pragma once

#include <algorithm>

#include "train/tasks/answer_task.h"

namespace mote {

/// The settings of AdditionTask.
struct AdditionOptions {
  Index digits = 2;
  bool plain = false;
  template <class V>
  void visit(V& v) {
    v("digits", digits, "digits of each number");
    v("plain", plain, "the sum as people write it: harder, for its first digit depends on all others");
  }
};

/// Addition of two numbers, a + b = sum. A sequence is n digits, "+", n digits, "=", and n + 1 digits of the sum. By
/// default the last digit of the sum comes first, because carries run from the last digit to the first. The ids 0 to 9
/// are the digits, 10 is "+", and 11 is "=". Errors: digits outside 1 to 18.
class AdditionTask final : public AnswerTask {
 public:
  using Options = AdditionOptions;
  const Options options;

  explicit AdditionTask(const Options& o = {})
      : AnswerTask("AdditionTask", 11, 2 * checked_size("AdditionTask", "digits", o.digits, 1, 18) + 1, o.digits + 1),
        options(o) {
    check_splits("AdditionTask", [this](const Generator& random) { return question(random); });
  }

  std::string description() const override {
    return "the sum of two numbers of " + std::to_string(options.digits) + " digits, its " +
           (options.plain ? "first" : "last") + " digit first";
  }
  Recipe recipe() const override {
    Recipe r;
    r.config = {{"n_layer", "3"}, {"n_head", "4"}, {"n_embd", "64"}};
    r.max_iters = options.digits <= 2 && !options.plain ? 1500 : 3000;
    if (options.digits > 2) r.optimizer = OptimizerKind::muon;  // with AdamW, one of ten seeds gets half the sums wrong
    return r;
  }
  Outcome outcome() const override {
    return {.least = 0.99, .seconds = options.digits > 2 ? 14.0 : options.plain ? 9.0 : 5.0};
  }

  std::vector<Index> question(const Generator& random) const override {
    std::vector<Index> q = random_ids(question_length, 0, 10, random);
    q[static_cast<std::size_t>(options.digits)] = plus;
    return q;
  }
  std::vector<Index> answer(std::span<const Index> question) const override {
    const auto n = static_cast<std::size_t>(options.digits);
    std::vector<Index> sum;  // the last digit first
    Index carry = 0;
    for (std::size_t i = n; i-- > 0;) {
      carry += question[i] + question[n + 1 + i];
      sum.push_back(carry % 10);
      carry /= 10;
    }
    sum.push_back(carry);
    if (options.plain) std::reverse(sum.begin(), sum.end());
    return sum;
  }
  std::string word(Index id) const override { return id == separator() ? "=" : id == plus ? "+" : std::to_string(id); }

 private:
  static constexpr Index plus = 10;
};

}  // namespace mote
