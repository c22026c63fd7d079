// The tables of a profile, and the limits of the machine beside which they stand.
#include <algorithm>
#include <ostream>

#include "engine/base/number_text.h"
#include "engine/base/parallel.h"
#include "engine/io/text/table.h"
#include "engine/watch/limits.h"
#include "engine/watch/profile.h"

namespace mote {
namespace {

/// The limits that a table needs, each measured once.
class Measured {
 public:
  double gflops() {
    if (gflops_ == 0) gflops_ = kernels::measure_multiply_adds(0.002);
    return gflops_;
  }
  double gbytes(double bytes) {
    double& known = gbytes_[kernels::level_of(bytes)];
    if (known == 0) known = kernels::ReadSpeed(kernels::typical_bytes(kernels::level_of(bytes))).measure(0.001);
    return known;
  }

 private:
  double gflops_ = 0;
  std::map<kernels::Level, double> gbytes_;
};

void print_table(std::ostream& out, const char* what, const std::map<std::string, ProfileLine>& lines, double all,
                 double own, Measured& limits) {
  std::vector<std::pair<std::string, ProfileLine>> sorted(lines.begin(), lines.end());
  const auto total = [](const ProfileLine& line) { return line.seconds + line.backward_seconds; };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const auto& a, const auto& b) { return total(a.second) > total(b.second); });
  const auto share = [&](double seconds) { return fixed_text(100 * seconds / all, 1) + " %"; };
  std::vector<TableRow> rows{
      {what, "calls", "forward ms", "backward ms", "of the time", "GFLOP/s", "GB/s", "of the limit"}};
  double inside = 0;
  for (const auto& [name, line] : sorted) {
    const double seconds = total(line);
    inside += seconds;
    TableRow row{name, std::to_string(line.calls), fixed_text(line.seconds * 1e3, 2),
                 fixed_text(line.backward_seconds * 1e3, 2), share(seconds)};
    if (seconds > 0 && line.bytes > 0) {
      const double gflops = line.flops / seconds * 1e-9, gbytes = line.bytes / seconds * 1e-9;
      const double calls = static_cast<double>(std::max<Index>(1, line.calls)) * (line.backward_seconds > 0 ? 2 : 1);
      const double reached = std::max(gflops / limits.gflops(), gbytes / limits.gbytes(line.bytes / calls));
      row.insert(row.end(), {fixed_text(gflops, 1), fixed_text(gbytes, 1), fixed_text(100 * reached, 1) + " %"});
    }
    rows.push_back(row);
  }
  const auto rest = [&](const std::string& name, double seconds) {
    rows.push_back({name, "", fixed_text(seconds * 1e3, 2), "", share(seconds)});
  };
  rest(std::string("outside any ") + what, all - own - inside);
  rest("MOTE_PROFILE itself", own);
  rest("all", all);
  out << table_text(rows, "lrrrrrrr");
}

}  // namespace

void ProfileTotals::print(std::ostream& out) {
  const std::lock_guard lock(mutex);
  Measured limits;
  out << "MOTE_PROFILE: " << fixed_text(seconds, 3) << " s of all threads that ran ops. The limit is what " << threads()
      << (threads() == 1 ? " thread does" : " threads do") << " now: " << fixed_text(limits.gflops(), 1)
      << " GFLOP/s, or reading as many bytes from the cache that holds them.\n\n";
  print_table(out, "op", ops, seconds, own_seconds, limits);
  if (layers.empty()) return;
  out << "\n";
  print_table(out, "layer", layers, seconds, own_seconds, limits);
}

}  // namespace mote
