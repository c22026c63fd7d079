// Allocation of blocks: from the cache of freed ones, else from the system.
#include "engine/base/storage.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <mutex>
#include <thread>

#include "engine/base/env.h"

namespace mote {
namespace {

constexpr std::align_val_t alignment{64};
constexpr int max_bits = 57;  // a block is at most 2^57 bytes: no processor addresses more, and sums of such fit Index
constexpr std::uint64_t largest_block = std::min(std::uint64_t(1) << max_bits, std::uint64_t(SIZE_MAX / 2));

/// Size classes: steps of 64 bytes up to 576, then four to a doubling, from 1 MiB on sixteen, each 64 bytes larger: an
/// array of 2^k elements plus its counter is then not the first of the next class (..., 448, 512, 576, 704, 832, ...).
/// A training step requests the same sizes again and again, so exact lists of few classes nearly always hit.
struct SizeClass {
  static constexpr std::size_t counter = 64, count = 53 + (max_bits - 20) * 16;
  std::size_t index = 0;
  Index bytes = counter;

  explicit SizeClass(std::size_t request) {
    if (request <= counter) return;
    const std::size_t last = request - counter - 1;
    const int doubling = std::max(static_cast<int>(std::bit_width(last)) - 1, 8);  // last < 2^(doubling + 1)
    const int before = doubling < 20 ? 4 * (doubling - 8) : 16 * (doubling - 20) + 36;
    const int shift = doubling - (doubling < 20 ? 2 : 4);
    index = 1 + static_cast<std::size_t>(before) + (last >> shift);
    bytes = static_cast<Index>(counter + (((last >> shift) + 1) << shift));
  }
};

struct FreeBlock {
  FreeBlock* next;
};
/// Freed blocks, in a list for each of the first size classes.
template <std::size_t classes>
struct FreeLists {
  std::array<FreeBlock*, classes> lists;
  Index bytes;  // of all of them

  /// A block of the class, or null.
  void* pop(const SizeClass& size) {
    if (size.index >= classes || !lists[size.index]) return nullptr;
    bytes -= size.bytes;
    return std::exchange(lists[size.index], lists[size.index]->next);
  }
  void push(const SizeClass& size, void* block) {
    bytes += size.bytes;
    lists[size.index] = ::new (block) FreeBlock{lists[size.index]};
  }
};

/// What a thread has kept for itself, for which it needs no lock, and what it has counted since it last held the
/// cache's.
struct Own {
  static constexpr std::size_t classes = 37;  // up to 64 KiB
  FreeLists<classes> free;
  Index limit;  // of free.bytes; 0 before the thread's end is watched, -1 after it
  Index live_bytes, highest, live_blocks;

  void count(const SizeClass& size, Index blocks) {
    live_bytes += blocks * size.bytes, live_blocks += blocks;
    highest = std::max(highest, live_bytes);
  }
};
constinit thread_local Own own{};

/// The blocks that all threads share, and the counts. The lock guards all of it; the system is asked outside.
struct BlockCache {
  std::atomic<bool> locked{false};
  FreeLists<SizeClass::count> free{};
  MemoryStats stats;  // cached_bytes only when somebody asks
  Index highest = 0;  // live_bytes at most, since the last release_memory()

  /// For a few instructions: half as dear as a std::mutex.
  void lock() {
    while (locked.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() { locked.store(false, std::memory_order_release); }
  /// Adds what this thread has counted.
  void count() {
    stats.peak_bytes = std::max(stats.peak_bytes, stats.live_bytes + own.highest);
    highest = std::max(highest, stats.live_bytes + own.highest);
    stats.live_bytes += std::exchange(own.live_bytes, 0), stats.live_blocks += std::exchange(own.live_blocks, 0);
    own.highest = 0;
  }
  /// Takes what this thread has kept.
  void take_own() {
    for (std::size_t i = 0; i < Own::classes; ++i)
      while (FreeBlock* const block = own.free.lists[i]) {
        own.free.lists[i] = std::exchange(block->next, free.lists[i]);
        free.lists[i] = block;
      }
    free.bytes += std::exchange(own.free.bytes, 0);
  }
};

/// Has neither to be made nor destroyed: arrays in static variables come before main and go after it.
constinit BlockCache cache;

/// Apart from allocate_block(), whose stack need not have room for all lists.
[[gnu::noinline]] void empty_cache() {
  FreeLists<SizeClass::count> all{};
  {
    const std::lock_guard held(cache);
    cache.take_own();
    std::swap(all, cache.free);
  }
  for (FreeBlock* list : all.lists)
    while (list) ::operator delete(std::exchange(list, list->next), alignment);
}

/// False with MOTE_ALLOC=system.
bool caching() {
  static const bool on = !settings().system_alloc;
  return on;
}

/// From the end of a thread on it keeps nothing, and what it has counted is not lost.
struct AtThreadEnd {
  AtThreadEnd() { own.limit = caching() ? 1 << 18 : 0; }
  ~AtThreadEnd() {
    const std::lock_guard held(cache);
    cache.count();
    cache.take_own();
    own.limit = -1;
  }
};

void watch_end() {
  if (own.limit == 0) static thread_local const AtThreadEnd at_end;
}

/// From the cache, else from the system.
[[gnu::noinline]] void* shared_block(const SizeClass& size, std::size_t bytes) {
  watch_end();
  void* block = nullptr;
  bool full = false;
  {
    const std::lock_guard held(cache);
    cache.count();
    block = cache.free.pop(size);
    cache.stats.system_requests += block ? 0 : 1;
    const Index live = cache.stats.live_bytes + size.bytes, most = 2 * std::max(cache.highest, live);
    full = !block && live + cache.free.bytes + own.free.bytes > most;
  }
  if (full) empty_cache();
  // With the cache off, request the exact size, so that a sanitizer sees an overrun of a single byte.
  const std::size_t request = caching() ? static_cast<std::size_t>(size.bytes) : bytes;
  try {
    if (!block) block = ::operator new(request, alignment);
  } catch (const std::bad_alloc&) {
    empty_cache();
    block = ::operator new(request, alignment);
  }
  own.count(size, 1);
  if (own.limit >= 0 && size.index < Own::classes) return block;
  const std::lock_guard held(cache);
  cache.count();
  return block;
}

}  // namespace

void* allocate_block(std::uint64_t asked) {
  if (asked > largest_block) throw std::bad_alloc();
  const std::size_t bytes = static_cast<std::size_t>(asked);
  const SizeClass size(bytes);
  void* const block = own.free.pop(size);
  if (!block) return shared_block(size, bytes);
  own.count(size, 1);
  return block;
}

void free_block(void* block, std::size_t bytes) noexcept {
  const SizeClass size(bytes);
  own.count(size, -1);
  const bool small = size.index < Own::classes;
  if (small && own.free.bytes + size.bytes <= own.limit) return own.free.push(size, block);
  watch_end();
  {
    const std::lock_guard held(cache);
    cache.count();
    if (small) cache.take_own();
    if (caching()) return cache.free.push(size, block);
  }
  ::operator delete(block, alignment);
}

MemoryStats memory_stats() {
  const std::lock_guard held(cache);
  cache.count();
  cache.stats.cached_bytes = cache.free.bytes + own.free.bytes;
  return cache.stats;
}

void reset_peak_memory() {
  const std::lock_guard held(cache);
  cache.count();
  cache.stats.peak_bytes = cache.stats.live_bytes;
}

void release_memory() {
  empty_cache();
  const std::lock_guard held(cache);
  cache.count();
  cache.highest = cache.stats.live_bytes;
}

}  // namespace mote
