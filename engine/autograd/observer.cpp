// The chain of a thread's observers, and the two that environment variables install: MOTE_DEBUG=1 (a line on stderr for
// every op) and MOTE_CHECK=finite (the first NaN or new infinity is an error).
#include "engine/autograd/observer.h"

#include <cmath>
#include <iostream>

#include "engine/autograd/node.h"

namespace mote {

void Observer::watch() {
  for (const Observer* o = thread_context.observer; o; o = o->around_)
    if (o == this) return;
  around_ = thread_context.observer;
  thread_context.observer = this;
}

Observer::~Observer() {
  for (Observer** o = &thread_context.observer; *o; o = &(*o)->around_)
    if (*o == this) {
      *o = around_;
      return;
    }
}

bool Watchers::want(const char* value) {
  for (const Observer* o = thread_context.observer; o; o = o->around_)
    if (o->wants(value)) return true;
  return false;
}

namespace {

std::string shapes_of(std::span<const Array* const> arrays) {
  std::string text = "(";
  for (const Array* x : arrays)
    text.append(text.size() == 1 ? "" : ", ").append(x->defined() ? text_of(x->shape()) : "none");
  return text.append(")");
}

std::string in_layer(const Node& node) {
  return node.recorded && !node.recorded->layer.empty() ? " (in " + node.recorded->layer + ")" : "";
}

struct DebugLines : Observer {
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

}  // namespace

Observer& Watchers::debug_lines() {
  static DebugLines lines;
  return lines;
}
Observer& Watchers::finite_check() {
  static FiniteCheck check;
  return check;
}

}  // namespace mote
