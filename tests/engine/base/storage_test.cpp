// Blocks and the cache behind them: size classes, alignment, bounds, release, MOTE_ALLOC=system.
#include "engine/base/storage.h"
#include "engine/base/env.h"

#include <array>
#include <atomic>
#include <new>
#include <thread>

#include "engine/ops/ops.h"
#include "tests/process.h"
#include "tests/tools.h"

namespace mote::test::storage_test {
namespace {

/// Bytes that a request of this size counts as: its size class.
Index counted(std::size_t bytes) {
  const Index before = memory_stats().live_bytes;
  void* const block = allocate_block(bytes);
  const Index after = memory_stats().live_bytes;
  free_block(block, bytes);
  return after - before;
}

bool aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 64 == 0; }

TEST_CASE("storage: size classes are multiples of 64, then four to a doubling, then sixteen, each with a counter") {
  const std::vector<std::pair<std::size_t, Index>> known{
      {0, 64},    {1, 64},    {64, 64},     {65, 128},    {192, 192},         {193, 256},
      {256, 256}, {257, 320}, {320, 320},   {321, 384},   {448, 448},         {449, 512},
      {576, 576}, {577, 704}, {1088, 1088}, {1089, 1344}, {1048640, 1048640}, {1048641, 1114176}};
  for (const auto& entry : known) CHECK_MESSAGE(counted(entry.first) == entry.second, entry.first, " bytes");
  for (std::size_t bytes = 257; bytes < 100000; bytes += 61) {
    const Index given = counted(bytes), asked = static_cast<Index>(bytes);
    CHECK((given >= asked && given * 4 <= asked * 5));
  }
}

TEST_CASE("storage: every block is 64-byte aligned, arrays' numbers too") {
  for (std::size_t bytes = 0; bytes < 3000; bytes += 37) {
    void* const block = allocate_block(bytes);
    CHECK(aligned(block));
    free_block(block, bytes);
    const Storage storage(bytes);
    CHECK(aligned(storage.data()));
    CHECK(storage.bytes() == bytes);
  }
  const Array three = Array::zeros({3});
  CHECK(aligned(three.data()));
}

TEST_CASE("storage: handles share a block, the last one frees it") {
  const Leaks leaks;
  {
    Storage a(1000);
    CHECK(a.unique());
    Storage b = a;
    CHECK((!a.unique() && !b.unique() && a == b && a.data() == b.data()));
    Storage c = std::move(a);
    CHECK((!a && c == b));
    b = Storage();
    CHECK(c.unique());
    c = *&c;
    CHECK((c.unique() && c.bytes() == 1000));
    CHECK(leaks.bytes() == counted(1000 + 64));
  }
  CHECK(leaks.bytes() == 0);
  CHECK((!Storage() && !Storage().unique() && Storage().bytes() == 0));
}

TEST_CASE("storage: a freed block serves the next request of its class, and is reported meanwhile") {
  if (settings().system_alloc) return;
  release_memory();
  CHECK(memory_stats().cached_bytes == 0);
  const MemoryStats before = memory_stats();
  void* const first = allocate_block(5000);
  CHECK(memory_stats().live_bytes - before.live_bytes == 5184);
  CHECK(memory_stats().live_blocks - before.live_blocks == 1);
  free_block(first, 5000);
  CHECK(memory_stats().cached_bytes == 5184);
  void* const second = allocate_block(4900);
  CHECK(second == first);
  CHECK(memory_stats().cached_bytes == 0);
  CHECK(memory_stats().system_requests - before.system_requests == 1);
  free_block(second, 4900);
  release_memory();
  CHECK(memory_stats().cached_bytes == 0);
  CHECK(memory_stats().live_blocks == before.live_blocks);
}

TEST_CASE("storage: sizes that vary do not fill the cache: with the blocks in use it stays within twice their peak") {
  if (settings().system_alloc) return;
  release_memory();
  const MemoryStats before = memory_stats();
  std::vector<std::size_t> sizes;
  for (std::size_t size = 1 << 14; size <= 1 << 22; size += 1 << 14) sizes.push_back(size);
  const auto one_after_another = [&] {
    for (const std::size_t size : sizes) {
      void* const first = allocate_block(size);
      void* const second = allocate_block(size / 2);
      free_block(first, size);
      free_block(second, size / 2);
      const MemoryStats now = memory_stats();
      if (now.live_bytes + now.cached_bytes > 2 * now.peak_bytes)
        FAIL_CHECK("size " << size << ": " << now.cached_bytes << " bytes are cached");
    }
  };
  reset_peak_memory();
  one_after_another();
  const Index requests = memory_stats().system_requests;
  for (int i = 0; i < 10; ++i) free_block(allocate_block(sizes.back()), sizes.back());
  CHECK(memory_stats().system_requests == requests);  // the size asked for last is still there
  std::reverse(sizes.begin(), sizes.end());
  one_after_another();
  release_memory();
  CHECK(memory_stats().cached_bytes == 0);
  CHECK(memory_stats().live_bytes == before.live_bytes);
}

TEST_CASE("storage: the peak is the highest mark since it was reset") {
  reset_peak_memory();
  const Index start = memory_stats().peak_bytes;
  CHECK(start == memory_stats().live_bytes);
  free_block(allocate_block(1 << 20), 1 << 20);
  CHECK(memory_stats().peak_bytes == start + counted(1 << 20));
  free_block(allocate_block(64), 64);
  CHECK(memory_stats().peak_bytes == start + counted(1 << 20));
  std::array<void*, 100> blocks{};
  for (void*& b : blocks) b = allocate_block(64);
  for (void* const b : blocks) free_block(b, 64);
  reset_peak_memory();  // of what nobody has asked for since, too
  CHECK(memory_stats().peak_bytes == start);
}

TEST_CASE("storage: a block beyond any address space throws, counts nothing, and drops nothing that is cached") {
  free_block(allocate_block(5000), 5000);
  const MemoryStats before = memory_stats();
  CHECK_THROWS_AS(allocate_block((std::size_t(1) << 57) + 1), std::bad_alloc);
  CHECK_THROWS_AS(allocate_block(std::size_t(1) << 62), std::bad_alloc);
  CHECK_THROWS_AS(allocate_block((std::size_t(1) << 63) + 1), std::bad_alloc);
  CHECK_THROWS_AS(allocate_block(~std::size_t(0)), std::bad_alloc);
  CHECK_THROWS_AS(Array::zeros({Shape::max_numel}), Error);
  CHECK(memory_stats().live_bytes == before.live_bytes);
  CHECK(memory_stats().live_blocks == before.live_blocks);
  CHECK(memory_stats().cached_bytes == before.cached_bytes);
  if (sanitized) return;  // their operator new ends the process instead
  const Shape large{4, Index(1) << 48};
  const std::string text = "no memory for shape [4, 281474976710656]";
  CHECK(error_of([&] { zeros(large); }) == "zeros: " + text);
  CHECK(error_of([&] { ones(large); }) == "ones: " + text);
  CHECK(error_of([&] { full(large, 2); }) == "full: " + text);
  CHECK(error_of([&] { Array::empty(large); }) == "empty: " + text);
  CHECK(error_of([&] { IntArray ids(large); }) == "full: " + text);
  CHECK(error_of([&] { Mask m({4, Index(1) << 50}); }) == "full: no memory for shape [4, 1125899906842624]");
  CHECK(error_of([] { arange(0x1p50); }) == "arange: no memory for shape [1125899906842624]");
  {
    const Tensor view = Array(1.0).expand(large);
    CHECK(error_of([&] { view + view; }) == "add: " + text);
    CHECK(error_of([&] { exp(view); }) == "exp: " + text);
  }
  CHECK_THROWS_AS(allocate_block(std::size_t(1) << 57), std::bad_alloc);
  CHECK(memory_stats().live_bytes == before.live_bytes);
}

TEST_CASE("storage: the peak is right while several threads allocate") {
  reset_peak_memory();
  const Index start = memory_stats().peak_bytes, block = counted(100);
  constexpr int many = 1000;
  std::atomic<int> ready{0};
  const auto together = [&](int stage) {  // waits until every thread has come here
    ++ready;
    while (ready < 2 * stage) std::this_thread::yield();
  };
  const auto work = [&] {
    std::array<void*, many> blocks{};
    for (int round = 0; round < 20; ++round) {
      for (void*& b : blocks) b = allocate_block(100);
      if (round == 0) together(1);  // here both have all of theirs
      for (void* const b : blocks) free_block(b, 100);
      if (round == 0) together(2);
    }
  };
  std::thread other(work);
  work();
  other.join();
  const Index peak = memory_stats().peak_bytes - start;
  CHECK(peak >= 2 * many * block - (1 << 18));  // what each has kept for itself may be missing
  CHECK(peak <= 2 * many * block + 10'000);     // and what the thread itself takes
  CHECK(memory_stats().live_bytes == start);
}

TEST_CASE("storage: blocks may be freed by another thread than asked for them") {
  const Leaks leaks;
  const auto work = [] {
    std::vector<Array> mine;
    for (int i = 0; i < 2000; ++i) {
      mine.push_back(Array::full({1 + i % 50}, static_cast<real>(i)));
      if (mine.size() > 20) mine.erase(mine.begin());
      if (mine.back().data()[0] != static_cast<real>(i)) throw Error("somebody else's block");
    }
    return mine;
  };
  std::vector<Array> theirs;
  std::string failure;
  std::thread other([&] { failure = error_of([&] { theirs = work(); }); });
  CHECK(work().size() == 20);
  other.join();
  CHECK(failure == "(no error)");
  theirs.clear();
  CHECK(leaks.bytes() == 0);
}

TEST_CASE("storage: what a thread has freed is its own while it is little, and everybody's when it has ended") {
  if (settings().system_alloc) return;
  release_memory();
  const MemoryStats before = memory_stats();
  const auto come_and_go = [](std::size_t bytes) {
    std::array<void*, 10> blocks{};
    for (void*& block : blocks) block = allocate_block(bytes);
    for (void* const block : blocks) free_block(block, bytes);
  };
  std::atomic<bool> freed{false}, may_end{false};
  std::thread other([&] {
    come_and_go(100);
    come_and_go(60'000);  // more than a thread keeps
    freed = true;
    while (!may_end) std::this_thread::yield();
  });
  while (!freed) std::this_thread::yield();
  const Index all = 10 * (counted(100) + counted(60'000)), cached = memory_stats().cached_bytes;
  CHECK((cached >= all - (1 << 18) && cached < all));
  may_end = true;
  other.join();
  CHECK(memory_stats().cached_bytes == all);
  CHECK(memory_stats().live_bytes == before.live_bytes);
  CHECK(memory_stats().live_blocks == before.live_blocks);
  const Index requests = memory_stats().system_requests;
  come_and_go(100);
  come_and_go(60'000);
  CHECK(memory_stats().system_requests == requests);
  release_memory();
  CHECK(memory_stats().cached_bytes == 0);
  CHECK(memory_stats().live_bytes == before.live_bytes);
}

/// Allocates when its thread ends, after what the cache does then if it was made before the thread's first block.
struct AllocatesAtEnd {
  Storage* to = nullptr;
  ~AllocatesAtEnd() {
    if (to) *to = Storage(100'000);
  }
};

TEST_CASE("storage: large blocks of other threads count at once, and those of a thread that ends") {
  const MemoryStats before = memory_stats();
  Storage large;
  std::atomic<bool> there{false}, seen{false};
  std::thread holder([&] {
    large = Storage(1 << 20);
    there = true;
    while (!seen) std::this_thread::yield();
  });
  while (!there) std::this_thread::yield();
  CHECK(memory_stats().live_bytes >= before.live_bytes + (1 << 20));
  CHECK(memory_stats().live_blocks == before.live_blocks + 1);
  large = Storage();
  CHECK(memory_stats().live_bytes == before.live_bytes);
  seen = true;
  holder.join();

  Storage late;
  std::thread([&] {
    static thread_local AllocatesAtEnd at_end;
    at_end.to = &late;
    free_block(allocate_block(100), 100);
  }).join();
  CHECK(memory_stats().live_bytes >= before.live_bytes + 100'000);
  late = Storage();
  CHECK(memory_stats().live_bytes == before.live_bytes);
  CHECK(memory_stats().live_blocks == before.live_blocks);
}

TEST_CASE("storage: run again under MOTE_ALLOC=system" * doctest::skip()) {
  REQUIRE(settings().system_alloc);
  const MemoryStats before = memory_stats();
  for (int i = 0; i < 10; ++i) {
    void* const block = allocate_block(5000);
    CHECK(aligned(block));
    free_block(block, 5000);
  }
  CHECK(memory_stats().cached_bytes == 0);
  CHECK(memory_stats().system_requests == before.system_requests + 10);
  CHECK(memory_stats().live_bytes == before.live_bytes);
  release_memory();
}

TEST_CASE("storage: MOTE_ALLOC=system keeps nothing") {
  const Variable variable("MOTE_ALLOC", "system");
  CHECK(run_again("storage: run again under MOTE_ALLOC=system") == "exit 0");
}

/// Arrays in static variables are freed after everything else, here together with the pool's and the cache's users.
struct Late {
  Array numbers = Array::zeros({100});
  ~Late() {
    numbers.mutate()[0] = 1;
    const Array more = numbers + numbers;
    if (more.numel() != 100) std::abort();
  }
};

TEST_CASE("storage: run again with a static array" * doctest::skip()) {
  static const Late late;
  CHECK(late.numbers.numel() == 100);
}

TEST_CASE("storage: a static destructor may still compute") {
  CHECK(run_again("storage: run again with a static array") == "exit 0");
}

}  // namespace
}  // namespace mote::test::storage_test
