// The size classes and free lists behind Storage.
#include "engine/base/storage.h"

#include <array>
#include <bit>
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

struct Cache {
  std::mutex mutex;
  std::array<FreeBlock*, 256> lists{};
  MemoryStats stats;
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

}  // namespace

void* allocate_block(std::size_t bytes) {
  if (bytes > std::size_t(1) << 63) throw std::bad_alloc();  // its size class would not fit 64 bits
  const SizeClass sized = size_class(bytes);
  Cache& c = cache();
  void* block = nullptr;
  {
    const std::lock_guard lock(c.mutex);
    if (FreeBlock*& list = c.lists[sized.index]; list) {
      block = list;
      list = list->next;
      c.stats.cached_bytes -= static_cast<Index>(sized.bytes);
    }
  }
  const bool fresh = block == nullptr;
  // With the cache off, request the exact size, so that a sanitizer sees an overrun of a single byte.
  if (fresh) block = insist(caching() ? sized.bytes : bytes);
  const std::lock_guard lock(c.mutex);
  c.stats.system_requests += fresh;
  c.stats.live_blocks += 1;
  c.stats.live_bytes += static_cast<Index>(sized.bytes);
  c.stats.peak_bytes = std::max(c.stats.peak_bytes, c.stats.live_bytes);
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
      c.lists[sized.index] = ::new (block) FreeBlock{c.lists[sized.index]};
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
  for (FreeBlock*& list : c.lists)
    while (list) give_back(std::exchange(list, list->next));
  c.stats.cached_bytes = 0;
}

void set_memory_cache_limit(Index bytes) {
  const std::lock_guard lock(cache().mutex);
  cache().limit = bytes;
}

}  // namespace mote
