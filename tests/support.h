// check_op, the one line every op is tested through.
#pragma once

#include <functional>

#include "engine/ops/arithmetic.h"
#include "engine/watch/gradcheck.h"
#include "tests/tools.h"

namespace mote::test {

using In = const std::vector<Tensor>&;
using OpFunction = std::function<Tensor(In)>;

/// What an oracle sees of an input: row-major numbers, exactly those the op got.
struct Value {
  Shape shape;
  std::vector<double> x;
  Value(const Array& a) : shape(a.shape()) {
    for (const real v : a.to_vector()) x.push_back(static_cast<double>(v));
  }
};
using Oracle = std::function<std::vector<double>(const std::vector<Value>&)>;

/// The oracle of an op that works element by element on inputs of one shape.
inline Oracle each(std::function<double(double)> f) {
  return [f](const std::vector<Value>& in) {
    std::vector<double> y;
    for (const double x : in[0].x) y.push_back(f(x));
    return y;
  };
}
inline Oracle each(std::function<double(double, double)> f) {
  return [f](const std::vector<Value>& in) {
    std::vector<double> y;
    for (std::size_t i = 0; i < in[0].x.size(); ++i) y.push_back(f(in[0].x[i], in[1].x[i]));
    return y;
  };
}

/// What check_op cannot guess about an op.
struct OpOptions {
  double tolerance = f64 ? 1e-12 : 1e-5;  ///< of values, relative to max(1, |oracle|)
  bool broadcasts = false;                ///< every input may be smaller, as in a + b
  bool any_layout = true;                 ///< takes transposed, strided and repeated inputs (view does not)
  bool constant = false;                  ///< the gradient is 0 by definition, so that scaling it changes nothing
  std::size_t required = 100;             ///< inputs from here on may be left out, or the function looks at them itself
  /// Inputs with an empty axis. None given: axis 0 of all inputs is made empty.
  std::vector<Array> empty = {};
  std::function<void()> error = nullptr;  ///< a wrong call, and the sentence it must end in
  std::string error_text = {};
  std::string recorded_by = {};  ///< the op that records what the function returns, if not the one under test
};

/// An op's result and its gradients for a fixed dy, or for the one given.
struct Run {
  Array y;
  std::vector<Array> dx;
  std::string op;  // that recorded the result
  Run(const OpFunction& f, const std::vector<Array>& inputs, const Array& dy = {}) {
    std::vector<Tensor> x;
    for (const Array& a : inputs) x.push_back(Tensor(a).requires_grad_());
    const Tensor result = f(x);
    y = result.array();
    op = result.node() ? result.node()->op : "";  // an op that forgot record(): backward says so
    result.backward(dy.defined() ? dy : random_array(y.shape(), 99, -1, 1.5));
    for (const Tensor& t : x) dx.push_back(t.grad());
  }
  friend bool operator==(const Run& a, const Run& b) {
    return same_bits(a.y, b.y) &&
           std::equal(a.dx.begin(), a.dx.end(), b.dx.begin(), b.dx.end(),
                      [](const Array& one, const Array& other) { return same_bits(one, other); });
  }
};

/// What PyTorch has for these inputs: the result, and the gradient for a dy of ones. NaN and infinities are compared,
/// too.
inline void check_torch(const OpFunction& f, const std::vector<double>& x, const std::vector<double>& y,
                        const std::vector<double>& dx) {
  const Array in = array({static_cast<Index>(x.size())}, x);
  const Array result = f({Tensor(in)}).array();
  CHECK(distance(result.to_vector(), y) < 2e-6);
  const Run run(f, {in}, Array::full(result.shape(), 1));
  CHECK(distance(run.dx[0].to_vector(), dx) < 2e-6);
}

/// x, but what comes back is multiplied by `factor`: a derivative that is nearly right.
inline Tensor wrong_gradient(const Tensor& x, real factor) {
  Op op("wrong_gradient", x);
  return op.record(x.array(), save(factor), [](const Array& dy, Grads& dx, real factor) { dx.add(0, dy * factor); });
}

inline void check_gradient(const OpFunction& f, const std::vector<Array>& inputs, const std::string& of = "") {
  const GradcheckResult right = gradcheck(f, inputs);
  CHECK_MESSAGE(right.ok, of, right.text);
}

class OpCheck {
 public:
  OpCheck(const OpFunction& f, const Oracle& oracle, const std::vector<Array>& inputs, const OpOptions& options)
      : f_(f), oracle_(oracle), inputs_(inputs), options_(options), plain_(f, inputs) {}

  void run(const std::string& name) const {
    const std::string& op = options_.recorded_by.empty() ? name : options_.recorded_by;
    CHECK_MESSAGE(plain_.op == op, "the name that a trace and a printed tensor show");
    value(inputs_);
    gradient();
    CHECK_MESSAGE(Run(f_, inputs_) == plain_, "the same graph built and differentiated again gives the same bits");
    partly_tracked();
    if (options_.any_layout) layouts();
    upstream();
    if (options_.broadcasts) broadcasting();
    if (inputs_.size() == 2 && inputs_[0].shape() == inputs_[1].shape()) same_twice();
    untracked();
    undefined(name, op);
    empty_axis();
    hardware();
    if (options_.error) CHECK(error_of(options_.error) == options_.error_text);
  }

 private:
  void value(const std::vector<Array>& inputs) const {
    const Array y = f_({inputs.begin(), inputs.end()}).array();
    const double error = distance(y.to_vector(), oracle_({inputs.begin(), inputs.end()}));
    CHECK_MESSAGE(error <= options_.tolerance, "the value against the oracle, for a result ", text_of(y.shape()));
  }

  /// Right as it is; wrong once the gradient of any one input is off by a thousandth (float: by a quarter). For that no
  /// input's largest gradient may lie below 1, where an error counts as it is: y times a power of two sees to it.
  void gradient() const {
    double least = 1;
    for (const Array& dx : plain_.dx) {
      double largest = 0;
      for (const real d : dx.to_vector()) largest = std::max(largest, std::abs(static_cast<double>(d)));
      least = options_.constant ? least : std::min(least, largest);
    }
    const real scale = least > 0 ? static_cast<real>(std::exp2(std::ceil(-std::log2(least)))) : real(1);
    const OpFunction enlarged = [&](In x) { return mul(f_(x), scale); };
    check_gradient(enlarged, inputs_);
    for (std::size_t i = 0; i < inputs_.size() && !options_.constant; ++i) {
      const OpFunction wrong = [&](In in) {
        std::vector<Tensor> x = in;
        x[i] = wrong_gradient(in[i], f64 ? real(1.001) : real(1.25));
        return enlarged(x);
      };
      CHECK_MESSAGE(!gradcheck(wrong, inputs_).ok, "a wrong gradient of input ", i, " must be noticed");
    }
  }

  void partly_tracked() const {
    for (std::size_t i = 0; i < inputs_.size() && inputs_.size() > 1; ++i) {
      std::vector<Tensor> x(inputs_.begin(), inputs_.end());
      x[i].requires_grad_();
      const Tensor y = f_(x);
      y.backward(random_array(y.shape(), 99, -1, 1.5));
      CHECK_MESSAGE(same_bits(x[i].grad(), plain_.dx[i]), "the gradient of input ", i, " when it alone is tracked");
    }
  }

  void layouts() const {
    for (std::size_t only = 0; only <= inputs_.size(); ++only) {  // each input alone, then all of them
      const std::string which = only < inputs_.size() ? "input " + std::to_string(only) : "all inputs";
      std::vector<Array> transposed = inputs_, strided = inputs_, repeated = inputs_, copied = inputs_;
      for (std::size_t i = 0; i < inputs_.size(); ++i) {
        if (only != i && only != inputs_.size()) continue;
        transposed[i] = transposed_layout(inputs_[i]);
        strided[i] = strided_layout(inputs_[i]);
        repeated[i] = expanded_layout(inputs_[i]);
        copied[i] = copy_of(repeated[i]);
      }
      CHECK_MESSAGE(Run(f_, transposed) == plain_, "with transposed inputs other bits come out: ", which);
      CHECK_MESSAGE(Run(f_, strided) == plain_, "with strided inputs other bits come out: ", which);
      const Run expected(f_, copied);
      CHECK_MESSAGE(Run(f_, repeated) == expected, "with expanded inputs other bits come out: ", which);
    }
  }

  /// Gradients that arrive transposed, strided, repeated or as zeros.
  void upstream() const {
    const Array dy = random_array(plain_.y.shape(), 99, -1, 1.5);
    CHECK_MESSAGE(Run(f_, inputs_, transposed_layout(dy)) == plain_, "a transposed dy gives the same bits");
    CHECK_MESSAGE(Run(f_, inputs_, strided_layout(dy)) == plain_, "a strided dy gives the same bits");
    const Array repeated = Array(real(0.75)).expand(dy.shape());
    const Run expected(f_, inputs_, copy_of(repeated));
    CHECK_MESSAGE(Run(f_, inputs_, repeated) == expected, "a dy of stride 0 gives the same bits");
    for (const Array& dx : Run(f_, inputs_, Array::zeros(dy.shape())).dx)
      for (const real d : dx.to_vector()) CHECK(d == 0);
  }

  /// Each input with one extent of 1, without its first axis, and as one number: as if it had been written out.
  void broadcasting() const {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      std::vector<Array> small{inputs_[i].reshape({-1}).slice(0, 0, 1).reshape(Shape{})};
      for (int axis = 0; axis < inputs_[i].rank(); ++axis) small.push_back(inputs_[i].slice(axis, 0, 1));
      if (inputs_[i].rank() > 1) small.push_back(inputs_[i].select(0, 0));
      for (const Array& x : small) {
        std::vector<Array> stretched = inputs_, written_out = inputs_;
        stretched[i] = x;
        written_out[i] = copy_of(x.expand(inputs_[i].shape()));
        Run narrow(f_, stretched), wide(f_, written_out);
        REQUIRE(narrow.dx[i].shape() == x.shape());
        wide.dx[i] = sum_to(wide.dx[i], x.shape());
        CHECK_MESSAGE(narrow == wide, "input ", i, " as ", text_of(x.shape()));
        check_gradient(f_, stretched);
      }
    }
  }

  void same_twice() const {
    const OpFunction twice = [&](In x) { return f_({x[0], x[0]}); };
    const Run once(f_, {inputs_[0], copy_of(inputs_[0])});
    CHECK_MESSAGE(same_bits(Run(twice, {inputs_[0]}).y, once.y), "the same tensor twice");
    check_gradient(twice, {inputs_[0]}, "the same tensor twice: ");
  }

  void untracked() const {
    const NoGrad no_grad;
    std::vector<Tensor> x;
    for (const Array& a : inputs_) x.push_back(Tensor(a).requires_grad_());
    const Leaks leaks;
    const Tensor y = f_(x);
    CHECK_MESSAGE(leaks.nodes() == 0, "under NoGrad no node is recorded");
    CHECK(!y.requires_grad());
    CHECK(same_bits(y.array(), plain_.y));
  }

  void undefined(const std::string& name, const std::string& op) const {
    for (std::size_t i = 0; i < std::min(inputs_.size(), options_.required); ++i) {
      std::vector<Tensor> x(inputs_.begin(), inputs_.end());
      x[i] = Tensor();
      const std::string error = error_of([&] { f_(x); }), rest = std::string(": ") + Array::not_defined;
      CHECK_MESSAGE((error == name + rest || error == op + rest), "input ", i, " never computed: ", error);
    }
  }

  void empty_axis() const {
    std::vector<Array> empty = options_.empty;
    if (empty.empty())
      for (const Array& x : inputs_) empty.push_back(Array::zeros(x.rank() ? x.shape().with(0, 0) : Shape{0}));
    value(empty);
    const Run result(f_, empty);
    for (std::size_t i = 0; i < empty.size(); ++i) CHECK(result.dx[i].shape() == empty[i].shape());
  }

  void hardware() const {
    on_all_hardware({1, 3}, [&] { CHECK(Run(f_, inputs_) == plain_); });
  }

  const OpFunction& f_;
  const Oracle& oracle_;
  const std::vector<Array>& inputs_;
  const OpOptions& options_;
  const Run plain_;
};

/// Holds an op against everything that is promised of every op:
///   values against `oracle`; gradients against differences, and that a wrong gradient would be noticed;
///   transposed, strided and repeated inputs and dy: the same bits; broadcasting; the same tensor as both inputs;
///   only some inputs tracked; NoGrad; an empty axis; every instruction set and several threads: the same bits;
///   an input that was never computed, and one other error, word by word; and that every node and byte has gone
///   afterwards.
/// `inputs` keep away from kinks; `name` is the op's: its node has it, and its errors open with it.
inline void check_op(const std::string& name, const OpFunction& f, const Oracle& oracle,
                     const std::vector<Array>& inputs, const OpOptions& options = {}) {
  INFO("check_op ", name);
  const Leaks leaks;
  OpCheck(f, oracle, inputs, options).run(name);
  if (options.error) CHECK_MESSAGE(options.error_text.rfind(name + ": ", 0) == 0, options.error_text);
  CHECK_MESSAGE(leaks.nodes() == 0, "nodes stay alive");
  CHECK_MESSAGE(leaks.bytes() == 0, "memory stays in use");
}

}  // namespace mote::test
