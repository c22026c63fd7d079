// KeyValueCache, the keys and values computed so far during generation.
#pragma once

#include "engine/array/array.h"

namespace mote {

/// The keys [B, Hkv, length, d] and values [B, Hkv, length, dv] of the tokens so far. Attention for a new token needs
/// nothing else of the old tokens, so generating n tokens costs n steps of one token instead of n full passes.
///
/// Rows are stored with spare capacity, so appending copies only the new rows. With a window, keys that no later
/// query can see are dropped. A copy of the cache is independent, because it gets its own storage when a token is
/// appended.
///
/// attention() with a cache is equal in every bit to the last rows of the full pass. The same holds for a model that
/// computes everything else row by row. There are four reasons. An element of a matrix product is one sum in one
/// order, whichever other rows are computed with it. A rotary angle or an ALiBi distance depends only on positions,
/// and positions continue from the cache's length. A softmax sums over keys in 16 lanes by position, and the position
/// of the first stored key is a multiple of 16. A key outside the window has a weight of 0 if it is still stored, and
/// adding 0 does not change a sum.
class KeyValueCache {
 public:
  /// An empty cache. A window of 0 keeps all keys. Errors: a window below 0.
  explicit KeyValueCache(Integer window = 0) : window_(window) {
    check_in("KeyValueCache", window >= 0, "window ", window, " must be at least 0");
  }

  Index window() const { return window_; }
  /// The number of tokens so far, which is the position of the next token.
  Index length() const { return first_ + count_; }
  /// The position of the oldest stored row, a multiple of 16.
  Index first() const { return first_; }
  void clear() { first_ = count_ = 0; }
  /// Removes the tokens from position `length` on, for example after an error. Errors: a length above the current
  /// one, or one for which the keys of the window are no longer stored.
  void truncate(Integer length);

  /// A cache with these rows appended: k [B, Hkv, t, d], v [B, Hkv, t, dv]. This cache stays as it is, although both
  /// caches may share memory, because the new rows fill spare room behind its own rows. Errors: sizes that differ
  /// from the earlier rows.
  KeyValueCache appended(const Array& k, const Array& v);

  /// Views of the stored rows, [B, Hkv, length - first, width]. While such a view exists, appending copies all rows.
  /// Errors: nothing was appended yet.
  Array keys() const { return stored(keys_); }
  Array values() const { return stored(values_); }

 private:
  Array stored(const Array& rows) const {
    check_in("KeyValueCache", rows.defined(), "the cache has no keys and values yet: attention() appends them");
    return rows.slice(2, 0, count_);
  }

  Index window_, first_ = 0, count_ = 0;
  Array keys_, values_;  // [B, Hkv, capacity, width]
};

}  // namespace mote
