// Causal_mask, padding_mask and from_blocked, value by value.
#include "engine/ops/masks.h"

#include "engine/ops/compare.h"
#include "engine/ops/create.h"
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
  CHECK(error_of([] { causal_mask(2, 5, -1); }) == "causal_mask: window -1 must be at least 0");
  CHECK(bytes_of(causal_mask(1)) == Bytes{1});
  CHECK(causal_mask(0).shape() == Shape{0, 0});
  CHECK(causal_mask(0, 4).shape() == Shape{0, 4});
  CHECK(error_of([] { causal_mask(-1, 2); }) == "causal_mask: queries -1 must be at least 0");
  CHECK(error_of([] { causal_mask(4, 3); }) == "causal_mask: 4 queries need at least as many keys, not 3");
}

TEST_CASE("padding_mask: the first lengths[b] keys of each row") {
  const Mask m = padding_mask({2, 0, 3}, 3);
  CHECK(m.shape() == Shape{3, 1, 1, 3});
  CHECK(bytes_of(m) == Bytes{1, 1, 0, 0, 0, 0, 1, 1, 1});
  CHECK(padding_mask({}, 3).shape() == Shape{0, 1, 1, 3});
  CHECK(padding_mask({0}, 0).shape() == Shape{1, 1, 1, 0});
  CHECK(error_of([] { padding_mask({1, 4}, 3); }) == "padding_mask: length 4 is outside [0, 3]");
  CHECK(error_of([] { padding_mask({}, -1); }) == "padding_mask: longest -1 must be at least 0");
  CHECK(error_of([] { padding_mask({-1}, 3); }) == "padding_mask: length -1 is outside [0, 3]");
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
  CHECK(error_of([&] { key_padding(m); }) == "key_padding: mask [2, 1, 1, 3] must be [B, T]");
  CHECK(error_of([] { key_padding(Mask()); }).find("not defined") != std::string::npos);
}

TEST_CASE("from_blocked refuses numbers that are neither 0 nor 1, such as a mask that is meant to be added") {
  CHECK(error_of([] {
          from_blocked(tensor({0, 0.5}));
        }) == "from_blocked: elements must be 0 (may attend) or 1 (blocked), not 0.5");
  CHECK(error_of([] { from_blocked(Tensor(Array::full({1}, -inf))); }) ==
        "from_blocked: an additive mask of 0 and -inf is m == 0");
  CHECK(error_of([] { from_blocked(tensor({0, -1e4})); }).ends_with("an additive mask of 0 and -10000 is m == 0"));
  CHECK(error_of([] { from_blocked(tensor({1, -inf})); }) ==
        "from_blocked: elements must be 0 (may attend) or 1 (blocked), not -inf");
  CHECK(error_of([] { from_blocked(Tensor(Array::full({1}, nan))); }).find("not nan") != std::string::npos);
  CHECK(error_of([] { from_blocked(tensor({-1.0})); }).find("not -1") != std::string::npos);
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
  CHECK(error_of([] { alibi_slopes(0); }) == "alibi_slopes: heads 0 must be at least 1");
  CHECK(error_of([] { alibi_slopes(Index(1) << 62); }) != "(no error)");
}

}  // namespace
}  // namespace mote::test::masks_test
