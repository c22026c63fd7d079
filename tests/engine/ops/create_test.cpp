// Tensor, zeros, ones, full, arange, eye, and the brace lists behind tensor().
#include "engine/ops/create.h"

#include "engine/array/print.h"
#include "engine/ops/compare.h"
#include "engine/ops/view.h"
#include "tests/sentences.h"
#include "tests/tools.h"

namespace mote::test::create_test {
namespace {

TEST_CASE("tensor: brace lists of any depth") {
  CHECK(tensor(3.0).shape() == Shape{});
  CHECK(tensor(3.0).item() == 3);
  const Tensor x = tensor({{0.5, 0.25, 1}, {2, -3, 4e3}});
  CHECK(x.shape() == Shape{2, 3});
  CHECK(x.to_vector() == std::vector<real>{real(0.5), real(0.25), 1, 2, -3, 4000});
  CHECK(tensor({{{1.0}}}).shape() == Shape{1, 1, 1});
  CHECK(tensor({1, 2, 3}).shape() == Shape{3});
  CHECK_FALSE(x.requires_grad());
  CHECK(tensor({1.0}).requires_grad_().requires_grad());
}

TEST_CASE("tensor: vectors, nested or not, give what brace lists give") {
  const std::vector<float> numbers{0.5F, -2, 1};
  CHECK(tensor(numbers).to_vector() == tensor({0.5, -2, 1}).to_vector());
  CHECK(tensor(std::vector<int>{3, 4}).to_vector() == tensor({3, 4}).to_vector());
  CHECK(tensor({numbers, numbers}).shape() == Shape{2, 3});
  const Tensor rows = tensor(std::vector<std::vector<float>>{{1, 2, 3}, {4, 5, 6}});
  CHECK(rows.shape() == Shape{2, 3});
  CHECK(rows.to_vector() == std::vector<real>{1, 2, 3, 4, 5, 6});
  CHECK(tensor(std::vector<float>{}).shape() == Shape{0});
}

TEST_CASE("tensor: lists of unequal lengths or depths") {
  const auto says = [](const Nested<double>& list) { return error_of([&] { tensor(list); }); };
  const std::string unequal = "tensor: the lists must have equal lengths: the first ones make the shape ",
                    later = ", which a later one does not fit";
  CHECK(says({{1, 2}, {3}}) == unequal + "[2, 2]" + later);
  CHECK(says({{1, 2}, 3}) == unequal + "[2, 2]" + later);
  CHECK(says({1, {}}) == unequal + "[2]" + later);
  CHECK(says({1, {2, 3}}) == unequal + "[2]" + later);
  CHECK(says(std::vector<std::vector<float>>{{1, 2}, {3}}) == unequal + "[2, 2]" + later);
}

TEST_CASE("tensor: of indices and of masks") {
  const Tensor x = tensor(ints({{1, -2}, {3, 4}}).transpose(0, 1));
  CHECK(x.shape() == Shape{2, 2});
  CHECK(x.to_vector() == std::vector<real>{1, 3, -2, 4});
  CHECK(tensor(mask({{true, false}, {false, true}})).to_vector() == eye(2).to_vector());
  CHECK(tensor(IntArray({0, 3})).shape() == Shape{0, 3});
  REFUSES(tensor(Mask()));
}

TEST_CASE("zeros, ones, full, eye") {
  CHECK(zeros({2, 2}).to_vector() == std::vector<real>(4, real(0)));
  CHECK(ones({3}).to_vector() == std::vector<real>(3, real(1)));
  CHECK(full({2}, real(2.5)).to_vector() == std::vector<real>(2, real(2.5)));
  CHECK(full({}, 7).item() == 7);
  CHECK(eye(2).to_vector() == std::vector<real>{1, 0, 0, 1});
  CHECK(eye(0).shape() == Shape{0, 0});
  REFUSES(zeros({-1}));
}

TEST_CASE("linspace") {
  // torch.linspace(-1, 2, 7), torch.linspace(0.1, 0.7, 6), torch.linspace(3, 5, 1) [float32]
  CHECK(linspace(-1, 2, 7).to_vector() == std::vector<real>{-1, -0.5, 0, 0.5, 1, 1.5, 2});
  const std::vector<double> sixths{0.100000001, 0.219999999, 0.339999974, 0.460000008, 0.579999983, 0.699999988};
  const std::vector<real> got = linspace(0.1, 0.7, 6).to_vector();
  for (std::size_t i = 0; i < 6; ++i)
    CHECK(std::abs(static_cast<double>(got[i]) - sixths[i]) < (sizeof(real) == 4 ? 1e-9 : 1e-7));
  CHECK(linspace(3, 5, 1).to_vector() == std::vector<real>{3});
  CHECK(linspace(3, 5, 0).shape() == Shape{0});
  REFUSES(linspace(0, 1, -1));
  const real most = std::numeric_limits<real>::max();
  for (const double far : {static_cast<double>(inf), static_cast<double>(nan)}) REFUSES(linspace(0, far, 3));
  CHECK(error_of([&] {
          linspace(-static_cast<double>(most), static_cast<double>(most), 3);
        }).ends_with(" must be finite"));
}

TEST_CASE("ints: a tensor without its fractions, a mask as 0 and 1") {
  CHECK(ints(tensor({1.9, -1.9, 0.5, -0.0})).to_vector() == std::vector<Index>{1, -1, 0, 0});  // PyTorch's x.long()
  CHECK(ints(transpose(tensor({{1, 2}, {3, 4}}), 0, 1)).to_vector() == std::vector<Index>{1, 3, 2, 4});
  CHECK(ints(zeros({0, 2})).shape() == Shape{0, 2});
  CHECK(ints(tensor({2, 3}) > 2).to_vector() == std::vector<Index>{0, 1});
  CHECK(ints(tensor(-0x1p63)).item() == std::numeric_limits<Index>::min());
  REFUSES(ints(tensor(0x1p63)));
  REFUSES(ints(tensor(std::nan(""))));
  REFUSES(ints(tensor({1, -std::numeric_limits<double>::infinity()})));
}

TEST_CASE("arange in double has PyTorch's bits") {
  if (sizeof(real) == 4) return;
  // torch.arange(0.1, 1.75, 0.1, dtype=torch.float64): the sixth is 0.6, not 0.1 + 5 * 0.1
  CHECK(arange(0.1, 1.75, 0.1).to_vector() ==
        std::vector<real>{real(0.1), real(0.2), real(0.30000000000000004), real(0.4), real(0.5), real(0.6), real(0.7),
                          real(0.8), real(0.9), real(1.0), real(1.1), real(1.2), real(1.3), real(1.4000000000000001),
                          real(1.5), real(1.6), real(1.7000000000000002)});
}

TEST_CASE("arange") {
  CHECK(arange(4).to_vector() == std::vector<real>{0, 1, 2, 3});
  CHECK(arange(1, 4).to_vector() == std::vector<real>{1, 2, 3});
  CHECK(arange(0, 1, 0.25).to_vector() == std::vector<real>{0, real(0.25), real(0.5), real(0.75)});
  CHECK(arange(3, 0, -1).to_vector() == std::vector<real>{3, 2, 1});
  CHECK(arange(0).shape() == Shape{0});
  CHECK(arange(1e6).array().at({-1}) == 999999);
  REFUSES(arange(0, 4, 0));
  REFUSES(arange(0, 4, -1));
}

TEST_CASE("arange with a fraction as step: PyTorch's bits") {
  if (f64) return;
  // torch.arange(-3, end, 0.1): the last three of so many values
  const std::pair<Index, std::vector<real>> last[] = {
      {7, {-0x1.4ccccc0000000p+1F, -0x1.4000000000000p+1F, -0x1.3333340000000p+1F}},
      {15, {-0x1.cccccc0000000p+0F, -0x1.b333340000000p+0F, -0x1.99999a0000000p+0F}},
      {16, {-0x1.b333340000000p+0F, -0x1.99999a0000000p+0F, -0x1.8000000000000p+0F}},
      {17, {-0x1.99999a0000000p+0F, -0x1.8000000000000p+0F, -0x1.6666660000000p+0F}},
      {31, {-0x1.99999a0000000p-3F, -0x1.99999a0000000p-4F, 0x1.8000000000000p-53F}},
      {32, {-0x1.9999a00000000p-4F, -0x1.99999a0000000p-26F, 0x1.9999940000000p-4F}},
      {100, {0x1.accccc0000000p+2F, 0x1.b333340000000p+2F, 0x1.b9999a0000000p+2F}}};
  for (const auto& [count, values] : last) {
    const Array x = arange(-3, -3 + static_cast<double>(count) * 0.1 - 0.05, 0.1).array();
    CHECK(x.shape() == Shape{count});
    CHECK(x.slice(0, count - 3, count).to_vector() == values);
  }
  CHECK(to_text(arange(-1, 1, 0.1).array()).starts_with("tensor([-1.0000e+00, -9.0000e-01,"));
  CHECK(arange(0, 1, 0.02).array().at({9}) == real(0.179999992));
}

TEST_CASE("zeros_like, ones_like, full_like") {
  const Tensor x = zeros({2, 3});
  CHECK(zeros_like(x).to_vector() == std::vector<real>(6, real(0)));
  CHECK(ones_like(x).shape() == x.shape());
  CHECK(full_like(x, 2.5).to_vector() == std::vector<real>(6, real(2.5)));
  CHECK(ones_like(ints({{1, 2}})).to_vector() == std::vector<Index>{1, 1});
  CHECK(zeros_like(ints({1})).shape() == Shape{1});
}

}  // namespace
}  // namespace mote::test::create_test
