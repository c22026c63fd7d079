// What tasks share: grading, text, drawing from a split.
#include "train/tasks/task.h"

#include <algorithm>

namespace mote {

bool Questions::right(Index n, const IntArray& given) const {
  check_in("right", given.shape() == answers.shape(), "answers ", given.shape(),
           " must have the shape of the expected ones, ", answers.shape());
  return row_of(given, n) == row_of(answers, n);
}

std::string Task::text(std::span<const Index> ids) const {
  bool letters = true;
  for (Index id = 0; id < vocab_size() && letters; ++id) letters = word(id).size() == 1;
  std::string text;
  for (const Index id : ids) text.append(letters || text.empty() ? "" : " ").append(word(id));
  return text;
}

Index Task::looks_at(std::span<const Index>, Index) const { return -1; }
std::string Task::looks_text(const std::string& share) const {
  return share + " of its attention goes to the position that tells what comes next";
}

std::vector<Index> draw_sequence(Index symbols, Index length, Split split, const Generator& random) {
  std::vector<Index> s(static_cast<std::size_t>(length));
  do random.randint(s, 0, symbols);
  while (split_of(s) != split);
  return s;
}

void check_splits(const char* task, Index symbols, Index length,
                  const std::function<std::vector<Index>(const std::vector<Index>&)>& question) {
  std::vector<Index> s(static_cast<std::size_t>(length), 0);
  bool train = false, test = false;
  for (int tried = 0; tried < 1000 && !(train && test); ++tried) {
    (split_of(question(s)) == Split::train ? train : test) = true;
    std::size_t place = 0;
    while (place < s.size() && ++s[place] == symbols) s[place++] = 0;
    if (place == s.size()) break;  // that was the last one
  }
  check_in(task, train && test, "with ", symbols, " symbols and length ", length,
           " there are too few sequences to hold some out");
}

IntArray stack_rows(const std::vector<std::vector<Index>>& rows) {
  const std::size_t width = rows.empty() ? 0 : rows[0].size();
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

std::string symbol_word(Index id, Index symbols) {
  return symbols <= 26 ? std::string(1, static_cast<char>('a' + id)) : std::to_string(id);
}

}  // namespace mote
