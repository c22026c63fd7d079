// What check_module is told (ModuleOptions), and its parts: a module's fields, the ones visit() forgot, differences of
// an oracle.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "engine/array/random.h"
#include "nn/attention_weights.h"
#include "nn/heads.h"
#include "nn/module.h"
#include "tests/support.h"

namespace mote::test {

/// A module's parameters by name, as an oracle sees them: exactly the numbers the module had.
using Weights = std::map<std::string, Value>;
using ModuleOracle = std::function<std::vector<double>(const Weights&, const std::vector<Value>&)>;

/// What check_module cannot guess about a module.
template <class M>
struct ModuleOptions {
  std::vector<std::string> names = {};  ///< all parameters in visit order, a tied one once
  std::vector<Array> inputs = {};       ///< kept away from kinks
  ModuleOracle oracle = nullptr;  ///< the result in double; the gradients are then held against its differences, too
  double tolerance = f64 ? 1e-12 : 1e-5;          ///< of values, relative to max(1, |oracle|)
  double gradient_tolerance = f64 ? 1e-6 : 1e-4;  ///< of gradients against the oracle's differences
  std::function<void(const M&)> error = nullptr;  ///< a wrong call, and the sentence it must end in
  std::string error_text = {};
};

/// Every module of a tree, the outermost first, and every parameter cell.
struct Fields {
  std::vector<const Module*> modules;
  std::set<const Parameter::Cell*> cells;
  explicit Fields(const Module& m) : modules{&m} {
    each_field(m, [this](const ModuleField& f) {
      if (f.child) modules.push_back(f.child);
      if (f.parameter) cells.insert(f.parameter->id());
    });
  }
};

/// "visit() lists 1 of 2 parameters", or "" if visit() lists all that `make` makes.
template <class Make>
std::string forgotten_parameters(const Make& make) {
  Generator random(1);
  const Index before = live_nodes();
  const auto m = make(random);
  const Index made = live_nodes() - before, listed = static_cast<Index>(Fields(m).cells.size());
  if (listed == made) return "";
  return "visit() lists " + std::to_string(listed) + " of " + std::to_string(made) + " parameters";
}

/// Sentences about what does not hold, each once.
struct Problems {
  std::vector<std::string> list;
  template <class... Parts>
  void expect(bool holds, const Parts&... parts) {
    if (holds) return;
    std::ostringstream text;
    (text << ... << parts);
    if (std::find(list.begin(), list.end(), text.str()) == list.end()) list.push_back(text.str());
  }
  void expect_equal(const std::string& got, const std::string& wanted) {
    expect(got == wanted, "'", got, "' should be '", wanted, "'");
  }
};

/// d(sum of y dy)/d(number) for every number in `place`, where y is what `oracle` makes of them: central differences.
template <class DoubleOracle>
std::vector<double> differences(std::vector<double>& place, const DoubleOracle& oracle, const Value& dy) {
  std::vector<double> slopes;
  for (double& number : place) {
    const double before = number, h = 1e-5 * std::max(1.0, std::abs(number));
    number = before + h;
    const std::vector<double> high = oracle();
    number = before - h;
    const std::vector<double> low = oracle();
    number = before;
    double total = 0;
    for (std::size_t i = 0; i < high.size(); ++i) total += (high[i] - low[i]) * dy.x[i];
    slopes.push_back(total / (2 * h));
  }
  return slopes;
}

/// A module inside another one, so that paths get longer.
template <class M>
struct Inside : Layer<Inside<M>> {
  M inner;
  explicit Inside(M&& m) : inner(std::move(m)) {}
  void forward(const std::function<void(const M&)>& f) const { f(inner); }
  void visit(Visitor& v) override { v("inner", inner); }
};

/// An error's text when `m` stands in an Inside: "... (in fc)" becomes "... (in inner.fc)". A module on its own goes by
/// its type: "... (in Linear)" becomes "... (in inner)".
inline std::string one_deeper(const std::string& text, const Module& m) {
  const std::size_t path = text.rfind(" (in ");
  if (path == std::string::npos) return text + ", but with a path";
  std::string deeper = text.substr(0, path);
  const std::string rest = text.substr(path + 5);
  return deeper.append(" (in inner").append(rest == m.type_name() + ")" ? ")" : "." + rest);
}

/// Puts one cell in another's place, in every field that held it.
inline void replace_cell(const Module& m, const Parameter& before, const Parameter& after) {
  const Parameter::Cell* const old = before.id();
  each_field(m, [&](const ModuleField& f) {
    if (f.parameter && f.parameter->id() == old) *f.parameter = after;
  });
}

/// Names of trainable parameters without a gradient: after backward(), those the loss does not depend on.
inline std::vector<std::string> without_gradient(const Module& m) {
  std::vector<std::string> names;
  for (const NamedParameter& p : named_parameters(m))
    if (p.parameter.trainable() && !p.parameter.grad().defined()) names.push_back(p.name);
  return names;
}

/// Random numbers in [-1, 1) for every parameter: zeros and ones, as norms and biases start, hide mistakes.
inline void scramble(const Module& m, std::uint64_t seed = 11) {
  for (const Parameter& p : parameters(m)) p.set(random_array(p.shape(), seed++, -1, 1));
}

/// What any layer with one attention gives, and its weights.
template <class M, class... Inputs>
AttentionOutput with_weights(const M& m, const Inputs&... inputs) {
  const AttentionWeights seen;
  const Tensor y = m(inputs...);
  REQUIRE(seen.maps().size() == 1);
  return {y, seen.maps()[0].weights, seen.maps()[0].dropped};
}

}  // namespace mote::test
