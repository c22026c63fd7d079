// Allocation of blocks: from the cache of freed ones, else from the system.
#include "engine/base/storage.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <mutex>
#include <thread>

#include "engine/base/env.h"
#include "engine/base/fork.h"

namespace mote {
namespace {

constexpr std::size_t alignment = 64;
constexpr int max_bits = 57;  // a block is at most 2^57 bytes: no processor addresses more, and sums of such fit Index

/// Size classes: steps of 64 bytes up to 320, then four to a doubling, from 1 MiB on sixteen, each 64 bytes larger: an
/// array of 2^k elements plus its counter is then not the first of the next class (..., 320, 384, 448, 512, 576, 704,
/// ...). A training step requests the same sizes again and again, so exact lists of few classes nearly always hit.
struct SizeClass {
  static constexpr std::size_t counter = 64, small = 5;  // steps below 2^8 + counter
  static constexpr std::size_t fine = 20;                // the doubling of 1 MiB
  static constexpr std::size_t count = small + (fine - 8) * 4 + (max_bits - fine) * 16;
  std::size_t index, bytes;

  explicit SizeClass(std::size_t request) {
    if (request <= small * 64) {
      const std::size_t steps = request ? (request + 63) / 64 : 1;
      index = steps - 1, bytes = steps * 64;
      return;
    }
    const std::size_t body = request - counter;
    const auto doubling = static_cast<std::size_t>(std::bit_width(body - 1)) - 1;  // 2^doubling < body <= twice that
    const std::size_t start = std::size_t(1) << doubling, steps = doubling < fine ? 4 : 16, step = start / steps;
    const std::size_t taken = (body - start + step - 1) / step;  // 1..steps
    const std::size_t before = doubling < fine ? (doubling - 8) * 4 : (fine - 8) * 4 + (doubling - fine) * 16;
    index = small + before + taken - 1, bytes = start + taken * step + counter;
  }
};

struct FreeBlock {
  FreeBlock* next;
};

/// A lock for a few instructions: it costs half of a std::mutex, and nothing while the process has one thread.
class SpinLock {
 public:
  void lock() {
    if (detail::one_thread()) return;
    while (held_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

void* ask_system(std::size_t bytes) { return ::operator new(bytes, std::align_val_t(alignment)); }
void return_to_system(void* block) noexcept { ::operator delete(block, std::align_val_t(alignment)); }
void return_to_system(FreeBlock* list) noexcept {
  while (list) return_to_system(static_cast<void*>(std::exchange(list, list->next)));
}

/// The free lists, one per size class, and the counts. The lock guards all of it; the system is asked outside.
struct BlockCache {
  SpinLock lock;
  std::array<FreeBlock*, SizeClass::count> lists{};
  MemoryStats stats;
  Index highest = 0;  // live_bytes at most, since the last release_memory()

  void count_allocated(const SizeClass& size) {
    stats.live_bytes += static_cast<Index>(size.bytes), stats.live_blocks += 1;
    stats.peak_bytes = std::max(stats.peak_bytes, stats.live_bytes);
    highest = std::max(highest, stats.live_bytes);
  }
  void count_freed(const SizeClass& size) {
    stats.live_bytes -= static_cast<Index>(size.bytes), stats.live_blocks -= 1;
  }
  /// A cached block of the class, or null.
  void* pop(const SizeClass& size) {
    FreeBlock*& list = lists[size.index];
    if (!list) return nullptr;
    stats.cached_bytes -= static_cast<Index>(size.bytes);
    return std::exchange(list, list->next);
  }
  void push(const SizeClass& size, void* block) {
    lists[size.index] = ::new (block) FreeBlock{lists[size.index]};
    stats.cached_bytes += static_cast<Index>(size.bytes);
  }
  /// Whether one block more from the system would be too many, see allocate_block().
  bool is_full(const SizeClass& size) const {
    const Index live = stats.live_bytes + static_cast<Index>(size.bytes);
    return live + stats.cached_bytes > 2 * std::max(highest, live);
  }
  /// Empties all lists into one.
  FreeBlock* take_all() {
    FreeBlock* all = nullptr;
    for (FreeBlock*& list : lists)
      while (FreeBlock* const block = list) {
        list = block->next;
        block->next = std::exchange(all, block);
      }
    stats.cached_bytes = 0;
    return all;
  }
};

/// Has neither to be made nor destroyed: arrays in static variables come before main and go after it.
constinit BlockCache cache;

/// Runs before all other initialisers, so that this lock, which is taken while others are held, is registered first.
[[gnu::constructor(101)]] void hold_cache_over_fork() {
  on_fork([] { cache.lock.lock(); }, [] { cache.lock.unlock(); });
}

/// False with MOTE_ALLOC=system.
bool caching() {
  static const bool on = !settings().system_alloc;
  return on;
}

}  // namespace

void* allocate_block(std::size_t bytes) {
  if (bytes > std::uint64_t(1) << max_bits) throw std::bad_alloc();
  const SizeClass size(bytes);
  FreeBlock* surplus = nullptr;
  {
    const std::lock_guard held(cache.lock);
    if (void* const block = cache.pop(size)) {
      cache.count_allocated(size);
      return block;
    }
    if (cache.is_full(size)) surplus = cache.take_all();
  }
  return_to_system(surplus);
  // With the cache off, request the exact size, so that a sanitizer sees an overrun of a single byte.
  const std::size_t request = caching() ? size.bytes : bytes;
  void* block = nullptr;
  try {
    block = ask_system(request);
  } catch (const std::bad_alloc&) {
    release_memory();
    block = ask_system(request);
  }
  const std::lock_guard held(cache.lock);
  cache.stats.system_requests += 1;
  cache.count_allocated(size);
  return block;
}

void free_block(void* block, std::size_t bytes) noexcept {
  const SizeClass size(bytes);
  {
    const std::lock_guard held(cache.lock);
    cache.count_freed(size);
    if (caching()) return cache.push(size, block);
  }
  return_to_system(block);
}

MemoryStats memory_stats() {
  const std::lock_guard held(cache.lock);
  return cache.stats;
}

void reset_peak_memory() {
  const std::lock_guard held(cache.lock);
  cache.stats.peak_bytes = cache.stats.live_bytes;
}

void release_memory() {
  FreeBlock* all = nullptr;
  {
    const std::lock_guard held(cache.lock);
    all = cache.take_all();
    cache.highest = cache.stats.live_bytes;
  }
  return_to_system(all);
}

}  // namespace mote
