// KeyValueCache, the keys and values computed so far while a model generates, and attention over one.
#pragma once

#include "engine/base/storage.h"
#include "engine/ops/attention.h"
#include "engine/ops/head_rows.h"

namespace mote {

/// Keys [B, Hkv, length, d] and values [B, Hkv, length, dv] of the tokens so far. A new token needs no more of the old
/// ones than these, so that generating n tokens costs n steps instead of n passes over everything.
///
/// Rows lie in blocks with room to grow and a cursor: appending copies the new rows alone. With a window of w, keys
/// that no later query can see are dropped. A copy of the cache goes its own way, with rows of its own from its next
/// token on. Not an Array: views of it would be copied at every step.
class KeyValueCache {
 public:
  /// Empty. Errors: a window below 0.
  explicit KeyValueCache(Index window = 0);

  Index window() const { return window_; }
  /// Tokens seen so far: the position of the next one.
  Index length() const { return first_ + count_; }
  /// The position of the oldest row that is still here, a multiple of 16: see attention() below.
  Index first() const { return first_; }
  /// Rows that are here.
  Index count() const { return count_; }
  void clear() { first_ = count_ = 0; }
  /// Forgets the tokens from position `length` on, as after an error. Errors: more than there are, or a position whose
  /// window is no longer here.
  void truncate(Index length);

  /// Adds rows: k [B, Hkv, t, d], v [B, Hkv, t, dv]. Errors: other sizes than the rows before.
  void append(const Array& k, const Array& v);

  /// Where the rows lie. Errors: nothing was appended yet.
  detail::HeadRows keys() const { return keys_.rows(heads_, capacity_); }
  detail::HeadRows values() const { return values_.rows(heads_, capacity_); }
  Index heads() const { return heads_; }
  Index value_width() const { return values_.width; }

 private:
  struct Rows {  // [B, H, capacity, width] elements
    Storage storage;
    Index width = 0;
    real* data() const { return static_cast<real*>(storage.data()); }
    void write(const Array& x, Index heads, Index capacity, Index at);
    detail::HeadRows rows(Index heads, Index capacity) const;
    Rows moved(Index blocks, Index from_capacity, Index drop, Index count, Index capacity) const;
  };
  void move(Index drop, Index capacity);

  Index window_, batch_ = 0, heads_ = 0, capacity_ = 0, first_ = 0, count_ = 0;
  Rows keys_, values_;
};

/// attention() for the t tokens that follow those in `cache`, which afterwards has theirs too: q [B, H, t, d],
/// k [B, Hkv, t, d], v [B, Hkv, t, dv] -> [B, H, t, dv].
///
/// Equal in every bit to the last t rows of the whole pass, and so is a model that computes all else row by row: an
/// element of a matrix product is one sum in one order, whatever rows are computed beside it; a rotary angle or a
/// distance depends on positions alone, which go on counting from the cache's length; a softmax adds its keys in 16
/// lanes by position, which is why the first key kept has a position that is a multiple of 16; and a key behind the
/// window, kept or dropped, has a weight of 0, which added to a sum of products leaves it as it is.
///
/// Errors: not causal, a mask, a dropout, gradients on, another window than the cache's, rows that do not continue the
/// cache's. After an error the cache is as it was.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, KeyValueCache& cache,
                 const AttentionOptions& options);

}  // namespace mote
