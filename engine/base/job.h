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
/// takes a chunk by one compare-and-swap on the number of the job and of the chunk together, which fails once all chunks
/// are taken or another job is there. A job ends when the chunks that were taken are done: nobody waits for a worker
/// that has none.
class Job {
 public:
  static constexpr std::uint64_t most_chunks = 0xffffffff;  // the lower half of next_

  /// Publishes a job. The one before has ended. Chunk borders depend on the grain alone.
  void open(RangeBody run, void* body, Index count, Index grain) {
    next_.fetch_or(most_chunks);  // closes the one before: what follows may be read, but takes no chunk
    run_.store(run, std::memory_order_relaxed);
    body_.store(body, std::memory_order_relaxed);
    count_.store(count, std::memory_order_relaxed);
    grain_.store(grain, std::memory_order_relaxed);
    chunks_.store((count - 1) / grain + 1, std::memory_order_relaxed);
    done_.store(0, std::memory_order_relaxed);
    next_.fetch_add(1);  // the next number, chunk 0
  }

  /// Whether chunks are left that nobody has taken.
  bool has_work() const {
    return static_cast<Index>(next_.load() & most_chunks) < chunks_.load(std::memory_order_relaxed);
  }

  /// Takes and runs chunks while there are any.
  void work() {
    Index mine = 0;  // chunks of this job that are done; it cannot end before they are counted
    for (std::uint64_t next = next_.load(std::memory_order_acquire);;) {
      const auto run = run_.load(std::memory_order_relaxed);
      void* const body = body_.load(std::memory_order_relaxed);
      const Index count = count_.load(std::memory_order_relaxed), grain = grain_.load(std::memory_order_relaxed);
      const Index chunk = static_cast<Index>(next & most_chunks), chunks = chunks_.load(std::memory_order_relaxed);
      if (chunk >= chunks) break;
      // Success proves that what was read above belongs to this job: it changes only after the last chunk is taken.
      if (!next_.compare_exchange_weak(next, next + 1, std::memory_order_acq_rel, std::memory_order_acquire)) continue;
      try {
        run_chunk(run, body, chunk, count, grain);
        mine += 1;
      } catch (...) {
        mine += 1 + drop_rest(chunks, std::current_exception());
      }
      next = next_.load(std::memory_order_acquire);
    }
    if (mine > 0) done_.fetch_add(mine, std::memory_order_release);
  }

  /// Waits for the chunks that others have taken. Errors: the first exception of a body.
  void finish() {
    const Index chunks = chunks_.load(std::memory_order_relaxed);
    for (int rests = 0; done_.load(std::memory_order_acquire) < chunks;) rest(rests, 64);
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  /// Takes all chunks not yet begun, which nobody runs then; returns how many.
  Index drop_rest(Index chunks, std::exception_ptr failure) {
    {
      const std::lock_guard lock(failure_mutex_);
      if (!failure_) failure_ = std::move(failure);
    }
    std::uint64_t next = next_.load(std::memory_order_acquire);
    while (!next_.compare_exchange_weak(next, (next & ~most_chunks) | static_cast<std::uint64_t>(chunks),
                                        std::memory_order_acq_rel, std::memory_order_acquire)) {
    }
    return chunks - static_cast<Index>(next & most_chunks);
  }

  alignas(64) std::atomic<std::uint64_t> next_{0};  // upper half: number of the job; lower half: its next chunk
  alignas(64) std::atomic<RangeBody> run_{nullptr};
  std::atomic<void*> body_{nullptr};
  std::atomic<Index> count_{0}, grain_{0}, chunks_{0};
  alignas(64) std::atomic<Index> done_{0};
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
};

}  // namespace mote::detail
