// The measurements, one file each; and what they have in common: options, and tables that grow on standard output.
#pragma once

#include <string>
#include <vector>

#include "engine/base/table.h"
#include "examples/programs/options.h"

namespace bench {

class Output;

/// Reads its options and measures; nothing if they ask for help, which is then printed. Errors: a mistake in them is a
/// UsageError.
using Command = void(int argc, char** argv, Output& out);
Command limits, matmul, train, generate;

/// Options that all measurements have.
struct Common {
  double seconds = 0.2;
  mote::Index threads = 0;
  template <class V>
  void visit(V& v) {
    v("seconds", seconds, "about how long to measure each row");
    v("threads", threads, "how many; 0: as MOTE_THREADS says, else one per core");
  }
  /// Takes `options`, these among them, and sets threads; false if help was printed. Errors: seconds that are not above
  /// 0 or over an hour, threads that set_threads refuses.
  bool parse(mote::Options& options, int argc, char** argv);
};

/// What stands in a table: a text, a count, or a number with four digits that count; or nothing.
struct Cell : std::string {
  Cell() = default;
  Cell(const char* text) : std::string(text) {}
  Cell(std::string text) : std::string(std::move(text)) {}
  Cell(int n) : std::string(std::to_string(n)) {}
  Cell(mote::Index n) : std::string(std::to_string(n)) {}
  Cell(double x);
};
/// 0.52 as "52 %".
Cell share(double x);

/// Tables, which appear row by row. Errors: nobody receives them.
class Output {
 public:
  /// Begins a table. The first column is of names, the others are of numbers.
  void table(const std::string& title, const mote::TableRow& columns);
  /// One value per column.
  void row(const std::vector<Cell>& cells);
  /// A sentence below the table.
  void note(const std::string& text);

 private:
  mote::TableRow widest_;  // a cell of each column that is as wide as it; none: there is no table above
};

}  // namespace bench
