// The parts of the cache behind Storage: size classes, lists of free blocks, what a thread keeps, what all share.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

#include "engine/base/env.h"
#include "engine/base/per_thread.h"
#include "engine/base/storage.h"

namespace mote::detail {

/// Size classes: steps of 64 bytes up to 320, then four to a doubling, from 1 MiB on sixteen, each 64 bytes larger: an
/// array of 2^k elements plus its counter is then not the first of the next class (..., 320, 384, 448, 512, 576, 704,
/// ...). A training step requests the same sizes again and again, so exact lists of few classes nearly always hit.
struct SizeClass {
  static constexpr std::size_t count = 768;
  std::size_t index, bytes;
};
inline SizeClass size_class(std::size_t bytes) {
  constexpr std::size_t counter = 64, small = 5, fine = 20;  // steps below 2^8 + counter; the doubling of 1 MiB
  if (bytes <= small * 64) {
    const std::size_t steps = bytes ? (bytes + 63) / 64 : 1;
    return {steps - 1, steps * 64};
  }
  const std::size_t body = bytes - counter;
  const std::size_t doubling =
      static_cast<std::size_t>(std::bit_width(body - 1)) - 1;  // 2^doubling < body <= 2^(doubling+1)
  const std::size_t start = std::size_t(1) << doubling, steps = doubling < fine ? 4 : 16, step = start / steps;
  const std::size_t taken = (body - start + step - 1) / step;  // 1..steps
  const std::size_t before = doubling < fine ? (doubling - 8) * 4 : (fine - 8) * 4 + (doubling - fine) * 16;
  return {small + before + taken - 1, start + taken * step + counter};
}

struct FreeBlock {
  FreeBlock* next;
};
struct FreeList {
  FreeBlock* first = nullptr;
  std::size_t bytes = 0;  // of each block
  Index count = 0;
  std::uint64_t asked = 0;  // when a block of this class was last requested, in requests since the start

  void push(void* block) {
    first = ::new (block) FreeBlock{first};
    ++count;
  }
  FreeBlock* pop() {
    --count;
    return std::exchange(first, first->next);
  }
};
inline Index bytes_of(const SizeClass& sized) { return static_cast<Index>(sized.bytes); }

/// What a thread keeps of the small blocks that it has freed, to take them again without a lock. What it has too many
/// or too few of it exchanges with the cache, half a list at a time.
struct Kept {
  static constexpr std::size_t classes = 33;  // up to 32 KiB
  static constexpr Index list_bytes = 64 * 1024;
  /// How many of a class; from a table, for a division would take as long as the rest.
  static Index most(const SizeClass& sized) {
    static constexpr auto counts = [] {
      std::array<Index, classes> list{};
      for (std::size_t i = 0; i < classes; ++i) {
        const Index block = i < 4 ? 64 * Index(i + 1) : Index((5 + i % 4) << (i / 4 + 5));
        list[i] = std::clamp<Index>(list_bytes / block, 2, 64);
      }
      return list;
    }();
    return counts[sized.index];
  }

  std::array<FreeList, classes> lists{};
  OwnCount bytes, blocks;  // in these lists
  OwnCount least;          // the lowest `bytes` since somebody last looked at the peak
  std::uint64_t seen = 0;  // orders obeyed so far
  bool on = false;         // may keep blocks

  void* take(const SizeClass& sized) {
    FreeList& list = lists[sized.index];
    if (!list.first) return nullptr;
    bytes.add(-bytes_of(sized)), blocks.add(-1);
    if (bytes.get() < least.get()) least.set(bytes.get());
    return list.pop();
  }
  void put(const SizeClass& sized, void* block) {
    bytes.add(bytes_of(sized)), blocks.add(1);
    lists[sized.index].push(block);
  }

  static std::mutex& mutex();
  void leave();
};
using AllKept = PerThread<Kept>;

/// False with MOTE_ALLOC=system.
inline bool caching() {
  static const bool on = !settings().system_alloc;
  return on;
}

/// What all threads share. Its mutex guards all but `orders`.
struct Cache {
  static constexpr Index ample = Index(64) << 20;  // below this limit threads keep no blocks for themselves

  /// Raised so that every thread gives back what it keeps, when it next comes here.
  static inline constinit std::atomic<std::uint64_t> orders{1};

  std::mutex mutex;
  std::array<FreeList, SizeClass::count> lists{};
  std::uint64_t requests = 0;
  Index out_bytes = 0, out_blocks = 0;  // neither in `lists` nor the system's: in use, or kept by a thread
  Index cached_bytes = 0;               // in `lists`
  Index peak = 0, most_live = 0;        // the highest live bytes since the last reset, and of all
  Index system_requests = 0;
  Index limit = Index(4) << 30;

  /// Bytes in use now, and the peaks up to now. Threads that take kept blocks without a lock tell by `least` how many
  /// were in use at most.
  Index live() {
    Index kept = 0, least = 0;
    AllKept::each([&](Kept& k) {
      kept += k.bytes.get(), least += std::min(k.least.get(), k.bytes.get());
      k.least.set(k.bytes.get());
    });
    peak = std::max(peak, out_bytes - least), most_live = std::max(most_live, out_bytes - least);
    return out_bytes - kept;
  }
  void* pop(const SizeClass& sized) {
    cached_bytes -= bytes_of(sized), out_bytes += bytes_of(sized), out_blocks += 1;
    return lists[sized.index].pop();
  }
  /// Puts a block that was out into the lists; if they are full, on `surplus`, which is the system's.
  void push(const SizeClass& sized, void* block, FreeBlock*& surplus) {
    out_bytes -= bytes_of(sized), out_blocks -= 1;
    if (cached_bytes + bytes_of(sized) > limit) {
      surplus = ::new (block) FreeBlock{surplus};
      return;
    }
    lists[sized.index].bytes = sized.bytes;
    lists[sized.index].push(block);
    cached_bytes += bytes_of(sized);
  }
  /// After live(): moves blocks between a thread's list and this one until the thread has `count`, or there are no
  /// more.
  void exchange(Kept& kept, const SizeClass& sized, Index count, FreeBlock*& surplus) {
    while (kept.lists[sized.index].count > count) push(sized, kept.take(sized), surplus);
    while (kept.lists[sized.index].count < count && lists[sized.index].first) kept.put(sized, pop(sized));
    kept.least.set(kept.bytes.get());  // these were not in use
  }
  void take_back(Kept& kept, FreeBlock*& surplus) {
    live();
    for (std::size_t i = 0; i < Kept::classes; ++i) exchange(kept, {i, kept.lists[i].bytes}, 0, surplus);
  }
  FreeBlock* take_stale(std::size_t bytes);
};

}  // namespace mote::detail
