// KeyValueCache: how rows are stored and dropped.
#include "engine/ops/kv_cache.h"

#include <algorithm>

namespace mote {
namespace {

/// Writes the rows x [B, H, t, width] to `to` [B, H, capacity, width], from position `at` on.
void write(const Array& x, Array& to, Index at) {
  const Array rows = x.stride(3) == 1 ? x : x.contiguous();  // a row's elements must be adjacent; rows may lie apart
  const Index heads = to.shape()[1], capacity = to.shape()[2], width = to.shape()[3];
  real* const all = to.mutate();
  for (Index b = 0; b < x.shape()[0]; ++b)
    for (Index h = 0; h < heads; ++h)
      for (Index t = 0; t < x.shape()[2]; ++t)
        std::copy_n(rows.data() + b * rows.stride(0) + h * rows.stride(1) + t * rows.stride(2), width,
                    all + ((b * heads + h) * capacity + at + t) * width);
}

}  // namespace

void KeyValueCache::truncate(Integer length) {
  const Index least = first_ > 0 ? first_ + window_ - 1 : 0;  // the next token must see window - 1 earlier tokens
  check_in("KeyValueCache", length >= least && length <= this->length(), "cannot truncate to ", length,
           " tokens, only to a number from ", least, " to ", this->length());
  count_ = length - first_;
}

KeyValueCache KeyValueCache::appended(const Array& k, const Array& v) {
  const Shape rows = k.shape(), value_rows = v.shape();
  check_in("KeyValueCache", rows.rank() == 4 && value_rows.rank() == 4 && rows.with(-1, 0) == value_rows.with(-1, 0),
           "k ", rows, " and v ", value_rows, " must be [B, H, t, d] and [B, H, t, dv], equal but for the width");
  if (length() > 0) {
    const Shape &keys = keys_.shape(), &values = values_.shape();
    check_in("KeyValueCache", rows.with(2, 0) == keys.with(2, 0) && value_rows[3] == values[3], "k ", rows, " and v ",
             value_rows, " do not fit the cache: it has ", keys[0], " sequences, ", keys[1], " heads, keys of width ",
             keys[3], " and values of width ", values[3]);
  }
  const Index added = rows[2];
  const bool grows = length() == 0 || count_ + added > keys_.shape()[2];
  KeyValueCache grown(window_);
  if (grows) {
    // With a window of w, the next query sees w - 1 old keys. Earlier keys can be dropped, 16 at a time.
    const Index drop = window_ > 0 ? std::max<Index>(0, count_ - (window_ - 1)) / 16 * 16 : 0;
    grown.first_ = first_ + drop;
    grown.count_ = count_ - drop;
    const Index capacity = std::max<Index>(2 * (grown.count_ + added), 64);
    grown.keys_ = Array::empty(rows.with(2, capacity));
    grown.values_ = Array::empty(value_rows.with(2, capacity));
    if (grown.count_ > 0) {
      write(keys_.slice(2, drop, count_), grown.keys_, 0);
      write(values_.slice(2, drop, count_), grown.values_, 0);
    }
  }
  KeyValueCache& to = grows ? grown : *this;
  write(k, to.keys_, to.count_);
  write(v, to.values_, to.count_);
  KeyValueCache next = to;
  next.count_ += added;
  return next;
}

}  // namespace mote
