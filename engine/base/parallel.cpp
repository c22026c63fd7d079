// The thread pool: one job at a time, whose chunks are taken by whichever thread is running.
#include "engine/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/env.h"
#include "engine/base/fork.h"
#include "engine/base/job.h"
#include "engine/base/storage.h"

namespace mote {
namespace {

using detail::Job;
using detail::rest;
using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

thread_local bool inside = false;  // this thread is running a chunk: further parallel_fors run inline
struct Inside {
  const bool before = std::exchange(inside, true);
  ~Inside() { inside = before; }
};

/// How many threads the system says it can run at once; if it does not say, it can run any number.
Index cores() {
  const unsigned n = std::thread::hardware_concurrency();
  return n > 0 ? static_cast<Index>(n) : 1024;
}

/// Workers look for the next job for a while before they sleep: the ops of a training step follow each other within
/// microseconds, and waking a sleeping thread takes the caller 2 and the thread 8. An idle pool sleeps and costs
/// nothing.
class Pool {
 public:
  explicit Pool(int workers) : job_(std::min<Index>(workers, spare_cores_) + 1) {
    workers_.reserve(static_cast<std::size_t>(workers));
    try {
      for (int i = 0; i < workers; ++i) workers_.emplace_back([this, i] { loop(i); });
    } catch (...) {  // the system has no more threads, or no memory for one: continue with those created
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

  void run(detail::RangeBody run, void* body, Index count, Index grain) {
    const Inside now;
    job_.run(run, body, count, grain, [this](Index helpers) { wake(helpers); });
  }

 private:
  static constexpr microseconds search{100};              // how long a worker looks for a job before it sleeps
  static constexpr int patience = 32;                     // how often it looks before it lets another thread run
  static constexpr microseconds between_crowds{100'000};  // how often all are woken that there are

  /// Lets `helpers` workers be awake, as far as cores can run them beside the caller; now and then all of them, for the
  /// system may have more room than it said.
  void wake(Index helpers) {
    helpers = std::min(helpers, static_cast<Index>(workers_.size()));
    if (helpers > spare_cores_) {
      const auto now = Clock::now();
      if (now - last_crowd_ < between_crowds)
        helpers = spare_cores_;
      else
        last_crowd_ = now;
    }
    if (awake_.load() >= helpers) return;
    Index called = 0;
    {
      const std::lock_guard lock(mutex_);
      called = helpers - awake_.load();
      if (called <= 0) return;
      awake_ += called;
      calls_ += called;
    }
    for (; called > 0; --called) wake_.notify_one();
  }

  void loop(int number) {
    const Index home = job_.participants() > 1 ? 1 + number % (job_.participants() - 1) : 0;
    inside = true;
    keep_no_blocks();
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return calls_ > 0 || stopping_; });
        if (stopping_) return;
        --calls_;
      }
      do {
        while (finds_work(home)) job_.help(home);
      } while (!falls_asleep());
    }
  }
  /// Waits for a job; false after a while, and at once if others are awake on all spare cores.
  bool finds_work(Index home) {
    const auto start = Clock::now();
    for (int rests = 0; !job_.has_work_at(home);) {
      rest(rests, patience);
      if (rests % patience != 0) continue;
      if (job_.has_work()) return true;
      if (awake_.load() > spare_cores_ || Clock::now() - start > search) return false;
    }
    return true;
  }
  /// False if a job came in the meantime.
  bool falls_asleep() {
    const std::lock_guard lock(mutex_);
    awake_ -= 1;  // before the last look: either this thread sees a new job, or its caller sees one thread fewer
    if (!job_.has_work()) return true;
    awake_ += 1;
    return false;
  }

  const Index spare_cores_ = cores() - 1;
  Job job_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<Index> awake_{0};  // workers that work, look for work, or have been called
  Index calls_ = 0;              // of those, how many have yet to notice
  bool stopping_ = false;
  Clock::time_point last_crowd_{};
  std::vector<std::thread> workers_;
};

struct State {
  std::mutex mutex;             // held while a job runs; meanwhile a second application thread runs its job alone
  std::atomic<int> threads{0};  // 0: not requested yet. Atomic: a body may ask while its job holds the mutex
  std::unique_ptr<Pool> pool;
};

/// Never destroyed: sleeping workers do no harm at exit, and a static destructor may still compute.
State& state() {
  static State* const s = new State;
  return *s;
}

int configured_threads() {
  if (settings().threads > 0) return settings().threads;
  const unsigned cores = std::thread::hardware_concurrency();
  return cores ? static_cast<int>(cores) : 1;
}

/// The number of threads, determined when first needed.
int thread_count(State& s) {
  if (s.threads == 0) {
    int none = 0;
    s.threads.compare_exchange_strong(none, configured_threads());
  }
  return s.threads;
}

/// A forked child has a copy of the pool's memory but none of its threads; it gets a new state and starts its own.
void forget_pool_in_child() {
  const auto nothing = [] {};
  [[maybe_unused]] static const bool registered = on_fork(nothing, nothing, [] {
    State& s = state();
    const int n = s.threads.load();
    s.pool.release();  // its threads do not exist here: joining them would block forever
    ::new (&s) State;
    s.threads.store(n);
    inside = false;
  });
}

/// The pool, started when first needed; null while there is no memory for it.
Pool* pool_of(State& s, int workers) {
  if (!s.pool) {
    forget_pool_in_child();
    try {
      s.pool = std::make_unique<Pool>(workers);
    } catch (const std::bad_alloc&) {
    }
  }
  return s.pool.get();
}

/// All chunks in order on this thread.
void run_alone(detail::RangeBody run, void* body, Index count, Index grain) {
  const Inside now;
  for (Index begin = 0; begin < count; begin += grain) run(body, begin, count - begin > grain ? begin + grain : count);
}

}  // namespace

int threads() { return thread_count(state()); }

Index even_grain(Index count, double nanoseconds) {
  const Index grain = grain_for(nanoseconds), most = threads();
  const Index chunks = std::clamp<Index>(count / grain + (count % grain > 0), 1, most);
  return (count + chunks - 1) / chunks;
}

void set_threads(int n) {
  check(n >= 1 && n <= 1024, "set_threads: ", n, " is not a number of threads from 1 to 1024");
  check(!inside, "set_threads: called from inside a parallel_for");
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.pool.reset();
  s.threads.store(n);
}

void detail::run_parallel(Index count, Index grain, RangeBody run, void* body) {
  State& s = state();
  const int n = thread_count(s);
  const bool worthwhile = count / 2 >= grain;
  if (inside || n == 1 || !worthwhile) return run_alone(run, body, count, grain);
  // Never wait for the pool: its user may be waiting for a lock that the caller holds, or for the caller itself.
  const std::unique_lock lock(s.mutex, std::try_to_lock);
  Pool* const pool = lock ? pool_of(s, n - 1) : nullptr;
  pool ? pool->run(run, body, count, grain) : run_alone(run, body, count, grain);
}

}  // namespace mote
