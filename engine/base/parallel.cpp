// The thread pool. One job at a time; an atomic counter hands out its chunks.
#include "engine/base/parallel.h"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#ifdef __unix__
#include <pthread.h>
#endif

#include "engine/base/check.h"
#include "engine/base/env.h"

namespace mote {
namespace {

thread_local bool inside = false;  // this thread is running a chunk: further parallel_fors run inline

struct Job {
  detail::RangeBody run;
  void* body;
  Index count, grain;
  std::atomic<Index> next{0};
  std::mutex failure_mutex;
  std::exception_ptr failure;

  void work() {
    inside = true;
    for (Index begin; (begin = next.fetch_add(grain, std::memory_order_relaxed)) < count;) {
      try {
        run(body, begin, begin + grain < count ? begin + grain : count);
      } catch (...) {
        next.store(count, std::memory_order_relaxed);  // chunks not yet begun are dropped
        const std::lock_guard lock(failure_mutex);
        if (!failure) failure = std::current_exception();
      }
    }
    inside = false;
  }
};

/// Workers spin briefly before they sleep: the ops of a training step follow each other within microseconds, and waking
/// a sleeping thread takes longer than that. An idle pool sleeps and costs nothing.
class Pool {
 public:
  explicit Pool(int workers) {
    workers_.reserve(static_cast<std::size_t>(workers));
    try {
      for (int i = 0; i < workers; ++i) workers_.emplace_back([this] { loop(); });
    } catch (...) {  // the system has no more threads, or no memory for one: continue with those created
    }
  }
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      generation_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    for (std::thread& t : workers_) t.join();
  }

  void run(Job& job) {
    {
      const std::lock_guard lock(mutex_);
      job_ = &job;
      busy_.store(static_cast<int>(workers_.size()), std::memory_order_relaxed);
      generation_.fetch_add(1, std::memory_order_release);
    }
    if (sleepers_.load(std::memory_order_acquire) > 0) wake_.notify_all();
    job.work();
    while (busy_.load(std::memory_order_acquire) > 0) pause(spins_before_yield);
  }

 private:
  static constexpr int spins_before_yield = 64, spins_before_sleep = 2000;

  static void pause(int spins) {
    for (int i = 0; i < spins; ++i) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    std::this_thread::yield();
  }

  void loop() {
    std::uint64_t seen = 0;
    for (;;) {
      for (int i = 0; i < spins_before_sleep && generation_.load(std::memory_order_acquire) == seen; ++i) pause(4);
      Job* job = nullptr;
      {
        std::unique_lock lock(mutex_);
        sleepers_.fetch_add(1, std::memory_order_acq_rel);
        wake_.wait(lock, [&] { return generation_.load(std::memory_order_acquire) != seen; });
        sleepers_.fetch_sub(1, std::memory_order_acq_rel);
        seen = generation_.load(std::memory_order_acquire);
        if (stopping_) return;
        job = job_;
      }
      job->work();
      busy_.fetch_sub(1, std::memory_order_release);  // after this the caller may return and destroy the job
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<std::uint64_t> generation_{0};
  std::atomic<int> busy_{0}, sleepers_{0};
  Job* job_ = nullptr;
  bool stopping_ = false;
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
#ifdef __unix__
  static const int registered = pthread_atfork(nullptr, nullptr, [] {
    State& s = state();
    const int n = s.threads.load();
    s.pool.release();  // its threads do not exist here: joining them would block forever
    ::new (&s) State;
    s.threads.store(n);
    inside = false;
  });
  (void)registered;
#endif
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

}  // namespace

int threads() { return thread_count(state()); }

void set_threads(int n) {
  check(n >= 1 && n <= 1024, "set_threads: ", n, " is not a number of threads from 1 to 1024");
  check(!inside, "set_threads: called from inside a parallel_for");
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.pool.reset();
  s.threads.store(n);
}

void detail::run_parallel(Index count, Index grain, RangeBody run, void* body) {
  Job job{run, body, count, grain, {}, {}, {}};
  State& s = state();
  const int n = thread_count(s);
  std::unique_lock lock(s.mutex, std::defer_lock);
  // Never wait for the pool: its user may be waiting for a lock that the caller holds, or for the caller itself.
  const bool nested = inside;
  Pool* const pool = nested || n == 1 || !lock.try_lock() ? nullptr : pool_of(s, n - 1);
  if (pool) {
    pool->run(job);
  } else {
    job.work();
    inside = nested;
  }
  if (job.failure) std::rethrow_exception(job.failure);
}

}  // namespace mote
