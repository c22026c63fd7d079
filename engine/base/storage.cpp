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

constexpr std::align_val_t alignment{64};
constexpr int max_bits = 57;  // a block is at most 2^57 bytes: no processor addresses more, and sums of such fit Index

/// Size classes: steps of 64 bytes up to 576, then four to a doubling, from 1 MiB on sixteen, each 64 bytes larger: an
/// array of 2^k elements plus its counter is then not the first of the next class (..., 448, 512, 576, 704, 832, ...).
/// A training step requests the same sizes again and again, so exact lists of few classes nearly always hit.
struct SizeClass {
  static constexpr std::size_t counter = 64, count = 53 + (max_bits - 20) * 16;
  std::size_t index = 0, bytes = counter;

  explicit SizeClass(std::size_t request) {
    if (request <= counter) return;
    const std::size_t last = request - counter - 1;
    const int doubling = std::max(static_cast<int>(std::bit_width(last)) - 1, 8);  // last < 2^(doubling + 1)
    const int before = doubling < 20 ? 4 * (doubling - 8) : 16 * (doubling - 20) + 36;
    const int shift = doubling - (doubling < 20 ? 2 : 4);
    index = 1 + static_cast<std::size_t>(before) + (last >> shift);
    bytes = counter + (((last >> shift) + 1) << shift);
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

/// The free lists, one per size class, and the counts. The lock guards all of it; the system is asked outside.
struct BlockCache {
  SpinLock lock;
  std::array<FreeBlock*, SizeClass::count> lists{};
  MemoryStats stats;
  Index highest = 0;  // live_bytes at most, since the last release_memory()

  /// Counts so many blocks more as in use.
  void count(const SizeClass& size, Index blocks) {
    stats.live_bytes += blocks * static_cast<Index>(size.bytes), stats.live_blocks += blocks;
    if (blocks < 0) return;
    stats.peak_bytes = std::max(stats.peak_bytes, stats.live_bytes);
    highest = std::max(highest, stats.live_bytes);
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
};

/// Has neither to be made nor destroyed: arrays in static variables come before main and go after it.
constinit BlockCache cache;

/// Runs before all other initialisers, so that this lock, which is taken while others are held, is registered first.
[[gnu::constructor(101)]] void hold_cache_over_fork() {
  on_fork([] { cache.lock.lock(); }, [] { cache.lock.unlock(); });
}

/// Apart from allocate_block(), whose stack need not have room for all lists.
[[gnu::noinline]] void empty_cache() {
  std::array<FreeBlock*, SizeClass::count> lists{};
  {
    const std::lock_guard held(cache.lock);
    lists.swap(cache.lists);
    cache.stats.cached_bytes = 0;
  }
  for (FreeBlock* list : lists)
    while (list) ::operator delete(std::exchange(list, list->next), alignment);
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
  std::unique_lock held(cache.lock);
  if (void* const block = cache.pop(size)) {
    cache.count(size, 1);
    return block;
  }
  const bool full = cache.is_full(size);
  held.unlock();
  if (full) empty_cache();
  // With the cache off, request the exact size, so that a sanitizer sees an overrun of a single byte.
  const std::size_t request = caching() ? size.bytes : bytes;
  void* block = ::operator new(request, alignment, std::nothrow);
  if (!block) {
    empty_cache();
    block = ::operator new(request, alignment);
  }
  held.lock();
  cache.stats.system_requests += 1;
  cache.count(size, 1);
  return block;
}

void free_block(void* block, std::size_t bytes) noexcept {
  const SizeClass size(bytes);
  {
    const std::lock_guard held(cache.lock);
    cache.count(size, -1);
    if (caching()) return cache.push(size, block);
  }
  ::operator delete(block, alignment);
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
  empty_cache();
  const std::lock_guard held(cache.lock);
  cache.highest = cache.stats.live_bytes;
}

}  // namespace mote
