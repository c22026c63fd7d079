// ChunkedLoop, one parallel loop over the elements of many arrays.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/base/parallel.h"
#include "engine/base/storage.h"

namespace mote::detail {

/// A list that a warm training step builds without a request to the system.
template <class T>
using StepList = std::vector<T, CachedAllocator<T>>;

/// Jobs, each on the elements of one array, `numel` of them, that run together, cut into chunks that never span two
/// arrays: a small model has dozens, each too small for a parallel loop of its own.
template <class Job>
class ChunkedLoop {
 public:
  explicit ChunkedLoop(Index chunk) : chunk_(chunk) {}
  /// Room for so many jobs, for which add() then needs no memory.
  void reserve(std::size_t jobs) {
    jobs_.reserve(jobs);
    first_.reserve(jobs + 1);
  }
  void add(Job job) {
    first_.push_back(chunks() + (job.numel + chunk_ - 1) / chunk_);
    elements_ += job.numel;
    jobs_.push_back(std::move(job));
  }
  void clear() {
    jobs_.clear();
    first_.resize(1);
    elements_ = 0;
  }
  StepList<Job>& jobs() { return jobs_; }
  const StepList<Job>& jobs() const { return jobs_; }
  /// The chunks of all jobs are numbered through; those of job i begin with this one, and end before first(i + 1).
  Index first(std::size_t i) const { return first_[i]; }
  Index chunks() const { return first_.back(); }

  /// Calls body(job, begin, count, number of the chunk) for every chunk, in parallel.
  template <class Body>
  void run(double nanoseconds_per_element, Body body) const {
    const double elements = static_cast<double>(elements_) / static_cast<double>(std::max<Index>(chunks(), 1));
    parallel_for(chunks(), grain_for(nanoseconds_per_element * elements), [&](Index lo, Index hi) {
      std::size_t i = static_cast<std::size_t>(std::upper_bound(first_.begin(), first_.end(), lo) - first_.begin()) - 1;
      for (Index c = lo; c < hi; ++c) {
        while (first_[i + 1] <= c) ++i;
        const Index begin = (c - first_[i]) * chunk_;
        body(jobs_[i], begin, std::min(chunk_, jobs_[i].numel - begin), c);
      }
    });
  }

 private:
  Index chunk_, elements_ = 0;
  StepList<Job> jobs_ = {};
  StepList<Index> first_ = {0};
};

}  // namespace mote::detail
