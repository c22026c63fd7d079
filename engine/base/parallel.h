// parallel_for over mote's own thread pool.
#pragma once

#include <type_traits>

#include "engine/base/argument.h"
#include "engine/base/real.h"

namespace mote {

/// The number of threads that parallel_for may use, the caller included. Default: MOTE_THREADS, or one per core if
/// MOTE_THREADS is not set.
int threads();
/// Changes the number of threads. Errors: n outside [1, 1024]; called from inside a parallel_for.
void set_threads(Integer n);

/// The grain for parallel_for, in items per chunk, if one item takes about `nanoseconds` on one thread. Every loop
/// calls this function, so that one place decides what is worth another thread. The estimate changes no bit of a
/// result, only where chunks end.
///
/// The grain makes a chunk take 3 microseconds. A loop of two or more chunks is shared between threads. The times below
/// were measured with jobs of two equal chunks on two cores of an EPYC under Linux. A worker that is looking for work
/// begins after 0.5 microseconds, and the caller sees the worker's end 0.4 microseconds late. Chunks of 2 microseconds
/// already pay off. Waking a sleeping worker costs the caller 2 microseconds, and the worker starts after 9. Longer
/// chunks balance badly, and one delayed thread holds up the whole job.
constexpr Index grain_for(double nanoseconds) {
  constexpr double chunk = 3'000;
  constexpr Index most = 1'000'000'000;  // the quotient must fit an Index, also for 0 nanoseconds
  return nanoseconds * most <= chunk ? most : nanoseconds >= chunk ? 1 : static_cast<Index>(chunk / nanoseconds);
}

/// The grain for a loop of `count` items that runs again and again over the same data, if the data are larger than one
/// core's cache. An item takes about `nanoseconds`. There is at most one chunk per thread, and all chunks have the same
/// length. So each thread finds its part of the data in its own cache, and all threads end together.
Index even_grain(Index count, double nanoseconds);

namespace detail {
using RangeBody = void (*)(void* body, Index begin, Index end);
void run_parallel(Index count, Index grain, RangeBody run, void* body);
}  // namespace detail

/// Calls body(begin, end) for consecutive chunks of `grain` items that together cover [0, count), on several threads.
/// Any thread may run any chunk, so a body must write only what its own chunk owns. A single chunk, a nested call, and
/// a pool of one thread run on the calling thread. The first exception of a body is rethrown on the calling thread
/// after all running chunks have ended.
template <class Body>
void parallel_for(Index count, Index grain, Body&& body) {
  if (count <= 0) return;
  if (count <= grain) return body(Index(0), count);
  detail::run_parallel(
      count, grain < 1 ? 1 : grain,
      [](void* b, Index begin, Index end) { (*static_cast<std::remove_reference_t<Body>*>(b))(begin, end); },
      const_cast<void*>(static_cast<const void*>(&body)));
}

}  // namespace mote
