// Rows of ids, and grading.
#include "train/run/data.h"

#include <algorithm>

namespace mote {

bool Questions::right(Index n, const IntArray& given) const {
  check_in("right", given.shape() == answers.shape(), "answers ", given.shape(),
           " must have the shape of the expected ones, ", answers.shape());
  return row_of(given, n) == row_of(answers, n);
}

IntArray stack_rows(const std::vector<std::vector<Index>>& rows, Index length_of_none) {
  const std::size_t width = rows.empty() ? static_cast<std::size_t>(length_of_none) : rows[0].size();
  IntArray all({static_cast<Index>(rows.size()), static_cast<Index>(width)});
  Index* to = all.mutate();
  for (const std::vector<Index>& row : rows) {
    check_in("stack_rows", row.size() == width, "rows of ", width, " and of ", row.size(), " ids");
    to = std::copy(row.begin(), row.end(), to);
  }
  return all;
}

std::vector<Index> row_of(const IntArray& rows, Index n) {
  std::vector<Index> row;
  for (Index i = 0; i < rows.shape()[1]; ++i) row.push_back(rows.at({n, i}));
  return row;
}

}  // namespace mote
