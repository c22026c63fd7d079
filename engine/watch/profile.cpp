// The sums and the tables of a Profile.
#include "engine/watch/profile.h"

#include <algorithm>
#include <ostream>

#include "engine/base/number_text.h"
#include "engine/base/table.h"

namespace mote {
namespace {

double time_of(const ProfileLine& line) { return line.seconds + line.backward_seconds; }

void print_table(std::ostream& out, const char* what, const std::map<std::string, ProfileLine>& lines, double all,
                 double own) {
  std::vector<std::pair<std::string, ProfileLine>> sorted(lines.begin(), lines.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return time_of(a.second) > time_of(b.second); });
  const auto share = [&](double seconds) { return fixed_text(100 * seconds / all, 1) + " %"; };
  std::vector<TableRow> rows{{what, "calls", "forward ms", "backward ms", "of the time", "GFLOP/s", "GB/s"}};
  double inside = 0;
  for (const auto& [name, line] : sorted) {
    const double seconds = time_of(line);
    const Index flops = line.flops + line.backward_flops, moved = line.moved + line.backward_moved;
    inside += seconds;
    TableRow row{name, std::to_string(line.calls), fixed_text(line.seconds * 1e3, 2),
                 fixed_text(line.backward_seconds * 1e3, 2), share(seconds)};
    if (seconds > 0 && moved > 0)
      for (const Index done : {flops, moved}) row.push_back(fixed_text(static_cast<double>(done) / seconds * 1e-9, 1));
    rows.push_back(row);
  }
  const auto rest = [&](const std::string& name, double seconds) {
    rows.push_back({name, "", fixed_text(seconds * 1e3, 2), "", share(seconds)});
  };
  rest(std::string("outside any ") + what, all - own - inside);
  rest("MOTE_PROFILE itself", own);
  rest("all", all);
  out << table_text(rows, "lrrrrrr");
}

}  // namespace

Profile::~Profile() {
  const std::lock_guard lock(totals_.mutex);
  totals_.seconds += now() - start_;
  totals_.own_seconds += own_seconds_;
}

void Profile::unrecorded(std::string_view op, double seconds) {
  const std::lock_guard lock(totals_.mutex);
  ProfileLine& line = totals_.ops[std::string(op)];
  ++line.calls;
  line.seconds += seconds;
}

/// Adds the costs of each op to the line of the op's name and to the line of its layer's class. The op's seconds go
/// only to the line of its name. The line of a layer's class gets the seconds of the layer, less those of the layers
/// inside it.
void Profile::all_closed() {
  const std::lock_guard lock(totals_.mutex);
  for (const TraceEvent& e : events_) {
    ProfileLine& line = (e.is_op ? totals_.ops : totals_.layers)[e.is_op ? e.name : e.type];
    line.calls += e.only_rule ? 0 : 1;
    if (e.is_op) {
      line.add(e);
      TraceCosts of_layer = e;
      of_layer.seconds = 0;
      if (!e.type.empty()) totals_.layers[e.type].add(of_layer);
    } else {
      line.seconds += e.seconds;
      if (e.around >= 0) totals_.layers[events_[static_cast<std::size_t>(e.around)].type].seconds -= e.seconds;
    }
  }
  clear();
}

void ProfileTotals::print(std::ostream& out) {
  const std::lock_guard lock(mutex);
  out << "MOTE_PROFILE: " << fixed_text(seconds, 3) << " s of all threads that ran ops.\n\n";
  print_table(out, "op", ops, seconds, own_seconds);
  if (layers.empty()) return;
  out << "\n";
  print_table(out, "layer", layers, seconds, own_seconds);
}

}  // namespace mote
