// Tables as text with aligned columns, and counts with their digits in groups.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/real.h"

namespace mote {

/// Formats a number with commas between groups of three digits: grouped(1234567) is "1,234,567".
std::string grouped(Index n);

/// The cells of one row of a table.
using TableRow = std::vector<std::string>;

/// The rows of a table as text, one line each. Columns are two spaces apart and as wide as their widest cell. `sides`
/// has an l or an r for each column, which aligns the cells left or right. Columns beyond the end of `sides` are
/// aligned left. A row of one cell is printed as a line of text and does not widen a column.
std::string table_text(const std::vector<TableRow>& rows, std::string_view sides = "");

/// The line of one row, for a table that is printed while it grows. Each column is as wide as its cell in `widest`.
std::string table_line(const TableRow& row, const TableRow& widest, std::string_view sides = "");

}  // namespace mote
