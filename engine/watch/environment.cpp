// The observers that environment variables install: MOTE_DEBUG=1 (a line on stderr for every op), MOTE_CHECK=finite
// (the first NaN or new infinity is an error; with MOTE_DEBUG=origin the error names the ops that led to it) and
// MOTE_PROFILE=1.
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>

#include "engine/base/env.h"
#include "engine/watch/profile.h"

namespace mote {
namespace {

std::string shapes_of(std::span<const Array* const> arrays) {
  std::string text = "(";
  for (const Array* x : arrays)
    text.append(text.size() == 1 ? "" : ", ").append(x->defined() ? text_of(x->shape()) : "none");
  return text.append(")");
}

struct DebugLines : Observer {
  DebugLines() { watch(); }
  void event(const Event& e) override {
    if (e.kind == Event::op_recorded) {
      const std::string layer = current_layer();
      if (e.node) note_layer(*e.node);
      std::cerr << layer + (layer.empty() ? "" : " ") + std::string(e.name) + shapes_of(e.op->inputs()) + " -> " +
                       text_of(e.result->shape()) + "\n";
    }
    if (e.kind == Event::rule_closed)
      std::cerr << "backward " + std::string(e.name) + " " + text_of(e.node->shape) + in_layer(*e.node) + "\n";
  }
};

bool has_nan(const Array& x) { return x.numel() > 0 && std::isnan(max(x).item()); }
bool has_infinity(const Array& x) { return x.numel() > 0 && std::isinf(max(map(kernels::table().abs, x)).item()); }

constexpr int steps_back = 4;

/// The ops that led to input i, as text: "; input 1 is from exp (in h.0) <- linear (in h.0.fc)". After each op comes
/// the op of its first input that has a node. The text is empty without MOTE_DEBUG=origin.
std::string made_by(const Node* node, std::size_t i) {
  std::string text;
  const auto first_input = [](const Node& n) {
    for (std::size_t k = 0; k < n.input_count(); ++k)
      if (n.input(k)) return n.input(k).get();
    return static_cast<Node*>(nullptr);
  };
  const Node* from = node && settings().origin ? node->input(i).get() : nullptr;
  for (int back = 0; from && back < steps_back; ++back, from = first_input(*from))
    text += (back > 0 ? " <- " : "; input " + std::to_string(i) + " is from ") + from->op + in_layer(*from);
  return text;
}

/// Whether an op makes infinities by design. masked_fill does, because it fills with -infinity before a softmax.
bool infinity_on_purpose(std::string_view op) { return op == "masked_fill"; }

struct FiniteCheck : Observer {
  FiniteCheck() { watch(); }
  void event(const Event& e) override {
    if (e.kind == Event::op_recorded) check_result(e);
    if (e.kind == Event::rule_opened && !sent_by_.contains(e.node->id)) sent_by_.clear();  // a new backward begins
    if (e.kind == Event::gradient_sent) check_gradient(e);
  }

 private:
  void check_result(const Event& e) const {
    if (e.node) note_layer(*e.node);
    const std::vector<const Array*> inputs = e.op->inputs();
    const std::string shapes = shapes_of(inputs);
    bool infinite_input = infinity_on_purpose(e.name);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i]->defined()) continue;
      check(!has_nan(*inputs[i]), "input ", i, " (counted from 0) already has a NaN: shapes ", shapes,
            made_by(e.node, i));
      infinite_input = infinite_input || has_infinity(*inputs[i]);
    }
    const char* const fresh = has_nan(*e.result)                           ? "a NaN"
                              : !infinite_input && has_infinity(*e.result) ? "an infinity"
                                                                           : nullptr;
    if (!fresh) return;
    std::string origins;
    for (std::size_t i = 0; i < inputs.size(); ++i) origins += made_by(e.node, i);
    check(false, "the result has ", fresh, ", but no input has one: shapes ", shapes, " -> ", e.result->shape(),
          origins);
  }
  void check_gradient(const Event& e) {
    const Node &node = *e.node, &to = *node.input(e.input);
    const bool nan = has_nan(*e.dx);
    check(!nan && (!has_infinity(*e.dx) || has_infinity(*e.dy)), "backward: the gradient for input ", e.input,
          " of shape ", to.shape, nan ? " has a NaN" : " has an infinity",
          " (dy, the gradient of the result, has shape ", e.dy->shape(), ")", in_layer(node), made_by(&node, e.input),
          dy_from(node));
    if (settings().origin) sent_by_[to.id] = {node.op + in_layer(node), node.id};
  }
  /// The ops that dy came from, as text: "; dy is from mul (in h.0) <- sum".
  std::string dy_from(const Node& node) const {
    std::string text;
    auto from = sent_by_.find(node.id);
    for (int back = 0; from != sent_by_.end() && back < steps_back; ++back, from = sent_by_.find(from->second.second))
      text += (back > 0 ? " <- " : "; dy is from ") + from->second.first;
    return text;
  }
  std::map<Index, std::pair<std::string, Index>> sent_by_;  // by node id: the op (text, id) that last sent that node dy
};

const double program_start = steady_seconds();

/// The sums of all threads' profiles. Never destroyed, because other threads may still run when the program ends.
ProfileTotals& program_totals() {
  static ProfileTotals* const totals = new ProfileTotals;
  return *totals;
}

}  // namespace

void watch_for_environment() {
  static thread_local struct {
    std::optional<DebugLines> debug;
    std::optional<FiniteCheck> finite;
    std::optional<Profile> profile;
  } mine;
  static std::atomic<bool> first{true};
  const Settings& asked = settings();
  thread_context.environment_read = true;  // set first, because watch() would call this function again
  mine.profile.reset();                    // needed if the settings are read again
  mine.finite.reset();
  mine.debug.reset();
  if (asked.profile) {
    [[maybe_unused]] static const int at_exit = std::atexit([] { program_totals().print(std::cerr); });
    const double start = first.exchange(false) ? program_start : steady_seconds();
    mine.profile.emplace(program_totals(), steady_seconds, start);
  }
  if (asked.check_finite) mine.finite.emplace();
  if (asked.debug) mine.debug.emplace();
}

}  // namespace mote
