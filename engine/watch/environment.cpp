// The observers that environment variables install: MOTE_DEBUG=1 (a line on stderr for every op), MOTE_CHECK=finite
// (the first NaN or new infinity is an error; with MOTE_DEBUG=origin it says what led to it) and MOTE_PROFILE=1.
#include <atomic>
#include <chrono>
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
  void op_recorded(const OpReport& op) override {
    const std::string layer = current_layer();
    std::cerr << layer + (layer.empty() ? "" : " ") + op.op + shapes_of(op.inputs) + " -> " +
                     text_of(op.result.shape()) + "\n";
  }
  void rule_closed(const Node& node) noexcept override {
    try {
      std::cerr << std::string("backward ") + node.op + " " + text_of(node.shape) + in_layer(node) + "\n";
    } catch (...) {  // no memory for the line: leave it out
    }
  }
};

bool has_nan(const Array& x) { return x.numel() > 0 && std::isnan(max(x).item()); }
bool has_infinity(const Array& x) { return x.numel() > 0 && std::isinf(max(map(kernels::table().abs, x)).item()); }

constexpr int steps_back = 4;

/// "; input 1 is from exp (in h.0) <- linear (in h.0.fc)": the ops that led to it, along the first inputs of each.
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

struct FiniteCheck : Observer {
  FiniteCheck() { watch(); }
  void op_recorded(const OpReport& op) override {
    const std::string shapes = shapes_of(op.inputs);
    bool infinite_input = op.infinity_on_purpose;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (!op.inputs[i]->defined()) continue;
      check(!has_nan(*op.inputs[i]), "input ", i, " already has a NaN: ", shapes, made_by(op.node, i));
      infinite_input = infinite_input || has_infinity(*op.inputs[i]);
    }
    const char* const fresh = has_nan(op.result)                           ? "a NaN: "
                              : !infinite_input && has_infinity(op.result) ? "an infinity: "
                                                                           : nullptr;
    if (!fresh) return;
    std::string origins;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) origins += made_by(op.node, i);
    check(false, "the result has ", fresh, shapes, " -> ", op.result.shape(), origins);
  }
  void rule_opened(const Node& node, const Array&) override {
    if (!sent_by_.contains(node.id)) sent_by_.clear();  // backward begins here
  }
  void gradient_sent(const Node& node, std::size_t i, const Array& dx, const Array& dy) override {
    const bool nan = has_nan(dx);
    check(!nan && (!has_infinity(dx) || has_infinity(dy)), "backward: the gradient for input ", i, " of shape ",
          node.input(i)->shape, nan ? " has a NaN (dy " : " has an infinity (dy ", dy.shape(), ")", in_layer(node),
          made_by(&node, i), dy_from(node));
    if (settings().origin) sent_by_[node.input(i)->id] = {node.op + in_layer(node), node.id};
  }

 private:
  /// "; dy is from mul (in h.0) <- sum".
  std::string dy_from(const Node& node) const {
    std::string text;
    auto from = sent_by_.find(node.id);
    for (int back = 0; from != sent_by_.end() && back < steps_back; ++back, from = sent_by_.find(from->second.second))
      text += (back > 0 ? " <- " : "; dy is from ") + from->second.first;
    return text;
  }
  std::map<Index, std::pair<std::string, Index>> sent_by_;  // by a node's id, who sent the newest part of its dy
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

const double program_start = now();

/// What the profiles of all threads add up to. Never destroyed: other threads may still run when the program ends.
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
  thread_context.asked = true;                                    // now: whoever starts to watch asks watching() first
  mine.profile.reset(), mine.finite.reset(), mine.debug.reset();  // when settings are read again
  if (asked.profile) {
    [[maybe_unused]] static const int at_exit = std::atexit([] { program_totals().print(std::cerr); });
    mine.profile.emplace(program_totals(), now, first.exchange(false) ? program_start : now());
  }
  if (asked.check_finite) mine.finite.emplace();
  if (asked.debug) mine.debug.emplace();
}

}  // namespace mote
