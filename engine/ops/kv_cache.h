// KeyValueCache, the keys and values computed so far during generation, and attention over one.
#pragma once

#include "engine/base/storage.h"
#include "engine/ops/attention.h"
#include "engine/ops/head_rows.h"

namespace mote {

/// Keys [B, Hkv, length, d] and values [B, Hkv, length, dv] of the tokens so far. A new token needs nothing else from
/// the old ones, so generating n tokens costs n steps instead of n full passes.
///
/// Rows are stored in blocks with spare capacity and a cursor: appending copies only the new rows. With a window of w,
/// keys that no later query can see are dropped. A copy of the cache is independent: it gets its own rows with its next
/// token. Not an Array: views of it would be copied at every step.
class KeyValueCache {
 public:
  /// Empty. Errors: a window below 0.
  explicit KeyValueCache(Index window = 0);

  Index window() const { return window_; }
  /// Tokens seen so far: the position of the next one.
  Index length() const { return first_ + count_; }
  /// The position of the oldest stored row, a multiple of 16: see attention() below.
  Index first() const { return first_; }
  /// Stored rows.
  Index count() const { return count_; }
  void clear() { first_ = count_ = 0; }
  /// Removes the tokens from position `length` on, for example after an error. Errors: a length above the current one,
  /// or a position whose window is no longer stored.
  void truncate(Index length);

  /// Appends rows: k [B, Hkv, t, d], v [B, Hkv, t, dv]. Errors: sizes that differ from the earlier rows.
  void append(const Array& k, const Array& v);

  /// The rows in memory. Errors: nothing was appended yet.
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

/// attention() for the t tokens that follow those in `cache`, to which their keys and values are appended:
/// q [B, H, t, d], k [B, Hkv, t, d], v [B, Hkv, t, dv] -> [B, H, t, dv].
///
/// Equal in every bit to the last t rows of the full pass, as is a model that computes everything else row by row: an
/// element of a matrix product is one sum in one order, whichever other rows are computed with it; a rotary angle or a
/// distance depends only on positions, which continue from the cache's length; a softmax adds its keys in 16 lanes by
/// position, which is why the position of the first stored key is a multiple of 16; and a key outside the window,
/// stored or dropped, has a weight of 0, which does not change a sum of products.
///
/// Errors: not causal, a mask, a dropout, gradients on, a window that differs from the cache's, rows that do not
/// continue the cache's. An error leaves the cache unchanged.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, KeyValueCache& cache,
                 const AttentionOptions& options);
/// The same over joined heads, see engine/ops/attention.h.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Heads& heads, KeyValueCache& cache,
                 const AttentionOptions& options);
Tensor attention(const Tensor& qkv, const Heads& heads, KeyValueCache& cache, const AttentionOptions& options);

}  // namespace mote
