// The table of costs. By convention functions such as exp or gelu cost 1 per element, and moving elements costs 0.
#include "engine/watch/costs.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "engine/array/mask.h"
#include "engine/ops/attention_pass.h"

namespace mote {
namespace {

const Array& input(const Event& e, std::size_t i) {
  const std::vector<const Array*> inputs = e.op->inputs();
  return i < inputs.size() ? *inputs[i] : Tensor::no_array;
}

/// The i-th value that the op passed to save(), or null if there is none or its type is not T.
template <class T>
const T* kept(const Event& e, std::size_t i) {
  return i < e.kept.size() ? e.kept[i].as<T>() : nullptr;
}

/// The operations of a matrix product whose result has `elements` elements, each a sum of k products.
Index product_flops(Index elements, Index k) { return 2 * elements * k; }

OpCosts matmul_costs(const Event& e) { return {product_flops(e.result->numel(), input(e, 0).shape()[-1])}; }

OpCosts linear_costs(const Event& e) {
  const Index y = e.result->numel(), xw = product_flops(y, input(e, 0).shape()[-1]);
  return {xw + (input(e, 2).defined() ? y : 0), {xw, xw, y}};
}

/// The costs of gelu_linear. The forward cost leaves out gelu, which runs as an op of its own. Backward computes gelu
/// again together with its gradient, for one operation per element.
OpCosts gelu_linear_costs(const Event& e) {
  OpCosts costs = linear_costs(e);
  costs.gradients[0] += input(e, 0).numel();
  return costs;
}

OpCosts extreme_costs(const Event& e) {
  const Index x = input(e, 0).numel();
  const bool along_one_axis = kept<Shape>(e, 0) != nullptr;  // only max(x, axis) keeps a Shape; its rule only moves dy
  return {x, {along_one_axis ? 0 : 3 * x}};
}

/// The costs of an op that selects elements by index. Backward costs one addition per element of the result, to the
/// gradient of the element that was selected.
OpCosts selection_costs(const Event& e) { return {0, {e.result->numel()}}; }

OpCosts rotary_costs(const Event& e) {
  const Index columns = e.result->shape()[-1];
  const Index *const heads = kept<Index>(e, 2), *const width = kept<Index>(e, 3);
  const Index turned = heads && width ? *heads * *width : columns;
  return {columns ? 3 * turned * (e.result->numel() / columns) : 0};
}

/// The number of pairs of a query and a key in which the query may attend to the key.
Index pairs_of(const detail::AttentionPlan& p, const Mask* mask) {
  Index pairs = 0;
  for (Index row = 0; row < p.batch * p.heads * p.queries; ++row) {
    const Index i = row % p.queries;
    const Index first = p.first(i);
    const Index end = p.end(i);
    pairs += end - first;

    if (!mask || !mask->defined()) continue;
    const Index h = row / p.queries % p.heads;
    const Index b = row / p.queries / p.heads;
    const std::uint8_t* const keys = mask->data() + b * mask->stride(0) + h * mask->stride(1) + i * mask->stride(2);
    pairs -= std::count(keys + first, keys + end, std::uint8_t(0));
  }
  return pairs;
}

/// The costs of attention with scores S and weights P = softmax(S). Forward computes S, P and P V. The cost of
/// dQ = dS K includes computing S and P again, dP = dY V^T, and dS (4 operations per score). The costs of dK = dS^T Q
/// and dV = P^T dY are those of one product each.
OpCosts attention_costs(const Event& e) {
  const auto* const plan = kept<detail::AttentionPlan>(e, 0);
  if (!plan) return {e.result->numel()};
  const Mask* const mask = kept<Mask>(e, 4);
  const Array* const slopes = kept<Array>(e, 5);
  const Storage* const dropped = kept<Storage>(e, 7);
  const Shape weights{plan->batch, plan->heads, plan->queries, plan->keys};
  const Index pairs = pairs_of(*plan, mask), d = plan->width, dv = plan->value_width;
  const Index alibi = slopes && slopes->defined() ? 1 : 0, drop = dropped && *dropped ? 1 : 0;
  const Index scores = 2 * d + 1 + alibi + 5;  // q k^T, scale, alibi, softmax
  const Index forward = pairs * (scores + drop + 2 * dv), dq = forward + pairs * (4 + 2 * d);
  const Index dk = pairs * 2 * d, values = pairs * 2 * dv;
  OpCosts costs{forward, {dq, dk, values}, {{"weights", weights}}};
  if (plan->packed) costs.gradients = {dq + dk + values};
  return costs;
}

struct CostTable {
  std::mutex mutex;
  std::map<std::string, CostRow> rows{
      {"matmul", matmul_costs},
      {"linear", linear_costs},
      {"gelu_linear", gelu_linear_costs},
      {"attention", attention_costs},
      {"rotary", rotary_costs},
      {"gather", selection_costs},
      {"embedding", selection_costs},
      {"max", extreme_costs},
      {"min", extreme_costs},
      {"add", per_element(1, {0, 0})},  // the gradient passes through
      {"sum", per_element(1, {0})},
      {"mean", per_element(1)},
      {"var", per_element(4, {2})},
      {"softmax", per_element(5, {4})},  // maximum, difference, exp, sum, quotient
      {"masked_softmax", per_element(5, {4})},
      {"log_softmax", per_element(5, {4})},
      {"cross_entropy", per_element(5, {3})},     // forward as softmax; backward exp, difference, product
      {"layer_norm", per_element(7, {9, 4, 1})},  // forward: mean, difference, square and sum, scale, weight, bias
      {"rms_norm", per_element(4, {7, 3})},       // square and sum, scale, weight
      {"mse_loss", per_element(3, {2, 2})},
      {"reshape", per_element(0)},
      {"contiguous", per_element(0)},
      {"concat", per_element(0)},
      {"stack", per_element(0)},
      {"tril", per_element(0)},
      {"triu", per_element(0)},
  };
};

CostTable& cost_table() {
  static CostTable* const table = new CostTable;  // never destroyed: other threads may still run when the program ends
  return *table;
}

}  // namespace

void set_costs(const std::string& op, CostRow row) {
  CostTable& t = cost_table();
  const std::lock_guard lock(t.mutex);
  t.rows[op] = std::move(row);
}

CostRow per_element(Index forward, std::vector<Index> gradients) {
  return [=](const Event& e) {
    const Array& x = input(e, 0);
    const Index n = std::max(x.defined() ? x.numel() : 0, e.result->numel());
    OpCosts costs{forward * n, gradients};
    for (Index& each : costs.gradients) each *= n;
    return costs;
  };
}

OpCosts costs_of(const Event& recorded, bool composed) {
  CostTable& t = cost_table();
  CostRow row;
  {
    const std::lock_guard lock(t.mutex);
    const auto found = t.rows.find(std::string(recorded.name));
    if (found != t.rows.end()) row = found->second;
  }
  if (row) return row(recorded);
  return {composed || is_view(recorded) ? 0 : recorded.result->numel()};
}

bool is_view(const Event& recorded) {
  const std::vector<const Array*> inputs = recorded.op->inputs();
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](const Array* x) { return x->defined() && x->shares_storage(*recorded.result); });
}

}  // namespace mote
