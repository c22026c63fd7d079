// Element types, and every conversion to mote's own types against formulas of this file.
#include "engine/io/files/dtype.h"

#include "tests/tools.h"

namespace mote::test::dtype_test {
namespace {

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T) + 1);
  for (std::size_t i = 0; i < values.size(); ++i) std::memcpy(&bytes[1 + i * sizeof(T)], &values[i], sizeof(T));
  return bytes;  // from 1 on: at an odd address
}

/// `values` in a file of that type, read as To; the position of the first that is refused, or their number.
template <class To, class T>
Index widen(DType type, const std::vector<T>& values, std::vector<To>& to) {
  to.assign(values.size(), To(99));
  return detail::widen(type, bytes_of(values).data() + 1, static_cast<Index>(values.size()), to.data());
}
template <class To, class T>
bool exact(DType type, T value) {
  std::vector<To> to;
  return widen(type, std::vector<T>{value}, to) == 1 && (std::isnan(static_cast<double>(value)) || T(to[0]) == value);
}
template <class To, class T>
bool refused(DType type, T value) {
  std::vector<To> to;
  return widen(type, std::vector<T>{T(1), value, T(2)}, to) == 1;
}

/// A float of `fraction` fraction bits and `exponent` exponent bits, by the definition of IEEE 754.
double value_of(unsigned code, int exponent, int fraction) {
  const unsigned f = code & ((1u << fraction) - 1), e = code >> fraction & ((1u << exponent) - 1);
  const int bias = (1 << (exponent - 1)) - 1;
  const double sign = code >> (exponent + fraction) & 1 ? -1 : 1, part = std::ldexp(f, -fraction);
  if (e == (1u << exponent) - 1) return f ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  return sign * (e == 0 ? std::ldexp(part, 1 - bias) : std::ldexp(1 + part, static_cast<int>(e) - bias));
}

TEST_CASE("dtype: sizes, words and what is readable") {
  const std::vector<Index> sizes{8, 4, 6, 6, 8, 8, 8, 8, 8, 8, 8, 16, 16, 16, 16, 32, 32, 32, 64, 64, 64, 64};
  std::size_t i = 0;
  for (const Word<DType>& w : words(DType{})) {
    INFO(w.name);
    CHECK(static_cast<std::size_t>(w.value) == i);
    CHECK(bits(w.value) == sizes[i++]);
    const std::string word = w.name;
    const bool integer = word == "BOOL" || word == "U8" || word == "I8" || word == "I16" || word == "U16" ||
                         word == "I32" || word == "U32" || word == "I64" || word == "U64";
    CHECK(readable(w.value, DType::boolean) == (word == "BOOL"));
    CHECK(readable(w.value, DType::i64) == integer);
    CHECK(readable(w.value) == (integer || word == "F16" || word == "BF16" || word == "F32" || word == "F64"));
  }
  CHECK(i == sizes.size());
}

TEST_CASE("dtype: all 65,536 values of F16 and BF16") {
  std::vector<std::uint16_t> codes(65536);
  for (unsigned i = 0; i < 65536; ++i) codes[i] = static_cast<std::uint16_t>(i);
  for (const DType type : {DType::f16, DType::bf16}) {
    std::vector<real> got;
    CHECK(widen(type, codes, got) == 65536);
    Index wrong = 0;
    for (unsigned i = 0; i < 65536; ++i) {
      const double wanted = type == DType::f16 ? value_of(i, 5, 10) : value_of(i, 8, 7);
      const double value = static_cast<double>(got[i]);
      const bool same = std::isnan(wanted) ? std::isnan(value) : value == wanted;
      if (!same || std::signbit(value) != (i >= 32768)) ++wrong;
    }
    CHECK(wrong == 0);
  }
}

template <class T>
void check_all_of(DType type) {
  std::vector<T> all;
  for (int i = std::numeric_limits<T>::min(); i <= std::numeric_limits<T>::max(); ++i) all.push_back(static_cast<T>(i));
  const Index n = static_cast<Index>(all.size());
  std::vector<real> reals;
  std::vector<Index> integers;
  CHECK(widen(type, all, reals) == n);
  CHECK(widen(type, all, integers) == n);
  Index wrong = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (integers[i] != Index(all[i]) || static_cast<double>(reals[i]) != static_cast<double>(all[i])) ++wrong;
  CHECK(wrong == 0);
}

TEST_CASE("dtype: all integers of 8 and 16 bits") {
  check_all_of<std::uint8_t>(DType::u8);
  check_all_of<std::int8_t>(DType::i8);
  check_all_of<std::uint16_t>(DType::u16);
  check_all_of<std::int16_t>(DType::i16);
}

TEST_CASE("dtype: larger integers as integers") {
  for (const int x : {0, -1, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()})
    CHECK(exact<Index, std::int32_t>(DType::i32, x));
  CHECK(exact<Index, std::uint32_t>(DType::u32, 4294967295u));
  for (const Index x : {Index(-1), std::numeric_limits<Index>::min(), std::numeric_limits<Index>::max()})
    CHECK(exact<Index, std::int64_t>(DType::i64, x));
  CHECK(exact<Index, std::uint64_t>(DType::u64, (std::uint64_t(1) << 63) - 1));
  CHECK(refused<Index, std::uint64_t>(DType::u64, std::uint64_t(1) << 63));
  CHECK(refused<Index, std::uint64_t>(DType::u64, ~std::uint64_t(0)));
}

TEST_CASE("dtype: larger integers as reals: exactly, or refused") {
  // Whole numbers of p bits are exact, and so are their products with powers of two.
  const int p = std::numeric_limits<real>::digits;
  const std::uint64_t bound = std::uint64_t(1) << p;
  for (const std::uint64_t x : {bound - 1, bound, bound + 2, std::uint64_t(1) << 62, std::uint64_t(1) << 63,
                                (bound - 1) << (64 - p), (bound - 1) << (63 - p)})
    CHECK(exact<real, std::uint64_t>(DType::u64, x));
  for (const std::uint64_t x : {bound + 1, bound + 3, ~std::uint64_t(0), ~std::uint64_t(0) >> 1,
                                (std::uint64_t(1) << 63) + 1, (std::uint64_t(1) << 63) - 1})
    CHECK(refused<real, std::uint64_t>(DType::u64, x));
  const auto whole = static_cast<std::int64_t>(bound);
  for (const std::int64_t x : {-whole, -whole - 2, whole, std::numeric_limits<std::int64_t>::min()})
    CHECK(exact<real, std::int64_t>(DType::i64, x));
  for (const std::int64_t x :
       {-whole - 1, whole + 1, std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min() + 1})
    CHECK(refused<real, std::int64_t>(DType::i64, x));
  for (const std::int32_t x : {std::numeric_limits<std::int32_t>::min(), -16777216, 16777218})
    CHECK(exact<real, std::int32_t>(DType::i32, x));
  CHECK(exact<real, std::uint32_t>(DType::u32, 0x80000000u));
  for (const std::int32_t x : {16777217, -16777217, std::numeric_limits<std::int32_t>::max()})
    CHECK(refused<real, std::int32_t>(DType::i32, x) == !f64);
  CHECK(refused<real, std::uint32_t>(DType::u32, 0xFFFFFFFFu) == !f64);
}

TEST_CASE("dtype: F32 and F64 as reals: exactly, or refused") {
  using F = std::numeric_limits<float>;
  for (const float x :
       {0.0f, 1.5f, F::max(), F::min(), F::denorm_min(), -F::denorm_min(), F::infinity(), F::quiet_NaN()})
    CHECK(exact<real, float>(DType::f32, x));
  for (const double x : {0.0, 0.5, double(F::max()), double(F::denorm_min()), -double(F::infinity()), std::nan("")})
    CHECK(exact<real, double>(DType::f64, x));
  for (const double x : {0.1, 1e300, -1e300, 5e-324, double(F::denorm_min()) / 2, double(F::max()) * (1 + 1e-9)})
    CHECK(refused<real, double>(DType::f64, x) == !f64);
  std::vector<real> zeros;
  CHECK(widen(DType::f32, std::vector<float>{-0.0f, 0.0f}, zeros) == 2);
  CHECK((std::signbit(zeros[0]) && !std::signbit(zeros[1])));
  CHECK(widen(DType::f64, std::vector<double>{-0.0, 0.0}, zeros) == 2);
  CHECK((std::signbit(zeros[0]) && !std::signbit(zeros[1])));
}

TEST_CASE("dtype: booleans are 0 and 1") {
  std::vector<real> reals;
  std::vector<Index> integers;
  std::vector<std::uint8_t> booleans;
  const std::vector<std::uint8_t> good{0, 1, 1};
  CHECK(widen(DType::boolean, good, booleans) == 3);
  CHECK(booleans == good);
  CHECK(widen(DType::boolean, good, integers) == 3);
  CHECK(integers == std::vector<Index>{0, 1, 1});
  CHECK(widen(DType::boolean, good, reals) == 3);
  CHECK(reals == std::vector<real>{0, 1, 1});
  for (int x = 2; x < 256; ++x) {
    const std::vector<std::uint8_t> bad{0, 1, static_cast<std::uint8_t>(x), 1};
    CHECK(widen(DType::boolean, bad, booleans) == 2);
    CHECK(widen(DType::boolean, bad, integers) == 2);
    CHECK(widen(DType::boolean, bad, reals) == 2);
  }
}

}  // namespace
}  // namespace mote::test::dtype_test
