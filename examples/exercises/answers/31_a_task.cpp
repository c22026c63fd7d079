// Checks 31: a task, the pieces of a text.

// hint: Let the split be text[from] to text[to - 1]. A piece and its targets are T + 1 ids, so a start is below to - T.
// hint: const Index i = random_ids(1, from, to - T, random)[0]; ids[t] = text[i + t] and targets[t] = text[i + t + 1].
// why: One piece is T examples, because at each position the model predicts from the ids up to this position.
// why: If targets equal ids, the loss falls to 0 and nothing is learned. When a loss looks too good, check the targets.
// why: Pieces overlap, so a text of a million ids has nearly a million examples.
#include "examples/exercises/answers/check.h"

namespace of_check {
/// The virtual functions of a Task except batch().
struct TaskOfText : Task {
  std::vector<Index> text;
  Index T;

  TaskOfText(const std::vector<Index>& ids, Index length) : text(ids), T(length) {}
  std::string description() const override { return "pieces of a text"; }
  Index vocab_size() const override { return std::ssize(text); }
  Index block_size() const override { return T; }
  Recipe recipe() const override { return {}; }
  Outcome outcome() const override { return {}; }
  Questions questions(Index, Split, const Generator&) const override { return {}; }
};

/// Checks the rows of a batch, and returns the position in the text at which each row starts. The first id of a row
/// tells this position, because all ids of the text are different.
static std::vector<Index> starts(const Batch& b, const std::vector<Index>& text, Index size, Index T) {
  expect_close("The array of ids", zeros(b.ids.shape()), zeros({size, T}));
  expect_close("The array of targets", zeros(b.targets.shape()), zeros({size, T}));
  const std::vector<Index> ids = b.ids.to_vector(), targets = b.targets.to_vector();
  const Index N = std::ssize(text);
  std::vector<Index> all;
  for (Index row = 0; row < size; ++row) {
    const Index i = std::find(text.begin(), text.end(), ids[row * T]) - text.begin();
    for (Index t = 0; t < T; ++t) {
      const Index target = targets[row * T + t], next = text[(i + t + 1) % N];
      expect(i < N && ids[row * T + t] == text[(i + t) % N], "A row of ids is no piece of the text.");
      expect(target == next || target != text[(i + t) % N], "targets");
      expect(target == next || target != text[(i + t + N - 1) % N], "targets");
      expect(target == next || t < T - 1, "last target missing");
      expect(target == next, "A target is not the id that comes next in the text.");
    }
    all.push_back(i);
  }
  return all;
}

/// How often the most frequent of these numbers occurs.
static Index most(const std::vector<Index>& numbers) {
  std::map<Index, Index> count;
  for (const Index i : numbers) ++count[i];
  return std::max_element(count.begin(), count.end(), [](auto& a, auto& b) { return a.second < b.second; })->second;
}

template <class Yours>
static void check() {
  for (const auto& [N, T] : {std::pair<Index, Index>{60, 5}, {80, 3}, {45, 1}}) {
    const std::vector<Index> text = randperm(N, Generator(T)).to_vector();
    const Yours task(text, T);
    const Generator random(7);
    for (const Split split : {Split::train, Split::validation}) {
      const Index cut = N * 9 / 10, size = 20000;  // so many that each start is drawn about equally often
      const Index from = split == Split::train ? 0 : cut, to = split == Split::train ? cut : N, count = to - from - T;
      const Batch batch = task.batch(size, split, random);
      const std::vector<Index> all = starts(batch, text, size, T);
      const auto [first, last] = std::minmax_element(all.begin(), all.end());
      expect(*first >= from && *last <= to - T, "beyond its part");
      expect(*last < to - T, "another number of starts");
      expect(count == 1 || *first != *last, "shared draws");
      const std::set<Index> drawn(all.begin(), all.end());
      expect(std::ssize(drawn) == count, "another number of starts");
      expect(most(all) * count < size * 4 / 3, "a biased draw");
      std::vector<Index> steps;
      for (Index row = 1; row < size; ++row) steps.push_back((all[row] - all[row - 1] + count) % count);
      expect(count == 1 || most(steps) * count < size * 4 / 3, "shared draws");
      expect(count == 1 || !equal(task.batch(size, split, random).ids, batch.ids), "the same again");
      expect(equal(task.batch(9, split, Generator(3)).ids, task.batch(9, split, Generator(3)).ids),
             "Two generators with one seed lead to different batches: draw from `random` and from nothing else.");
    }
  }
}

enum Kind { none, equal, before, short_row, beyond, many, few, apart, one_row, pairs, in_turn, minimum, again };
template <Kind kind>
struct Text : TaskOfText {
  using TaskOfText::TaskOfText;
  Batch batch(Index size, Split split, const Generator& stream) const override {
    const Index N = std::ssize(text), cut = N * 9 / 10;
    const Index from = split == Split::train || kind == beyond ? 0 : cut;
    const Index to = (split == Split::train && kind != beyond ? cut : N) - T + (kind == many) - (kind == few);
    const Index shift = kind == equal ? 0 : kind == before ? N - 1 : 1;
    const Generator random = kind == again ? Generator(7) : stream;
    Index i = from - 1, row = 0;
    return batch_of(size, T, [&](Index* ids, Index* targets) {
      const Index drawn = random_ids(1, from, std::max(to, from + 1), random)[0];
      const bool kept = (kind == one_row && row > 0) || (kind == pairs && row % 2 == 1);
      if (!kept) i = kind == in_turn ? from + row % (to - from) : kind == apart ? drawn - (drawn - from) % T : drawn;
      if (kind == minimum) i = std::min(i, random_ids(1, from, to, random)[0]);
      for (Index t = 0; t < T; ++t) ids[t] = text[i + t];
      for (Index t = 0; t < T - (kind == short_row); ++t) targets[t] = text[(i + t + shift) % N];
      ++row;
    });
  }
};
struct Example : TaskOfText {
  using TaskOfText::TaskOfText;
  Batch batch(Index, Split, const Generator&) const override {
    return {ints({{5, 6, 7}, {6, 7, 8}}), ints({{6, 7, 8}, {7, 8, 9}})};
  }
};

static const Row<void()> rows[] = {
    {"targets", "A target is the id that comes next, one further on: not the same id, nor the one before.",
     check<Text<equal>>, check<Text<before>>},
    {"last target missing", "The last place of a piece has a target, too: the id behind the piece.",
     check<Text<short_row>>},
    {"beyond its part", "A piece reaches beyond its part: train has the first N * 9 / 10 ids, validation the others.",
     check<Text<beyond>>},
    {"another number of starts",
     "A start is missing, or there is one too many: a part of N ids has the starts 0 to N - T - 1. Pieces may overlap.",
     check<Text<many>>, check<Text<few>>, check<Text<apart>>},
    {"a biased draw", "Some starts are drawn more often than others: random_ids draws each equally often.",
     check<Text<minimum>>},
    {"shared draws", "A row's start tells the next one's: draw a start for each row, from `random`.",
     check<Text<one_row>>, check<Text<pairs>>, check<Text<in_turn>>},
    {"the same again", "The next batch is the same again: draw from `random`, which goes on by itself.",
     check<Text<again>>},
    {"hard-coded", of_example, check<Example>},
};
static const Table table(rows);

#ifdef PROVE
namespace solution {
struct PiecesOfText : Task {
  std::vector<Index> text;
  Index T;

  PiecesOfText(const std::vector<Index>& ids, Index length) : text(ids), T(length) {}
  Batch batch(Index size, Split split, const Generator& random) const override {
    const Index N = std::ssize(text), cut = N * 9 / 10;
    const Index from = split == Split::train ? 0 : cut, to = split == Split::train ? cut : N;
    return batch_of(size, T, [&](Index* ids, Index* targets) {
      const Index i = random_ids(1, from, to - T, random)[0];
      for (Index t = 0; t < T; ++t) {
        ids[t] = text[i + t];
        targets[t] = text[i + t + 1];
      }
    });
  }

  std::string description() const override { return "pieces of a text"; }
  Index vocab_size() const override { return *std::max_element(text.begin(), text.end()) + 1; }
  Index block_size() const override { return T; }
  Recipe recipe() const override { return {}; }
  Outcome outcome() const override { return {}; }
  Questions questions(Index count, Split split, const Generator& random) const override {
    const Batch asked = batch(count, split, random);
    return {asked.ids, asked.targets.slice(1, T - 1, T)};
  }
};
}  // namespace solution
static const Right right(check<solution::PiecesOfText>);
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) { return of_check::judge(argc, argv, of_check::check<PiecesOfText>); }
