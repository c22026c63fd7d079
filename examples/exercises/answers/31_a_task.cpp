// Checks 31: a task, the pieces of a text.

// hint: Let the part begin at `from` and end before `to`. A piece needs T + 1 ids, so its start is below to - T.
// hint: const Index i = random_ids(1, from, to - T, random)[0]; ids[t] = text[i + t] and targets[t] = text[i + t + 1].
// why: One piece is T examples at once: at each place the model guesses from what stands before it.
// why: With targets equal to ids the loss falls to 0 and nothing is learned: if it looks too good, look at the targets.
// why: Pieces overlap, so a text of a million ids has nearly a million examples.
#include "examples/exercises/answers/check.h"

namespace of_check {
/// The start of each row: of a text whose ids are all different, the first id of a row tells it.
static std::vector<Index> starts(const Batch& b, const std::vector<Index>& text, Index size, Index T) {
  expect(b.ids.shape() == Shape({size, T}) && b.targets.shape() == b.ids.shape(),
         "ids have the shape " + printed(b.ids.shape()) + ", targets " + printed(b.targets.shape()) +
             ": both should be " + printed(Shape({size, T})) + ".");
  expect(!(b.targets == b.ids), "Targets equal ids: a model would learn to repeat what it reads, not to go on.");
  expect(T == 1 || !(b.targets.slice(1, 1, T) == b.ids.slice(1, 0, T - 1)),
         "Shifted the wrong way: a target is the id that comes next, and yours is the one before.");
  std::vector<Index> all;
  for (Index row = 0; row < size; ++row) {
    const Index i = std::find(text.begin(), text.end(), b.ids.at({row, 0})) - text.begin(), N = std::ssize(text);
    for (Index t = 0; t < T; ++t) {
      expect(b.ids.at({row, t}) == text[(i + t) % N], "A row of ids is no piece of the text.");
      expect(b.targets.at({row, t}) != -1 || t < T - 1, "The last place of a piece has a target, too: the id behind.");
      expect(b.targets.at({row, t}) == text[(i + t + 1) % N], "A target is not the id that comes next in the text.");
    }
    all.push_back(i);
  }
  return all;
}

template <class Yours>
static void check() {
  for (const auto& [N, T] : {std::pair<Index, Index>{60, 5}, {80, 3}, {45, 1}}) {
    const std::vector<Index> text = randperm(N, Generator(T)).to_vector();
    const Yours task(text, T);
    const Generator random(7);
    for (const Split split : {Split::train, Split::validation}) {
      const Index cut = N * 9 / 10, size = 2000;  // so many that each start is drawn
      const Index from = split == Split::train ? 0 : cut, to = split == Split::train ? cut : N, count = to - from - T;
      const Batch batch = task.batch(size, split, random);
      const std::vector<Index> all = starts(batch, text, size, T);
      const auto [first, last] = std::minmax_element(all.begin(), all.end());
      const auto inside = [&, from = from, T = T](Index i) { return (i - from) % T != 0; };
      expect(*last != to - T, "One start too many: the target of its last place lies behind the end of its part.");
      expect(*first >= from && *last < to - T,
             "A piece reaches beyond its part: of T + 1 ids all are among train's, the first N * 9 / 10, or none is.");
      expect(count == 1 || *first != *last, "All rows of a batch are one piece: draw a start for each row.");
      expect(count == 1 || T == 1 || std::any_of(all.begin(), all.end(), inside),
             "Pieces start at multiples of T only: they may overlap, and any start will do.");
      expect(*first == from && *last == from + count - 1, "A start is missing: N ids have N - T, 0 to N - T - 1.");
      expect(count == 1 || !(task.batch(size, split, random).ids == batch.ids),
             "The next batch is the same again: draw from `random`, which goes on by itself.");
      expect(task.batch(9, split, Generator(3)).ids == task.batch(9, split, Generator(3)).ids,
             "Two generators with one seed lead to different batches: draw from `random` and from nothing else.");
    }
  }
}

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
      for (Index t = 0; t < T; ++t) ids[t] = text[i + t], targets[t] = text[i + t + 1];
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

enum Mistake { equal, backwards, unfinished, one_row, too_many, too_few, shared, apart, again, constant };
template <Mistake mistake>
struct Wrongly : solution::PiecesOfText {
  using PiecesOfText::PiecesOfText;
  Batch batch(Index size, Split split, const Generator& stream) const override {
    if (mistake == constant) return {ints({{5, 6, 7}, {6, 7, 8}}), ints({{6, 7, 8}, {7, 8, 9}})};
    const Index N = std::ssize(text), cut = N * 9 / 10, shift = mistake == equal ? 0 : mistake == backwards ? N - 1 : 1;
    const Index from = split == Split::train || mistake == shared ? 0 : cut;
    const Index to = split == Split::train && mistake != shared ? cut : N;
    const Generator random = mistake == again ? Generator(7) : stream;
    Index i = -1;
    return batch_of(size, T, [&](Index* ids, Index* targets) {
      const Index drawn = random_ids(1, from, to - T + (mistake == too_many) - (mistake == too_few), random)[0];
      if (mistake != one_row || i < 0) i = mistake == apart ? drawn - (drawn - from) % T : drawn;
      for (Index t = 0; t < T; ++t) ids[t] = text[i + t];
      for (Index t = 0; t < T - (mistake == unfinished); ++t) targets[t] = text[(i + t + shift) % N];
    });
  }
};
static const Tried tried[] = {
    {"solution", "", check<solution::PiecesOfText>},
    {"targets equal ids", "equal ids", check<Wrongly<equal>>},
    {"wrong way", "wrong way", check<Wrongly<backwards>>},
    {"last target missing", "too: the id behind", check<Wrongly<unfinished>>},
    {"one piece in all rows", "are one piece", check<Wrongly<one_row>>},
    {"one start too many", "too many", check<Wrongly<too_many>>},
    {"one start too few", "is missing", check<Wrongly<too_few>>},
    {"splits share", "beyond its part", check<Wrongly<shared>>},
    {"no overlap", "may overlap", check<Wrongly<apart>>},
    {"the same batch again", "same again", check<Wrongly<again>>},
    {"hard-coded", "both should be", check<Wrongly<constant>>},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) { return of_check::judge(argc, argv, of_check::check<PiecesOfText>); }
