// check_module, the one line every layer is tested through.
#pragma once

#include "nn/check_fields.h"
#include "nn/state_dict.h"
#include "tests/module_tools.h"
#include "tests/sources.h"

namespace mote::test {

template <class M, class RunModule>
class ModuleCheck {
 public:
  template <class Make>
  ModuleCheck(const Make& make, const RunModule& run, const ModuleOptions<M>& options)
      : run_(run), options_(options), module_(make(random_)), other_(make(random_)), start_(random_.get_state()) {
    scramble(module_);
    for (const Array& x : options_.inputs)
      places_.emplace_back(std::string("input ").append(std::to_string(places_.size())), Parameter(x));
    for (const NamedParameter& p : named_parameters(module_)) places_.emplace_back(p.name, p.parameter);
    plain_ = result(module_);
  }

  /// Everything in turn; what does not hold, a sentence each.
  std::vector<std::string> problems() {
    names();
    if (!fields()) return problems_.list;  // the rest would repeat it, or throw
    expect(result(module_) == plain_, "the same call gives other bits: does visit() list every random stream?");
    gradients();
    if (options_.oracle) oracle();
    hardware();
    cloned();
    untracked();
    modes();
    copied();
    saved();
    errors();
    moved();  // last: module_ is empty afterwards
    return problems_.list;
  }

 private:
  using Named = std::vector<std::pair<std::string, Parameter>>;

  /// The result, and the gradients of the inputs and of all parameters for one fixed dy.
  struct Outcome {
    Array y;
    std::vector<Array> grads;
    friend bool operator==(const Outcome& a, const Outcome& b) {
      return same_bits(a.y, b.y) &&
             std::equal(a.grads.begin(), a.grads.end(), b.grads.begin(), b.grads.end(),
                        [](const Array& one, const Array& other) { return same_bits(one, other); });
    }
  };

  template <class... Parts>
  void expect(bool holds, const Parts&... parts) {
    problems_.expect(holds, parts...);
  }

  /// Every call draws the same random numbers from the streams that visit() lists.
  Tensor call(const M& m, In x) const {
    for (const NamedStream& s : named_streams(m)) s.stream.set_state(start_);
    return run_(m, x);
  }
  std::vector<Tensor> constants() const { return {options_.inputs.begin(), options_.inputs.end()}; }

  Outcome result(const M& m) {
    std::vector<Tensor> x;
    for (const Array& a : options_.inputs) x.push_back(Tensor(a).requires_grad_());
    const Tensor y = call(m, x);
    Outcome out{y.array(), {}};
    if (!y.requires_grad()) return out;  // no inputs and no parameters
    y.backward(random_array(y.shape(), 99, -1, 1.5));
    for (const std::string& name : without_gradient(m)) expect(false, name, " receives no gradient");
    for (const Tensor& t : x) out.grads.push_back(t.grad().defined() ? t.grad() : Array::zeros(t.shape()));
    for (const Parameter& p : parameters(m))
      out.grads.push_back(p.grad().defined() ? p.grad() : Array::zeros(p.shape()));
    zero_grad(m);
    return out;
  }

  void names() {
    std::string got, wanted;
    for (const NamedParameter& p : named_parameters(module_)) got += p.name + " ";
    for (const std::string& name : options_.names) wanted += name + " ";
    problems_.expect_equal(got, wanted);
  }

  /// As fit() does in its first step: finds modules with streams or buffers that visit() forgot.
  bool fields() {
    const FieldWatch watch;
    call(module_, constants());
    const std::string problem = watch.problem();
    expect(problem.empty(), problem);
    return problem.empty();
  }

  /// Right as they are; wrong once one input's or parameter's is off by a thousandth, in float by a quarter. For that
  /// y is multiplied by a power of two that lifts every largest gradient above 1. Below 1 gradcheck counts errors as
  /// they are.
  void gradients() {
    if (places_.empty()) return;
    double least = 1;
    for (const Array& g : plain_.grads) {
      double largest = 0;
      for (const real d : g.to_vector()) largest = std::max(largest, std::abs(static_cast<double>(d)));
      least = std::min(least, largest);
    }
    const real scale = least > 0 ? static_cast<real>(std::exp2(std::ceil(-std::log2(least)))) : real(1);
    const GradcheckResult right = gradcheck([&] { return mul(call(module_, tracked_inputs()), scale); }, places_);
    expect(right.ok && right.without_gradient.empty(), right.text);
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const auto wrong = [&] { return mul(i < options_.inputs.size() ? wrong_input(i) : wrong_parameter(i), scale); };
      expect(!gradcheck(wrong, {places_[i]}).ok, "a wrong gradient of ", places_[i].first, " would not be noticed");
    }
    zero_grad(module_);  // gradcheck restored the gradients of that one place only
  }

  static constexpr real too_much = f64 ? real(0.001) : real(0.25);

  std::vector<Tensor> tracked_inputs() const {
    std::vector<Tensor> x;
    for (std::size_t i = 0; i < options_.inputs.size(); ++i) x.push_back(places_[i].second);
    return x;
  }
  Tensor wrong_input(std::size_t i) const {
    std::vector<Tensor> x = tracked_inputs();
    x[i] = wrong_gradient(x[i], 1 + too_much);
    return call(module_, x);
  }
  /// The module's result, but its parameter also gets a part of its gradient from a twin that shares this one cell.
  Tensor wrong_parameter(std::size_t i) const {
    const Tensor y = call(module_, tracked_inputs());
    if (NoGrad::active()) return y;
    M twin = module_.clone();
    set_trainable(twin, false);
    replace_cell(twin, parameters(twin)[i - options_.inputs.size()], places_[i].second);
    const Tensor again = call(twin, constants());
    Op op("wrong_parameter", y, again);
    return op.record(y.array(), [](const Array& dy, Grads& dx) {
      dx.add(0, dy);
      dx.add(1, dy * too_much);
    });
  }

  /// The value, and each gradient against central differences of the oracle: in float, too, these are exact enough.
  void oracle() {
    Weights w;
    for (const NamedParameter& p : named_parameters(module_, true)) w.emplace(p.name, p.parameter.value());
    std::vector<Value> x(options_.inputs.begin(), options_.inputs.end());
    const double off = distance(plain_.y.to_vector(), options_.oracle(w, x));
    expect(off <= options_.tolerance, "the value differs from the oracle's by ", off);
    const std::vector<NamedParameter> named = named_parameters(module_);
    const Value dy(random_array(plain_.y.shape(), 99, -1, 1.5));
    for (std::size_t k = 0; k < plain_.grads.size(); ++k) {
      const bool input = k < x.size();
      std::vector<double>& place = input ? x[k].x : w.at(named[k - x.size()].name).x;
      if (!input) check_no_tie(named[k - x.size()]);
      const double error = distance(plain_.grads[k].to_vector(), differences(
                                                                     place, [&] { return options_.oracle(w, x); }, dy));
      expect(error <= options_.gradient_tolerance, "the gradient of ", places_[k].first,
             " differs from the oracle's by ", error);
    }
  }
  /// Moving one name of a tied cell would not move the other.
  void check_no_tie(const NamedParameter& p) {
    for (const NamedParameter& q : named_parameters(module_, true))
      expect(q.name == p.name || !q.parameter.same_as(p.parameter), "give tied modules no oracle");
  }
  void hardware() {
    for (const kernels::Table* t : kernels::available_tables())
      for (const int n : {1, 3}) {
        const Hardware use(*t, n);
        expect(result(module_) == plain_, "other bits from ", t->name, " with ", n, " threads");
      }
  }

  void cloned() {
    M copy = module_.clone();
    expect(result(copy) == plain_, "a clone gives other bits");
    for (const Parameter& p : parameters(copy)) p.set(Array::full(p.shape(), real(3)));
    for (const NamedBuffer& b : named_buffers(copy)) b.array->mutate()[0] += 1;
    expect(result(module_) == plain_, "what happens to a clone reaches the original");
  }

  void untracked() {
    const NoGrad no_grad;
    const Leaks leaks;
    const Tensor y = call(module_, constants());
    expect(leaks.nodes() == 0 && !y.requires_grad(), "NoGrad does not keep it from recording");
    expect(same_bits(y.array(), plain_.y), "NoGrad changes the result");
  }

  void modes() {
    for (const bool on : {false, true}) {
      module_.train(on);
      for (const Module* m : Fields(module_).modules)
        expect(m->training() == on, "train() and eval() do not reach ", m->type_name());
      if (on) continue;
      const Array y = call(module_, constants()).array();
      expect(random_.get_state() == start_, "evaluation draws random numbers");
      expect(same_bits(call(module_, constants()).array(), y), "evaluation gives other bits the second time");
    }
  }

  /// From one seed's weights to another's, buffers included.
  void copied() {
    copy_weights(module_, other_);
    expect(result(other_) == plain_, "with copied weights another one gives other bits");
  }

  /// The same by way of a file's bytes.
  void saved() {
    std::vector<NamedArray> tensors;
    for (const StateEntry& e : state_dict(module_)) tensors.push_back({e.name, e.read()});
    std::string bytes;
    const auto put = [&](const void* data, std::size_t n) { bytes.append(static_cast<const char*>(data), n); };
    detail::write_safetensors(put, tensors, {}, true);
    for (const Parameter& p : parameters(other_)) p.set(Array::full(p.shape(), real(3)));
    const SafetensorsFile file(text_source("bytes", bytes));
    load_state_dict(other_, state_dict(file));
    expect(result(other_) == plain_, "loaded from a file another one gives other bits");
  }

  void errors() {
    if (!options_.error) return;
    problems_.expect_equal(error_of([&] { options_.error(module_); }), options_.error_text);
    const Inside<M> outer(module_.clone());
    problems_.expect_equal(error_of([&] { outer(options_.error); }), one_deeper(options_.error_text, module_));
    expect(result(module_) == plain_, "after an error the same call gives other bits");
  }

  void moved() {
    const Parameter first = parameters(module_).empty() ? Parameter() : parameters(module_)[0];
    std::vector<M> grown;
    grown.push_back(std::move(module_));
    grown.push_back(std::move(other_));
    expect(result(grown[0]) == plain_, "a module that has moved gives other bits");
    expect(!first.defined() || parameters(grown[0])[0].same_as(first), "moving makes new parameters");
  }

  const RunModule& run_;
  const ModuleOptions<M>& options_;
  Generator random_{7};
  M module_, other_;
  const GeneratorState start_;
  Named places_;  // the inputs as parameters, then the module's own
  Outcome plain_;
  Problems problems_;
};

/// What check_module would say: a sentence for each thing that does not hold.
template <class Make, class RunModule>
std::vector<std::string> module_problems(const Make& make, const RunModule& run,
                                         const ModuleOptions<std::invoke_result_t<const Make&, Generator&>>& options) {
  using M = std::invoke_result_t<const Make&, Generator&>;
  static_assert(std::is_invocable_v<const RunModule&, const M&, In>, "a const module can be called");
  const Leaks leaks;
  const std::string forgotten = forgotten_parameters(make);
  std::vector<std::string> problems = ModuleCheck<M, RunModule>(make, run, options).problems();
  if (!forgotten.empty()) problems.insert(problems.begin(), forgotten);
  if (leaks.nodes() != 0) problems.push_back("nodes stay alive");
  if (leaks.bytes() != 0) problems.push_back("memory stays in use");
  return problems;
}

/// Holds a layer against everything that is promised of every layer:
///   visit() lists every field; names; gradients of inputs and parameters, and that wrong ones would be noticed, in
///   float as well as differences show it; value and gradients against the oracle; every instruction set and several
///   threads: the same bits; clone() and copy_weights(); NoGrad; train() and eval() reach all children, evaluation
///   draws nothing; an error names the layer; a moved module works; and that every node and byte has gone afterwards.
/// `make` builds the module from a Generator&; `run` maps (const module, inputs) to the result.
template <class Make, class RunModule>
void check_module(const std::string& name, const Make& make, const RunModule& run,
                  const ModuleOptions<std::invoke_result_t<const Make&, Generator&>>& options) {
  for (const std::string& problem : module_problems(make, run, options)) FAIL_CHECK(name << ": " << problem);
}

}  // namespace mote::test
