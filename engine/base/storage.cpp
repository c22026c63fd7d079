// Allocates blocks from the cache of freed blocks, or from the system if the cache has none that fits.
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
constexpr int max_bits = 57;  // blocks have at most 2^57 bytes, as no processor addresses more and sums fit Index
constexpr std::uint64_t largest_block = std::min(std::uint64_t(1) << max_bits, std::uint64_t(SIZE_MAX / 2));

/// The size class of a request. The request is rounded up to the size of the class. Up to 576 bytes the sizes are
/// multiples of 64. Above 576 there are four sizes per doubling (576, 704, 832, 960, 1088, ...), and from 1 MiB on
/// there are sixteen. Every size includes 64 bytes for a reference count, so that an array of 2^k elements with its
/// count does not need the next larger class. A training step requests the same sizes again and again, so the free list
/// of a class nearly always has a block.
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
/// Freed blocks, in one list for each of the first `classes` size classes.
template <std::size_t classes>
struct FreeLists {
  std::array<FreeBlock*, classes> lists;
  Index bytes;  // of the blocks in all lists

  /// Removes and returns a block of the class, or returns null if there is none.
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

/// Whether freed blocks are cached; false with MOTE_ALLOC=system.
bool caching() {
  static const bool on = !settings().system_alloc;
  return on;
}

/// The small blocks that one thread keeps for itself, and the changes in memory use that the thread has not yet added
/// to the shared counts. Only that thread uses its ThreadCache, so no lock is needed.
struct ThreadCache {
  static constexpr std::size_t classes = 37;  // up to 64 KiB
  enum class Phase {
    fresh,    // no AtThreadEnd exists yet to empty this cache, so the cache keeps nothing
    running,  // AtThreadEnd will empty this cache when the thread ends
    ended     // AtThreadEnd has emptied this cache, but the thread may still free static variables
  };
  FreeLists<classes> free;
  Phase phase;
  Index limit;  // the highest free.bytes allowed; above 0 only while `phase` is running
  Index live_bytes, highest, live_blocks;

  bool has_room_for(const SizeClass& size) const { return free.bytes + size.bytes <= limit; }
  void count(const SizeClass& size, Index blocks) {
    live_bytes += blocks * size.bytes;
    live_blocks += blocks;
    highest = std::max(highest, live_bytes);
  }
};
constinit thread_local ThreadCache mine{};

/// The freed blocks that all threads share, and the counts of memory use. The lock guards all members. It is not held
/// during requests to the system.
struct SharedCache {
  std::atomic<bool> locked{false};
  FreeLists<SizeClass::count> free{};
  MemoryStats stats;  // cached_bytes is set only in memory_stats()
  Index highest = 0;  // the most live_bytes since the last release_memory()

  /// A spin lock, which costs half as much as a std::mutex. It is held only for a few instructions.
  void lock() {
    while (locked.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() { locked.store(false, std::memory_order_release); }

  /// Adds the counts of this thread to the shared ones.
  void add_counts() {
    const Index reached = stats.live_bytes + std::exchange(mine.highest, 0);
    stats.peak_bytes = std::max(stats.peak_bytes, reached);
    highest = std::max(highest, reached);
    stats.live_bytes += std::exchange(mine.live_bytes, 0);
    stats.live_blocks += std::exchange(mine.live_blocks, 0);
  }
  /// Moves the blocks from this thread's own lists to the shared lists.
  void take_blocks() {
    for (std::size_t i = 0; i < ThreadCache::classes; ++i)
      while (FreeBlock* const block = mine.free.lists[i]) {
        mine.free.lists[i] = std::exchange(block->next, free.lists[i]);
        free.lists[i] = block;
      }
    free.bytes += std::exchange(mine.free.bytes, 0);
  }
  /// Whether a new block would bring the blocks in use and the cached blocks together above twice the peak of the bytes
  /// in use.
  bool too_large_with(const SizeClass& size) const {
    const Index live = stats.live_bytes + size.bytes;
    return live + free.bytes + mine.free.bytes > 2 * std::max(highest, live);
  }
};

/// Initialised at compile time and never destroyed, because static variables may hold arrays before and after main.
constinit SharedCache shared;

/// Returns the blocks of the shared cache and of this thread's cache to the system. Not inlined, because the lists need
/// much stack, which allocate_block() should not use.
[[gnu::noinline]] void empty_caches() {
  FreeLists<SizeClass::count> all{};
  {
    const std::lock_guard held(shared);
    shared.take_blocks();
    std::swap(all, shared.free);
  }
  for (FreeBlock* list : all.lists)
    while (list) ::operator delete(std::exchange(list, list->next), alignment);
}

/// An object whose destructor runs when its thread ends, and moves the thread's blocks and counts to the shared cache.
/// From then on the thread keeps no blocks.
struct AtThreadEnd {
  AtThreadEnd() {
    mine.phase = ThreadCache::Phase::running;
    mine.limit = caching() ? 1 << 18 : 0;
  }
  ~AtThreadEnd() {
    const std::lock_guard held(shared);
    shared.add_counts();
    shared.take_blocks();
    mine.phase = ThreadCache::Phase::ended;
    mine.limit = 0;
  }
};

/// Creates this thread's AtThreadEnd. This happens at the thread's first block and not at its start, because a thread
/// that allocates nothing should pay nothing.
void watch_end_of_thread() {
  if (mine.phase == ThreadCache::Phase::fresh) static thread_local const AtThreadEnd at_end;
}

[[gnu::noinline]] void* block_from_system(const SizeClass& size, std::size_t bytes) {
  // With the cache off, request the exact size, so that a sanitizer sees an overrun of a single byte.
  const std::size_t request = caching() ? static_cast<std::size_t>(size.bytes) : bytes;
  try {
    return ::operator new(request, alignment);
  } catch (const std::bad_alloc&) {
    empty_caches();
    return ::operator new(request, alignment);
  }
}

/// Takes a block from the shared cache, or from the system if the shared cache has none. Called when this thread's own
/// cache cannot serve the request.
[[gnu::noinline]] void* shared_block(const SizeClass& size, std::size_t bytes) {
  watch_end_of_thread();
  void* block = nullptr;
  bool too_large = false;
  {
    const std::lock_guard held(shared);
    shared.add_counts();
    block = shared.free.pop(size);
    if (!block) {
      ++shared.stats.system_requests;
      too_large = shared.too_large_with(size);
    }
  }
  if (too_large) empty_caches();
  if (!block) block = block_from_system(size, bytes);

  mine.count(size, 1);
  const bool counted_later = size.index < ThreadCache::classes && mine.phase != ThreadCache::Phase::ended;
  if (!counted_later) {
    const std::lock_guard held(shared);
    shared.add_counts();
  }
  return block;
}

}  // namespace

void* allocate_block(std::uint64_t asked) {
  if (asked > largest_block) throw std::bad_alloc();
  const std::size_t bytes = static_cast<std::size_t>(asked);
  const SizeClass size(bytes);
  void* const block = mine.free.pop(size);
  if (!block) return shared_block(size, bytes);
  mine.count(size, 1);
  return block;
}

void free_block(void* block, std::size_t bytes) noexcept {
  const SizeClass size(bytes);
  mine.count(size, -1);
  const bool small = size.index < ThreadCache::classes;
  if (small && mine.has_room_for(size)) return mine.free.push(size, block);

  watch_end_of_thread();
  {
    const std::lock_guard held(shared);
    shared.add_counts();
    if (small) shared.take_blocks();  // this thread's lists are full, so their blocks move to the shared lists
    if (caching()) return shared.free.push(size, block);
  }
  ::operator delete(block, alignment);
}

MemoryStats memory_stats() {
  const std::lock_guard held(shared);
  shared.add_counts();
  shared.stats.cached_bytes = shared.free.bytes + mine.free.bytes;
  return shared.stats;
}

void reset_peak_memory() {
  const std::lock_guard held(shared);
  shared.add_counts();
  shared.stats.peak_bytes = shared.stats.live_bytes;
}

void release_memory() {
  empty_caches();
  const std::lock_guard held(shared);
  shared.add_counts();
  shared.highest = shared.stats.live_bytes;
}

}  // namespace mote
