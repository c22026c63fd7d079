// Checks 04: in which order gradients go back.

// hint: Collect every value after its inputs, with a function that calls itself. At the end reverse the list.
// hint: collect(i): return if i is in the list; collect each input of i; append i only after that.
// why: In the reversed list a value comes after all values that use it, so its gradient is complete at its turn.
// why: Every value has one turn, so backward costs about as much as forward, however many paths the graph has.
// why: An engine that numbers values as it computes them needs no search: it goes from high numbers to low.
#include <ctime>

#include "examples/exercises/answers/check.h"

namespace of_check {
using Graph = std::vector<std::vector<Index>>;
using Order = std::vector<Index>(const Graph& inputs, Index result);

static void check_one(Order backward_order, const Graph& inputs, Index result) {
  const std::vector<Index> order = backward_order(inputs, result);
  std::string graph;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    graph += printed(i) + ": " + text_of(std::span<const Index>(inputs[i])) + ", ";
  const std::string yours = " For the inputs " + graph + "and the result " + printed(result) + ", your order is " +
                            text_of(std::span<const Index>(order)) + ".";
  std::set<Index> needed{result}, seen;
  for (std::size_t round = 0; round < inputs.size(); ++round)  // adds all values that `result` depends on
    for (const Index i : std::set<Index>(needed)) needed.insert(inputs[i].begin(), inputs[i].end());
  for (const Index i : order) {
    expect(i >= 0 && i < static_cast<Index>(inputs.size()), "hard-coded", yours);
    expect(seen.insert(i).second, "a value twice", yours);
    expect(needed.contains(i), "too much", yours);
  }
  expect(seen == needed, "a value is missing", yours);
  const auto early = [&](const std::vector<Index>& order) {  // whether a value stands before a value that uses it
    for (std::size_t i = 0; i < order.size(); ++i)
      for (std::size_t j = i + 1; j < order.size(); ++j)
        if (std::count(inputs[order[j]].begin(), inputs[order[j]].end(), order[i])) return true;
    return false;
  };
  expect(!early(order) || early({order.rbegin(), order.rend()}), "oldest first", yours);
  expect(!early(order), "too early", yours);
}

static void check(Order backward_order) {
  check_one(backward_order, {{}, {2, 0}, {0}}, 1);                 // value 1 is computed from 2, and both from 0
  check_one(backward_order, {{3, 2}, {}, {3, 4}, {4, 1}, {}}, 0);  // lesson 1's graph, numbered differently
  check_one(backward_order, {{1, 1}, {}}, 0);                      // x * x
  check_one(backward_order, {{}, {0}}, 0);                         // the result is a leaf
  check_one(backward_order, {{1, 2}, {3}, {4}, {}, {1}}, 0);       // value 0 uses 1 directly, and through 2 and 4
  for (const int seed : {1, 2, 3, 4}) {
    const Generator random(seed);
    const Index n = 5 + seed;
    const std::vector<Index> name = random.randperm(n);
    Graph inputs(n);
    for (Index i = 1; i < n; ++i)  // each value is computed from earlier ones
      for (const Index j : randint(0, i, {i % 4}, random).to_vector()) inputs[name[i]].push_back(name[j]);
    check_one(backward_order, inputs, name[n - 2]);
    check_one(backward_order, inputs, name[n - 1]);
  }
  Graph squares{{}};  // x, x * x, the square of x * x and so on: 4 million paths lead to x
  for (Index i = 0; i < 22; ++i) squares.push_back({i, i});
  const std::clock_t begun = std::clock();
  check_one(backward_order, squares, 22);
  expect(static_cast<double>(std::clock() - begun) < 0.1 * CLOCKS_PER_SEC, "again for each way");
}

static void collect(const Graph& inputs, Index i, std::vector<Index>& order) {
  if (std::count(order.begin(), order.end(), i)) return;
  for (const Index input : inputs[i]) collect(inputs, input, order);
  order.push_back(i);
}
/// Appends value i and then its inputs, so each value stands before its inputs. A value that is already in the list is
/// appended again only if `twice`.
static void collect_early(const Graph& inputs, Index i, std::vector<Index>& order, bool twice) {
  if (!twice && std::count(order.begin(), order.end(), i)) return;
  order.push_back(i);
  for (const Index input : inputs[i]) collect_early(inputs, input, order, twice);
}

static const Row<Order> rows[] = {
    {"too early",
     "A value comes too early: one that was computed from it comes later, and still has a gradient for it.",
     [](const Graph& inputs, Index result) {
       std::vector<Index> order;
       collect_early(inputs, result, order, false);
       return order;
     },
     [](const Graph& inputs, Index result) {  // breadth-first
       std::vector<Index> order{result};
       for (std::size_t i = 0; i < order.size(); ++i)
         for (const Index input : inputs[order[i]])
           if (!std::count(order.begin(), order.end(), input)) order.push_back(input);
       return order;
     },
     [](const Graph& inputs, Index) {  // by descending numbers
       std::vector<Index> order(inputs.size());
       std::iota(order.rbegin(), order.rend(), 0);
       return order;
     }},
    {"oldest first", "That is oldest first: gradients come from the result, so it is the first.",
     [](const Graph& inputs, Index result) {
       std::vector<Index> order;
       collect(inputs, result, order);
       return order;
     }},
    {"a value twice", "A value has two turns: it would hand on gradients twice.",
     [](const Graph& inputs, Index result) {
       std::vector<Index> order;
       collect_early(inputs, result, order, true);
       return order;
     }},
    {"too much", "A value is too much: the result does not depend on it.",
     [](const Graph& inputs, Index) {
       std::vector<Index> order;
       for (Index i = 0; i < std::ssize(inputs); ++i) collect(inputs, i, order);
       std::reverse(order.begin(), order.end());
       return order;
     }},
    {"a value is missing",
     "A value is missing: each one that the result depends on has a turn. So have leaves and the result itself.",
     [](const Graph& inputs, Index result) {  // without leaves
       std::vector<Index> order;
       collect(inputs, result, order);
       std::erase_if(order, [&](Index i) { return inputs[i].empty(); });
       return std::vector<Index>(order.rbegin(), order.rend());
     },
     [](const Graph& inputs, Index result) {  // without the result
       std::vector<Index> order;
       for (const Index input : inputs[result]) collect(inputs, input, order);
       return std::vector<Index>(order.rbegin(), order.rend());
     }},
    {"again for each way",
     "The order is right, but a value is collected again for each way that leads to it: ask first if it is there.",
     [](const Graph& inputs, Index result) {
       std::vector<Index> order, once;
       const std::function<void(Index)> append = [&](Index i) {
         for (const Index input : inputs[i]) append(input);
         order.push_back(i);
       };
       append(result);
       for (const Index i : order)
         if (!std::count(once.begin(), once.end(), i)) once.push_back(i);
       return std::vector<Index>(once.rbegin(), once.rend());
     }},
    {"hard-coded", "A value of your order does not exist: inputs.size() is how many there are, counted from 0.",
     [](const Graph&, Index) {
       return std::vector<Index>{4, 3, 2, 1, 0};
     }},
};
static const Table table(check, rows);

#ifdef PROVE
namespace solution {
/// Appends value i to the order, after all the values that it was computed from.
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
static const Right right([] { check(solution::backward_order); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(backward_order); });
}
