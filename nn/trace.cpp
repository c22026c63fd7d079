// The parts that Trace adds to Tracer: paths and parameters of modules, sums and the printed tree.
#include "nn/trace.h"

#include <ostream>
#include <set>

#include "engine/base/number_text.h"
#include "engine/base/table.h"

namespace mote {

void Trace::describe(TraceEvent& e, const LayerScope& scope) {
  if (scope.outer) {
    e.path = e.name = scope.path(scope);
    const std::string around = scope.outer->outer ? scope.outer->path(*scope.outer) + "." : "";
    if (e.name.starts_with(around)) e.name.erase(0, around.size());
  }
  e.weights = mote::parameters(*static_cast<const Module*>(scope.layer));
  for (const Parameter& p : e.weights) e.parameters += p.numel();
}

TraceCosts Trace::total(const std::string& path) const {
  TraceCosts sum;
  std::set<const Parameter::Cell*> seen;
  const auto within = [&path](const TraceEvent& e) { return e.path == path || e.path.starts_with(path + "."); };
  bool found = path.empty();
  for (const TraceEvent& e : events_) {
    const TraceEvent* const around = e.around < 0 ? nullptr : &events_[static_cast<std::size_t>(e.around)];
    if (path.empty() ? around != nullptr : e.is_op || !within(e) || (around && within(*around))) continue;
    found = true;
    sum.add(e);
    for (const Parameter& p : e.weights)
      if (seen.insert(p.id()).second) sum.parameters += p.numel();
  }
  check_in("trace", found, "no module '", path, "' was called in this trace");
  return sum;
}

void Trace::print(std::ostream& out, const TracePrint& options) const {
  std::vector<TableRow> rows{{"module or op", "shapes", "parameters", "FLOPs", "bytes"}};
  if (options.times) rows[0].push_back("us");
  if (backward_) rows[0].insert(rows[0].end(), {"kept", "back FLOPs"});
  if (backward_ && options.times) rows[0].push_back("back us");
  const auto add = [&](std::string label, std::string shapes, bool op, const auto& sums) {
    TableRow row{std::move(label), std::move(shapes), op ? "" : grouped(sums.parameters), grouped(sums.flops),
                 grouped(sums.bytes)};
    if (options.times) row.push_back(fixed_text(1e6 * sums.seconds, 1));
    if (backward_) row.insert(row.end(), {grouped(sums.kept), grouped(sums.backward_flops)});
    if (backward_ && options.times) row.push_back(fixed_text(1e6 * sums.backward_seconds, 1));
    rows.push_back(std::move(row));
  };
  for (const TraceEvent& e : events_) {
    if (e.depth >= options.depth || (options.show && !options.show(e))) continue;
    std::string label(static_cast<std::size_t>(2 * e.depth), ' '), shapes;
    label += e.is_op || e.name == e.type ? e.name : e.name + " (" + e.type + ")";
    for (const Shape& s : e.inputs) shapes += (shapes.empty() ? "" : ", ") + text_of(s);
    if (e.is_op) shapes += (shapes.empty() ? "-> " : " -> ") + text_of(e.output);
    for (const auto& [what, shape] : e.notes) shapes.append("; ").append(what).append(" ").append(text_of(shape));
    add(std::move(label), std::move(shapes), e.is_op, e);
  }
  add("total", "", false, total());
  out << table_text(rows, "llrrrrrrr");
}

}  // namespace mote
