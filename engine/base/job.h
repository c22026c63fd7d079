// Job, a parallel loop whose chunks are taken by whichever thread is running; the pool has one.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/parallel.h"

namespace mote::detail {

/// A moment's rest for a thread that waits; every `patience`-th lets another thread have this core, which may be the
/// one that is waited for.
inline void rest(int& rests, int patience) {
#if defined(__x86_64__)
  for (int i = 0; i < 2; ++i) __builtin_ia32_pause();
#endif
  if (++rests % patience == 0) std::this_thread::yield();
}

/// The job being worked on. It lives as long as the pool, so that a worker which comes late reads no freed memory. A
/// job ends when the chunks that were taken are done: nobody waits for a worker that has none.
///
/// Every participant has a home, its share of the chunks in order, and begins there: so the same thread tends to work
/// on the same rows in one loop after the other, and finds them in its own cache. Who is done at home helps others,
/// from the end. A chunk is taken by one compare-and-swap on the number of the job and what is left of the home
/// together, which fails once another job is there. All that is to be known about a home lies in one line of the cache:
/// between two cores a line takes as long as a small chunk.
class Job {
 public:
  explicit Job(Index participants) : homes_(static_cast<std::size_t>(participants)) {}

  /// Runs all chunks; others may help. The job before has ended. Errors: the first exception of a body, after the end.
  template <class Wake>
  void run(RangeBody run, void* body, Index count, Index grain, const Wake& wake) {
    const Index chunks = (count - 1) / grain + 1, participants = this->participants();
    const Index unit = (chunks - 1) / (participants * most_units) + 1, units = (chunks - 1) / unit + 1;
    ++number_;
    for (Index i = participants; i-- > 0;) {  // the caller's own last: the others begin meanwhile
      Home& home = homes_[static_cast<std::size_t>(i)];
      home.run.store(run, std::memory_order_relaxed);
      home.body.store(body, std::memory_order_relaxed);
      home.count.store(count, std::memory_order_relaxed);
      home.grain.store(grain, std::memory_order_relaxed);
      home.unit.store(unit, std::memory_order_relaxed);
      home.begin.store(units * i / participants, std::memory_order_relaxed);
      home.left.store(Left{number_, 0, units * (i + 1) / participants - units * i / participants}.word());
    }
    wake(units - 1);
    helped_ += units - work(0);
    for (int rests = 0; done_by_others() != helped_;) rest(rests, 256);
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

  Index participants() const { return static_cast<Index>(homes_.size()); }

  /// Whether chunks are left that nobody has taken.
  bool has_work() const {
    for (Index i = 0; i < participants(); ++i)
      if (has_work_at(i)) return true;
    return false;
  }
  /// The same for the chunks of one participant. Who looks there alone keeps away from the lines that others write.
  bool has_work_at(Index who) const { return Left(homes_[static_cast<std::size_t>(who)].left.load()).units() > 0; }

  /// For a worker, participant number `who` counted from 1: takes and runs chunks while there are any.
  void help(Index who) {
    if (const Index done = work(who))
      homes_[static_cast<std::size_t>(who)].done.fetch_add(done, std::memory_order_release);
  }

 private:
  static constexpr Index most_units = 0xffff;  // at a home; a unit is a chunk, or a few if there are very many

  /// What is left of a home: units [first, last), counted from its first one.
  struct Left {
    std::uint64_t job;
    Index first, last;
    Left(std::uint64_t number, Index begin, Index end) : job(number & 0xffffffff), first(begin), last(end) {}
    explicit Left(std::uint64_t word)
        : job(word >> 32), first(static_cast<Index>(word >> 16 & 0xffff)), last(static_cast<Index>(word & 0xffff)) {}
    std::uint64_t word() const {
      return job << 32 | static_cast<std::uint64_t>(first) << 16 | static_cast<std::uint64_t>(last);
    }
    Index units() const { return last - first; }
  };
  struct alignas(64) Home {
    std::atomic<std::uint64_t> left{0};
    std::atomic<RangeBody> run{nullptr};
    std::atomic<void*> body{nullptr};
    std::atomic<Index> count{0}, grain{0}, unit{1};
    std::atomic<Index> begin{0};  // the number of its first unit
    std::atomic<Index> done{0};   // units that its workers have done, here or elsewhere, in all jobs so far
  };

  Index done_by_others() const {
    Index done = 0;
    for (const Home& home : homes_) done += home.done.load(std::memory_order_acquire);
    return done;
  }

  /// Returns how many units are done. Until they are counted, the job cannot end.
  Index work(Index who) {
    const Index participants = static_cast<Index>(homes_.size());
    Index done = 0;
    for (Index i = 0; i < participants; ++i)
      done += work_at(homes_[static_cast<std::size_t>((who + i) % participants)], i == 0);
    return done;
  }

  Index work_at(Home& home, bool own) {
    Index done = 0;
    for (std::uint64_t word = home.left.load(std::memory_order_acquire);;) {
      Left left(word);
      if (left.units() == 0) return done;
      const auto run = home.run.load(std::memory_order_relaxed);
      void* const body = home.body.load(std::memory_order_relaxed);
      const Index count = home.count.load(std::memory_order_relaxed);
      const Index grain = home.grain.load(std::memory_order_relaxed);
      const Index unit = home.unit.load(std::memory_order_relaxed);
      const Index number = home.begin.load(std::memory_order_relaxed) + (own ? left.first++ : --left.last);
      // Success proves that all this belongs to one job: another is published only after the last unit is taken.
      if (!home.left.compare_exchange_weak(word, left.word(), std::memory_order_acq_rel, std::memory_order_acquire))
        continue;
      try {
        for (Index i = number * unit; i < (number + 1) * unit && i * grain < count; ++i)
          run(body, i * grain, count - i * grain > grain ? (i + 1) * grain : count);
      } catch (...) {
        done += drop_rest(left.job, std::current_exception());
      }
      done += 1;
      word = home.left.load(std::memory_order_acquire);
    }
  }

  /// Takes all units not yet begun, which nobody runs then; returns how many.
  Index drop_rest(std::uint64_t job, std::exception_ptr failure) {
    {
      const std::lock_guard lock(failure_mutex_);
      if (!failure_) failure_ = std::move(failure);
    }
    Index dropped = 0;
    for (Home& home : homes_)
      dropped += Left(home.left.exchange(Left{job, 0, 0}.word(), std::memory_order_acq_rel)).units();
    return dropped;
  }

  std::vector<Home> homes_;
  alignas(64) std::uint64_t number_ = 0;  // of jobs so far; in another line than what workers read
  Index helped_ = 0;                      // what done_by_others() is when this job has ended
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
};

}  // namespace mote::detail
