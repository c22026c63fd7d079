// Allocation of blocks: from what this thread keeps, from the cache, from the system.
#include "engine/base/storage.h"

#include "engine/base/block_cache.h"
#include "engine/base/fork.h"

namespace mote {

using namespace detail;

namespace {

constexpr std::size_t alignment = 64;

void* ask_system(std::size_t bytes) { return ::operator new(bytes, std::align_val_t(alignment)); }
void give_back(void* block) noexcept { ::operator delete(block, std::align_val_t(alignment)); }
void give_back_all(FreeBlock* block) noexcept {
  while (block) give_back(std::exchange(block, block->next));
}

/// Never destroyed: arrays in static variables may be freed after all of mote's destructors have run.
Cache& cache() {
  static Cache* const c = new Cache;
  [[maybe_unused]] static const bool registered = on_fork([] { c->mutex.lock(); }, [] { c->mutex.unlock(); },
                                                          [] {
                                                            AllKept::forget_others();
                                                            c->mutex.unlock();
                                                          });
  return *c;
}

}  // namespace

std::mutex& detail::Kept::mutex() { return cache().mutex; }
void detail::Kept::leave() {
  FreeBlock* surplus = nullptr;
  on = false;
  cache().take_back(*this, surplus);
  give_back_all(surplus);
}

/// Blocks of the classes that were not asked for the longest, taken from the cache until a new block of `bytes` leaves
/// all blocks, in use and cached, within twice the most that was ever in use. Without it a model whose inputs vary in
/// length would keep a block of every size that it ever had. The steps of a training whose shapes repeat stay far
/// below.
FreeBlock* detail::Cache::take_stale(std::size_t bytes) {
  FreeBlock* stale = nullptr;
  const Index wanted = static_cast<Index>(bytes), needed = live() + wanted, most = 2 * std::max(most_live, needed);
  if (out_bytes + cached_bytes + wanted <= most) return nullptr;
  if (Kept* const kept = AllKept::mine_if_any()) take_back(*kept, stale);
  while (cached_bytes > 0 && out_bytes + cached_bytes + wanted > most) {
    FreeList* oldest = nullptr;
    for (FreeList& list : lists)
      if (list.first && (!oldest || list.asked < oldest->asked)) oldest = &list;
    FreeBlock* const block = oldest->pop();
    block->next = std::exchange(stale, block);
    cached_bytes -= static_cast<Index>(oldest->bytes);
  }
  return stale;
}

namespace {

/// The part of this thread, if it may keep blocks of that class.
Kept* kept_by_this_thread(const SizeClass& sized) {
  Kept* const kept = sized.index < Kept::classes ? AllKept::mine() : nullptr;
  if (!kept) return nullptr;
  if (kept->seen != Cache::orders.load(std::memory_order_relaxed)) [[unlikely]] {
    Cache& c = cache();
    FreeBlock* surplus = nullptr;
    {
      const std::lock_guard lock(c.mutex);
      c.take_back(*kept, surplus);
      kept->seen = Cache::orders.load(std::memory_order_relaxed);
      kept->on = caching() && c.limit >= Cache::ample;
    }
    give_back_all(surplus);
  }
  return kept->on ? kept : nullptr;
}

/// A new block. If the system refuses, the cached blocks are returned to it before it is asked once more.
void* new_block(const SizeClass& sized, std::size_t bytes) {
  // With the cache off, request the exact size, so that a sanitizer sees an overrun of a single byte.
  const std::size_t size = caching() ? sized.bytes : bytes;
  void* block = nullptr;
  try {
    block = ask_system(size);
  } catch (const std::bad_alloc&) {
    release_memory();
    block = ask_system(size);
  }
  Cache& c = cache();
  const std::lock_guard lock(c.mutex);
  c.system_requests += 1;
  c.out_bytes += bytes_of(sized), c.out_blocks += 1;
  c.live();
  return block;
}

}  // namespace

void* allocate_block(std::size_t bytes) {
  if (bytes > std::size_t(1) << 63) throw std::bad_alloc();  // its size class would not fit 64 bits
  const SizeClass sized = size_class(bytes);
  Kept* const kept = kept_by_this_thread(sized);
  if (kept)
    if (void* const block = kept->take(sized)) return block;
  Cache& c = cache();
  FreeBlock* surplus = nullptr;
  {
    const std::lock_guard lock(c.mutex);
    FreeList& list = c.lists[sized.index];
    list.asked = ++c.requests;
    c.live();
    if (list.first) {
      void* const block = c.pop(sized);
      if (kept) c.exchange(*kept, sized, Kept::most(sized) / 2, surplus);
      c.live();
      return block;
    }
    surplus = c.take_stale(sized.bytes);
  }
  give_back_all(surplus);
  return new_block(sized, bytes);
}

void free_block(void* block, std::size_t bytes) noexcept {
  const SizeClass sized = size_class(bytes);
  Kept* const kept = kept_by_this_thread(sized);
  if (kept) {
    kept->put(sized, block);
    kept->lists[sized.index].bytes = sized.bytes;
    if (kept->lists[sized.index].count <= Kept::most(sized)) return;
  }
  Cache& c = cache();
  if (!caching()) {  // the block may be too small for a FreeBlock
    {
      const std::lock_guard lock(c.mutex);
      c.out_bytes -= bytes_of(sized), c.out_blocks -= 1;
    }
    return give_back(block);
  }
  FreeBlock* surplus = nullptr;
  {
    const std::lock_guard lock(c.mutex);
    c.live();
    if (kept)
      c.exchange(*kept, sized, Kept::most(sized) / 2, surplus);
    else
      c.push(sized, block, surplus);
    c.live();
  }
  give_back_all(surplus);
}

void keep_no_blocks() { AllKept::keep_none(); }

MemoryStats memory_stats() {
  Cache& c = cache();
  const std::lock_guard lock(c.mutex);
  const Index live = c.live();
  Index blocks = c.out_blocks;
  AllKept::each([&](const Kept& k) { blocks -= k.blocks.get(); });
  return {live, blocks, c.peak, c.cached_bytes + c.out_bytes - live, c.system_requests};
}

void reset_peak_memory() {
  Cache& c = cache();
  const std::lock_guard lock(c.mutex);
  c.peak = c.live();
}

void release_memory() {
  Cache& c = cache();
  FreeBlock* surplus = nullptr;
  {
    const std::lock_guard lock(c.mutex);
    Cache::orders.fetch_add(1, std::memory_order_relaxed);
    if (Kept* const kept = AllKept::mine_if_any()) c.take_back(*kept, surplus);
    for (FreeList& list : c.lists)
      while (list.first) {
        FreeBlock* const block = list.pop();
        block->next = std::exchange(surplus, block);
      }
    c.cached_bytes = 0;
    c.most_live = c.live();
  }
  give_back_all(surplus);
}

void set_memory_cache_limit(Index bytes) {
  Cache& c = cache();
  const std::lock_guard lock(c.mutex);
  c.limit = bytes;
  Cache::orders.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace mote
