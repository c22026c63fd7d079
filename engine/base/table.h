// Tables for a reader: cells in aligned columns; the digits of a count in groups.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/real.h"

namespace mote {

/// 1234567 as "1,234,567".
std::string grouped(Index n);

using TableRow = std::vector<std::string>;

/// A line for each row, columns two blanks apart and as wide as their widest cell. `sides` has an l or an r for each
/// column, the side on which its cells stand; l where it ends. A row of one cell is a line between: no column is wider
/// for it.
std::string table_text(const std::vector<TableRow>& rows, std::string_view sides = "");

/// The line of one row, its columns as wide as the cells of `widest`: for a table that is shown while it grows.
std::string table_line(const TableRow& row, const TableRow& widest, std::string_view sides = "");

}  // namespace mote
