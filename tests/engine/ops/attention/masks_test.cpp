// Causal_mask, padding_mask and from_blocked, value by value.
#include "engine/ops/masks.h"

#include "engine/ops/compare.h"
#include "engine/ops/create.h"
#include "tests/sentences.h"
#include "tests/tools.h"

namespace mote::test::masks_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes bytes_of(const Mask& m) { return {m.data(), m.data() + m.numel()}; }

TEST_CASE("causal_mask: true where the key is not later than the query") {
  CHECK(bytes_of(causal_mask(3)) == Bytes{1, 0, 0, 1, 1, 0, 1, 1, 1});
  CHECK(causal_mask(3).shape() == Shape{3, 3});
  CHECK(bytes_of(causal_mask(2, 5)) == Bytes{1, 1, 1, 1, 0, 1, 1, 1, 1, 1});  // the queries are the last two of five
  CHECK(causal_mask(2, 5).shape() == Shape{2, 5});
  CHECK(bytes_of(causal_mask(2, 5, 2)) == Bytes{0, 0, 1, 1, 0, 0, 0, 0, 1, 1});
  REFUSES(causal_mask(2, 5, -1));
  CHECK(bytes_of(causal_mask(1)) == Bytes{1});
  CHECK(causal_mask(0).shape() == Shape{0, 0});
  CHECK(causal_mask(0, 4).shape() == Shape{0, 4});
  REFUSES(causal_mask(-1, 2));
  REFUSES(causal_mask(4, 3));
}

TEST_CASE("padding_mask: the first lengths[b] keys of each row") {
  const Mask m = padding_mask({2, 0, 3}, 3);
  CHECK(m.shape() == Shape{3, 1, 1, 3});
  CHECK(bytes_of(m) == Bytes{1, 1, 0, 0, 0, 0, 1, 1, 1});
  CHECK(padding_mask({}, 3).shape() == Shape{0, 1, 1, 3});
  CHECK(padding_mask({0}, 0).shape() == Shape{1, 1, 1, 0});
  REFUSES(padding_mask({1, 4}, 3));
  REFUSES(padding_mask({}, -1));
  REFUSES(padding_mask({-1}, 3));
}

TEST_CASE("from_blocked: the other reading, from booleans and from numbers") {
  const Mask blocked = mask({{false, true}, {true, true}});
  CHECK(bytes_of(from_blocked(blocked)) == Bytes{1, 0, 0, 0});
  CHECK(bytes_of(blocked) == Bytes{0, 1, 1, 1});  // the argument stays
  const Tensor numbers = tensor({{0, 1, 1}, {0, 0, 1}});
  CHECK(from_blocked(numbers).shape() == Shape{2, 3});
  CHECK(bytes_of(from_blocked(numbers)) == Bytes{1, 0, 0, 1, 1, 0});
  CHECK(bytes_of(from_blocked(Tensor(numbers.array().transpose(0, 1)))) == Bytes{1, 1, 0, 1, 0, 0});
  CHECK(bytes_of(from_blocked(tensor({-0.0, 0.0}))) == Bytes{1, 1});
  CHECK(from_blocked(Tensor(Array::zeros({2, 0}))).shape() == Shape{2, 0});
}

TEST_CASE("key_padding makes attention's mask of one per row, as padding_mask does of lengths") {
  const IntArray ids = ints({{5, 7, 0}, {5, 0, 0}});
  const Mask m = key_padding(ids != 0), expected = padding_mask({2, 1}, 3);
  CHECK(m.shape() == Shape{2, 1, 1, 3});
  CHECK(m.to_vector() == expected.to_vector());
  REFUSES(key_padding(m));
  REFUSES(key_padding(Mask()));
}

TEST_CASE("from_blocked refuses numbers that are neither 0 nor 1, such as a mask that is meant to be added") {
  REFUSES(from_blocked(tensor({0, 0.5})));
  REFUSES(from_blocked(Tensor(Array::full({1}, -inf))));
  REFUSES(from_blocked(tensor({0, -1e4})));
  REFUSES(from_blocked(tensor({1, -inf})));
  REFUSES(from_blocked(Tensor(Array::full({1}, nan))));
  REFUSES(from_blocked(tensor({-1.0})));
}

TEST_CASE("alibi_slopes are the paper's") {
  // Press et al. 2022 for 8 heads: 1/2^1, 1/2^2, ..., 1/2^8; where heads are no power of 2, then every second of twice
  // as many as the power below
  const double tolerance = f64 ? 1e-15 : 1e-7;
  CHECK(distance(alibi_slopes(1).to_vector(), {0x1p-8}) < tolerance);
  CHECK(distance(alibi_slopes(3).to_vector(), {0x1p-4, 0x1p-8, 0x1p-2}) < tolerance);
  CHECK(distance(alibi_slopes(12).to_vector(), {0x1p-1, 0x1p-2, 0x1p-3, 0x1p-4, 0x1p-5, 0x1p-6, 0x1p-7, 0x1p-8,
                                                std::exp2(-0.5), std::exp2(-1.5), std::exp2(-2.5), std::exp2(-3.5)}) <
        tolerance);
  REFUSES(alibi_slopes(0));
  CHECK(error_of([] { alibi_slopes(Index(1) << 62); }) != "(no error)");
}

}  // namespace
}  // namespace mote::test::masks_test
