// The copy task: L random symbols, a separator, the same L symbols again.
#pragma once

#include <algorithm>
#include <vector>

#include "train/tasks/task.h"

namespace mote {

/// Sequences s1 ... sL | s1 ... sL with symbols 0 .. symbols-1 and separator `symbols`. Only the answer counts in the
/// loss: to get it right, position L + i must look back at position i. One in four sequences, chosen by a hash of its
/// symbols, is held out: no sequence is in both splits. Errors: fewer than 2 symbols or 1 position, so few
/// sequences that a split has none.
struct CopyTask {
  Index symbols = 10, length = 10;

  CopyTask(Index symbol_count, Index answer_length) : symbols(symbol_count), length(answer_length) {
    check_in("CopyTask", symbols >= 2, "symbols ", symbols, " must be at least 2");
    check_in("CopyTask", length >= 1, "length ", length, " must be at least 1");
    const bool both = has(Split::train) && has(Split::test);  // else draw() would never end
    check_in("CopyTask", both, "with ", symbols, " symbols and length ", length,
             " there are too few sequences to hold some out");
  }

  Index vocab_size() const { return symbols + 1; }
  Index separator() const { return symbols; }
  /// The longest context a model sees: all but the last answer symbol.
  Index block_size() const { return 2 * length; }
  static bool held_out(std::span<const Index> sequence) { return example_hash(sequence) % 4 == 0; }

  /// The question of one example, s1 ... sL; drawn again until it belongs to `split`.
  std::vector<Index> draw(Split split, const Generator& random) const {
    std::vector<Index> s(static_cast<std::size_t>(length));
    do random.randint(s, 0, symbols);
    while (held_out(s) != (split == Split::test));
    return s;
  }

  /// A batch for training: inputs and targets [B, 2L].
  Batch batch(Index size, Split split, const Generator& random) const {
    IntArray rows({size, 2 * length + 1});
    Index* const out = rows.mutate();
    for (Index b = 0; b < size; ++b) {
      const std::vector<Index> s = draw(split, random);
      Index* const row = out + b * (2 * length + 1);
      std::copy(s.begin(), s.end(), row);
      row[length] = separator();
      std::copy(s.begin(), s.end(), row + length + 1);
    }
    Batch batch = next_token_batch(rows);
    Index* const targets = batch.targets.mutate();
    for (Index b = 0; b < size; ++b)
      std::fill_n(targets + b * 2 * length, length, Index(-1));  // the question does not count
    return batch;
  }

  /// Questions with the separator [B, L + 1], and the answers [B, L] that a model should generate after them.
  Batch questions(Index size, Split split, const Generator& random) const {
    Batch q{IntArray({size, length + 1}), IntArray({size, length})};
    Index *const ids = q.ids.mutate(), *const answers = q.targets.mutate();
    for (Index b = 0; b < size; ++b) {
      const std::vector<Index> s = draw(split, random);
      std::copy(s.begin(), s.end(), ids + b * (length + 1));
      ids[b * (length + 1) + length] = separator();
      std::copy(s.begin(), s.end(), answers + b * length);
    }
    return q;
  }

 private:
  /// Whether one of the first thousand sequences, in counting order, belongs to `split`.
  bool has(Split split) const {
    std::vector<Index> s(static_cast<std::size_t>(length), 0);
    for (int i = 0; i < 1000; ++i) {
      if (held_out(s) == (split == Split::test)) return true;
      std::size_t place = 0;
      while (place < s.size() && ++s[place] == symbols) s[place++] = 0;
      if (place == s.size()) break;  // that was the last one
    }
    return false;
  }
};

}  // namespace mote
