// Embedding: values, repeated ids, padding, ids out of range.
#include "engine/ops/embedding.h"

#include "engine/ops/create.h"
#include "tests/sentences.h"
#include "tests/support.h"

namespace mote::test::embedding_test {
namespace {

TEST_CASE("embedding") {
  const IntArray ids = ints({{3, 0, 3}, {1, 3, 0}});
  const Oracle oracle = [&](const std::vector<Value>& in) {
    std::vector<double> y;
    for (const Index id : ids.values())
      for (Index c = 0; c < in[0].shape[1]; ++c)
        y.push_back(in[0].x[static_cast<std::size_t>(id * in[0].shape[1] + c)]);
    return y;
  };
  for (const Index width : {1, 3, 17, 40})
    check_op("embedding", [&](In w) { return embedding(w[0], ids); }, oracle, {random_array({5, width}, 1)},
             {.empty = {Array::zeros({5, 0})},
              .error =
                  [] {
                    embedding(zeros({5, 2}), ints({0, 5}));
                  },
              .error_text = "embedding: id 5 is out of range for V = 5"});
}

TEST_CASE("embedding: ids out of range, empty ids, the wrong rank") {
  const Tensor table = zeros({4, 3});
  REFUSES(embedding(table, ints({-1})));
  REFUSES(embedding(table, ints({std::numeric_limits<Index>::max()})));
  REFUSES(embedding(zeros({4}), ints({0})));
  REFUSES(embedding(table, ints({0}), 4));
  CHECK(embedding(table, IntArray(Shape{0})).shape() == Shape{0, 3});
  CHECK(embedding(table, IntArray(Shape{2, 2})).shape() == Shape{2, 2, 3});
  CHECK(embedding(table, IntArray(Shape{})).shape() == Shape{3});
}

TEST_CASE("embedding: the gradient of a row is summed in token order, for any number of threads; padding gets none") {
  constexpr Index count = 3000, vocabulary = 7, width = 53;
  IntArray ids(Shape{count});
  for (Index i = 0; i < count; ++i) ids.mutate()[i] = i * i % vocabulary;
  const Array dy = random_array({count, width}, 1), table = random_array({vocabulary, width}, 2);
  Array expected = Array::zeros({vocabulary, width});
  for (Index i = 0; i < count; ++i)
    for (Index c = 0; c < width; ++c) expected.mutate()[ids.at({i}) * width + c] += dy.at({i, c});
  on_all_hardware({1, 2, 3, 7}, [&] {
    CHECK(same_bits(Run([&](In w) { return embedding(w[0], ids); }, {table}, dy).dx[0], expected));
  });
  const Run padded([&](In w) { return embedding(w[0], ids, 4); }, {table}, dy);
  CHECK(same_bits(padded.y, Run([&](In w) { return embedding(w[0], ids); }, {table}, dy).y));
  CHECK(same_bits(padded.dx[0].select(0, 4), Array::zeros({width})));
  CHECK(same_bits(padded.dx[0].select(0, 2), expected.select(0, 2)));
}

}  // namespace
}  // namespace mote::test::embedding_test
