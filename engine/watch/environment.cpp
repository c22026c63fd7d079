// The observers that environment variables install: MOTE_DEBUG=1 (a line on stderr for every op), MOTE_CHECK=finite
// (the first NaN or new infinity is an error) and MOTE_PROFILE=1.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <optional>

#include "engine/base/env.h"
#include "engine/base/fork.h"
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

struct FiniteCheck : Observer {
  FiniteCheck() { watch(); }
  void op_recorded(const OpReport& op) override {
    const std::string shapes = shapes_of(op.inputs);
    bool infinite_input = op.infinity_on_purpose;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (!op.inputs[i]->defined()) continue;
      check(!has_nan(*op.inputs[i]), "input ", i, " already has a NaN: ", shapes);
      infinite_input = infinite_input || has_infinity(*op.inputs[i]);
    }
    check(!has_nan(op.result), "the result has a NaN: ", shapes, " -> ", op.result.shape());
    check(infinite_input || !has_infinity(op.result), "the result has an infinity: ", shapes, " -> ",
          op.result.shape());
  }
  void gradient_sent(const Node& node, std::size_t i, const Array& dx, const Array& dy) override {
    const Shape& shape = node.input(i)->shape;
    check(!has_nan(dx), "backward: the gradient for input ", i, " of shape ", shape, " has a NaN (dy ", dy.shape(), ")",
          in_layer(node));
    check(!has_infinity(dx) || has_infinity(dy), "backward: the gradient for input ", i, " of shape ", shape,
          " has an infinity (dy ", dy.shape(), ")", in_layer(node));
  }
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

const double program_start = now();

/// What the profiles of all threads add up to. Never destroyed: other threads may still run when the program ends.
ProfileTotals& program_totals() {
  static ProfileTotals* const totals = new ProfileTotals;
  return *totals;
}
[[maybe_unused]] const bool totals_over_fork =
    on_fork([] { program_totals().mutex.lock(); }, [] { program_totals().mutex.unlock(); });

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
