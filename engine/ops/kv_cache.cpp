// KeyValueCache: how rows are stored, dropped and moved.
#include "engine/ops/kv_cache.h"

#include <algorithm>

namespace mote {

KeyValueCache::KeyValueCache(Index window) : window_(window) {
  check_in("KeyValueCache", window >= 0, "window ", window, " must be at least 0");
}

void KeyValueCache::truncate(Index length) {
  const Index least = first_ > 0 ? first_ + window_ - 1 : 0;  // a query there sees window - 1 tokens before it
  check_in("KeyValueCache", length >= least && length <= this->length(), "cannot truncate to ", length,
           " tokens, only to ", least, " to ", this->length());
  count_ = length - first_;
}

void KeyValueCache::append(const Array& k, const Array& v) {
  check_in("KeyValueCache", k.rank() == 4 && v.rank() == 4 && k.shape().with(-1, 0) == v.shape().with(-1, 0), "k ",
           k.shape(), " and v ", v.shape(), " must be [B, H, t, d] and [B, H, t, dv]");
  if (length() == 0) {
    batch_ = k.shape()[0], heads_ = k.shape()[1], keys_.width = k.shape()[3], values_.width = v.shape()[3];
    capacity_ = 0;  // the old allocation may have other sizes
  }
  check_in("KeyValueCache",
           k.shape().with(2, 0) == Shape{batch_, heads_, 0, keys_.width} && v.shape()[3] == values_.width, "k ",
           k.shape(), " and v ", v.shape(), " do not continue ", count_, " rows of ", batch_, " sequences, ", heads_,
           " heads, widths ", keys_.width, " and ", values_.width);
  const Index added = k.shape()[2];
  // With a window of w the next query sees w - 1 old keys; those before them can be dropped, 16 at a time.
  const Index drop = window_ > 0 ? std::max<Index>(0, count_ - (window_ - 1)) / 16 * 16 : 0;
  if (count_ + added > capacity_ || !keys_.storage.unique()) {  // a copy of this cache must not see the new rows
    const Index kept = count_ - drop;
    move(drop, std::max<Index>(2 * (kept + added), 64));
  }
  keys_.write(k, heads_, capacity_, count_);
  values_.write(v, heads_, capacity_, count_);
  count_ += added;
}

void KeyValueCache::Rows::write(const Array& x, Index heads, Index capacity, Index at) {
  const Index added = x.shape()[2], row = x.stride(2), column = x.stride(3);
  for (Index b = 0; b < x.shape()[0]; ++b)
    for (Index h = 0; h < heads; ++h) {
      const real* from = x.data() + b * x.stride(0) + h * x.stride(1);  // a view of a projection: its rows are apart
      real* to = data() + ((b * heads + h) * capacity + at) * width;
      for (Index t = 0; t < added; ++t, from += row, to += width)
        if (column == 1)
          std::copy_n(from, width, to);
        else
          for (Index c = 0; c < width; ++c) to[c] = from[c * column];
    }
}

detail::HeadRows KeyValueCache::Rows::rows(Index heads, Index capacity) const {
  check_in("KeyValueCache", static_cast<bool>(storage), "nothing was appended yet");
  return {data(), heads * capacity * width, capacity * width, width, 1};
}

KeyValueCache::Rows KeyValueCache::Rows::moved(Index blocks, Index from_capacity, Index drop, Index count,
                                               Index capacity) const {
  const Rows to{Storage(static_cast<std::size_t>(blocks * capacity * width) * sizeof(real)), width};
  for (Index i = 0; i < blocks && count > 0; ++i)
    std::copy_n(data() + (i * from_capacity + drop) * width, count * width, to.data() + i * capacity * width);
  return to;
}

void KeyValueCache::move(Index drop, Index capacity) {
  const Rows keys = keys_.moved(batch_ * heads_, capacity_, drop, count_ - drop, capacity);
  const Rows values = values_.moved(batch_ * heads_, capacity_, drop, count_ - drop, capacity);
  keys_ = keys, values_ = values, capacity_ = capacity;  // nothing can fail from here on
  first_ += drop;
  count_ -= drop;
}

}  // namespace mote
