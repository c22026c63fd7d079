// The thread pool. It runs one job at a time, and any running thread can take chunks of that job.
#include "engine/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "engine/base/check.h"
#include "engine/base/env.h"

namespace mote {
namespace {

using Clock = std::chrono::steady_clock;

thread_local bool inside = false;  // whether this thread is running a chunk; if so, a nested parallel_for stays on it

/// Calls ready() up to `looks` times, and returns true once ready() does. Otherwise yields this core to another thread,
/// perhaps the one that this thread waits for, and returns false.
template <class Ready>
bool spin(int looks, const Ready& ready) {
  for (int i = 0; i < looks; ++i) {
    if (ready()) return true;
#if defined(__SSE__)
    _mm_pause();
    _mm_pause();
#endif
  }
  std::this_thread::yield();
  return false;
}

/// Runs one job at a time. Workers look for the next job for a while before they sleep, because the ops of a training
/// step follow each other within microseconds. Waking a sleeping worker costs the caller 2 microseconds, and the
/// worker starts after 9. An idle pool sleeps and costs nothing.
class Pool {
 public:
  explicit Pool(int workers) {
    try {
      workers_.reserve(static_cast<std::size_t>(workers));
      for (int i = 0; i < workers; ++i) workers_.emplace_back([this] { loop(); });
    } catch (...) {  // the system has no more threads or memory, so continue with the threads created so far
    }
  }
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& t : workers_) t.join();
  }

  /// Runs all chunks of a job. Workers may help. Errors: the first exception of a body, after all running chunks have
  /// ended.
  void run(detail::RangeBody run, void* body, Index count, Index grain) {
    const Index chunks = (count - 1) / grain + 1;
    job_ = {run, body, count, grain};
    std::fegetenv(&float_mode_);
    left_.store({0, static_cast<std::uint32_t>(chunks)}, std::memory_order_relaxed);
    open_.store(true, std::memory_order_release);
    ++jobs_;
    wake(chunks - 1);
    work(true);
    open_ = false;  // a worker that comes from now on does not look at the job
    const auto nobody_helps = [this] { return helping_ == 0; };
    while (!spin(256, nobody_helps)) continue;
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  static constexpr std::chrono::microseconds search{100};  // how long a worker looks for a job before it sleeps

  struct Job {
    detail::RangeBody run;
    void* body;
    Index count, grain;
  };
  struct alignas(8) Range {  // a range of chunks; one word, so that one atomic operation can change both ends
    std::uint32_t first, last;
  };

  /// Takes some of the chunks that are left, or returns an empty range if none are left. While many are left, a thread
  /// takes half of its fair share, because taking costs as much as running a small chunk. Near the end a thread takes
  /// one chunk at a time, so that all threads finish together. The caller takes from the front and workers take from
  /// the back. So a thread tends to get the same part of the data in one loop after the other, and finds that part in
  /// its own cache. Without these rules the model S1 of examples/bench trains at 72 % of its speed.
  Range take(bool front) {
    const auto participants = static_cast<std::uint32_t>(workers_.size()) + 1;
    Range left = left_;
    while (left.first != left.last) {
      const std::uint32_t n = std::max((left.last - left.first) / (2 * participants), 1u);
      Range taken = left;
      Range rest = left;
      if (front)
        taken.last = rest.first = left.first + n;
      else
        taken.first = rest.last = left.last - n;
      if (left_.compare_exchange_weak(left, rest)) return taken;
    }
    return left;
  }

  /// Takes and runs chunks until none are left.
  void work(bool front) {
    for (Range taken = take(front); taken.first != taken.last; taken = take(front)) {
      try {
        for (Index i = taken.first; i < taken.last; ++i)
          job_.run(job_.body, i * job_.grain, std::min((i + 1) * job_.grain, job_.count));
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
        left_ = Range{};  // chunks that have not begun are dropped
      }
    }
  }

  /// Called by a worker. Helps with the job if one is open.
  void help() {
    ++helping_;  // before open_ is read: either this worker sees the job closed, or the caller waits for this worker
    if (open_) {
      std::fesetenv(&float_mode_);
      work(false);
    }
    --helping_;
  }

  /// Wakes workers until `helpers` are awake.
  void wake(Index helpers) {
    const Index asleep = asleep_;
    const Index awake = static_cast<Index>(workers_.size()) - asleep;
    const Index called = std::min(helpers - awake, asleep);
    if (called <= 0) return;
    // After this lock, every worker that is counted in asleep_ has seen the job or waits for wake_. So no notification
    // is lost.
    { const std::lock_guard lock(mutex_); }
    for (Index i = 0; i < called; ++i) wake_.notify_one();
  }

  void loop() {
    inside = true;
    for (unsigned seen = 0;;) {
      {
        std::unique_lock lock(mutex_);
        ++asleep_;  // before jobs_ is read: either this worker sees the new job, or the caller wakes this worker
        wake_.wait(lock, [&] { return jobs_ != seen || stopping_; });
        --asleep_;
        if (stopping_) return;
      }
      for (auto start = Clock::now(); Clock::now() - start < search;) {
        if (!spin(32, [&] { return jobs_ != seen; })) continue;
        seen = jobs_;
        help();
        start = Clock::now();
      }
    }
  }

  // The fields from job_ to open_ share one cache line, because moving a line from core to core takes 0.1 microseconds
  // or more.
  alignas(64) Job job_{};          // changes only while no job is open and no worker helps
  std::atomic<Range> left_{};      // chunks that no thread has taken
  std::atomic<unsigned> jobs_{0};  // number of jobs begun so far
  std::atomic<int> helping_{0};    // workers that may look at the job
  std::atomic<bool> open_{false};  // whether workers may begin to help
  /// The rounding mode of the job's caller, and whether the caller flushes denormals. Workers use the same mode,
  /// because otherwise a result would depend on which thread took which chunk.
  alignas(64) std::fenv_t float_mode_{};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<Index> asleep_{0};
  bool stopping_ = false;
  std::exception_ptr failure_;  // the first exception of a body, guarded by mutex_
  std::vector<std::thread> workers_;
};

struct State {
  std::mutex mutex;             // held while a job runs; a job that another thread begins meanwhile uses no workers
  std::atomic<int> threads{0};  // 0 until first needed
  std::unique_ptr<Pool> pool;   // null until first needed, and while there is no memory for it
};

/// The state is never destroyed, because a static destructor may still compute. Sleeping workers do no harm at exit.
State& state() {
  static State& s = *new State;
  return s;
}

}  // namespace

int threads() {
  std::atomic<int>& n = state().threads;
  if (n == 0) {
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));  // 0 means unknown
    int unset = 0;
    n.compare_exchange_strong(unset, settings().threads > 0 ? settings().threads : cores);
  }
  return n;
}

Index even_grain(Index count, double nanoseconds) {
  const Index grain = grain_for(nanoseconds), most = threads();
  const Index chunks = std::clamp<Index>(count / grain + (count % grain > 0), 1, most);
  return (count + chunks - 1) / chunks;
}

void set_threads(Integer n) {
  check(n >= 1 && n <= 1024, "set_threads: ", n, " is not a number of threads from 1 to 1024");
  check(!inside, "set_threads: it must not be called from inside a parallel_for");
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.pool.reset();
  s.threads = static_cast<int>(n);
}

void detail::run_parallel(Index count, Index grain, RangeBody run, void* body) {
  const bool two_chunks = count / 2 >= grain;
  const bool numbers_fit = count / grain < std::numeric_limits<std::uint32_t>::max();
  const bool worth_sharing = !inside && two_chunks && numbers_fit;
  const During now(inside, true);
  if (worth_sharing && threads() > 1) {
    // Never wait for the pool. The thread that uses it may be waiting for a lock that this thread holds, or for this
    // thread itself.
    State& s = state();
    const std::unique_lock lock(s.mutex, std::try_to_lock);
    if (lock && !s.pool) s.pool.reset(new (std::nothrow) Pool(threads() - 1));
    if (lock && s.pool) return s.pool->run(run, body, count, grain);
  }
  for (Index begin = 0; begin < count; begin += grain) run(body, begin, count - begin > grain ? begin + grain : count);
}

}  // namespace mote
