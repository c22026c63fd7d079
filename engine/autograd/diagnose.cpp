// The errors for a tensor without a graph, a graph that was consumed, and a result that keeps no gradient.
#include "engine/autograd/diagnose.h"

#include "engine/base/context.h"

namespace mote {
namespace {

constexpr const char* write_a_parameter = "To update a weight, make it a Parameter and write w.set(w.value() - ...)";

}  // namespace

void fail_untracked() {
  const char* const op = thread_context.unrecorded;
  const std::string maybe_op = op ? std::string("; the op '") + op + "' ended without op.record(...)" : "";
  detail::fail_with("backward",
                    "nothing this tensor was computed from requires a gradient: it comes from plain arrays ",
                    "or frozen parameters, or was computed under NoGrad (even by w -= ...), or detached", maybe_op);
}

void fail_consumed(const Node& node) {
  const std::string why = node.replaced_leaf
                              ? std::string("an update like w -= ... is recorded, too. ") + write_a_parameter
                              : "run the forward pass again, or add the losses and call backward once";
  detail::fail_with("backward", "the graph behind '", node.op, "' ", node.shape,
                    " was consumed by an earlier backward: ", why);
}

void fail_no_gradient(const Node& node) {
  check_in("grad", !node.replaced_leaf, "this tensor is no longer a leaf: an update like w -= ... replaced it by the ",
           "result of '", node.op, "', which keeps no gradient. ", write_a_parameter);
  detail::fail_with("grad", "this tensor is the result of '", node.op,
                    "', and only leaves and parameters keep a gradient: call retain_grad() on it before backward()");
}

}  // namespace mote
