// Dataset: the split into held-out rows and rows to train on, batches, questions.
#include "train/run/dataset.h"

#include <algorithm>

#include "engine/base/math.h"
#include "engine/io/files/crc32.h"
#include "engine/io/files/elements.h"
#include "engine/ops/index.h"

namespace mote {
namespace {

Index rows_of(const AnyArray& all) {
  return std::visit([](const auto& x) { return x.rank() > 0 ? x.shape()[0] : Index(0); }, all);
}
AnyArray contiguous(const AnyArray& all) {
  return std::visit([](const auto& x) { return AnyArray(x.contiguous()); }, all);
}

}  // namespace

Dataset::Dataset(AnyArray inputs, AnyArray targets, Real held_out, std::string name)
    : inputs_(contiguous(inputs)), targets_(contiguous(targets)), name_(std::move(name)) {
  const Index N = rows_of(inputs_);
  check_in("Dataset", rows_of(targets_) == N, N, " rows of inputs need as many targets, not ", rows_of(targets_));
  check_in("Dataset", held_out >= 0 && held_out < 1, "held_out ", held_out, " must be at least 0 and below 1");
  const std::vector<Index> order = Generator(20260101).randperm(N);
  const auto test = static_cast<Index>(held_out * static_cast<double>(N));
  check_in("Dataset", test >= 1 && test < N, "held_out ", held_out, " of ", N, " rows are ", test,
           " rows: hold out at least one, and train on at least one");
  test_.assign(order.begin(), order.begin() + test);
  train_.assign(order.begin() + test, order.end());
  if (!graded()) return;
  const IntArray& classes = std::get<IntArray>(targets_);
  check_in("Dataset", classes.rank() == 1, "classes ", classes.shape(), " must be [N]");
  for (const Index c : classes.values()) {
    check_in("Dataset", c >= 0, "class ", c, " must be at least 0");
    class_count_ = std::max(class_count_, c + 1);
  }
}

std::string Dataset::description() const {
  return std::to_string(train_.size()) + " rows to train on, " + std::to_string(test_.size()) + " held out" +
         (graded() ? ", of " + std::to_string(class_count_) + " classes" : "");
}

std::vector<Field> Dataset::settings() const {
  std::uint32_t crc = 0;
  for (const AnyArray* const all : {&inputs_, &targets_}) {
    const std::string_view bytes = bytes_of(*all);
    crc = crc32(bytes.data(), bytes.size(), crc);
  }
  const auto shape = [](const AnyArray& all) {
    return std::visit([](const auto& x) { return text_of(x.shape()); }, all);
  };
  return {{"inputs", shape(inputs_), "", ""},
          {"targets", shape(targets_), "", ""},
          {"held_out", std::to_string(test_.size()), "", ""},
          {"data_crc32", std::to_string(crc), "", ""}};
}

Batch Dataset::rows(const std::vector<Index>& which) const {
  Batch b;
  const auto take = [&](const AnyArray& from, IntArray& ids, Array& values) {
    if (const IntArray* const x = std::get_if<IntArray>(&from)) ids = take_rows(*x, which);
    if (const Array* const x = std::get_if<Array>(&from)) values = take_rows(Tensor(*x), which).array();
  };
  take(inputs_, b.ids, b.values);
  take(targets_, b.targets, b.wanted);
  return b;
}

Batch Dataset::batch(Index size, Split split, const Generator& random) const {
  std::vector<Index> drawn(static_cast<std::size_t>(size));
  random.randint(drawn, 0, std::ssize(part(split)));
  for (Index& row : drawn) row = part(split)[static_cast<std::size_t>(row)];
  return rows(drawn);
}

std::vector<Batch> Dataset::held_out(Index size) const {
  std::vector<Batch> all;
  for (auto at = test_.begin(); at != test_.end();) {
    const auto end = at + std::min<std::ptrdiff_t>(size, test_.end() - at);
    all.push_back(rows({at, end}));
    at = end;
  }
  return all;
}

std::optional<double> Dataset::guessing_loss() const {
  if (!graded()) return {};
  return math::log(static_cast<double>(class_count_));
}

Questions Dataset::evaluation(Index count, Split split) const {
  if (!graded()) return {};
  const std::vector<Index>& all = part(split);
  const Batch b = rows({all.begin(), all.begin() + std::min<std::ptrdiff_t>(count, std::ssize(all))});
  return {b.ids, b.targets.reshape({b.targets.numel(), 1}), b.values};
}

std::string Dataset::question_text(const Questions&, Index n) const {
  return "row " + std::to_string(test_[static_cast<std::size_t>(n)]);
}

}  // namespace mote
