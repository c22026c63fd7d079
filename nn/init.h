// Initial values of parameters, as PyTorch's nn.init draws them.
#pragma once

#include <cmath>
#include <concepts>

#include "engine/array/random.h"
#include "engine/autograd/op.h"

namespace mote {

/// How a layer's constructor initializes its parameters. A Generator converts to an Init, with which the layer draws
/// PyTorch's default weights. With Init::none(random), the layer draws nothing and leaves zeros that take no memory
/// yet. A model uses this if it loads its weights, or if it draws weights of its own as GPT does, so that each weight
/// is drawn only once. With Init::twice(random), such a model draws PyTorch's defaults first and then its own weights,
/// as a PyTorch program does. So GPT(config, Init::twice(Generator(1337))) has nanoGPT's weights for that seed.
class Init {
 public:
  Init(const Generator& random) : random_(random) {}
  template <std::integral T>
  __attribute__((unavailable("weights are drawn from a Generator: write Generator(123) for the seed 123")))
  Init(T seed);
  static Init none(const Generator& random) {
    Init init(random);
    init.draws_ = false;
    return init;
  }
  static Init twice(const Generator& random) {
    Init init(random);
    init.twice_ = true;
    return init;
  }
  /// The Init for the layers of a model that afterwards draws its own weights.
  Init of_layers() const { return twice_ ? Init(random_) : none(random_); }
  bool draws_twice() const { return twice_; }
  const Generator& random() const& { return random_; }
  Generator random() && { return random_; }
  bool draws() const { return draws_; }
  /// Whether `a` still holds the zeros that Init::none gave, so nobody has drawn or set its elements.
  static bool left_undrawn(const Array& a) {
    const bool one_element_for_all = a.rank() == 0 || a.stride(0) == 0;
    return one_element_for_all && a.layout().offset() == 1;
  }

  /// An array drawn uniformly from [low, high); normal() draws from a normal distribution. Both give zeros if draws()
  /// is false. The draws are float32 in both builds of the library, mote and mote_f64.
  Array uniform(const Shape& shape, Real low, Real high) const {
    if (!draws_) return nothing(shape);
    Array a = Array::empty(shape);
    random_.uniform_float32(values(a), low, high);
    return a;
  }
  Array normal(const Shape& shape, Real mean, Real std) const {
    if (!draws_) return nothing(shape);
    Array a = Array::empty(shape);
    random_.normal_float32(values(a), mean, std);
    return a;
  }

 private:
  /// Zeros of this shape that share one element in memory. The element is the second of its storage. Otherwise
  /// left_undrawn() could not tell an undrawn array of shape [1] from a drawn one.
  static Array nothing(const Shape& shape) { return Array::zeros({2}).select(0, 1).expand(shape); }
  static std::span<real> values(Array& a) { return {a.mutate(), static_cast<std::size_t>(a.numel())}; }
  Generator random_;
  bool draws_ = true;
  bool twice_ = false;
};

namespace init {

/// Redraws an existing parameter uniformly from [low, high).
inline void uniform(const Parameter& p, Real low, Real high, const Generator& random) {
  p.set(Init(random).uniform(p.shape(), low, high));
}
/// Redraws an existing parameter from a normal distribution with this mean and standard deviation.
inline void normal(const Parameter& p, Real mean, Real std, const Generator& random) {
  p.set(Init(random).normal(p.shape(), mean, std));
}
/// Gives every element of an existing parameter this value.
inline void constant(const Parameter& p, Real value) { p.set(Array::full(p.shape(), static_cast<real>(value))); }

/// The fan-in and fan-out of a weight [out, in]: each output has `in` inputs, and each input reaches `out` outputs.
struct Fans {
  double in, out;
};
inline Fans fans(const char* who, const Parameter& p) {
  check_in(who, p.shape().rank() == 2, "the parameter ", p.shape(), " must be a weight [out, in]");
  return {static_cast<double>(p.shape()[1]), static_cast<double>(p.shape()[0])};
}

/// Redraws a weight [out, in] uniformly within +-sqrt(3) gain sqrt(2 / (in + out)). If the weight is part of a larger
/// matrix, pass the fans of that matrix. Source: Glorot and Bengio 2010.
inline void xavier_uniform(const Parameter& p, const Fans& fans, const Generator& random, Real gain = 1) {
  const double bound = std::sqrt(3.0) * (gain * std::sqrt(2.0 / (fans.in + fans.out)));
  uniform(p, -bound, bound, random);
}
inline void xavier_uniform(const Parameter& p, const Generator& random, Real gain = 1) {
  xavier_uniform(p, fans("xavier_uniform", p), random, gain);
}
/// Redraws a weight [out, in] from a normal distribution with mean 0 and standard deviation gain sqrt(2 / (in + out)).
/// Source: Glorot and Bengio 2010.
inline void xavier_normal(const Parameter& p, const Generator& random, Real gain = 1) {
  const auto [in, out] = fans("xavier_normal", p);
  normal(p, 0, gain * std::sqrt(2.0 / (in + out)), random);
}
/// sqrt(2 / (1 + a^2)) / sqrt(in), the standard deviation of kaiming_normal().
inline double kaiming_deviation(const char* who, const Parameter& p, double a) {
  return std::sqrt(2.0 / (1 + a * a)) / std::sqrt(fans(who, p).in);
}
/// Redraws a weight [out, in] uniformly within +-sqrt(3) sqrt(2 / (1 + a^2)) / sqrt(in). It is for layers before a
/// leaky_relu with the slope a. Without a it is for layers before a relu. PyTorch's layers have a = sqrt(5). Source: He
/// et al. 2015.
inline void kaiming_uniform(const Parameter& p, Real a, const Generator& random) {
  const double bound = std::sqrt(3.0) * kaiming_deviation("kaiming_uniform", p, a);
  uniform(p, -bound, bound, random);
}
inline void kaiming_uniform(const Parameter& p, const Generator& random) { kaiming_uniform(p, 0, random); }
/// Redraws a weight [out, in] from a normal distribution with mean 0. The standard deviation is
/// sqrt(2 / (1 + a^2)) / sqrt(in). It is for the same layers as kaiming_uniform(). Source: He et al. 2015.
inline void kaiming_normal(const Parameter& p, Real a, const Generator& random) {
  normal(p, 0, kaiming_deviation("kaiming_normal", p, a), random);
}
inline void kaiming_normal(const Parameter& p, const Generator& random) { kaiming_normal(p, 0, random); }

}  // namespace init
}  // namespace mote
