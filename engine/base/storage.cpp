// The size classes and free lists behind Storage.
#include "engine/base/storage.h"

#include <array>
#include <bit>
#include <cstdint>
#include <mutex>
#include <new>

#ifdef __unix__
#include <pthread.h>
#endif

#include "engine/base/env.h"

namespace mote {
namespace {

constexpr std::size_t alignment = 64;

/// Size classes: four steps per doubling from 256 bytes on (256, 320, 384, 448, 512, 640, ...), multiples of 64 below.
/// A training step requests the same sizes again and again, so exact lists of few classes nearly always hit.
struct SizeClass {
  std::size_t index, bytes;
};
SizeClass size_class(std::size_t bytes) {
  if (bytes <= 256) {
    const std::size_t steps = bytes ? (bytes + 63) / 64 : 1;
    return {steps - 1, steps * 64};
  }
  const std::size_t doubling =
      static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1;  // 2^doubling < bytes <= 2^(doubling+1)
  const std::size_t step = (std::size_t(1) << doubling) / 4;
  const std::size_t quarters = (bytes - (std::size_t(1) << doubling) + step - 1) / step;  // 1..4
  return {4 + (doubling - 8) * 4 + quarters - 1, (std::size_t(1) << doubling) + quarters * step};
}

struct FreeBlock {
  FreeBlock* next;
};

struct FreeList {
  FreeBlock* first = nullptr;
  std::size_t bytes = 0;    // of each block
  std::uint64_t asked = 0;  // when a block of this class was last requested, in requests since the start
};

struct Cache {
  std::mutex mutex;
  std::array<FreeList, 256> lists{};
  std::uint64_t requests = 0;
  MemoryStats stats;
  Index most_live = 0;  // the highest live_bytes so far
  Index limit = Index(4) << 30;
};

Cache& cache();

/// fork() waits until no other thread is inside the cache: the child would have no such thread to unlock it.
bool hold_cache_over_fork() {
#ifdef __unix__
  const auto unlock = [] { cache().mutex.unlock(); };
  return pthread_atfork([] { cache().mutex.lock(); }, unlock, unlock) == 0;
#else
  return true;
#endif
}

/// Never destroyed: arrays in static variables may be freed after all of mote's destructors have run.
Cache& cache() {
  static Cache* const c = new Cache;
  static const bool held = hold_cache_over_fork();
  (void)held;
  return *c;
}

void* ask_system(std::size_t bytes) { return ::operator new(bytes, std::align_val_t(alignment)); }
/// The same; if the system refuses, the cached blocks are returned to it before it is asked once more.
void* insist(std::size_t bytes) {
  try {
    return ask_system(bytes);
  } catch (const std::bad_alloc&) {
    release_memory();
    return ask_system(bytes);
  }
}
void give_back(void* block) noexcept { ::operator delete(block, std::align_val_t(alignment)); }

bool caching() {
  static const bool on = !settings().system_alloc;
  return on;
}

/// Blocks of the classes that were not asked for the longest, taken from the cache until a new block of `bytes` leaves
/// all blocks, in use and cached, within twice the most that was ever in use. Without it a model whose inputs vary in
/// length would keep a block of every size that it ever had. The steps of a training whose shapes repeat stay far below.
FreeBlock* take_stale(Cache& c, std::size_t bytes) {
  FreeBlock* stale = nullptr;
  const Index wanted = c.stats.live_bytes + static_cast<Index>(bytes), most = 2 * std::max(c.most_live, wanted);
  while (c.stats.cached_bytes > 0 && wanted + c.stats.cached_bytes > most) {
    FreeList* oldest = nullptr;
    for (FreeList& list : c.lists)
      if (list.first && (!oldest || list.asked < oldest->asked)) oldest = &list;
    FreeBlock* const block = std::exchange(oldest->first, oldest->first->next);
    block->next = std::exchange(stale, block);
    c.stats.cached_bytes -= static_cast<Index>(oldest->bytes);
  }
  return stale;
}
void give_back_all(FreeBlock* block) noexcept {
  while (block) give_back(std::exchange(block, block->next));
}

}  // namespace

void* allocate_block(std::size_t bytes) {
  if (bytes > std::size_t(1) << 63) throw std::bad_alloc();  // its size class would not fit 64 bits
  const SizeClass sized = size_class(bytes);
  Cache& c = cache();
  void* block = nullptr;
  FreeBlock* stale = nullptr;
  {
    const std::lock_guard lock(c.mutex);
    FreeList& list = c.lists[sized.index];
    list.asked = ++c.requests;
    if (list.first) {
      block = std::exchange(list.first, list.first->next);
      c.stats.cached_bytes -= static_cast<Index>(sized.bytes);
    } else {
      stale = take_stale(c, sized.bytes);
    }
  }
  give_back_all(stale);
  const bool fresh = block == nullptr;
  // With the cache off, request the exact size, so that a sanitizer sees an overrun of a single byte.
  if (fresh) block = insist(caching() ? sized.bytes : bytes);
  const std::lock_guard lock(c.mutex);
  c.stats.system_requests += fresh;
  c.stats.live_blocks += 1;
  c.stats.live_bytes += static_cast<Index>(sized.bytes);
  c.stats.peak_bytes = std::max(c.stats.peak_bytes, c.stats.live_bytes);
  c.most_live = std::max(c.most_live, c.stats.live_bytes);
  return block;
}

void free_block(void* block, std::size_t bytes) noexcept {
  const SizeClass sized = size_class(bytes);
  Cache& c = cache();
  {
    const std::lock_guard lock(c.mutex);
    c.stats.live_blocks -= 1;
    c.stats.live_bytes -= static_cast<Index>(sized.bytes);
    if (caching() && c.stats.cached_bytes + static_cast<Index>(sized.bytes) <= c.limit) {
      FreeList& list = c.lists[sized.index];
      list.first = ::new (block) FreeBlock{list.first};
      list.bytes = sized.bytes;
      c.stats.cached_bytes += static_cast<Index>(sized.bytes);
      return;
    }
  }
  give_back(block);
}

MemoryStats memory_stats() {
  const std::lock_guard lock(cache().mutex);
  return cache().stats;
}

void reset_peak_memory() {
  const std::lock_guard lock(cache().mutex);
  cache().stats.peak_bytes = cache().stats.live_bytes;
}

void release_memory() {
  Cache& c = cache();
  const std::lock_guard lock(c.mutex);
  for (FreeList& list : c.lists) give_back_all(std::exchange(list.first, nullptr));
  c.stats.cached_bytes = 0;
  c.most_live = c.stats.live_bytes;
}

void set_memory_cache_limit(Index bytes) {
  const std::lock_guard lock(cache().mutex);
  cache().limit = bytes;
}

}  // namespace mote
