// Tables with aligned columns, and the options that all measurements have.
#include "examples/bench/output.h"

#include <algorithm>
#include <cmath>
#include <iostream>

#include "engine/base/number_text.h"
#include "engine/base/parallel.h"
#include "examples/programs/program.h"

namespace bench {

bool Common::parse(mote::Options& options, int argc, char** argv) {
  options.add("All measurements", *this);
  if (!options.parse({argc, argv})) return false;
  mote::checked_usage([&] {
    mote::check_in("bench", seconds > 0 && seconds <= 3600, "--seconds ", seconds, " must be above 0 and at most 3600");
    if (threads != 0) mote::set_threads(static_cast<int>(std::clamp<mote::Index>(threads, -1, 1 << 20)));
  });
  return true;
}

Cell::Cell(double x) {  // four significant digits, without an exponent
  const int digits = x == 0 || !std::isfinite(x) ? 0 : 3 - static_cast<int>(std::floor(std::log10(std::fabs(x))));
  assign(mote::fixed_text(x, std::clamp(digits, 0, 6)));
}

Cell share(double x) { return mote::fixed_text(100 * x, 0) + " %"; }

void Output::table(const std::string& title, const mote::TableRow& columns) {
  std::cout << (widest_.empty() ? "" : "\n") << title << "\n";
  widest_ = columns;
  for (std::string& cell : widest_) cell.resize(std::max<std::size_t>(cell.size(), &cell == &widest_[0] ? 18 : 9), ' ');
  row({columns.begin(), columns.end()});
}

void Output::row(const std::vector<Cell>& cells) {
  mote::check_in("Output", cells.size() == widest_.size(), "a row needs one value per column");
  std::string sides(cells.size(), 'r');
  sides[0] = 'l';
  note(mote::table_line({cells.begin(), cells.end()}, widest_, sides));
}

void Output::note(const std::string& text) {
  std::cout << text << (text.ends_with('\n') ? "" : "\n") << std::flush;
  if (!std::cout) mote::fail_output();
}

}  // namespace bench
