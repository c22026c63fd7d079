// How a Tracer turns the events of its thread into its list.
#include "engine/watch/tracer.h"

#include <algorithm>
#include <chrono>

namespace mote {
namespace {

Index bytes_of(const Array& x) { return x.defined() ? x.numel() * static_cast<Index>(sizeof(real)) : 0; }

}  // namespace

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void TraceCosts::add(const TraceCosts& x) {
  flops += x.flops;
  bytes += x.bytes;
  moved += x.moved;
  seconds += x.seconds;
  kept += x.kept;
  backward_flops += x.backward_flops;
  backward_moved += x.backward_moved;
  backward_seconds += x.backward_seconds;
}

void Tracer::event(const Event& e) {
  const double start = clock_(), now = start - own_seconds_;
  if (e.kind == Event::layer_opened) open_layer(*e.layer, now);
  if (e.kind == Event::layer_closed) close(e.layer, {}, now);
  if (e.kind == Event::op_opened) open_.push_back({e.op, now});
  if (e.kind == Event::op_recorded) record(e);
  if (e.kind == Event::op_closed) close(e.op, e.name, now);
  if (e.kind == Event::rule_opened) open_rule(e, now);
  if (e.kind == Event::gradient_sent) send(e);
  if (e.kind == Event::rule_closed) close_rule(now);
  if (open_.empty() && !rule_.open) all_closed();
  own_seconds_ += clock_() - start;
}

/// Appends an event, inside the innermost layer that is open, and returns its position.
std::size_t Tracer::append(TraceEvent event) {
  const auto layer = std::find_if(open_.rbegin(), open_.rend(), [](const Frame& f) { return f.layer; });
  if (layer != open_.rend()) {
    const TraceEvent& around = events_[layer->event];
    event.around = static_cast<std::ptrdiff_t>(layer->event);
    event.depth = around.depth + 1;
    if (event.is_op && !event.only_rule) {
      event.path = around.path;
      event.type = around.type;
    }
  }
  events_.push_back(std::move(event));
  return events_.size() - 1;
}

void Tracer::add_upwards(std::size_t event, const TraceCosts& costs) {
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(event); at >= 0;) {
    TraceEvent& here = events_[static_cast<std::size_t>(at)];
    here.add(costs);
    at = here.around;
  }
}

void Tracer::open_layer(const LayerScope& scope, double now) {
  TraceEvent e;
  e.type = e.name = scope.type(scope);
  describe(e, scope);
  const std::size_t event = append(std::move(e));
  open_.push_back({.scope = &scope, .start = now, .event = event, .layer = true});
}

void Tracer::record(const Event& e) {
  if (open_.empty() || open_.back().scope != e.op) return;  // the op was open before this trace began
  Frame& frame = open_.back();
  const bool view = is_view(e), own_result = !view && !frame.composed;
  OpCosts op = costs_of(e, frame.composed);
  TraceEvent made;
  made.is_op = true;
  made.name = e.name;
  made.output = e.result->shape();
  made.notes = op.notes;
  TraceCosts costs{.flops = op.forward, .kept = e.kept_bytes()};
  if (own_result) costs.bytes = costs.moved = bytes_of(*e.result);
  for (const Array* x : e.op->inputs()) {
    if (x->defined()) made.inputs.push_back(x->shape());
    if (own_result) costs.moved += bytes_of(*x);
  }
  const std::size_t event = append(std::move(made));
  add_upwards(event, costs);
  for (Frame& around : open_)
    if (!around.layer && &around != &frame) around.composed = true;
  frame.recorded = true;
  frame.event = event;
  if (!e.node) return;
  recorded_[e.node->id] = event;
  Notes& notes = make_notes(*e.node);
  if (notes.layer.empty()) notes.layer = events_[event].path;
  notes.layer_type = events_[event].type;
  notes.costs = std::move(op);
  notes.kept_bytes = costs.kept;
  notes.view = view;
}

void Tracer::open_rule(const Event& e, double now) {
  backward_ = true;
  const Notes* const notes = notes_of(*e.node);
  auto found = recorded_.find(e.node->id);
  if (found == recorded_.end()) {
    TraceEvent before;
    before.is_op = before.only_rule = true;
    before.name = e.name;
    before.output = e.node->shape;
    if (notes) {
      before.path = notes->layer;
      before.type = notes->layer_type;
    }
    found = recorded_.emplace(e.node->id, append(std::move(before))).first;
  }
  const Index reads = notes && !notes->view ? bytes_of(*e.dy) + notes->kept_bytes : 0;
  rule_ = {.event = found->second, .start = now, .not_read_yet = reads, .open = true};
}

void Tracer::send(const Event& e) {
  if (!rule_.open) return;
  const Notes* const notes = notes_of(*e.node);
  TraceCosts costs;
  costs.backward_flops = notes ? notes->costs.gradient(e.input) : e.node->shape.numel();
  if (notes && !notes->view && !e.dx->shares_storage(*e.dy))
    costs.backward_moved = bytes_of(*e.dx) + std::exchange(rule_.not_read_yet, 0);
  add_upwards(rule_.event, costs);
}

void Tracer::close_rule(double now) {
  if (!rule_.open) return;
  rule_.open = false;
  add_upwards(rule_.event, {.backward_seconds = now - rule_.start});
}

void Tracer::close(const void* scope, std::string_view op, double now) {
  const auto found = std::find_if(open_.rbegin(), open_.rend(), [&](const Frame& f) { return f.scope == scope; });
  if (found == open_.rend()) return;
  const Frame frame = *found;
  open_.resize(static_cast<std::size_t>(open_.rend() - found) - 1);
  const double seconds = now - frame.start;
  if (!open_.empty()) open_.back().inside += seconds;
  if (frame.layer)
    events_[frame.event].seconds = seconds;
  else if (frame.recorded)
    events_[frame.event].seconds = seconds - frame.inside;
  else
    unrecorded(op, seconds - frame.inside);
}

}  // namespace mote
