// Formats the rows of a table as lines of padded cells.
#include "engine/base/table.h"

#include <algorithm>

namespace mote {

std::string grouped(Index n) {
  std::string text = std::to_string(n);
  const std::size_t first = n < 0 ? 4 : 3;  // a sign is no digit
  for (std::size_t at = text.size(); at > first; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::string table_text(const std::vector<TableRow>& rows, std::string_view sides) {
  TableRow widest(1);
  for (const TableRow& row : rows) {
    if (row.size() == 1) continue;
    widest.resize(std::max(widest.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      if (row[i].size() > widest[i].size()) widest[i] = row[i];
  }
  std::string text;
  for (const TableRow& row : rows) text += table_line(row, widest, sides);
  return text;
}

std::string table_line(const TableRow& row, const TableRow& widest, std::string_view sides) {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::string blank(std::max(widest[i].size(), row[i].size()) - row[i].size(), ' ');
    const bool right = i < sides.size() && sides[i] == 'r';
    line += (i > 0 ? "  " : "") + (right ? blank + row[i] : row[i] + blank);
  }
  return line.erase(line.find_last_not_of(' ') + 1) + "\n";
}

}  // namespace mote
