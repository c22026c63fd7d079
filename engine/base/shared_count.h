// Counts that threads share. While a process has one thread, they need no locked instruction, which costs as much as a
// hundred others.
#pragma once

#include <atomic>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

namespace mote::detail {

/// Whether no other thread exists. The C library knows; where it does not tell, there may be some.
inline bool one_thread() {
#if __has_include(<sys/single_threaded.h>)
  return __libc_single_threaded != 0;
#else
  return false;
#endif
}

/// Adds to a count and returns what it was. No order is promised to other memory.
template <class T>
T count_up(std::atomic<T>& count, T by) {
  if (!one_thread()) return count.fetch_add(by, std::memory_order_relaxed);
  const T before = count.load(std::memory_order_relaxed);
  count.store(before + by, std::memory_order_relaxed);
  return before;
}

/// How many handles there are to something. What one handle wrote is visible to whoever drops the last.
class HandleCount {
 public:
  void add() { count_up<long>(count_, 1); }
  /// Whether that was the last: it then belongs to the caller alone. The last handle need not tell anybody.
  bool drop() {
    if (one()) return true;
    if (!one_thread()) return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
    count_up<long>(count_, -1);
    return false;
  }
  bool one() const { return count_.load(std::memory_order_acquire) == 1; }

 private:
  std::atomic<long> count_{1};
};

}  // namespace mote::detail
