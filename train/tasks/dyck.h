// The Dyck task: brackets that are nested up to a depth, and then the brackets that close those still open.
#pragma once

#include <algorithm>

#include "train/tasks/answer_task.h"

namespace mote {

/// The settings of DyckTask.
struct DyckOptions {
  Index kinds = 2, depth = 4, length = 24;
  template <class V>
  void visit(V& v) {
    v("kinds", kinds, "kinds of brackets");
    v("depth", depth, "the most that are open at once");
    v("length", length, "brackets in a question");
  }
};

/// The Dyck task. A row is the beginning of a sequence of well-nested brackets, then |, then the brackets that close
/// those still open. The answer closes the innermost bracket first, and is filled up with "." to `depth` symbols. The
/// ids 0 to kinds - 1 are opening brackets, kinds to 2 * kinds - 1 are closing brackets, and 2 * kinds is ".". Source:
/// Dyck(k, D) of Yao et al. 2021. Errors: kinds, depth or length outside 1 to 1,000,000.
class DyckTask final : public AnswerTask {
 public:
  using Options = DyckOptions;
  const Options options;

  explicit DyckTask(const Options& o = {})
      : AnswerTask("DyckTask", 2 * checked_size("DyckTask", "kinds", o.kinds) + 1, o.length,
                   checked_size("DyckTask", "depth", o.depth)),
        options(o) {
    check_splits("DyckTask", [this](const Generator& random) { return question(random); });
  }

  std::string description() const override {
    return std::to_string(options.length) + " brackets of " + std::to_string(options.kinds) + " kinds, at most " +
           std::to_string(options.depth) + " open at once, a separator, what closes them";
  }
  Recipe recipe() const override {
    Recipe r;
    r.max_iters = 2000;
    return r;
  }
  Outcome outcome() const override { return {.least = 0.99, .chance = commonest(), .seconds = 16}; }

  /// Draws one bracket after the other. A bracket opens or closes with equal chances if both are possible.
  std::vector<Index> question(const Generator& random) const override {
    const std::vector<Index> drawn = random_ids(options.length, 0, 2 * options.kinds, random);
    std::vector<Index> q, open;
    for (const Index d : drawn) {
      const auto depth = static_cast<Index>(open.size());
      if (depth == 0 || (d < options.kinds && depth < options.depth)) {
        open.push_back(d % options.kinds);
        q.push_back(open.back());
      } else {
        q.push_back(open.back() + options.kinds);
        open.pop_back();
      }
    }
    return q;
  }
  std::vector<Index> answer(std::span<const Index> question) const override {
    std::vector<Index> open, a;
    for (const Index id : question)
      if (id < options.kinds)
        open.push_back(id);
      else
        open.pop_back();
    for (auto it = open.rbegin(); it != open.rend(); ++it) a.push_back(*it + options.kinds);
    a.resize(static_cast<std::size_t>(options.depth), nothing());
    return a;
  }
  std::string word(Index id) const override {
    if (id == separator()) return "|";
    if (id == nothing()) return ".";
    const bool closes = id >= options.kinds;
    const Index kind = closes ? id - options.kinds : id;
    if (options.kinds <= 4) return std::string(1, (closes ? ")]}>" : "([{<")[kind]);
    return (closes ? ")" : "(") + std::to_string(kind);
  }

 private:
  Index nothing() const { return 2 * options.kinds; }
  /// The fraction of questions that the most frequent answer gets right. Answers that close equally many brackets are
  /// equally frequent. So the fraction is the largest p(d) / n(d) of all d, where p(d) is the probability that d
  /// brackets are open at the end, and n(d) is the number of answers that close d brackets. For questions of more than
  /// 10,000 brackets it is computed for 10,000, or for 10,001 if their number is odd, because the fraction hardly
  /// changes beyond.
  double commonest() const {
    const Index steps = options.length <= 10'000 ? options.length : 10'000 + options.length % 2;
    const auto deepest = static_cast<std::size_t>(std::min(options.depth, steps));
    std::vector<double> open(deepest + 2, 0.0), next = open;  // probabilities of 0, 1, ... open brackets; the last is 0
    open[0] = 1;
    for (Index step = 0; step < steps; ++step) {
      std::fill(next.begin(), next.end(), 0.0);
      for (std::size_t depth = 0; depth <= deepest; ++depth) {
        const double opens = depth == 0 ? 1 : depth < deepest ? 0.5 : 0;
        next[depth + 1] += opens * open[depth];
        if (depth > 0) next[depth - 1] += (1 - opens) * open[depth];
      }
      open.swap(next);
    }
    double most = 0, answers = 1;
    for (std::size_t depth = 0; depth <= deepest; ++depth, answers *= static_cast<double>(options.kinds))
      most = std::max(most, open[depth] / answers);
    return most;
  }
};

}  // namespace mote
