// Parallel_for: every index once, borders, exceptions, nesting, resizing, an idle pool.
#include "engine/base/parallel.h"

#include <sys/resource.h>

#include <array>
#include <atomic>
#include <cfenv>
#include <ctime>
#include <fstream>
#include <mutex>
#include <set>

#include "tests/process.h"
#include "tests/sentences.h"
#include "tests/tools.h"

namespace mote::test::parallel_test {
namespace {

using Borders = std::set<std::pair<Index, Index>>;
Borders borders(Index count, Index grain) {
  Borders seen;
  std::mutex mutex;
  parallel_for(count, grain, [&](Index begin, Index end) {
    const std::lock_guard lock(mutex);
    seen.emplace(begin, end);
  });
  return seen;
}

/// How many indices of [0, count) are not visited exactly once.
Index missed(Index count, Index grain) {
  std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
  parallel_for(count, grain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
  });
  return std::count_if(visits.begin(), visits.end(), [](const std::atomic<int>& n) { return n != 1; });
}

TEST_CASE("parallel_for: every index exactly once") {
  for (const int n : {1, 2, 3, 4, 8}) {
    const Hardware use(kernels::table(), n);
    for (const Index count : {Index(0), Index(1), Index(n - 1), Index(n), Index(n + 1), Index(1000)}) {
      CHECK(missed(count, 1) == 0);
      CHECK(missed(count, 7) == 0);
    }
    CHECK(missed(1'000'000, 1000) == 0);
  }
  CHECK(missed(10, 0) == 0);  // a grain below 1 counts as 1
  CHECK(missed(10, -3) == 0);
  parallel_for(-5, 1, [](Index, Index) { FAIL("nothing to do"); });
}

TEST_CASE("parallel_for: borders depend on the grain alone") {
  const Borders expected{{0, 7}, {7, 14}, {14, 21}, {21, 24}};
  for (const int n : {1, 2, 3, 16}) {
    const Hardware use(kernels::table(), n);
    CHECK(borders(24, 7) == expected);
    CHECK(borders(24, 24) == Borders{{0, 24}});
    CHECK(borders(24, 100) == Borders{{0, 24}});
  }
}

TEST_CASE("parallel_for: the first exception comes home, and the pool goes on") {
  const Hardware use(kernels::table(), 4);
  for (int round = 0; round < 200; ++round) {
    const auto one = [] { parallel_for(100, 1, [](Index begin, Index) { check(begin != 37, "chunk ", begin); }); };
    REFUSES(one());
    const auto all = [] { parallel_for(100, 1, [](Index, Index) { throw Error("every chunk"); }); };
    REFUSES(all());
    const std::thread::id me = std::this_thread::get_id();
    const auto mine = [me] {
      parallel_for(10000, 1, [me](Index, Index) { check(std::this_thread::get_id() != me, "the caller's share"); });
    };
    const std::string text = error_of(mine);  // a busy machine may leave the caller no chunk
    CHECK((text == "the caller's share" || text == "(no error)"));
  }
  CHECK_THROWS_AS(parallel_for(10, 1, [](Index, Index) { throw 42; }), int);
  CHECK(missed(1000, 10) == 0);
}

TEST_CASE("parallel_for: after an exception chunks not yet begun are dropped") {
  {
    const Hardware use(kernels::table(), 1);
    int begun = 0;
    REFUSES(parallel_for(100, 1, [&](Index i, Index) { check(++begun < 3, "at ", i); }));
    CHECK(begun == 3);
  }
  const Hardware use(kernels::table(), 2);
  std::atomic<int> begun{0};
  const auto first = [&](Index i, Index) {
    ++begun;
    check(i > 0, "the first of the caller's fifty");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // a helper has fifty, too, and may end them
  };
  REFUSES(parallel_for(200, 1, first));
  CHECK(begun < 140);
}

TEST_CASE("parallel_for: nested calls run inline, and their exceptions pass through both") {
  const Hardware use(kernels::table(), 4);
  std::atomic<Index> sum{0};
  std::atomic<int> moved{0};
  parallel_for(8, 1, [&](Index, Index) {
    const std::thread::id me = std::this_thread::get_id();
    parallel_for(100, 3, [&](Index begin, Index end) {
      if (std::this_thread::get_id() != me) ++moved;
      sum += end - begin;
    });
  });
  CHECK(sum == 800);
  CHECK(moved == 0);
  const auto deep = [] {
    parallel_for(8, 1, [](Index, Index) { parallel_for(8, 1, [](Index, Index) { throw Error("deep"); }); });
  };
  REFUSES(deep());
  CHECK(missed(1000, 10) == 0);
}

TEST_CASE("parallel_for: two application threads at once") {
  const Hardware use(kernels::table(), 3);
  std::atomic<Index> total{0};
  const auto work = [&total] {
    for (int i = 0; i < 20000; ++i) parallel_for(4, 1, [&total](Index begin, Index end) { total += end - begin; });
  };
  std::thread other(work);
  work();
  other.join();
  CHECK(total == 2 * 20000 * 4);
}

TEST_CASE("parallel_for: a worker that comes late finds nothing of a job that has ended") {
  for (const int n : {2, 4, 16}) {
    const Hardware use(kernels::table(), n);
    for (Index job = 0; job < (sanitized ? 2000 : 20000); ++job) {  // each is another body on the stack, of other sizes
      std::array<std::atomic<Index>, 8> sums{};
      const Index count = 2 + job % 7, grain = 1 + job % 2;
      parallel_for(count, grain, [&sums, job](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) sums[static_cast<std::size_t>(i)] += job + i;
      });
      for (Index i = 0; i < count; ++i)
        if (sums[static_cast<std::size_t>(i)] != job + i) FAIL("job " << job << ", item " << i);
    }
  }
}

TEST_CASE("set_threads: any time but inside a body; threads() may be asked there") {
  for (const int n : {1, 8, 1, 3, 2}) {
    const Hardware use(kernels::table(), n);
    CHECK(threads() == n);
    CHECK(missed(100, 1) == 0);
  }
  const Hardware use(kernels::table(), 2);
  for (const int n : {0, 1025, -1})
    CHECK(error_of([n] { set_threads(n); }) ==
          "set_threads: " + std::to_string(n) + " is not a number of threads from 1 to 1024");
  REFUSES(parallel_for(4, 1, [](Index, Index) { set_threads(1); }));
  std::atomic<int> right{0};
  parallel_for(4, 1, [&](Index, Index) { right += threads() == 2; });
  CHECK(right == 4);
  CHECK(threads() == 2);
}

TEST_CASE("parallel_for: run again and exit from a body" * doctest::skip()) {
  set_threads(4);
  parallel_for(100, 1, [](Index begin, Index) {
    if (begin == 50) std::exit(7);
  });
}

TEST_CASE("parallel_for: run again and exit with an idle pool" * doctest::skip()) {
  set_threads(4);
  CHECK(missed(100, 1) == 0);
  std::exit(8);
}

TEST_CASE("parallel_for: exit() from a body, and from main with an idle pool") {
  if (sanitized) return;  // they look at threads and memory at exit
  CHECK(run_again("parallel_for: run again and exit from a body") == "exit 7");
  CHECK(run_again("parallel_for: run again and exit with an idle pool") == "exit 8");
}

/// Leaves the process room for a thread or two: each asks for megabytes of stack.
bool limit_memory() {
  long pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t bytes = static_cast<rlim_t>(pages) * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + (20u << 20);
  const rlimit limit{bytes, bytes};
  return ::setrlimit(RLIMIT_AS, &limit) == 0;
}

TEST_CASE("parallel_for: run again with little memory" * doctest::skip()) {
  REQUIRE(limit_memory());
  set_threads(64);
  CHECK(missed(1000, 1) == 0);
}

TEST_CASE("parallel_for: when the system has no more threads it goes on with those there are") {
  if (sanitized) return;  // their shadow memory is above any limit
  CHECK(run_again("parallel_for: run again with little memory") == "exit 0");
  const auto bare_threads = [] {  // the limit does bite: without the pool's care this many threads are an exception
    if (!limit_memory()) return 2;
    for (int i = 0; i < 63; ++i) std::thread([] { ::pause(); }).detach();
    return 0;
  };
  CHECK(in_child(bare_threads) == "exit 99");
}

TEST_CASE("set_threads: as many threads compute at the same time") {
  for (const int n : {2, 4, 3}) {
    const Hardware use(kernels::table(), n);
    std::atomic<int> begun = 0;
    std::atomic<bool> gave_up = false;
    parallel_for(n, 1, [&](Index, Index) {  // none ends before all have begun
      ++begun;
      const auto start = std::chrono::steady_clock::now();
      while (begun < n && !gave_up) {
        std::this_thread::yield();
        if (std::chrono::steady_clock::now() - start > std::chrono::seconds(20)) gave_up = true;
      }
    });
    CHECK_FALSE(gave_up);
  }
}

/// What each of `n` chunks, no two on one thread, makes of two numbers that need rounding.
std::set<real> thirds(int n) {
  std::vector<real> found(static_cast<std::size_t>(n));
  std::atomic<int> begun = 0;
  parallel_for(n, 1, [&](Index i, Index) {
    for (++begun; begun < n;) std::this_thread::yield();
    const volatile real one = 1, three = 3;
    const volatile real third = one / three;
    found[static_cast<std::size_t>(i)] = third;
  });
  return {found.begin(), found.end()};
}

TEST_CASE("parallel_for: every thread rounds as the caller does") {
  const Hardware use(kernels::table(), 2);
  const std::set<real> nearest = thirds(2);
  std::fesetround(FE_UPWARD);  // the workers were started before
  const std::set<real> up = thirds(2);
  std::fesetround(FE_DOWNWARD);
  const std::set<real> down = thirds(2);
  std::fesetround(FE_TONEAREST);
  CHECK(nearest.size() == 1);
  CHECK(up.size() == 1);
  CHECK(down.size() == 1);
  CHECK(*down.begin() < *up.begin());
  CHECK(thirds(2) == nearest);
}

TEST_CASE("parallel_for: an idle pool uses no processor") {
  const Hardware use(kernels::table(), 4);
  CHECK(missed(1000, 1) == 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const std::clock_t before = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  CHECK(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC < 0.03);
}

}  // namespace
}  // namespace mote::test::parallel_test
