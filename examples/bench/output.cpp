// Tables with aligned columns; JSON through engine/io.
#include "examples/bench/output.h"

#include <algorithm>
#include <cmath>
#include <iostream>

#include "engine/base/number_text.h"
#include "engine/base/parallel.h"
#include "engine/io/files/file.h"
#include "engine/kernels/kernels.h"
#include "examples/program.h"

namespace bench {
namespace {

std::string cell(const Column& column, const mote::Json& value) {
  using Kind = mote::Json::Kind;
  if (value.is(Kind::null)) return "";
  if (column.as == As::text) return mote::JsonPlace(value).as_string();
  if (column.as == As::integer) return std::to_string(mote::JsonPlace(value).as_integer());
  const double x = mote::JsonPlace(value).as_number();
  if (column.as == As::share) return mote::fixed_text(100 * x, 0) + " %";
  // Four digits that count, without an exponent.
  const int digits = x == 0 || !std::isfinite(x) ? 0 : 3 - static_cast<int>(std::floor(std::log10(std::fabs(x))));
  return mote::fixed_text(x, std::clamp(digits, 0, 6));
}

}  // namespace

bool Common::parse(Options& options, int argc, char** argv, Output& out) {
  options.add("All measurements", *this);
  if (!options.parse({argc, argv})) return false;
  checked_usage([&] {
    mote::check_in("bench", seconds > 0 && seconds <= 3600, "--seconds ", seconds, " must be above 0 and at most 3600");
    if (threads != 0) mote::set_threads(static_cast<int>(std::clamp<mote::Index>(threads, -1, 1 << 20)));
  });
  out.open(json);
  return true;
}

void Output::open(const std::string& json) {
  path_ = json;
  if (!path_.empty() && path_ != "-") mote::check_output(path_);
}

void Output::table(const std::string& what, const std::string& title, std::vector<Column> columns) {
  what_ = what;
  columns_ = std::move(columns);
  if (!tables()) return;
  std::cout << (begun_ ? "\n" : "") << title << "\n";
  begun_ = true;
  widest_.clear(), sides_.clear();
  for (const Column& c : columns_) {
    widest_.push_back(c.title);
    widest_.back().resize(std::max<std::size_t>(c.title.size(), c.as == As::text ? 18 : 9), ' ');
    sides_ += c.as == As::text ? 'l' : 'r';
  }
  mote::TableRow titles;
  for (const Column& c : columns_) titles.push_back(c.title);
  print(titles);
}

void Output::row(const std::vector<mote::Json>& values) {
  mote::check_in("Output", values.size() == columns_.size(), "a row needs one value per column");
  mote::Json line = mote::Json::object({{"bench", what_},
                                        {"simd", mote::kernels::table().name},
                                        {"real", sizeof(mote::real) == 4 ? "float" : "double"},
                                        {"threads", mote::threads()}});
  mote::TableRow cells;
  for (std::size_t i = 0; i < values.size(); ++i) {
    cells.push_back(cell(columns_[i], values[i]));
    if (!values[i].is(mote::Json::Kind::null) && columns_[i].name != "threads") line.add(columns_[i].name, values[i]);
  }
  if (tables()) print(cells);
  if (!path_.empty()) lines_ += text_of(line) + "\n";
  if (path_ == "-") std::cout << std::exchange(lines_, "") << std::flush;
}

void Output::note(const std::string& text) {
  if (tables()) std::cout << text << "\n";
}

void Output::finish() {
  if (!path_.empty() && path_ != "-") mote::write_file(path_, lines_);
}

void Output::print(const mote::TableRow& cells) const {
  std::cout << mote::table_line(cells, widest_, sides_) << std::flush;
  if (!std::cout) fail_output();
}

}  // namespace bench
