// The two-places task: predict (x[t-1] + x[t-3]) mod n, which needs two earlier tokens at once.
#pragma once

#include "train/tasks/task.h"

namespace mote {

/// Rows of random numbers below `modulus`; at each position t >= 3 the target is (x[t-1] + x[t-3]) mod modulus, before
/// that nothing counts. A layer of attention alone learns it badly with one head, which hands on one mixture of the two
/// numbers, and well with two. It is not enough that each head looks at one place and hands on its number: scores that
/// are something of the one plus something of the other cannot all be highest at (a + b) mod n. The heads' weights have
/// to depend on both numbers, too. ids and targets [B, length]. Errors: modulus below 2, length below 4.
struct TwoPlacesTask {
  Index modulus = 7, length = 16;

  explicit TwoPlacesTask(Index numbers = 7, Index context = 16) : modulus(numbers), length(context) {
    check_in("TwoPlacesTask", modulus >= 2, "modulus ", modulus, " must be at least 2");
    check_in("TwoPlacesTask", length >= 4, "length ", length, " must be at least 4");
  }

  Batch batch(Index size, const Generator& random) const {
    Batch b{IntArray({size, length}), IntArray({size, length}, -1)};
    Index *const ids = b.ids.mutate(), *const targets = b.targets.mutate();
    random.randint({ids, static_cast<std::size_t>(size * length)}, 0, modulus);
    for (Index i = 0; i < size * length; ++i)
      if (i % length >= 3) targets[i] = (ids[i - 1] + ids[i - 3]) % modulus;
    return b;
  }
};

}  // namespace mote
