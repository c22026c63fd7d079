// Random tensors, with torch's names: rand, randn, normal, randint, randperm, bernoulli, exponential, multinomial. Each
// draws what torch draws for the same seed and dtype.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "engine/array/combine.h"
#include "engine/array/int_array.h"
#include "engine/array/random.h"
#include "engine/autograd/op.h"
#include "engine/base/math.h"

namespace mote {
namespace detail {
/// An array of `shape` filled by fill(span).
template <class Fill>
Array filled(const Shape& shape, const Fill& fill) {
  Array y = Array::empty(shape);
  fill(std::span<real>(y.mutate(), static_cast<std::size_t>(y.numel())));
  return y;
}
}  // namespace detail

/// rand(2, 3, random) is a compile error, because a shape is written in braces: rand({2, 3}, random).
template <std::integral I, class... A>
__attribute__((unavailable("write rand({2, 3}, random)"))) Tensor rand(I, A&&...);
template <std::integral I, class... A>
__attribute__((unavailable("write randn({2, 3}, random)"))) Tensor randn(I, A&&...);

/// Uniform values in [0, 1).
inline Tensor rand(const Shape& shape, const Generator& random) {
  return detail::filled(shape, [&](std::span<real> out) { random.uniform(out); });
}
/// Uniform values in [low, high), as torch.empty(shape).uniform_(low, high) draws them. Errors: low above high,
/// bounds that are not finite.
inline Tensor uniform(Real low, Real high, const Shape& shape, const Generator& random) {
  return detail::filled(shape, [&](std::span<real> out) { random.uniform(out, low, high); });
}

/// Standard normal values.
inline Tensor randn(const Shape& shape, const Generator& random) {
  return detail::filled(shape, [&](std::span<real> out) { random.normal(out); });
}
/// Uniform values in [0, 1), or standard normal values, with the shape of x.
inline Tensor rand_like(const Tensor& x, const Generator& random) { return rand(x.shape(), random); }
inline Tensor randn_like(const Tensor& x, const Generator& random) { return randn(x.shape(), random); }
/// Normal values, all with the same mean and standard deviation. Errors: std below 0.
inline Tensor normal(Real mean, Real std, const Shape& shape, const Generator& random) {
  return detail::filled(shape, [&](std::span<real> out) { random.normal(out, mean, std); });
}
/// Normal values with a mean and a standard deviation for each element. mean and std are broadcast. The values are
/// computed as randn * std + mean, with each step rounded. Errors: shapes that do not broadcast, a std below 0.
inline Tensor normal(const Tensor& mean, const Tensor& std, const Generator& random) {
  const Op op("normal");
  for (const real s : std.to_vector()) check(s >= 0, "standard deviation ", s, " must be at least 0");
  const Tensor drawn = randn(broadcast(mean.shape(), std.shape()), random);
  return drawn.array() * std.array() + mean.array();
}
/// Normal values with a mean for each element and one standard deviation, or vice versa.
inline Tensor normal(const Tensor& mean, Number auto std, const Generator& random) {
  const Tensor drawn = normal(0, std, mean.shape(), random);
  return drawn.array() + mean.array();
}
inline Tensor normal(Number auto mean, const Tensor& std, const Generator& random) {
  return normal(Tensor(mean), std, random);
}

/// Exponential values with mean 1 / lambda, as torch.empty(shape).exponential_(lambda) draws them. Errors: lambda not
/// above 0.
inline Tensor exponential(Real lambda, const Shape& shape, const Generator& random) {
  return detail::filled(shape, [&](std::span<real> out) { random.exponential(out, lambda); });
}

/// Random integers in [low, high). Errors: low >= high.
inline IntArray randint(Integer low, Integer high, const Shape& shape, const Generator& random) {
  IntArray y(shape);
  random.randint(std::span<Index>(y.mutate(), static_cast<std::size_t>(y.numel())), low, high);
  return y;
}
/// Random integers in [0, high).
inline IntArray randint(Integer high, const Shape& shape, const Generator& random) {
  return randint(0, high, shape, random);
}
/// The integers 0 to n - 1 in random order, [n]. Errors: n below 0 or at least 2^32 / 20.
inline IntArray randperm(Integer n, const Generator& random) {
  const std::vector<Index> order = random.randperm(n);
  IntArray y({n});
  std::copy(order.begin(), order.end(), y.mutate());
  return y;
}

/// Element i is 1 with probability p[i], otherwise 0. It is 1 if a number that is drawn as by rand() is below p[i].
/// p [...] -> [...]. The result has no gradient. Errors: a p outside [0, 1].
inline Tensor bernoulli(const Tensor& p, const Generator& random) {
  const Op op("bernoulli");
  for (const real x : p.to_vector()) check(x >= 0 && x <= 1, "p = ", x, " is not a probability");
  const Tensor units = rand(p.shape(), random);
  return combine<Array>(units.array(), p.array(), [](real unit, real limit) { return real(unit < limit); });
}

/// Each element is 1 with the same probability p, otherwise 0, as torch.empty(shape).bernoulli_(p) draws them.
/// dropout() draws in the same way. Errors: a p outside [0, 1].
inline Tensor bernoulli(Real p, const Shape& shape, const Generator& random) {
  return detail::filled(shape, [&](std::span<real> out) {
    std::vector<std::uint8_t> bits((out.size() + 7) / 8);
    random.bernoulli_bits(bits, out.size(), p);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<real>(bits[i / 8] >> i % 8 & 1);
  });
}

namespace detail {

/// Checks the weights p of row r. Errors: a weight that is negative, NaN or infinite; no weight above 0.
inline void require_weights(const char* who, std::span<const real> p, Index r) {
  bool some = false;
  for (const real x : p) {
    check_in(who, std::isfinite(x) && x >= 0, "probability ", x, " in row ", r, " must be finite and at least 0");
    some = some || x > 0;
  }
  check_in(who, some, "row ", r, " must have a probability above 0");
}

/// Samples without replacement as a race. Each class arrives after an exponential time divided by its weight, and the
/// first classes to arrive fill `winners`. (Class i arrives first with probability p[i] / sum p.) Classes of weight 0
/// arrive last, in class order. PyTorch does not specify their order.
inline void race(std::span<const real> p, std::span<const real> times, std::span<Index> winners) {
  std::vector<real> speed(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) speed[i] = p[i] > 0 ? p[i] / times[i] : real(0);
  std::vector<Index> order(p.size());
  std::iota(order.begin(), order.end(), Index(0));
  const auto faster = [&](Index a, Index b) {  // the lower class wins a tie, so that every sort gives the same order
    const real x = speed[static_cast<std::size_t>(a)], y = speed[static_cast<std::size_t>(b)];
    return x > y || (x == y && a < b);
  };
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(winners.size()), order.end(), faster);
  std::copy_n(order.begin(), winners.size(), winners.begin());
}

/// The winner of race(), with fewer logarithms. A class has the speed weight / time, and the fastest class wins. Its
/// time is -log(1 - unit) of a uniform draw `unit` and at least unit, so its speed is at most weight / unit. If this
/// bound is below the best speed so far, with room for rounding, the class cannot win and its logarithm is not
/// computed.
inline Index winner(std::span<const real> p, const Generator& random) {
  std::array<double, 256> units;
  Index first = 0;
  double best = -1;  // no class yet
  for (std::size_t begin = 0; begin < p.size(); begin += units.size()) {
    const std::size_t count = std::min(units.size(), p.size() - begin);
    random.uniform(std::span<double>(units.data(), count));
    for (std::size_t j = 0; j < count; ++j) {
      const real weight = p[begin + j];
      if (static_cast<double>(weight) < best * units[j] * 0.99999) continue;
      const real time = static_cast<real>(-math::log1p(-units[j]));
      const double speed = static_cast<double>(weight > 0 ? weight / time : real(0));
      if (speed > best) {
        best = speed;
        first = static_cast<Index>(begin + j);
      }
    }
  }
  return first;
}

}  // namespace detail

/// One class, drawn with probability proportional to p, as multinomial() draws for one row. Errors: a p that is
/// negative, NaN or infinite; no p above 0.
inline Index draw_one(std::span<const real> p, const Generator& random) {
  detail::require_weights("draw_one", p, 0);
  if (!random.build().exponential_draws_one_word()) return detail::winner(p, random);
  const Array times = exponential(1, {static_cast<Index>(p.size())}, random).array();
  Index first = 0;
  detail::race(p, times.values(), {&first, 1});
  return first;
}

namespace detail {

/// Samples with replacement. For each sample, a uniform number is drawn and looked up in the running sums of p,
/// divided by the total of p.
inline void invert(std::span<const real> p, std::span<Index> samples, const Generator& random) {
  std::vector<real> cdf(p.size());
  real total = 0;
  for (std::size_t i = 0; i < p.size(); ++i) cdf[i] = total += p[i];
  check_in("multinomial", std::isfinite(total), "the sum of a row of probabilities must be finite");
  for (real& x : cdf) x /= total;
  cdf.back() = 1;
  for (Index& sample : samples) {
    const double u = random.uniform_double();
    const auto below = [](real x, double unit) { return static_cast<double>(x) < unit; };
    sample = std::lower_bound(cdf.begin(), cdf.end(), u, below) - cdf.begin();
  }
}

}  // namespace detail

/// Classes drawn with probability proportional to p: p [C] -> [num_samples], p [R, C] -> [R, num_samples]. Rows need
/// not sum to 1. Without replacement no class is drawn twice, and the class drawn first comes first. Classes of
/// probability 0 come after all others. The function draws 2 R C words of `random`, or 2 R num_samples words with
/// replacement and num_samples above 1. Before PyTorch 2.0 (Generator::set_build), replacement with one sample drew
/// 2 R words. The order is row by row, whatever the strides of p, but PyTorch draws column by column if p is
/// transposed. Errors: a rank of p other than 1 and 2, a p that is negative, NaN or infinite, a row of zeros,
/// num_samples below 1. With replacement also a row whose sum is infinite. Without replacement also num_samples above
/// C.
inline IntArray multinomial(const Tensor& p, Integer num_samples, Flag replacement, const Generator& random) {
  const Op op("multinomial");
  check(p.dim() == 1 || p.dim() == 2, "p ", p.shape(), " must be [C] or [R, C]");
  const Index classes = p.size(-1), rows = p.dim() == 1 ? 1 : p.size(0);
  check(num_samples >= 1, "num_samples ", num_samples, " must be at least 1");
  check(replacement || num_samples <= classes, "num_samples ", num_samples, " must be at most ", classes,
        ", the number of classes: without replacement none is drawn twice");
  const Array in = p.array().contiguous();
  const auto row = [&](Index r) {
    return std::span<const real>(in.data() + r * classes, static_cast<std::size_t>(classes));
  };
  for (Index r = 0; r < rows; ++r) detail::require_weights("multinomial", row(r), r);
  IntArray y(p.dim() == 1 ? Shape{num_samples} : Shape{rows, num_samples});
  const auto samples = [&, out = y.mutate()](Index r) {
    return std::span<Index>(out + r * num_samples, static_cast<std::size_t>(num_samples));
  };
  const TorchBuild build = random.build();
  if (replacement && (num_samples > 1 || build.version < 200)) {
    for (Index r = 0; r < rows; ++r) detail::invert(row(r), samples(r), random);
  } else if (num_samples == 1 && !build.exponential_draws_one_word()) {
    for (Index r = 0; r < rows; ++r) samples(r)[0] = detail::winner(row(r), random);
  } else {
    const Array times = exponential(1, {rows, classes}, random).array();
    for (Index r = 0; r < rows; ++r)
      detail::race(row(r), {times.data() + r * classes, static_cast<std::size_t>(classes)}, samples(r));
  }
  return y;
}
inline IntArray multinomial(const Tensor& p, Integer num_samples, const Generator& random) {
  return multinomial(p, num_samples, false, random);
}

}  // namespace mote
