// Checks 04: in which order gradients go back.

// hint: Collect the oldest first, which is easy by a function that calls itself, and reverse the list at the end.
// hint: collect(i): return if i is in the list; collect each input of i; append i only after that.
// why: A value is appended after all it was made of; read from the end, it comes before them: its gradient is complete.
// why: It hands on each value once, so backward costs as much as forward, however many ways lead through the graph.
// why: Engines that number values as they are computed need no search: the numbers, backwards, are such an order.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Graph = std::vector<std::vector<Index>>;
using Order = std::vector<Index>(const Graph& inputs, Index result);

static void check_one(Order backward_order, const Graph& inputs, Index result) {
  const std::vector<Index> order = backward_order(inputs, result);
  std::string graph;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    graph += printed(i) + ": " + text_of(std::span<const Index>(inputs[i])) + ", ";
  const std::string yours = "For the inputs " + graph + "and the result " + printed(result) + ", your order is " +
                            text_of(std::span<const Index>(order)) + ". ";
  std::set<Index> needed{result}, seen;
  for (std::size_t round = 0; round < inputs.size(); ++round)  // by then all that result depends on is found
    for (const Index i : std::set<Index>(needed)) needed.insert(inputs[i].begin(), inputs[i].end());
  for (const Index i : order) {
    expect(i >= 0 && i < static_cast<Index>(inputs.size()), yours + "There is no value " + printed(i) + ".");
    expect(seen.insert(i).second, yours + "Value " + printed(i) + " has two turns: it would hand on gradients twice.");
    expect(needed.contains(i), yours + "Value " + printed(i) + " is too much: the result does not depend on it.");
  }
  for (const Index i : needed) expect(seen.contains(i), yours + "Value " + printed(i) + " is missing.");
  const auto early = [&](const std::vector<Index>& order) {  // a value that stands before one computed from it
    for (std::size_t i = 0; i < order.size(); ++i)
      for (std::size_t j = i + 1; j < order.size(); ++j)
        if (std::count(inputs[order[j]].begin(), inputs[order[j]].end(), order[i]))
          return "Value " + printed(order[i]) + " comes too early: " + printed(order[j]);
    return std::string();
  };
  expect(early(order).empty() || !early({order.rbegin(), order.rend()}).empty(),
         yours + "That is oldest first: gradients come from the result, so it is the first.");
  expect(early(order).empty(), yours + early(order) + ", which was computed from it, still has a gradient for it.");
}

static void check(Order backward_order) {
  check_one(backward_order, {{}, {2, 0}, {0}}, 1);                 // 1 is computed from 2, and both from 0
  check_one(backward_order, {{3, 2}, {}, {3, 4}, {4, 1}, {}}, 0);  // lesson 1 with other numbers
  check_one(backward_order, {{1, 1}, {}}, 0);                      // x * x
  check_one(backward_order, {{}, {0}}, 0);                         // a leaf alone
  check_one(backward_order, {{1, 2}, {3}, {4}, {}, {1}}, 0);       // the way to 1 by 4 is longer than the short one
  for (const int seed : {1, 2, 3, 4}) {
    const Generator random(seed);
    const Index n = 5 + seed;
    const std::vector<Index> name = random.randperm(n);
    Graph inputs(n);
    for (Index i = 1; i < n; ++i)  // the values in the order in which they were computed
      for (const Index j : randint(0, i, {i % 4}, random).to_vector()) inputs[name[i]].push_back(name[j]);
    check_one(backward_order, inputs, name[n - 2]);
    check_one(backward_order, inputs, name[n - 1]);
  }
}

#ifdef PROVE
namespace solution {
/// Appends i to the order, after all that it was computed from.
void collect(const std::vector<std::vector<Index>>& inputs, Index i, std::vector<Index>& order) {
  if (std::find(order.begin(), order.end(), i) != order.end()) return;
  for (const Index input : inputs[i]) collect(inputs, input, order);
  order.push_back(i);
}

std::vector<Index> backward_order(const std::vector<std::vector<Index>>& inputs, Index result) {
  std::vector<Index> order;
  collect(inputs, result, order);
  std::reverse(order.begin(), order.end());
  return order;
}
}  // namespace solution

enum Mistake { recursion, oldest_first, twice, all, by_distance, constant };
template <Mistake mistake>
static std::vector<Index> wrongly(const Graph& inputs, Index result) {
  if (mistake == constant) return {4, 3, 2, 1, 0};
  std::vector<Index> order;
  if (mistake == by_distance) {
    order.push_back(result);
    for (std::size_t i = 0; i < order.size(); ++i)
      for (const Index input : inputs[order[i]])
        if (!std::count(order.begin(), order.end(), input)) order.push_back(input);
    return order;
  }
  const std::function<void(Index)> visit = [&](Index i) {
    if (mistake == recursion && std::count(order.begin(), order.end(), i)) return;
    order.push_back(i);
    for (const Index input : inputs[i]) visit(input);
  };
  if (mistake == recursion || mistake == twice) return visit(result), order;
  for (Index i = 0; i < static_cast<Index>(inputs.size()); ++i)
    if (mistake == all || i == result) solution::collect(inputs, i, order);
  if (mistake == all) std::reverse(order.begin(), order.end());
  return order;
}
static const Tried tried[] = {
    {"solution", "", [] { check(solution::backward_order); }},
    {"plain recursion", "comes too early", [] { check(wrongly<recursion>); }},
    {"oldest first", "oldest first", [] { check(wrongly<oldest_first>); }},
    {"a value twice", "has two turns", [] { check(wrongly<twice>); }},
    {"all values", "does not depend on it", [] { check(wrongly<all>); }},
    {"nearest first", "comes too early", [] { check(wrongly<by_distance>); }},
    {"hard-coded", "There is no value 4", [] { check(wrongly<constant>); }},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(backward_order); });
}
