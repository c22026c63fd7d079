// KeyValueCache, the keys and values computed so far during generation.
#pragma once

#include "engine/array/array.h"

namespace mote {

/// Keys [B, Hkv, length, d] and values [B, Hkv, length, dv] of the tokens so far. A new token needs nothing else from
/// the old ones, so generating n tokens costs n steps instead of n full passes.
///
/// Rows are stored with spare capacity and a cursor: appending copies only the new rows. With a window of w, keys that
/// no later query can see are dropped. A copy of the cache is independent: it gets its own rows with its next token.
///
/// attention() over a cache is equal in every bit to the last rows of the full pass. So is a model that computes
/// everything else row by row. An element of a matrix product is one sum in one order, whichever other rows are
/// computed with it. A rotary angle or a distance depends only on positions, which continue from the cache's length. A
/// softmax adds its keys in 16 lanes by position: so the position of the first stored key is a multiple of 16. A key
/// outside the window has a weight of 0, stored or dropped, and 0 does not change a sum of products.
class KeyValueCache {
 public:
  /// Empty. Errors: a window below 0.
  explicit KeyValueCache(Integer window = 0) : window_(window) {
    check_in("KeyValueCache", window >= 0, "window ", window, " must be at least 0");
  }

  Index window() const { return window_; }
  /// Tokens seen so far: the position of the next one.
  Index length() const { return first_ + count_; }
  /// The position of the oldest stored row, a multiple of 16.
  Index first() const { return first_; }
  void clear() { first_ = count_ = 0; }
  /// Removes the tokens from position `length` on, for example after an error. Errors: a length above the current one,
  /// or a position whose window is no longer stored.
  void truncate(Integer length);

  /// The cache with these rows appended: k [B, Hkv, t, d], v [B, Hkv, t, dv]. This one stays as it is, although
  /// both share memory: the new rows fill spare room behind its own. Errors: sizes that differ from the earlier rows.
  KeyValueCache appended(const Array& k, const Array& v);

  /// Views of the stored rows, [B, Hkv, length - first, width]. While one lives, appending copies all rows. Errors:
  /// nothing was appended yet.
  Array keys() const { return stored(keys_); }
  Array values() const { return stored(values_); }

 private:
  Array stored(const Array& rows) const {
    check_in("KeyValueCache", rows.defined(), "nothing was appended yet");
    return rows.slice(2, 0, count_);
  }

  Index window_, first_ = 0, count_ = 0;
  Array keys_, values_;  // [B, Hkv, capacity, width]
};

}  // namespace mote
