// DataLoader, which draws the same batches of row indices as PyTorch's DataLoader, and random_split.
#pragma once

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <vector>

#include "engine/array/random.h"
#include "engine/ops/index.h"

namespace mote {

/// The options of a DataLoader, with PyTorch's names and defaults.
struct DataLoaderOptions {
  Index batch_size = 1;
  bool shuffle = false;
  bool drop_last = false;                   ///< leave out a last batch that is shorter than the others
  bool replacement = false;                 ///< draw with replacement, as RandomSampler(data, replacement=True)
  std::optional<Index> num_samples = {};    ///< rows per epoch, only with replacement; default: dataset_size
  std::optional<Generator> generator = {};  ///< PyTorch's generator=g: the stream to draw from instead of `random`
};

/// Makes batches of row indices. Each index from 0 to dataset_size - 1 comes once per epoch, unless `replacement` is
/// true.
///
///     const DataLoader loader(x.size(0), {.batch_size = 32, .shuffle = true}, random);
///     for (int epoch = 0; epoch < 10; ++epoch)
///       for (const std::vector<Index>& rows : loader) train(take_rows(x, rows), take_rows(y, rows));
///
/// `random` takes the place of PyTorch's global random stream, which torch.manual_seed seeds. A loop draws the
/// following numbers, in this order. n is dataset_size.
///
///     begin()                 draws random_int64, shuffled or not (PyTorch's base seed for its workers)
///     the first batch         with shuffle: draws random_int64 again. The number seeds a new Generator, whose
///                             randperm(n) is the order of the rows. The loop draws this number when it reads the
///                             first batch. So numbers that the caller draws between begin() and that batch come
///                             earlier. PyTorch does the same between iter(loader) and next().
///     with .generator = g     g takes the place of `random` and of the new Generator, so g.randperm(n) is the order of
///                             the rows. When the rows run out, another g.randperm(n) is drawn, as in PyTorch 1.13
///                             and 2. It is drawn with the last batch if that batch is short, otherwise at the end of
///                             the loop. A loop that ends earlier by break does not draw it.
///
///     with .replacement       draws the seed of the new Generator as with shuffle. The new Generator, or g, draws the
///                             rows by randint instead of randperm(n), 32 rows at a time.
///
/// Every epoch has an order of its own. After a loop that ends early, the streams are in the same state as PyTorch's
/// would be. An epoch is read once, front to back. Several epochs can run at once, and each draws when it needs
/// numbers. Errors: a batch_size below 1, a dataset_size below 0, shuffle without rows (an error in PyTorch, too),
/// replacement without rows, shuffle and replacement together, num_samples below 0 or without replacement, neither
/// `random` nor a generator. A dataset_size of 0 without shuffle and replacement gives no batches.
class DataLoader {
 public:
  class Iterator;

  DataLoader(Integer dataset_size, const DataLoaderOptions& options, const std::optional<Generator>& random = {})
      : size_(dataset_size),
        options_(options),
        random_(options.generator ? *options.generator : random.value_or(Generator(0))) {
    check_in(
        "data_loader", options.generator || random,
        options.shuffle ? "shuffle needs a Generator" : "an epoch draws a seed from a Generator, even without shuffle",
        ": pass one, or set options.generator");
    check_in("data_loader", dataset_size >= 0, "dataset_size ", dataset_size, " must be at least 0");
    check_in("data_loader", options.batch_size >= 1, "batch_size ", options.batch_size, " must be at least 1");
    check_in("data_loader", dataset_size > 0 || !(options.shuffle || options.replacement),
             "dataset_size 0 must be at least 1 for shuffle and replacement");
    check_in("data_loader", !options.shuffle || !options.replacement,
             "shuffle draws each row once, replacement any number of times: choose one");
    check_in("data_loader", options.replacement || !options.num_samples, "num_samples needs replacement = true");
    check_in("data_loader", options.num_samples.value_or(0) >= 0, "num_samples ", options.num_samples.value_or(0),
             " must be at least 0");
  }
  /// The number of batches per epoch, PyTorch's len(loader).
  Index size() const {
    const Index n = samples();
    return n / options_.batch_size + (!options_.drop_last && n % options_.batch_size != 0 ? 1 : 0);
  }

  /// Starts an epoch.
  Iterator begin() const;
  std::default_sentinel_t end() const { return {}; }

 private:
  /// The number of rows in an epoch.
  Index samples() const { return options_.num_samples.value_or(size_); }

  Index size_;
  DataLoaderOptions options_;
  Generator random_;
};

/// The iterator of one epoch. Copies share one position. A checkpoint (train/keep/checkpoint.h) may contain the
/// iterator and the stream that it draws from. A run that is resumed from it goes on with the very next batch.
///
///     run.add("random", random);
///     run.add("batches", batches);
class DataLoader::Iterator {
 public:
  explicit Iterator(const DataLoader& loader) : epoch_(std::make_shared<Epoch>(loader)) {
    static_cast<void>(loader.random_.random_int64());
  }
  /// The current batch, empty at the end of the epoch.
  const std::vector<Index>& operator*() const { return epoch_->batch(); }
  Iterator& operator++() {
    static_cast<void>(epoch_->batch());  // draws a batch that the caller has not read, to skip it
    epoch_->fetched = false;
    return *this;
  }
  friend bool operator==(const Iterator& it, std::default_sentinel_t) { return (*it).empty(); }

  /// The state of the epoch, for checkpoints. The loader's options are visited as const, so that a checkpoint compares
  /// them instead of restoring them.
  template <class V>
  void visit(V& v) {
    const DataLoader& loader = epoch_->loader;
    v("dataset_size", loader.size_, "rows");
    v("batch_size", loader.options_.batch_size, "rows per batch");
    v("shuffle", loader.options_.shuffle, "");
    v("drop_last", loader.options_.drop_last, "");
    if (loader.options_.replacement) {
      v("samples", epoch_->samples, "rows in the epoch");
      v("seed", epoch_->seed, "of the rows' own Generator, once it is drawn");
    }
    v("order", epoch_->order, "of the rows, once it is drawn; with replacement what is left of the last 32");
    v("next", epoch_->next, "the first row that is not in a batch yet");
    v("fetched", epoch_->fetched, "whether the batch is drawn");
    v("rows", epoch_->rows, "of that batch");
    v("finished", epoch_->finished, "whether it is the last");
  }

 private:
  struct Epoch {
    explicit Epoch(const DataLoader& l) : loader(l), samples(l.samples()) {}

    const std::vector<Index>& batch() {
      if (!fetched) fetch();
      fetched = true;
      return rows;
    }
    void fetch() {
      const DataLoaderOptions& o = loader.options_;
      rows.clear();
      if (finished) return;
      if (o.shuffle && next == 0) order = shuffled();
      check_in("data_loader", next >= 0 && next <= samples, "the restored position ", next, " is outside an epoch of ",
               samples, " rows: restore a state of the same data and options");
      check_in("data_loader", !o.shuffle || Index(order.size()) == loader.size_,
               "the restored epoch is damaged: its position is ", next, ", but its order lists ", order.size(),
               " of the ", loader.size_, " rows");
      const Index count = std::min(o.batch_size, samples - next);
      if (count == o.batch_size || !o.drop_last)
        for (Index i = next; i < next + count; ++i)
          rows.push_back(o.shuffle ? order[static_cast<std::size_t>(i)] : o.replacement ? drawn(i) : i);
      next += count;
      finished = count < o.batch_size;
      if (finished && o.shuffle && o.generator) static_cast<void>(loader.random_.randperm(loader.size_));
    }
    std::vector<Index> shuffled() const {
      const Generator& random = loader.random_;
      if (loader.options_.generator) return random.randperm(loader.size_);
      const Generator fresh(random.random_int64());
      fresh.set_build(random.build());
      return fresh.randperm(loader.size_);
    }

    /// Returns row i of an epoch with replacement. Rows are drawn 32 at a time. The last draw has only the rows that
    /// are left.
    Index drawn(Index i) {
      constexpr Index at_once = 32;
      if (i == 0 && !loader.options_.generator) seed = loader.random_.random_int64();
      if (i % at_once == 0) {
        order.resize(static_cast<std::size_t>(std::min(at_once, samples - i)));
        stream_at(i).randint(order, 0, loader.size_);
        drawn_rows = i + std::ssize(order);
      }
      return order[static_cast<std::size_t>(i % at_once)];
    }
    /// Returns the stream that row i is drawn from, in its state after the draws of all earlier rows. In a restored
    /// epoch the earlier draws are repeated to reach this state.
    const Generator& stream_at(Index i) {
      if (loader.options_.generator) return loader.random_;
      if (!own || drawn_rows != i || own->get_state().seed != static_cast<std::uint64_t>(seed)) {
        own.emplace(seed);
        own->set_build(loader.random_.build());
        std::vector<Index> before(static_cast<std::size_t>(i));
        own->randint(before, 0, loader.size_);
      }
      return *own;
    }

    const DataLoader loader;  // a copy, with handles to the same streams
    Index samples, seed = 0;
    std::optional<Generator> own = {};  // draws rows with replacement; it has drawn `drawn_rows` rows so far
    Index drawn_rows = 0;
    std::vector<Index> order, rows;
    Index next = 0;
    bool fetched = false, finished = false;
  };
  std::shared_ptr<Epoch> epoch_;
};

inline DataLoader::Iterator DataLoader::begin() const { return Iterator(*this); }

/// Splits the row indices 0 to dataset_size - 1 at random into parts of these lengths. The parts are pieces of
/// random.randperm(dataset_size), as in PyTorch's random_split(dataset, lengths, generator). Without a generator
/// PyTorch draws from its global stream. A length may be 0. Errors: a length below 0, lengths that do not add up to
/// dataset_size.
inline std::vector<std::vector<Index>> random_split(Integer dataset_size, const std::vector<Index>& lengths,
                                                    const Generator& random) {
  Index left = dataset_size;
  for (const Index length : lengths) {
    check_in("random_split", length >= 0, "length ", length, " must be at least 0");
    check_in("random_split", length <= left, "lengths ", lengths, " add up to more than the ", dataset_size,
             " rows of the dataset");
    left -= length;
  }
  check_in("random_split", left == 0, "lengths ", lengths, " leave ", left, " of ", dataset_size,
           " rows without a part");
  const std::vector<Index> order = random.randperm(dataset_size);
  std::vector<std::vector<Index>> parts;
  auto at = order.begin();
  for (const Index length : lengths) {
    parts.emplace_back(at, at + length);
    at += length;
  }
  return parts;
}

}  // namespace mote
