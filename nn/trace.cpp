// How a Trace fills its list of events and prints it.
#include "nn/trace.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iomanip>
#include <ostream>
#include <set>
#include <sstream>

namespace mote {
namespace {

double clock_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// FLOPs of an op that told none: so many for each number of its first input, or else one for each of its result.
Index work_of(const char* op, Index read, Index written) {
  struct Cost {
    const char* op;
    Index per_number_read;
  };
  constexpr Cost costs[] = {{"softmax", 5},  // maximum, difference, exp, sum, quotient
                            {"masked_softmax", 5},
                            {"log_softmax", 5},
                            {"cross_entropy", 5},
                            {"layer_norm", 7},  // mean, difference, square and sum, scale, weight, bias
                            {"rms_norm", 4},    // square and sum, scale, weight
                            {"var", 4},
                            {"mse_loss", 3},
                            {"rotary", 3},
                            {"sum", 1},
                            {"mean", 1},
                            {"max", 1},
                            {"min", 1},
                            {"reshape", 0},
                            {"contiguous", 0},
                            {"concat", 0},
                            {"stack", 0},
                            {"tril", 0},
                            {"triu", 0},
                            {"embedding", 0},
                            {"gather", 0}};
  for (const Cost& cost : costs)
    if (std::strcmp(cost.op, op) == 0) return cost.per_number_read * read;
  return written;
}

/// 1234567 as "1,234,567".
std::string grouped(Index n) {
  const std::string digits = std::to_string(n);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

}  // namespace

/// While one lives, the trace's clock stands still; now() is what it shows.
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

void Trace::layer_opened(const LayerScope& scope) {
  const Bookkeeping mine(*this);
  if (outer_) outer_->layer_opened(scope);
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
  parameters_[events_.size()] = std::move(held);
  open_.push_back({&scope, mine.now(), events_.size(), true});
  events_.push_back(std::move(e));
}

void Trace::op_opened(const Op& op) {
  const Bookkeeping mine(*this);
  if (outer_) outer_->op_opened(op);
  open_.push_back({&op, mine.now(), 0});
}

void Trace::op_flops(const Op& op, Index count) {
  if (outer_) outer_->op_flops(op, count);
  if (Frame* const frame = find(&op)) frame->flops = count;
}

void Trace::op_noted(const Op& op, const char* what, const Shape& shape) {
  const Bookkeeping mine(*this);
  if (outer_) outer_->op_noted(op, what, shape);
  if (Frame* const frame = find(&op)) frame->notes.emplace_back(what, shape);
}

void Trace::op_recorded(const Op& op, std::span<const Array* const> inputs, const Array& result) {
  const Bookkeeping mine(*this);
  if (outer_) outer_->op_recorded(op, inputs, result);
  Frame* const frame = find(&op);
  if (!frame) return;  // it was open before this trace began
  TraceEvent e;
  e.is_op = true;
  e.depth = depth();
  e.name = op.name();
  e.output = result.shape();
  e.notes = std::move(frame->notes);
  bool fresh = !frame->composed;
  for (const Array* x : inputs) {
    e.inputs.push_back(x->shape());
    fresh = fresh && !x->shares_storage(result);
  }
  if (fresh) {
    e.bytes = result.numel() * static_cast<Index>(sizeof(real));
    e.flops = work_of(op.name(), inputs.empty() ? 0 : inputs[0]->numel(), result.numel());
  }
  if (frame->flops >= 0) e.flops = frame->flops;
  for (Frame& around : open_) {
    if (!around.layer) {
      around.composed = around.composed || &around != frame;
      continue;
    }
    TraceEvent& module = events_[around.event];
    module.flops += e.flops;
    module.bytes += e.bytes;
    e.path = module.path;
  }
  frame->recorded = true;
  frame->event = events_.size();
  events_.push_back(std::move(e));
}

void Trace::layer_closed(const LayerScope& scope) noexcept {
  const Bookkeeping mine(*this);
  close(&scope, mine.now());
  if (outer_) outer_->layer_closed(scope);
}

void Trace::op_closed(const Op& op) noexcept {
  const Bookkeeping mine(*this);
  close(&op, mine.now());
  if (outer_) outer_->op_closed(op);
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
    if (path.empty() ? e.depth > 0 : !here) continue;
    found = true;
    inside = e.depth;
    sum.flops += e.flops;
    sum.bytes += e.bytes;
    sum.seconds += e.seconds;
    if (e.is_op) continue;
    for (const Parameter& p : parameters_.at(i))
      if (seen.insert(p.id()).second) sum.parameters += p.numel();
  }
  check_in("trace", found, "no module '", path, "' was called in this trace");
  return sum;
}

void Trace::print(std::ostream& out, const TracePrint& options) const {
  using Row = std::vector<std::string>;
  std::vector<Row> rows{{"module or op", "shapes", "parameters", "FLOPs", "bytes"}};
  if (options.times) rows[0].push_back("us");
  const auto add = [&](std::string label, std::string shapes, bool op, const auto& sums) {
    Row row{std::move(label), std::move(shapes), op ? "" : grouped(sums.parameters), grouped(sums.flops),
            grouped(sums.bytes)};
    if (options.times) {
      std::ostringstream time;
      time.imbue(std::locale::classic());
      time << std::fixed << std::setprecision(1) << sums.seconds * 1e6;
      row.push_back(time.str());
    }
    rows.push_back(std::move(row));
  };
  for (const TraceEvent& e : events_) {
    if (e.depth >= options.depth || (options.show && !options.show(e))) continue;
    std::string label(static_cast<std::size_t>(2 * e.depth), ' '), shapes;
    label += e.is_op || e.name == e.type ? e.name : e.name + " (" + e.type + ")";
    for (const Shape& s : e.inputs) shapes += (shapes.empty() ? "" : ", ") + Shape::text(s);
    if (e.is_op) shapes += (shapes.empty() ? "-> " : " -> ") + Shape::text(e.output);
    for (const auto& [what, shape] : e.notes) shapes.append("; ").append(what).append(" ").append(Shape::text(shape));
    add(std::move(label), std::move(shapes), e.is_op, e);
  }
  add("total", "", false, total());
  std::vector<std::size_t> widths(rows[0].size());
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string blank(widths[i] - row[i].size(), ' ');
      line += (i ? "  " : "") + (i < 2 ? row[i] + blank : blank + row[i]);
    }
    out << line << "\n";
  }
}

}  // namespace mote
