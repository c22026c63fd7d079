// How a Trace fills its list of events and prints it.
#include "nn/trace.h"

#include <algorithm>
#include <chrono>
#include <ostream>
#include <set>

#include "engine/base/number_text.h"
#include "engine/io/text/table.h"

namespace mote {
namespace {

double clock_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// All but parameters, which are counted by who knows their ties.
void add(TraceCosts& sum, const TraceCosts& x) {
  sum.flops += x.flops;
  sum.bytes += x.bytes;
  sum.seconds += x.seconds;
  sum.kept += x.kept;
  sum.backward_flops += x.backward_flops;
  sum.backward_seconds += x.backward_seconds;
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

/// Notes an event inside the layer that is open.
std::size_t Trace::append(TraceEvent event) {
  const auto layer = std::find_if(open_.rbegin(), open_.rend(), [](const Frame& f) { return f.layer; });
  const bool inside = layer != open_.rend();
  if (inside) event.depth = events_[layer->event].depth + 1;
  if (inside && event.is_op && event.path.empty()) event.path = events_[layer->event].path;
  around_.push_back(inside ? static_cast<std::ptrdiff_t>(layer->event) : -1);
  events_.push_back(std::move(event));
  return events_.size() - 1;
}

void Trace::layer_opened(const LayerScope& scope) {
  const Bookkeeping mine(*this);
  const Module& module = *static_cast<const Module*>(scope.layer);
  TraceEvent e;
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
  e.name = op.op;
  e.output = op.result.shape();
  for (const auto& [what, shape] : op.notes) e.notes.emplace_back(what, shape);
  for (const Array* x : op.inputs)
    if (x->defined()) e.inputs.push_back(x->shape());
  const Index allocated = op.view || op.composed ? 0 : op.result.numel() * static_cast<Index>(sizeof(real));
  const TraceCosts costs{.flops = op.flops, .bytes = allocated, .kept = op.kept_bytes};
  const std::size_t event = append(std::move(e));
  upwards(event, [&](TraceEvent& here) { add(here, costs); });
  if (op.node) recorded_[op.node->id] = event;
  open_.back().recorded = true;
  open_.back().event = event;
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
void Trace::close(const void* scope) noexcept {
  const Bookkeeping mine(*this);
  const auto found = std::find_if(open_.rbegin(), open_.rend(), [&](const Frame& f) { return f.scope == scope; });
  if (found == open_.rend()) return;
  const Frame frame = *found;
  open_.resize(static_cast<std::size_t>(open_.rend() - found) - 1);
  const double seconds = mine.now() - frame.start;
  if (frame.layer || frame.recorded) events_[frame.event].seconds = seconds - (frame.layer ? 0 : frame.inside);
  if (!open_.empty()) open_.back().inside += seconds;
}

TraceCosts Trace::total(const std::string& path) const {
  TraceCosts sum;
  std::set<const Parameter::Cell*> seen;
  const auto within = [&path](const TraceEvent& e) { return e.path == path || e.path.starts_with(path + "."); };
  bool found = path.empty();
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const TraceEvent& e = events_[i];
    const TraceEvent* const around = around_[i] < 0 ? nullptr : &events_[static_cast<std::size_t>(around_[i])];
    if (path.empty() ? around != nullptr : e.is_op || !within(e) || (around && within(*around))) continue;
    found = true;
    add(sum, e);
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
