// Generator: a handle to one stream of random numbers, the same that PyTorch draws on a CPU for the same seed.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "engine/base/argument.h"
#include "engine/base/real.h"

namespace mote {

/// The PyTorch build whose random numbers a Generator matches. Draws that do not depend on these two fields are the
/// same in every build. nn/from_pytorch.md names the usual builds and what they draw differently.
struct TorchBuild {
  bool mkl = false;   ///< whether the build uses Intel's MKL; if so, a dropout mask takes one word of the stream
  int version = 207;  ///< 100 * major + minor

  bool exponential_draws_one_word() const { return mkl && version >= 200 && version < 207; }
  friend bool operator==(const TorchBuild&, const TorchBuild&) = default;
};

/// The full state of a stream as plain numbers, for checkpoints. Equal states draw equal numbers.
struct GeneratorState {
  std::uint64_t seed = 0;                  ///< the last manual_seed(); only for information, as draws depend on `words`
  std::array<std::uint32_t, 624> words{};  ///< the current block of the Mersenne Twister
  std::uint32_t used = 0;                  ///< how many of `words` have been drawn, 0 to 624
  bool has_normal = false;                 ///< whether the second half of a pair of normals is cached
  double cached_normal = 0;                ///< the cached half, with mean 0 and standard deviation 1
  TorchBuild build{};                      ///< a setting, which manual_seed() does not change

  friend bool operator==(const GeneratorState&, const GeneratorState&) = default;
};

/// A handle to one stream of random numbers. Copies share the stream, so each number is drawn by only one of them. To
/// repeat the numbers of another Generator, use `set_state(other.get_state())`. Drawing changes the stream, not the
/// handle, so the drawing functions are const and a layer with a const `forward` can draw. Only one thread at a time
/// may use a stream.
///
/// `Generator(123)` matches PyTorch's CPU generator after `torch.manual_seed(123)` (x86-64 with AVX2; for the few draws
/// in which builds and versions differ, see TorchBuild). float32 values and integers agree in every bit. float64
/// normals (before the mean is added) agree within 3 units in the last place, and float64 exponentials within 2.
/// float64 values can differ because PyTorch uses the log and sin of the C library, whose results vary between
/// libraries. Of 256 million float64 normals 99.4 % were within 1 unit of the values with glibc, and 0.004 % were
/// beyond 2 units. All were within 2.6 units of the exact values, and the values with glibc were within 2.5.
///
/// The stream is a sequence of 32-bit words, and every draw takes a known number of words, so the order and sizes of
/// draws determine all later draws.
///
///     words that a draw of n values takes, with the default TorchBuild unless noted:
///     uniform           float n                  double 2n
///     normal, n < 16    4 for each pair, shared by float and double; a cached half costs 0
///     normal, n >= 16   float n, + 16 if n % 16  double 2n, + 32 if n % 16
///     randint           n; 2n for a range of 2^28 or more        random_int64   2
///     randperm          n - 1, or 0 for n < 2                    exponential    2n
///     bernoulli_bits    2n; 1 with mkl                           an empty span  0
///
/// Source: M. Matsumoto, T. Nishimura, "Mersenne Twister", ACM TOMACS 8 (1998); the rules follow PyTorch.
class Generator {
 public:
  /// The default seed, which is PyTorch's. So an unseeded Generator draws the same stream as unseeded PyTorch.
  static constexpr std::uint64_t default_seed = 67280421310721;

  Generator() : Generator(default_seed) {}
  explicit Generator(Integer seed) : state_(std::make_shared<GeneratorState>()) { manual_seed(seed); }
  Generator(const Generator&) = default;  // no move: a handle is never empty
  Generator& operator=(const Generator&) = default;
  ~Generator() = default;

  /// Whether both handles belong to the same stream.
  bool same_as(const Generator& other) const { return state_ == other.state_; }

  /// Restarts the stream and drops a cached half of a pair of normals. Any integer works, but only its low 32 bits
  /// count: -1 and 4294967295 give the same stream, and so do s and s + 2^32.
  void manual_seed(Integer seed) const { seed_with(static_cast<std::uint64_t>(Index(seed))); }

  /// Sets which PyTorch build to match from now on. random.set_build({.mkl = true}) matches the dropout masks of
  /// PyTorch's x86-64 wheels. Copies of the handle share the setting. A call replaces all fields. So {.version = 113}
  /// means PyTorch 1.13 without MKL. Errors: a version that is not 100 * major + minor.
  void set_build(const TorchBuild& build) const;
  TorchBuild build() const { return state_->build; }

  /// get_state() copies the state of the stream, and set_state() restores it. Errors: a state that was never a stream
  /// (all words zero, `used` above 624).
  GeneratorState get_state() const { return *state_; }
  void set_state(const GeneratorState& state) const;

  /// next_u32() draws one word and returns its 32 bits. next_u64() draws two words and returns 64 bits, of which the
  /// first word is the high half.
  std::uint32_t next_u32() const;
  std::uint64_t next_u64() const;
  /// Fills `out` with the next words. These are the same words that next_u32() would return, drawn faster.
  void words(std::span<std::uint32_t> out) const;

  /// A unit is a number uniform in [0, 1). A float unit is the low 24 bits of one word times 2^-24. A double unit is
  /// the low 53 bits of two words times 2^-53.
  static float unit_of(std::uint32_t word) { return static_cast<float>(word & 0xFFFFFF) * 0x1p-24f; }
  static double unit_of(std::uint64_t words) { return static_cast<double>(words & 0x1FFFFFFFFFFFFF) * 0x1p-53; }
  float uniform_float() const { return unit_of(next_u32()); }
  double uniform_double() const { return unit_of(next_u64()); }

  /// out[i] = unit * (high - low) + low, rounded once (fma). The values are uniform over [low, high), though rounding
  /// may reach `high`. The bounds are first narrowed to out's type. Errors: low > high, or bounds or a width that are
  /// not finite in out's type. PyTorch on Intel Macs and on Windows rounds twice, which changes the last bit of about
  /// half of all values.
  void uniform(std::span<float> out, Real low = 0, Real high = 1) const;
  void uniform(std::span<double> out, Real low = 0, Real high = 1) const;

  /// out[i] = mean + std * (a standard normal). Errors: std negative or NaN. Fewer than 16 elements are drawn as
  /// Box-Muller pairs in double. The unused half of a pair stays in the stream, unscaled, for the next such call of
  /// either type. 16 or more elements are drawn in blocks of 16 in out's type, which neither use nor leave a half. If n
  /// is not a multiple of 16, the last 16 elements are drawn a second time. Hence 15 normals and 16 normals from the
  /// same state have no value in common. PyTorch on ARM Macs uses another sine in the blocks, so values agree only to
  /// about 2.5e-6.
  void normal(std::span<float> out, Real mean = 0, Real std = 1) const;
  void normal(std::span<double> out, Real mean = 0, Real std = 1) const;

  /// These functions draw values for initial weights. The values are always drawn in float32, and widened if `real` is
  /// double. So both builds of the library start from the same weights.
  void uniform_float32(std::span<real> out, Real low = 0, Real high = 1) const;
  void normal_float32(std::span<real> out, Real mean = 0, Real std = 1) const;

  /// out[i] = low + word % (high - low), in [low, high). The word has 64 bits when high - low >= 2^28, else 32. With a
  /// TorchBuild version below 207 the limit is 2^32. The remainder makes small values slightly more likely. If high -
  /// low is just below 2^28, they are more likely by up to one part in 16. If high - low is small, the difference is
  /// negligible. Errors: low >= high.
  void randint(std::span<std::int64_t> out, Integer low, Integer high) const;

  /// 63 random bits, never negative: PyTorch's `random_()` of an int64.
  std::int64_t random_int64() const { return static_cast<std::int64_t>(next_u64() & 0x7FFFFFFFFFFFFFFF); }

  /// The integers 0 to n-1 in random order (Fisher-Yates, from the front). Errors: n < 0, and n >= 2^32 / 20, where the
  /// remainder becomes visibly uneven and PyTorch draws differently.
  std::vector<std::int64_t> randperm(Integer n) const;

  /// Makes n draws, each 1 with probability p, else 0. A draw is 1 if a double unit is below p. With mkl the method
  /// differs (see TorchBuild). The draws are packed eight to a byte, so draw i is bit i % 8 of bits[i / 8]. Errors:
  /// bits whose size is not (n + 7) / 8; p outside [0, 1] or NaN.
  void bernoulli_bits(std::span<std::uint8_t> bits, std::size_t n, Real p) const;

  /// out[i] = -log(1 - unit) / lambda, which is exponentially distributed with mean 1 / lambda. The unit and the
  /// logarithm are computed in double for both types. Errors: lambda that is not above 0. This is the only draw whose
  /// values merely approximate those of some builds. With mkl and version 200 to 206 floats agree within 2 units in the
  /// last place, and doubles have not been compared.
  void exponential(std::span<float> out, Real lambda = 1) const;
  void exponential(std::span<double> out, Real lambda = 1) const;

 private:
  GeneratorState& with_word() const;
  void seed_with(std::uint64_t seed) const;
  double standard_normal() const;
  template <class T>
  void fill_normal(std::span<T> out, double mean, double std) const;

  std::shared_ptr<GeneratorState> state_;
};

}  // namespace mote
