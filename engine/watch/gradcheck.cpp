// Gradcheck: one backward pass, then central differences, which change one element at a time or all at once.
#include "engine/watch/gradcheck.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/array/random.h"
#include "engine/base/number_text.h"

namespace mote {
namespace {

using Named = std::vector<std::pair<std::string, Parameter>>;
constexpr bool f64 = sizeof(real) == 8;

double largest(const Array& x) {
  double most = 0;
  for (const real v : x.to_vector()) most = std::max(most, std::abs(static_cast<double>(v)));
  return most;
}

/// Restores values and gradients, however gradcheck ends.
class Restore {
 public:
  explicit Restore(const Named& parameters) : parameters_(parameters) {
    for (const auto& [name, p] : parameters) {
      before_.emplace_back(p.value(), p.grad());
      p.zero_grad();
    }
  }
  ~Restore() {
    for (std::size_t i = 0; i < before_.size(); ++i) {
      parameters_[i].second.set(before_[i].first);
      parameters_[i].second.zero_grad();
      if (before_[i].second.defined()) parameters_[i].second.set_grad(before_[i].second);
    }
  }
  Restore(const Restore&) = delete;

 private:
  const Named& parameters_;
  std::vector<std::pair<Array, Array>> before_;
};

class Check {
 public:
  Check(const std::function<Tensor()>& f, Named parameters, const GradcheckOptions& options)
      : f_(f), parameters_(std::move(parameters)), options_(options) {
    tolerance_ = options.tolerance > 0 ? options.tolerance : f64 ? 1e-6 : 1e-2;
    step_ = options.step > 0 ? options.step : f64 ? 6e-6 : 4e-3;
  }

  GradcheckResult run() {
    const Restore restore(parameters_);
    if (backward() && repeats()) {
      options_.mode == GradcheckOptions::Mode::directional ? compare_direction() : compare_elements();
      result_.ok = result_.worst <= tolerance_;
      if (result_.text.empty()) result_.text = "there are no elements to check";
      for (const std::string& name : result_.without_gradient) result_.text += "; " + name + " received no gradient";
    }
    return std::move(result_);
  }

 private:
  /// Fixed values of either sign with magnitudes from 1/2 to 3/2, so that nothing is multiplied by zero.
  Array draw(const Shape& shape) const {
    Array x = Array::empty(shape);
    const std::span<real> values(x.mutate(), static_cast<std::size_t>(x.numel()));
    random_.uniform_float32(values, -1, 1);
    for (real& v : values) v += v < 0 ? real(-0.5) : real(0.5);
    return x;
  }

  bool fail(const std::string& text) {
    result_.text = text;
    return false;
  }

  /// Computes the analytic gradients. Returns false if the result depends on no input.
  bool backward() {
    const Tensor y = f_();
    if (!y.requires_grad()) return fail("the result depends on none of the inputs: no gradient is tracked");
    value_ = y.array();
    dy_ = draw(y.shape());
    y.backward(dy_);
    for (const auto& [name, p] : parameters_) {
      if (!p.grad().defined()) result_.without_gradient.push_back(name);
      gradients_.push_back(p.grad().defined() ? p.grad().contiguous() : Array::zeros(p.shape()));
      if (f64 && options_.small_gradients && p.grad().defined()) unit_ = std::min(unit_, largest(p.grad()));
    }
    // For a result y of n elements, rounding changes a numeric gradient by about 2.2e-16 |y| sqrt(n) / step. For the
    // default step 6e-6, this is a tenth of the tolerance 1e-6 if |y| sqrt(n) is 2,700. Gradients smaller than unit_
    // are compared as if they were of size unit_. So unit_ grows with |y| sqrt(n).
    const double size = largest(value_) * std::sqrt(static_cast<double>(value_.numel()));
    unit_ = std::max(unit_, std::clamp(size / 2000, 1e-9, 1.0));
    return true;
  }

  Array evaluate() const {
    const NoGrad differences_need_no_graph;
    return f_().array().contiguous();
  }

  bool repeats() {
    const Array first = value_.contiguous(), again = evaluate();
    if (first.shape() == again.shape() &&
        (first.numel() == 0 ||
         std::memcmp(first.data(), again.data(), static_cast<std::size_t>(first.numel()) * sizeof(real)) == 0))
      return true;
    return fail(
        "two calls with the same inputs give different results (random draws, or a result that NoGrad changes?)");
  }

  /// sum((high - low) * dy). `low` is subtracted element by element, so that a large part that both have in common
  /// cancels before the summation.
  double contracted(const Array& high, const Array& low) const {
    double total = 0;
    for (Index i = 0; i < high.numel(); ++i)
      total += (static_cast<double>(high.data()[i]) - static_cast<double>(low.data()[i])) *
               static_cast<double>(dy_.data()[i]);
    return total;
  }

  void compare(double analytic, double numeric, const std::string& place) {
    const double error = std::abs(analytic - numeric) / std::max({unit_, std::abs(analytic), std::abs(numeric)});
    if (!result_.text.empty() && !(error > result_.worst) && !std::isnan(error)) return;
    if (std::isnan(result_.worst)) return;
    result_.worst = error;
    const auto digits = [](double x) { return general_text(x, 10); };
    result_.text = place + ": backward gives " + digits(analytic) + ", differences give " + digits(numeric) +
                   " (error " + digits(error) + ", tolerance " + digits(tolerance_) + ")";
  }

  /// The result of f with element i of p set to `value`.
  Array evaluate_at(const Parameter& p, const Array& before, Index i, real value) const {
    Array moved = copy_of(before);
    moved.mutate()[i] = value;
    p.set(std::move(moved));
    return evaluate();
  }

  void compare_elements() {
    for (std::size_t k = 0; k < parameters_.size(); ++k) {
      const Parameter& p = parameters_[k].second;
      const Array before = p.value(), x = before.contiguous();
      for (Index i = 0; i < x.numel(); ++i) {
        const double h = step_ * std::max(1.0, std::abs(static_cast<double>(x.data()[i])));
        const real up = static_cast<real>(x.data()[i] + h), down = static_cast<real>(x.data()[i] - h);
        const Array high = evaluate_at(p, x, i, up);
        const Array low = evaluate_at(p, x, i, down);
        // the actual distance after rounding, not the requested 2h
        const double numeric = contracted(high, low) / (static_cast<double>(up) - static_cast<double>(down));
        compare(static_cast<double>(gradients_[k].data()[i]), numeric, parameters_[k].first + place_text(x.shape(), i));
      }
      p.set(before);
    }
  }

  static std::string place_text(const Shape& shape, Index i) {
    std::vector<Index> index(static_cast<std::size_t>(shape.rank()));
    for (int a = shape.rank() - 1; a >= 0; i /= shape[a--]) index[static_cast<std::size_t>(a)] = i % shape[a];
    return " at " + text_of(index);
  }

  /// Compares all parameters at once. Only if that fails, compares them one by one to name the worst.
  void compare_direction() {
    std::vector<std::size_t> all(parameters_.size());
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = k;
    compare_along(all, "a random direction through all inputs");
    if (result_.worst <= tolerance_) return;
    const GradcheckResult overall = std::exchange(result_, GradcheckResult());
    for (std::size_t k = 0; k < all.size(); ++k) compare_along({k}, "a random direction in " + parameters_[k].first);
    if (result_.worst <= tolerance_) result_ = overall;  // the parameters fail only together
    result_.without_gradient = overall.without_gradient;
  }

  void compare_along(const std::vector<std::size_t>& which, const std::string& name) {
    std::vector<Array> before;
    for (const std::size_t k : which) before.push_back(parameters_[k].second.value());
    std::vector<Array> high, low;
    double analytic = 0;
    for (std::size_t j = 0; j < which.size(); ++j) {
      const Array v = draw(before[j].shape()) * static_cast<real>(step_);
      high.push_back(before[j] + v);
      low.push_back(before[j] - v);
      const Array g = gradients_[which[j]], moved = (high.back() - low.back()).contiguous();
      for (Index i = 0; i < g.numel(); ++i)
        analytic += static_cast<double>(g.data()[i]) * static_cast<double>(moved.data()[i]) / (2 * step_);
    }
    const auto evaluate_with = [&](const std::vector<Array>& values) {
      for (std::size_t j = 0; j < which.size(); ++j) parameters_[which[j]].second.set(values[j]);
      return evaluate();
    };
    const Array up = evaluate_with(high);
    const Array down = evaluate_with(low);
    for (std::size_t j = 0; j < which.size(); ++j) parameters_[which[j]].second.set(before[j]);
    compare(analytic, contracted(up, down) / (2 * step_), name);
  }

  const std::function<Tensor()>& f_;
  const Named parameters_;
  const GradcheckOptions options_;
  double tolerance_ = 0, step_ = 0;
  double unit_ = 1;  // a gradient smaller than this is compared as if it were of this size
  const Generator random_{1};
  Array value_, dy_;
  std::vector<Array> gradients_;
  GradcheckResult result_;
};

}  // namespace

GradcheckResult gradcheck(const std::function<Tensor()>& f, const Named& parameters, const GradcheckOptions& options) {
  Named once;
  for (const auto& named : parameters) {
    const auto same = [&](const auto& other) { return other.second.same_as(named.second); };
    if (named.second.trainable() && std::none_of(once.begin(), once.end(), same)) once.push_back(named);
  }
  return Check(f, std::move(once), options).run();
}

GradcheckResult gradcheck(const std::function<Tensor(const std::vector<Tensor>&)>& f, const std::vector<Array>& inputs,
                          const GradcheckOptions& options) {
  Named parameters;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    parameters.emplace_back("input " + std::to_string(i), Parameter(inputs[i]));
  const std::function<Tensor()> call = [&] {
    std::vector<Tensor> tensors;
    for (const auto& named : parameters) tensors.push_back(named.second);
    return f(tensors);
  };
  return Check(call, parameters, options).run();
}

}  // namespace mote
