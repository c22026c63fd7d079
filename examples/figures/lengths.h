// The problems of lengths.cpp: additions, parities, copies and sorted symbols of any length, as rows of ids.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "train/tasks/task.h"

struct Problem {
  std::string name;
  int symbols, trained, asked, width;  // number of symbols; longest length in training; length of the last test; width
  int steps, plain_steps;
  bool sorts() const { return name == "sort"; }
  bool adds() const { return name == "addition"; }
};
/// A question, "=" and its answer. Each id has a place, and a target that the model predicts at this id (-1: none).
struct Row {
  std::vector<mote::Index> ids, places, targets;
};

/// Draws n different symbols from a range of symbols. The size and the middle of the range are random, so the symbols
/// of some rows are close together. With `anywhere` the range has all symbols. A range that would reach beyond the
/// first or the last symbol is moved inwards. If it were cut instead, the first and the last symbols would be so rare
/// that nearly all mistakes would be made at them.
inline std::vector<mote::Index> different(mote::Index symbols, mote::Index n, bool anywhere,
                                          const mote::Generator& random) {
  const mote::Index range = anywhere ? symbols : mote::random_ids(1, n, symbols + 1, random)[0];
  const mote::Index middle = mote::random_ids(1, 0, symbols, random)[0];
  const mote::Index low = std::clamp<mote::Index>(middle - range / 2, 0, symbols - range);
  std::vector<mote::Index> ids = random.randperm(range);
  ids.resize(static_cast<std::size_t>(n));
  for (mote::Index& id : ids) id += low;
  return ids;
}

/// A row of a problem. Numbers have their last digits first, and a 0 at the end. The answer of parity is the parity of
/// the bits so far, as a scratchpad. The digits of one power of ten in both numbers and in the sum have the same
/// place. A symbol and its copy also share a place, as do a bit and the parity up to it. With `hints`, sorting also
/// has a target at each symbol of the question: the next larger of the symbols before it, if there is one.
inline Row row_of(const Problem& p, mote::Index n, bool hints, const mote::Generator& random) {
  Row row;
  std::vector<mote::Index> answer;
  if (p.symbols > p.asked) {
    answer = row.ids = different(p.symbols, n, !hints, random);
    if (p.sorts()) std::sort(answer.begin(), answer.end());
  } else {
    const std::vector<mote::Index> a = mote::random_ids(n, 0, p.symbols, random),
                                   b = mote::random_ids(n, 0, p.symbols, random);
    mote::Index sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i, sum /= p.adds() ? 10 : 1)
      answer.push_back((sum += a[i] + (p.adds() ? b[i] : 0)) % p.symbols);
    row.ids = a;
    if (p.adds()) {
      answer.push_back(sum);
      row.ids.insert(row.ids.end(), {0, p.symbols + 1});
      row.ids.insert(row.ids.end(), b.begin(), b.end());
      row.ids.push_back(0);
    }
  }
  mote::Index place = 0;
  for (const mote::Index id : row.ids) row.places.push_back(place = id > p.symbols ? 0 : place + 1);
  row.targets.assign(row.ids.size(), -1);
  for (std::size_t i = 0; hints && i < row.ids.size(); ++i) {
    mote::Index& next = row.targets[i] = p.symbols;
    for (std::size_t j = 0; j < i; ++j)
      if (row.ids[j] > row.ids[i]) next = std::min(next, row.ids[j]);
    if (next == p.symbols) next = -1;
  }
  row.targets.insert(row.targets.end(), answer.begin(), answer.end());
  answer.insert(answer.begin(), p.symbols);
  answer.pop_back();  // the inputs: "=", and all symbols of the answer but the last
  for (place = 0; const mote::Index id : answer) {
    row.ids.push_back(id);
    row.places.push_back(place++);
  }
  return row;
}

struct Rows {
  mote::IntArray ids, targets;
  std::vector<mote::Index> places;
};
inline Rows rows_of(const Problem& p, mote::Index count, mote::Index n, bool hints, const mote::Generator& random) {
  std::vector<std::vector<mote::Index>> ids, targets;
  std::vector<mote::Index> places;
  for (mote::Index i = 0; i < count; ++i) {
    Row row = row_of(p, n, hints, random);
    ids.push_back(row.ids);
    targets.push_back(row.targets);
    places = row.places;
  }
  const mote::Index T = std::ssize(places);
  return {mote::stack_rows(ids, T), mote::stack_rows(targets, T), places};
}
