// How a Trace fills its list of events and prints it.
#include "nn/trace.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ostream>
#include <set>

#include "engine/base/number_text.h"
#include "engine/io/text/table.h"

namespace mote {
namespace {

double clock_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

/// Stops the trace's clock during its lifetime; now() is the time it shows.
class Trace::Bookkeeping {
 public:
  explicit Bookkeeping(Trace& trace) : trace_(trace), start_(clock_now()) {}
  ~Bookkeeping() { trace_.own_seconds_ += clock_now() - start_; }
  Bookkeeping(const Bookkeeping&) = delete;
  double now() const { return start_ - trace_.own_seconds_; }

 private:
  Trace& trace_;
  double start_;
};

Trace::Frame* Trace::find(const void* scope) {
  const auto found = std::find_if(open_.rbegin(), open_.rend(), [&](const Frame& f) { return f.scope == scope; });
  return found == open_.rend() ? nullptr : &*found;
}

int Trace::depth() const {
  return static_cast<int>(std::count_if(open_.begin(), open_.end(), [](const Frame& f) { return f.layer; }));
}

std::size_t Trace::append(TraceEvent event) {
  std::ptrdiff_t around = -1;
  for (const Frame& f : open_)
    if (f.layer) around = static_cast<std::ptrdiff_t>(f.event);
  around_.push_back(around);
  events_.push_back(std::move(event));
  return events_.size() - 1;
}

void Trace::layer_opened(const LayerScope& scope) {
  const Bookkeeping mine(*this);
  const Module& module = *static_cast<const Module*>(scope.layer);
  TraceEvent e;
  e.depth = depth();
  e.type = e.name = module.type_name();
  if (scope.outer) {
    e.path = e.name = scope.path(scope);
    const std::string around = scope.outer->outer ? scope.outer->path(*scope.outer) + "." : "";
    if (e.name.rfind(around, 0) == 0) e.name.erase(0, around.size());
  }
  std::vector<Parameter> held = mote::parameters(module);
  for (const Parameter& p : held) e.parameters += p.numel();
  const std::size_t event = append(std::move(e));
  parameters_[event] = std::move(held);
  open_.push_back({&scope, mine.now(), event, true});
}

void Trace::op_opened(const Op& op) {
  const Bookkeeping mine(*this);
  open_.push_back({&op, mine.now(), 0});
}

void Trace::op_recorded(const OpReport& op) {
  const Bookkeeping mine(*this);
  if (open_.empty() || open_.back().layer) return;  // it was open before this trace began
  TraceEvent e;
  e.is_op = true;
  e.depth = depth();
  e.name = op.op;
  e.output = op.result.shape();
  e.kept = op.kept_bytes;
  for (const auto& [what, shape] : op.notes) e.notes.emplace_back(what, shape);
  for (const Array* x : op.inputs)
    if (x->defined()) e.inputs.push_back(x->shape());
  if (!op.view && !op.composed) e.bytes = op.result.numel() * static_cast<Index>(sizeof(real));
  e.flops = op.flops;
  for (const Frame& around : open_)
    if (around.layer) e.path = events_[around.event].path;
  const Index flops = e.flops, bytes = e.bytes, kept = e.kept;
  const std::size_t event = append(std::move(e));
  if (around_[event] >= 0)
    upwards(static_cast<std::size_t>(around_[event]), [&](TraceEvent& module) {
      module.flops += flops;
      module.bytes += bytes;
      module.kept += kept;
    });
  if (op.node) recorded_[op.node->id] = event;
  open_.back().recorded = true;
  open_.back().event = event;
}

void Trace::layer_closed(const LayerScope& scope) noexcept {
  const Bookkeeping mine(*this);
  close(&scope, mine.now());
}

void Trace::op_closed(const Op& op) noexcept {
  const Bookkeeping mine(*this);
  close(&op, mine.now());
}

void Trace::rule_opened(const Node& node, const Array&) {
  const Bookkeeping mine(*this);
  backward_ = true;
  const auto found = recorded_.find(node.id);
  if (found != recorded_.end()) {
    rule_ = found->second;
  } else {
    TraceEvent e;
    e.is_op = true;
    e.name = node.op;
    e.output = node.shape;
    if (recorded(node)) e.path = recorded(node)->layer;
    rule_ = recorded_[node.id] = append(std::move(e));
  }
  rule_start_ = mine.now();
}

void Trace::gradient_sent(const Node& node, std::size_t i, const Array&, const Array&) {
  const Bookkeeping mine(*this);
  Index flops = recorded(node) ? recorded(node)->flops : node.shape.numel();
  if (recorded(node) && !recorded(node)->gradient_flops.empty())
    flops = i < recorded(node)->gradient_flops.size() ? recorded(node)->gradient_flops[i] : 0;
  upwards(rule_, [&](TraceEvent& e) { e.backward_flops += flops; });
}

void Trace::rule_closed(const Node&) noexcept {
  const Bookkeeping mine(*this);
  const double seconds = mine.now() - rule_start_;
  upwards(rule_, [&](TraceEvent& e) { e.backward_seconds += seconds; });
}

/// Closes `scope` and whatever is still open inside it.
void Trace::close(const void* scope, double now) noexcept {
  const Frame* const frame = find(scope);
  if (!frame) return;
  const double seconds = now - frame->start;
  if (frame->layer)
    events_[frame->event].seconds = seconds;
  else if (frame->recorded)
    events_[frame->event].seconds = seconds - frame->inside;
  while (&open_.back() != frame) open_.pop_back();
  open_.pop_back();
  if (!open_.empty()) open_.back().inside += seconds;
}

TraceTotal Trace::total(const std::string& path) const {
  TraceTotal sum;
  std::set<const Parameter::Cell*> seen;
  bool found = path.empty();
  int inside = -1;  // the depth of the matching module that the events are inside of
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const TraceEvent& e = events_[i];
    if (inside >= 0 && e.depth > inside) continue;
    inside = -1;
    const bool here = !e.is_op && (e.path == path || e.path.rfind(path + ".", 0) == 0);
    if (!path.empty() && !here) continue;
    found = true;
    inside = e.depth;
    sum.flops += e.flops;
    sum.bytes += e.bytes;
    sum.seconds += e.seconds;
    sum.kept += e.kept;
    sum.backward_flops += e.backward_flops;
    sum.backward_seconds += e.backward_seconds;
    if (e.is_op) continue;
    for (const Parameter& p : parameters_.at(i))
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
