// The measurements, each in a file of its own. Also the options and the tables that all measurements use.
#pragma once

#include <string>
#include <vector>

#include "engine/base/table.h"
#include "examples/programs/options.h"

namespace bench {

class Output;

/// A measurement reads its options and prints its tables. If the options ask for help, it only prints help. Errors: a
/// mistake in the options is a UsageError.
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
  /// Reads the command line, which has `options` and the options of this struct, and sets the number of threads.
  /// Returns false if help was printed. Errors: seconds that are not above 0 or are above 3600; a number of threads
  /// that set_threads refuses.
  bool parse(mote::Options& options, int argc, char** argv);
};

/// A cell of a table: a text, a count, a number with four significant digits, or nothing.
struct Cell : std::string {
  Cell() = default;
  Cell(const char* text) : std::string(text) {}
  Cell(std::string text) : std::string(std::move(text)) {}
  Cell(int n) : std::string(std::to_string(n)) {}
  Cell(mote::Index n) : std::string(std::to_string(n)) {}
  Cell(double x);
};
/// A share as a percentage: 0.52 is "52 %".
Cell share(double x);

/// Prints tables row by row on standard output. Errors: standard output cannot be written.
class Output {
 public:
  /// Begins a table. The first column holds names, and the other columns hold numbers.
  void table(const std::string& title, const mote::TableRow& columns);
  /// Prints a row with one cell per column.
  void row(const std::vector<Cell>& cells);
  /// Prints a sentence below the table.
  void note(const std::string& text);

 private:
  mote::TableRow widest_;  // for each column a text as wide as the column; empty before the first table
};

}  // namespace bench
