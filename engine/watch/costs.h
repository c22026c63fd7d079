// The costs of ops: a table of floating-point operations by op. The ops do not know of the table.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/autograd/op.h"

namespace mote {

/// The floating-point operations of an op, and the shapes that a trace prints for it. A multiply-add counts as two.
struct OpCosts {
  Index forward = 0;
  std::vector<Index> gradients = {};  ///< operations per input's gradient; if empty, each costs as much as forward
  std::vector<std::pair<std::string, Shape>> notes = {};  ///< shapes of values in the op: {"weights", [B, H, Tq, Tk]}

  /// The operations of the gradient of input i.
  Index gradient(std::size_t i) const {
    if (gradients.empty()) return forward;
    return i < gradients.size() ? gradients[i] : 0;
  }
};

/// A row of the table of costs, a function that computes the costs of an op. Its argument is an op_recorded event,
/// which has the op's inputs, its result and the values that its rule keeps.
using CostRow = std::function<OpCosts(const Event& recorded)>;

/// Sets or replaces the row of an op. An op without a row costs one operation per element of its result, or none if the
/// result is a view. Call set_costs where the program begins: set_costs("softsign", per_element(3, {2})).
void set_costs(const std::string& op, CostRow row);

/// A row of costs per element: `forward` operations in forward, and gradients[i] for the gradient of input i. The
/// number of elements is that of the first input or of the result, whichever is larger.
CostRow per_element(Index forward, std::vector<Index> gradients = {});

/// The costs of an op that was recorded. `composed` says that the op called other ops, which were recorded too. Such an
/// op costs nothing itself unless it has a row, because the other ops are counted.
OpCosts costs_of(const Event& recorded, bool composed);
/// Whether the result of an op that was recorded shares memory with an input.
bool is_view(const Event& recorded);

}  // namespace mote
