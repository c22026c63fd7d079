// Job, a parallel loop whose chunks are taken by whichever thread is running; the pool has one.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "engine/base/parallel.h"

namespace mote::detail {

/// Runs a chunk of [0, count) in a place of its own, so that the pool's loops stay small.
inline void run_chunk(RangeBody run, void* body, Index number, Index count, Index grain) {
  const Index begin = number * grain;
  run(body, begin, count - begin > grain ? begin + grain : count);
}

/// A moment's rest for a thread that waits; every `patience`-th lets another thread have this core, which may be the one
/// that is waited for.
inline void rest(int& rests, int patience) {
#if defined(__x86_64__)
  for (int i = 0; i < 8; ++i) __builtin_ia32_pause();
#endif
  if (++rests % patience == 0) std::this_thread::yield();
}

/// The job being worked on. It lives as long as the pool, so that a worker which comes late reads no freed memory: it
/// takes a chunk by one compare-and-swap on the number of the job and of the chunks left together, which fails once all
/// are taken or another job is there. A job ends when the chunks that were taken are done: nobody waits for a worker
/// that has none.
class Job {
 public:
  static constexpr std::uint64_t most_chunks = 0xffffffff;

  /// Runs all chunks; others may help. The job before has ended. Errors: the first exception of a body, after the end.
  template <class Wake>
  void run(RangeBody run, void* body, Index count, Index grain, const Wake& wake) {
    const Index chunks = (count - 1) / grain + 1;
    run_.store(run, std::memory_order_relaxed);
    body_.store(body, std::memory_order_relaxed);
    count_.store(count, std::memory_order_relaxed);
    grain_.store(grain, std::memory_order_relaxed);
    chunks_.store(chunks, std::memory_order_relaxed);
    const std::uint64_t number = left_.load(std::memory_order_relaxed) / (most_chunks + 1) + 1;
    left_.store(number * (most_chunks + 1) + static_cast<std::uint64_t>(chunks));
    wake(chunks - 1);
    helped_ += chunks - work();
    for (int rests = 0; done_by_others_.load(std::memory_order_acquire) != helped_;) rest(rests, 64);
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

  /// Whether chunks are left that nobody has taken.
  bool has_work() const { return (left_.load() & most_chunks) > 0; }

  /// For a worker: takes and runs chunks while there are any.
  void help() {
    if (const Index done = work()) done_by_others_.fetch_add(done, std::memory_order_release);
  }

 private:
  /// Returns how many chunks are done. Until they are counted, the job cannot end.
  Index work() {
    Index done = 0;
    for (std::uint64_t left = left_.load(std::memory_order_acquire); (left & most_chunks) > 0;) {
      const auto run = run_.load(std::memory_order_relaxed);
      void* const body = body_.load(std::memory_order_relaxed);
      const Index count = count_.load(std::memory_order_relaxed), grain = grain_.load(std::memory_order_relaxed);
      const Index chunks = chunks_.load(std::memory_order_relaxed);
      // Success proves that all this belongs to one job: another is published only after the last chunk is taken.
      if (!left_.compare_exchange_weak(left, left - 1, std::memory_order_acq_rel, std::memory_order_acquire)) continue;
      try {
        run_chunk(run, body, chunks - static_cast<Index>(left & most_chunks), count, grain);
      } catch (...) {
        done += drop_rest(std::current_exception());
      }
      done += 1;
      left = left_.load(std::memory_order_acquire);
    }
    return done;
  }

  /// Takes all chunks not yet begun, which nobody runs then; returns how many.
  Index drop_rest(std::exception_ptr failure) {
    {
      const std::lock_guard lock(failure_mutex_);
      if (!failure_) failure_ = std::move(failure);
    }
    return static_cast<Index>(left_.fetch_and(~most_chunks, std::memory_order_acq_rel) & most_chunks);
  }

  // One cache line: who finds chunks has the rest at hand.
  alignas(64) std::atomic<std::uint64_t> left_{0};  // upper half: number of the job; lower half: chunks not yet taken
  std::atomic<RangeBody> run_{nullptr};
  std::atomic<void*> body_{nullptr};
  std::atomic<Index> count_{0}, grain_{0}, chunks_{0};
  alignas(64) std::atomic<Index> done_by_others_{0};  // in all jobs so far
  Index helped_ = 0;                                  // what it is when this job has ended
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
};

}  // namespace mote::detail
