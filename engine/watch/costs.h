// What ops cost: a table of floating-point operations by op, beside the ops and unknown to them.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/autograd/op.h"

namespace mote {

/// The floating-point operations of an op, a multiply-add being two, and what a trace says of it.
struct OpCosts {
  Index forward = 0;
  std::vector<Index> gradients = {};  ///< of each input's gradient; empty: each costs as much as forward
  std::vector<std::pair<std::string, Shape>> notes = {};  ///< shapes of values inside: {"weights", [B, H, Tq, Tk]}

  /// Of the gradient of input i.
  Index gradient(std::size_t i) const {
    if (gradients.empty()) return forward;
    return i < gradients.size() ? gradients[i] : 0;
  }
};

/// A row of the table: from an op_recorded event, which knows the op's inputs, its result and what its rule keeps.
using CostRow = std::function<OpCosts(const Event& recorded)>;

/// Gives an op a row, or another one. Without a row an op costs one operation per element of its result, a view none.
/// Call it once, where the program begins: set_costs("softsign", per_element(3, {2})).
void set_costs(const std::string& op, CostRow row);

/// So many operations for each element of the first input, or of the result if that has more: forward, and for the
/// gradient of each input.
CostRow per_element(Index forward, std::vector<Index> gradients = {});

/// Of an op that was recorded. `composed` of ops inside it that have recorded: without a row it leaves all to them.
OpCosts costs_of(const Event& recorded, bool composed);
/// Whether the result of an op that was recorded shares memory with an input.
bool is_view(const Event& recorded);

}  // namespace mote
