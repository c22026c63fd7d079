// The chain of a thread's observers: all of them are notified of what the core reports to its one Watch.
#include "engine/watch/observer.h"

#include <algorithm>

namespace mote {
namespace {

constinit thread_local Observer* innermost = nullptr;

}  // namespace

class Watchers final : public Watch {
 public:
  static Watchers& of_this_thread() {
    static thread_local Watchers mine;
    return mine;
  }
  void layer_opened(const LayerScope& scope) override {
    open([&](Observer& o) { o.layer_opened(scope); }, [&](Observer& o) { o.layer_closed(scope); });
  }
  void layer_closed(const LayerScope& scope) noexcept override {
    notify([&](Observer& o) { o.layer_closed(scope); });
  }
  void op_opened(const Op& op) override {
    stated_.reserve(stated_.size() + 1);
    open([&](Observer& o) { o.op_opened(op); }, [&](Observer& o) { o.op_closed(op); });
    stated_.emplace_back();
  }
  void flops(Index forward, std::initializer_list<Index> per_gradient) override {
    stated_.back().flops = forward;
    stated_.back().gradient_flops = per_gradient;
  }
  void note(const char* what, const Shape& shape) override { stated_.back().notes.emplace_back(what, shape); }
  void infinity_on_purpose() override { stated_.back().infinity_on_purpose = true; }
  bool wants(const char* value) const override {
    return any([&](const Observer& o) { return o.wants(value); });
  }
  void show(const char* value, const Tensor& x) override {
    notify([&](Observer& o) {
      if (o.wants(value)) o.value_shown(value, x);
    });
  }
  bool changes(const char* value) const override {
    return any([&](const Observer& o) { return o.changes(value); });
  }
  Tensor changed(const char* value, const Tensor& x) override {
    Tensor y = x;
    notify([&](Observer& o) {
      if (o.changes(value)) y = o.changed(value, y);
    });
    show(value, y);
    return y;
  }
  void op_recorded(const Op& op, const Array& result, Index kept_bytes, Node* node) override {
    const Statement& stated = stated_.back();
    for (std::size_t around = 0; around + 1 < stated_.size(); ++around) stated_[around].composed = true;
    const std::vector<const Array*> inputs = op.inputs();
    const bool view = std::any_of(inputs.begin(), inputs.end(),
                                  [&](const Array* x) { return x->defined() && x->shares_storage(result); });
    const Index flops = stated.flops >= 0 ? stated.flops : view || stated.composed ? 0 : result.numel();
    if (node) {
      const auto seen = std::make_shared<Recorded>();
      if (any([](const Observer& o) { return o.wants_layers(); })) seen->layer = current_layer();
      seen->flops = flops, seen->gradient_flops = stated.gradient_flops;
      node->watched = seen;
    }
    const OpReport report{op.name(),       inputs, result,     view,
                          stated.composed, flops,  kept_bytes, stated.infinity_on_purpose,
                          stated.notes,    node};
    notify([&](Observer& o) { o.op_recorded(report); });
  }
  void op_closed(const Op& op) noexcept override {
    notify([&](Observer& o) { o.op_closed(op); });
    stated_.pop_back();
  }
  void rule_opened(const Node& node, const Array& dy) override {
    open([&](Observer& o) { o.rule_opened(node, dy); }, [&](Observer& o) { o.rule_closed(node); });
  }
  void gradient_sent(const Node& node, std::size_t i, const Array& dx, const Array& dy) override {
    notify([&](Observer& o) { o.gradient_sent(node, i, dx, dy); });
  }
  void rule_closed(const Node& node) noexcept override {
    notify([&](Observer& o) { o.rule_closed(node); });
  }
  std::string in_layer(const Node& node) const override { return mote::in_layer(node); }

 private:
  struct Statement {   // what an open op has said of itself
    Index flops = -1;  // not stated
    std::vector<Index> gradient_flops = {};
    std::vector<std::pair<const char*, Shape>> notes = {};
    bool infinity_on_purpose = false, composed = false;
  };
  template <class Ask>
  bool any(const Ask& ask) const {
    for (const Observer* o = innermost; o; o = o->around_)
      if (ask(*o)) return true;
    return false;
  }
  template <class Notify>
  void notify(const Notify& notify) {
    const During<Watch*> what_they_do_is_not_reported(thread_context.watch, nullptr);
    for (Observer* o = innermost; o; o = o->around_) notify(*o);
  }
  /// Those who were notified of an opening are notified of the closing if another one then throws.
  template <class Opening, class Closing>
  void open(const Opening& opening, const Closing& closing) {
    const During<Watch*> what_they_do_is_not_reported(thread_context.watch, nullptr);
    for (Observer* o = innermost; o; o = o->around_) try {
        opening(*o);
      } catch (...) {
        for (Observer* opened = innermost; opened != o; opened = opened->around_) closing(*opened);
        throw;
      }
  }

  std::vector<Statement> stated_;
};

std::string in_layer(const Node& node) {
  return recorded(node) && !recorded(node)->layer.empty() ? " (in " + recorded(node)->layer + ")" : "";
}

void Observer::watch() {
  watching();  // the environment's observers are the outermost
  check_in("Observer", !innermost || thread_context.watch, "it cannot begin inside another observer's function");
  for (const Observer* o = innermost; o; o = o->around_)
    if (o == this) return;
  around_ = std::exchange(innermost, this);
  thread_context.watch = &Watchers::of_this_thread();
}

Observer::~Observer() noexcept(false) {
  Observer** o = &innermost;
  while (*o && *o != this) o = &(*o)->around_;
  if (*o) *o = around_;
  if (!innermost) thread_context.watch = nullptr;
}

}  // namespace mote
