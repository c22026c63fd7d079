// The measurements, one file each; and what they have in common: options, and what they print, a table on standard
// output, and the same rows as lines of JSON.
#pragma once

#include <string>
#include <vector>

#include "engine/io/text/json.h"
#include "engine/io/text/table.h"
#include "examples/options.h"

namespace bench {

class Output;

/// Reads its options and measures; nothing if they ask for help, which is then printed. Errors: a mistake in them is a
/// UsageError.
using Command = void(int argc, char** argv, Output& out);
Command limits, matmul, ops, train, generate, memory, overhead;

/// Options that all measurements have.
struct Common {
  std::string json = {};
  double seconds = 0.2;
  mote::Index threads = 0;
  template <class V>
  void visit(V& v) {
    v("json", json, "a file for the rows as lines of JSON; -: standard output, instead of the table");
    v("seconds", seconds, "about how long to measure each row");
    v("threads", threads, "how many; 0: as MOTE_THREADS says, else one per core");
  }
  /// Takes `options`, these among them, and sets threads and output; false if help was printed. Errors: seconds that
  /// are not above 0 or over an hour, threads that set_threads refuses, a file that cannot be written.
  bool parse(Options& options, int argc, char** argv, Output& out);
};

enum class As { text, integer, number, share };
struct Column {
  std::string name;  ///< in JSON
  std::string title;
  As as = As::number;
};

/// All rows of a program. Tables appear row by row, the file of JSON when finish() is called, whole or not at all.
class Output {
 public:
  /// Errors: a file that cannot be written.
  void open(const std::string& json);
  /// Begins a table. `what` is the name of the measurement in JSON.
  void table(const std::string& what, const std::string& title, std::vector<Column> columns);
  /// One value per column; null leaves its cell empty and its member out.
  void row(const std::vector<mote::Json>& values);
  /// A sentence below the table.
  void note(const std::string& text);
  void finish();

 private:
  bool tables() const { return path_ != "-"; }
  void print(const mote::TableRow& cells) const;
  std::string path_, what_, lines_, sides_;
  mote::TableRow widest_;  // a cell of each column that is as wide as it
  bool begun_ = false;     // is there a table above?
  std::vector<Column> columns_;
};

}  // namespace bench
