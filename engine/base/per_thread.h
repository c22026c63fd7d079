// PerThread, a part of something for every thread: counters and free lists without a lock on the way to them.
#pragma once

#include <atomic>
#include <mutex>

#include "engine/base/real.h"

namespace mote {

/// A number that one thread changes and all may read: no atomic read-modify-write.
class OwnCount {
 public:
  Index get() const { return n_.load(std::memory_order_relaxed); }
  void set(Index n) { n_.store(n, std::memory_order_relaxed); }
  void add(Index n) { set(get() + n); }

 private:
  std::atomic<Index> n_{0};
};

/// Gives every thread a T of its own. T has static mutex(), which guards the list of all parts, and leave(), which is
/// called under it when the thread ends. A T needs neither memory nor a destructor: it is there from the thread's
/// start.
template <class T>
class PerThread {
 public:
  /// This thread's part; null for one that ended (static destructors run later) or keeps none.
  static T* mine() {
    Part& part = part_;
    if (part.state == State::joined) [[likely]]
      return &part;
    return part.state == State::fresh ? join() : nullptr;
  }
  /// The same without joining: for a caller that holds T::mutex().
  static T* mine_if_any() { return part_.state == State::joined ? &part_ : nullptr; }
  /// This thread, which has had no part yet, shall have none.
  static void keep_none() { part_.state = State::left; }
  /// Calls f(part) for every thread's. T::mutex() must be held.
  template <class F>
  static void each(const F& f) {
    for (Part* part = first_; part; part = part->next) f(static_cast<T&>(*part));
  }
  /// Forgets all others: a forked child has their memory but not the threads.
  static void forget_others() {
    first_ = part_.state == State::joined ? &part_ : nullptr;
    part_.next = nullptr;
  }

 private:
  enum class State { fresh, joined, left };
  struct Part : T {
    State state = State::fresh;
    Part* next = nullptr;
  };
  struct AtEnd {
    bool armed = false;
    ~AtEnd() {
      const std::lock_guard lock(T::mutex());
      part_.leave();
      Part** link = &first_;
      while (*link != &part_) link = &(*link)->next;
      *link = part_.next;
      part_.state = State::left;
    }
  };
  static T* join() {
    at_end_.armed = true;  // its first use arranges for its destructor
    const std::lock_guard lock(T::mutex());
    part_.next = first_;
    part_.state = State::joined;
    return first_ = &part_;
  }

  static inline constinit thread_local Part part_{};
  static inline thread_local AtEnd at_end_;
  static inline constinit Part* first_ = nullptr;
};

}  // namespace mote
