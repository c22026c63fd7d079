// The repeat task: one random id per row, again and again.
#pragma once

#include "train/tasks/task.h"

namespace mote {

/// Rows of one random id repeated: predict the next one. inputs and targets [B, length]. Errors: sizes below 1.
struct RepeatTask {
  Index vocab = 64, length = 12;

  RepeatTask(Index vocab_size, Index context) : vocab(vocab_size), length(context) {
    check_in("RepeatTask", vocab >= 2, "vocabulary ", vocab, " must be at least 2");
    check_in("RepeatTask", length >= 1, "length ", length, " must be at least 1");
  }

  Batch batch(Index size, const Generator& random) const {
    IntArray first({size});
    random.randint(std::span<Index>(first.mutate(), static_cast<std::size_t>(size)), 0, vocab);
    IntArray rows({size, length + 1});
    Index* const out = rows.mutate();
    for (Index b = 0; b < size; ++b) std::fill_n(out + b * (length + 1), length + 1, first.data()[b]);
    return next_token_batch(rows);
  }
};

}  // namespace mote
