// What lengths asks: additions, parities, copies and sorted symbols of any length, as rows to read.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "train/tasks/task.h"

struct Problem {
  std::string name;
  int symbols, trained, asked, width;  // how many symbols; the longest to train on; the length in the end
  int steps, plain_steps;
  bool sorts() const { return name == "sort"; }
  bool adds() const { return name == "addition"; }
};
/// A question, "=" and its answer: ids; what each belongs to; what to say at each, -1: nothing.
struct Row {
  std::vector<mote::Index> ids, places, targets;
};

/// Different symbols of a range around a symbol, both drawn, so that some are close. It is cut at the ends:
/// else the first and the last symbols would come so seldom that nearly all mistakes are made at them.
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

/// Numbers have their last digits first, and a 0 in the end; parity has the parity so far as scratchpad. A digit, the
/// other number's of the same power of ten and that of the sum have one place, as have a symbol and its copy, a bit and
/// the parity up to it. With `hints`, what sorting does at a symbol of the answer it also does at each of the question:
/// say the next larger of those before it, if there is one.
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
  answer.pop_back();  // "=", and all but the last
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
