// Storage, a reference-counted block of bytes that arrays share, and the cache that keeps freed blocks.
#pragma once

#include <atomic>
#include <cstddef>
#include <new>
#include <utility>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

#include "engine/base/real.h"

namespace mote {

/// The library's memory use. A block counts with the size of its size class, which is larger than the request by at
/// most a quarter or 63 bytes. Small blocks of other threads are counted with a delay (see allocate_block()).
struct MemoryStats {
  Index live_bytes = 0;       ///< in use now
  Index live_blocks = 0;      ///< blocks in use now
  Index peak_bytes = 0;       ///< highest live_bytes since the start or reset_peak_memory()
  Index cached_bytes = 0;     ///< in freed blocks, which are kept for the next request of the same size class
  Index system_requests = 0;  ///< number of requests to the system; stops growing after the first training steps
};
MemoryStats memory_stats();
void reset_peak_memory();

/// Returns every cached block to the system, except small blocks that other threads keep (see allocate_block()).
void release_memory();

/// Allocates a block of at least `bytes` bytes, 64-byte aligned, with undefined contents. free_block() frees the block.
/// Any thread may call either function, and `bytes` must be the same in both calls. Freed blocks are cached by size
/// class. The blocks in use and the cached blocks together stay within a limit, which is twice the peak of the bytes in
/// use since the last release_memory(). If a new block would exceed this limit, all cached blocks are first returned to
/// the system. Without the limit, a model whose inputs vary in length would keep a block of every size that it ever
/// used. In addition each thread keeps up to 256 KiB of small blocks for itself until it ends. With MOTE_ALLOC=system
/// both functions call operator new and delete directly. Errors: std::bad_alloc if the system still has no memory after
/// all cached blocks have been returned to the system.
void* allocate_block(std::uint64_t bytes);
void free_block(void* block, std::size_t bytes) noexcept;

/// An allocator that takes its memory from allocate_block(), for standard containers and for graph nodes.
template <class T>
struct CachedAllocator {
  using value_type = T;
  CachedAllocator() = default;
  template <class U>
  CachedAllocator(const CachedAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(allocate_block(n * sizeof(T))); }
  void deallocate(T* p, std::size_t n) noexcept { free_block(p, n * sizeof(T)); }
  friend bool operator==(CachedAllocator, CachedAllocator) { return true; }
};

namespace detail {
/// Whether this thread is the only one of the process. If so, no atomic instructions are needed, which is faster,
/// because one of them costs as much as a hundred ordinary instructions. Returns false if the C library cannot tell.
inline bool one_thread() {
#if __has_include(<sys/single_threaded.h>)
  return __libc_single_threaded != 0;
#else
  return false;
#endif
}

/// Adds n to `count` and returns the former value. What a thread wrote before its call is visible to a thread that
/// calls later with the same `count`.
template <class T>
T count_up(std::atomic<T>& count, T n) {
  if (!one_thread()) return count.fetch_add(n, std::memory_order_acq_rel);
  const T before = count.load(std::memory_order_relaxed);
  count.store(before + n, std::memory_order_relaxed);
  return before;
}
}  // namespace detail

/// A handle to a reference-counted block. Copies share the block, and the last handle frees it. The count and the data
/// are in one block, so an array costs one allocation. Different threads may hold handles to one block.
class Storage {
 public:
  Storage() = default;
  explicit Storage(std::uint64_t bytes) : head_(static_cast<Head*>(allocate_block(bytes + sizeof(Head)))) {
    ::new (head_) Head{1, static_cast<std::size_t>(bytes)};
  }
  Storage(const Storage& other) noexcept : head_(other.head_) {
    if (head_) detail::count_up(head_->handles, 1l);
  }
  Storage(Storage&& other) noexcept : head_(std::exchange(other.head_, nullptr)) {}
  Storage& operator=(Storage other) noexcept {
    std::swap(head_, other.head_);
    return *this;
  }
  ~Storage() {
    const bool sole_owner = unique();  // if so, no atomic decrement is needed
    if (sole_owner || (head_ && detail::count_up(head_->handles, -1l) == 1))
      free_block(head_, head_->bytes + sizeof(Head));
  }

  explicit operator bool() const { return head_ != nullptr; }
  void* data() const { return head_ + 1; }
  std::size_t bytes() const { return head_ ? head_->bytes : 0; }
  /// True if no other handle exists. Otherwise a write could change another array's elements.
  bool unique() const { return head_ && head_->handles.load(std::memory_order_acquire) == 1; }
  friend bool operator==(const Storage& a, const Storage& b) { return a.head_ == b.head_; }

 private:
  struct alignas(64) Head {
    std::atomic<long> handles;
    std::size_t bytes;
  };
  Head* head_ = nullptr;
};

}  // namespace mote
