// The associative recall task: keys with values, then the same keys among filler, each to be answered with its value.
#pragma once

#include <utility>

#include "train/tasks/label_task.h"

namespace mote {

/// The settings of AssociativeRecallTask.
struct AssociativeRecallOptions {
  Index keys = 32, values = 32, pairs = 4, length = 32;
  template <class V>
  void visit(V& v) {
    v("keys", keys, "different keys");
    v("values", values, "different values");
    v("pairs", pairs, "keys with values in a row");
    v("length", length, "ids in a row");
  }
};

/// Multi-query associative recall. A row is k1 v1 ... kP vP with different keys, then filler in which each key appears
/// once more. The label of this second appearance is the key's value. Other positions have no label. In a question, the
/// last id of the row is such a second appearance. The row does not repeat a value after the second appearance of its
/// key, because otherwise the last value could be guessed: it would be the only one that was not repeated. Ids: keys,
/// then values, then filler. Source: Arora et al. 2023 (Zoology). Errors: fewer keys than pairs, a length below 3 *
/// pairs.
class AssociativeRecallTask final : public LabelTask {
 public:
  using Options = AssociativeRecallOptions;
  const Options options;

  explicit AssociativeRecallTask(const Options& o = {}) : LabelTask("AssociativeRecallTask", o.length), options(o) {
    const char* const name = "AssociativeRecallTask";
    checked_size(name, "pairs", o.pairs);
    check_in(name, o.keys >= o.pairs && o.keys <= 1'000'000, "keys ", o.keys, " must be at least pairs ", o.pairs,
             ", and at most 1000000");
    checked_size(name, "values", o.values, 2);
    check_in(name, o.length / 3 >= o.pairs, "length ", o.length, " must be at least ", 3 * o.pairs,
             ", 3 for each of the pairs");
    check_rows();
  }

  std::string description() const override {
    return std::to_string(options.pairs) + " of " + std::to_string(options.keys) + " keys, each with one of " +
           std::to_string(options.values) + " values, then the keys again among filler, " +
           std::to_string(options.length) + " ids in all";
  }
  Index vocab_size() const override { return filler() + 1; }
  Recipe recipe() const override {
    Recipe r;
    r.config = {{"preset", "attention_only"}, {"n_layer", "2"}, {"n_head", "8"}, {"n_embd", "128"}};
    // A head that attends one position back is learned sooner from distances (ALiBi) than from absolute positions.
    r.config.emplace_back("position", "alibi");
    r.max_iters = 1500;
    r.learning_rate = 3e-3;
    return r;
  }
  Outcome outcome() const override {
    return {.least = 0.95, .chance = 1.0 / static_cast<double>(options.values), .seconds = 20};
  }

  std::vector<Index> row(Index length, const Generator& random) const override { return drawn(length, false, random); }
  std::vector<Index> question(Index length, const Generator& random) const override {
    return drawn(length, true, random);
  }
  std::vector<Index> labels(std::span<const Index> x) const override {
    std::vector<Index> y(x.size(), -1);
    for (std::size_t t = 0; t < x.size(); ++t)
      if (const Index at = looks_at(x, static_cast<Index>(t)); at >= 0) y[t] = x[static_cast<std::size_t>(at)];
    return y;
  }
  std::string word(Index id) const override {
    if (id == filler()) return ".";
    return id < options.keys ? "k" + std::to_string(id) : "v" + std::to_string(id - options.keys);
  }
  /// If `position` has the second appearance of a key, returns the position of the key's value, otherwise -1.
  Index looks_at(std::span<const Index> ids, Index position) const override {
    const Index key = ids[static_cast<std::size_t>(position)];
    if (key >= options.keys || position < 2 * options.pairs) return -1;
    for (Index at = 0; at < 2 * options.pairs; at += 2)
      if (ids[static_cast<std::size_t>(at)] == key) return at + 1;
    return -1;
  }
  std::string looks_text(const std::string& fraction) const override {
    return "Where a key comes again, " + fraction + " of its attention goes to its value";
  }

 private:
  Index filler() const { return options.keys + options.values; }
  std::vector<Index> drawn(Index length, bool ends_with_key, const Generator& random) const {
    const auto at = [](Index i) { return static_cast<std::size_t>(i); };
    const std::size_t P = at(options.pairs);
    const std::vector<Index> keys = random.randperm(options.keys);
    const std::vector<Index> values = random_ids(options.pairs, options.keys, filler(), random);
    const Index rest = length - 2 * options.pairs;
    std::vector<Index> places = random.randperm(ends_with_key ? rest - 1 : rest);  // where the first P keys come again
    if (ends_with_key) {
      places.push_back(rest - 1);
      std::swap(places[at(random_ids(1, 0, options.pairs, random)[0])], places.back());
    }
    std::vector<Index> x(at(length), filler());
    for (std::size_t i = 0; i < P; ++i) {
      x[2 * i] = x[2 * P + at(places[i])] = keys[i];
      x[2 * i + 1] = values[i];
    }
    return x;
  }
};

}  // namespace mote
