// The selective copy task: some symbols among noise, to be copied in their order without the noise.
#pragma once

#include "train/tasks/answer_task.h"

namespace mote {

/// The settings of SelectiveCopyTask.
struct SelectiveCopyOptions {
  Index symbols = 14, length = 32, count = 4;
  template <class V>
  void visit(V& v) {
    v("symbols", symbols, "different symbols besides noise");
    v("length", length, "positions of a question");
    v("count", count, "symbols among them");
  }
};

/// The selective copy task, with rows of `length` places, then |, then the symbols alone. `count` random places have
/// symbols, and all others have noise. Source: Gu and Dao 2023 (Mamba). Errors: those of AnswerTask, a count outside 1
/// to length.
class SelectiveCopyTask final : public AnswerTask {
 public:
  using Options = SelectiveCopyOptions;
  const Options options;

  explicit SelectiveCopyTask(const Options& o = {})
      : AnswerTask("SelectiveCopyTask", checked_size("SelectiveCopyTask", "symbols", o.symbols) + 1, o.length, o.count),
        options(o) {
    check_in("SelectiveCopyTask", o.count >= 1 && o.count <= o.length, "count ", o.count, " must be 1 to length ",
             o.length);
    check_splits("SelectiveCopyTask", [this](const Generator& random) { return question(random); });
  }

  std::string description() const override {
    return std::to_string(options.count) + " of " + std::to_string(options.symbols) + " symbols among noise in " +
           std::to_string(options.length) + " places, a separator, the symbols alone";
  }
  Recipe recipe() const override {
    Recipe r;
    r.config.emplace_back("tie_weights", "false");
    r.max_iters = 4000;
    r.learning_rate = 3e-3;
    return r;
  }
  Outcome outcome() const override { return {.least = 0.85, .seconds = 45}; }

  std::vector<Index> question(const Generator& random) const override {
    std::vector<Index> q(static_cast<std::size_t>(options.length), noise());
    const std::vector<Index> places = random.randperm(options.length);
    const std::vector<Index> data = random_ids(options.count, 0, options.symbols, random);
    for (std::size_t i = 0; i < data.size(); ++i) q[static_cast<std::size_t>(places[i])] = data[i];
    return q;
  }
  std::vector<Index> answer(std::span<const Index> question) const override {
    std::vector<Index> a;
    for (const Index id : question)
      if (id != noise()) a.push_back(id);
    return a;
  }
  std::string word(Index id) const override {
    return id == separator() ? "|" : id == noise() ? "." : symbol_word(id, options.symbols);
  }
  Index looks_at(std::span<const Index> ids, Index position) const override {
    Index left = position - options.length;  // the number of symbols that are copied already
    for (Index at = 0; left >= 0 && at < options.length; ++at)
      if (ids[static_cast<std::size_t>(at)] != noise() && left-- == 0) return at;
    return -1;
  }

 private:
  Index noise() const { return options.symbols; }
};

}  // namespace mote
