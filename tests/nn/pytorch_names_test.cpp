// The table "What mote has no name for" of nn/pytorch_names.md: each line of ops computes what PyTorch's function does.
#include "nn/nn.h"
#include "tests/sentences.h"
#include "tests/support.h"

namespace mote::test::pytorch_names_test {
namespace {

void is(const Tensor& y, const Shape& shape, const std::vector<double>& values) {
  CHECK(y.shape() == shape);
  const std::vector<real> got = y.to_vector();
  REQUIRE(got.size() == values.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == doctest::Approx(values[i]).epsilon(1e-6));
}

TEST_CASE("what mote has no name for: products, axes, functions of one number") {
  const Tensor a = tensor({1, 2, 3}), b = tensor({4, 5, 6}), m = tensor({{1, 2}, {3, 4}, {5, 6}});
  is(sum(a * b), {}, {32});                                             // torch.dot(a, b)
  is(matmul(a, m), {2}, {22, 28});                                      // torch.mv(m.T, a)
  is(matmul(unsqueeze(m, 0), ones({1, 2, 1})), {1, 3, 1}, {3, 7, 11});  // torch.bmm
  const Tensor q = ones({1, 2, 3, 4}), k = full({1, 2, 5, 4}, 2);
  is(matmul(q, transpose(k, -2, -1)), {1, 2, 3, 5}, std::vector<double>(30, 8));  // einsum("bhqd,bhkd->bhqk", q, k)
  is(transpose(m, -2, -1), {2, 3}, {1, 3, 5, 2, 4, 6});                           // m.T
  CHECK(permute(zeros({2, 3, 4}), {2, 0, 1}).shape() == Shape{4, 2, 3});          // movedim(2, 0)
  is(1 / tensor({2, 4}), {2}, {0.5, 0.25});                                       // reciprocal
  is(pow(tensor({4, 16}), -0.5), {2}, {0.5, 0.25});                               // rsqrt
  is(exp(tensor({1, 3}) * std::log(2.0)), {2}, {2, 8});                           // exp2
  is(clamp(tensor({-1, 2}), 0), {2}, {0, 2});                                     // clamp_min(0)
  const Tensor odd = tensor({1, std::nan("")});
  CHECK((odd != odd).to_vector() == std::vector<std::uint8_t>{0, 1});  // torch.isnan
}

TEST_CASE("what mote has no name for: selections, joins, heads") {
  const Tensor x = reshape(arange(12), {2, 6});
  is(slice(x, 1, 2, 5), {2, 3}, {2, 3, 4, 8, 9, 10});            // x.narrow(1, 2, 3)
  is(index(x, {Slice(), ints({0, 5})}), {2, 2}, {0, 5, 6, 11});  // index_select(x, 1, ids)
  is(index(x, x > 9), {2}, {10, 11});                            // masked_select(x, x > 9)
  is(concat({slice(x, 0, 0, 1), ones({1, 6})}, 0), {2, 6}, {0, 1, 2, 3, 4, 5, 1, 1, 1, 1, 1, 1});  // vstack
  CHECK(concat({x, x}, 1).shape() == Shape{2, 12});                                                // hstack
  CHECK(expand(zeros({6}), x.shape()).shape() == x.shape());                                       // expand_as
  const Tensor heads = reshape(arange(4), {1, 2, 2, 1});
  is(repeat_heads(heads, 2 * heads.size(1)), {1, 4, 2, 1}, {0, 1, 0, 1, 2, 3, 2, 3});  // repeat_interleave(k, 2, dim=1)
  const IntArray ids = ints({{1}, {2}});
  is(index_put(zeros({2, 3}), {unsqueeze(int_arange(2), 1), ids}, 1), {2, 3},
     {0, 1, 0, 0, 0, 1});  // scatter_(1, ids, 1)
  const Tensor rows = tensor({{3, 4}, {0, 2}});
  is(rows / maximum(norm(rows, {-1}, true), 1e-12), {2, 2}, {0.6, 0.8, 0, 1});      // F.normalize(x, dim=-1)
  is(sum(rows * rows, {-1}) / (norm(rows, {-1}) * norm(rows, {-1})), {2}, {1, 1});  // F.cosine_similarity
  is(concat({zeros({2, 1}), rows, zeros({2, 2})}, 1), {2, 5}, {0, 3, 4, 0, 0, 0, 0, 2, 0, 0});  // F.pad(x, (1, 2))
  CHECK(argmax(tensor(ints({3, 9, 1}))).item() == 1);
}

TEST_CASE("the gradient of a backward that begins with a Tensor") {
  const Tensor x = tensor({1, 2}).requires_grad_();
  (x * x).backward(tensor({1, 10}));
  CHECK(x.grad().to_vector() == std::vector<real>{2, 40});
}

}  // namespace
}  // namespace mote::test::pytorch_names_test
