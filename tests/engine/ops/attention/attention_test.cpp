// Attention in blocks against the plain formula, bit for bit, on any hardware; shapes; errors.
#include "engine/ops/attention.h"

#include "engine/autograd/observer.h"
#include "engine/kernels/kernels.h"
#include "tests/engine/ops/attention/masks_and_slopes.h"
#include "tests/sentences.h"
#include "tests/support.h"

namespace mote::test::attention_test {
namespace {

struct Case {
  Index batch, heads, kv_heads, queries, keys, width, value_width;
};

void compare(const Case& c, const AttentionOptions& o) {
  INFO(c.queries << " queries, " << c.keys << " keys, " << c.kv_heads << " heads of them");
  const std::vector<Array> x{random_array({c.batch, c.heads, c.queries, c.width}, 1),
                             random_array({c.batch, c.kv_heads, c.keys, c.width}, 2),
                             random_array({c.batch, c.kv_heads, c.keys, c.value_width}, 3)};
  std::uint32_t next = 0;  // what the stream of dropout gives afterwards
  const auto with = [&](const auto& f) {
    return Run(
        [&](In t) {
          const Generator drops(5);
          const Tensor y = f(t[0], t[1], t[2], drops);
          next = drops.next_u32();
          return y;
        },
        x);
  };
  const Run formula = with([&](const Tensor& q, const Tensor& k, const Tensor& v, const Generator& drops) {
    return plain_attention(q, k, v, o, drops);
  });
  const std::uint32_t after = next;
  on_all_hardware({1, 4}, [&] {
    const Run blocks = with([&](const Tensor& q, const Tensor& k, const Tensor& v, const Generator& drops) {
      return attention(q, k, v, o, drops);
    });
    CHECK(blocks == formula);
    CHECK(next == after);
  });
}

TEST_CASE("attention: every bit of the plain formula, whatever the options") {
  const std::vector<Case> cases{{1, 1, 1, 1, 1, 1, 1},
                                {2, 3, 3, 5, 5, 4, 4},
                                {1, 2, 2, 7, 19, 5, 3},
                                {2, 4, 2, 6, 6, 8, 8},
                                {1, 6, 1, 33, 33, 16, 16},
                                {2, 1, 1, 16, 16, 1, 1},
                                {2, 2, 2, 17, 17, 8, 8},
                                {1, 3, 3, 64, 64, 33, 33},
                                {1, 2, 2, 65, 65, 1, 8},
                                {1, 2, 2, 100, 100, 8, 8},
                                {1, 4, 4, 90, 200, 3, 9},
                                {1, 1, 1, 17, 4100, 4, 4},
                                // whose weights are kept for backward
                                {2, 4, 2, 32, 32, 16, 8},
                                {1, 2, 2, 20, 40, 32, 8},
                                {1, 2, 2, 12, 12, 16, 16}};
  for (const Case& c : cases) {
    const Array slopes = some_slopes(c.heads);
    const Mask full = random_mask({c.batch, c.heads, c.queries, c.keys}, 1),
               shared = random_mask({c.queries, c.keys}, 2), keys_only = random_mask({c.batch, 1, 1, c.keys}, 3);
    compare(c, {});
    compare(c, {.causal = true});
    compare(c, {.mask = full});
    compare(c, {.causal = true, .mask = shared, .dropout = 0.5});
    compare(c, {.mask = keys_only, .alibi = slopes});
    compare(c, {.causal = true, .window = 3});
    compare(c, {.causal = true, .window = 20, .scale = 0.3, .alibi = slopes, .dropout = 0.2});
    compare(c, {.causal = true, .mask = full, .window = 18});
    compare(c, {.dropout = 1});
  }
}

TEST_CASE("attention: sums over more than 512 keys, queries or columns are the plain formula's, block by block") {
  for (const Case& c : {Case{1, 1, 1, 60, 1100, 3, 5},
                        {1, 2, 2, 520, 520, 4, 20},
                        {1, 1, 1, 20, 530, 300, 4},
                        {1, 1, 1, 20, 20, 1030, 600},
                        {1, 1, 1, 1, 20, 1030, 4}}) {
    compare(c, {});
    compare(c, {.causal = true});
    compare(c, {.causal = true, .mask = random_mask({c.queries, c.keys}, 2), .window = 600, .dropout = 0.2});
  }
  compare({1, 1, 1, 530, 20, 300, 4}, {.mask = random_mask({530, 20}, 2), .dropout = 0.2});
  compare({1, 4, 2, 300, 300, 4, 4}, {.causal = true});
}

TEST_CASE("attention with more queries than keys: the first of them stand before the first key") {
  const Case c{2, 2, 1, 7, 3, 4, 5};
  for (const double p : {0.0, 0.2}) {
    compare(c, {.dropout = p});
    compare(c, {.mask = random_mask({7, 3}, 4), .alibi = some_slopes(2), .dropout = p});
  }
}

TEST_CASE("attention: scores of hundreds do not overflow") {
  const Shape alike{1, 1, 5, 64}, apart{1, 2, 9, 64};
  // scores 64 * 100 / 8 = 800, all alike; then scores that are far apart
  for (const std::vector<Array>& x :
       {std::vector{Array::full(alike, 10), Array::full(alike, 10), random_array(alike, 3)},
        {random_array(apart, 1, -10, 10), random_array(apart, 2, -10, 10), random_array(apart, 3)}}) {
    const Run blocks([](In t) { return attention(t[0], t[1], t[2]); }, x);
    CHECK(blocks == Run([](In t) { return plain_attention(t[0], t[1], t[2], {}); }, x));
    for (const real y : blocks.y.to_vector()) CHECK(std::isfinite(y));
  }
}

TEST_CASE("attention: heads that share keys, and slopes: by hand") {
  // Each key before the last counts half as much as its successor, whatever it holds: 1/7, 2/7 and 4/7.
  const Array halves = Array::full({4}, std::log(real(2))), q = Array::zeros({1, 4, 1, 3}),
              k = random_array({1, 2, 3, 3}, 1);
  const Array v = array({1, 2, 3, 1}, {7, 0, 0, 0, 7, 0});  // of two heads, of which the first is queries' 0 and 1
  const Tensor y = attention(q, k, v, {.causal = true, .alibi = halves});
  CHECK(distance(y.to_vector(), {1, 1, 2, 2}) < (f64 ? 1e-14 : 1e-6));
}

struct Looks : Observer {
  Looks() { watch(); }
  std::vector<std::pair<std::string, Array>> values;
  void event(const Event& e) override {
    if (e.kind == Event::value_asked) e.answer(Want::to_see);
    if (e.kind == Event::value_shown) values.emplace_back(e.name, e.value->array());
  }
};

TEST_CASE("attention: observers see the formula's values; that they look changes no bit, not even beside a NaN") {
  const Array q = random_array({2, 4, 20, 6}, 1), k = random_array({2, 2, 20, 6}, 2);
  Array v = random_array({2, 2, 20, 6}, 3);
  v.mutate()[19 * 6] = nan;  // of the last key, which only the last query sees
  const AttentionOptions o{.causal = true, .window = 7, .dropout = 0.3};
  const OpFunction f = [&](In x) { return attention(x[0], x[1], x[2], o, Generator(5)); };
  const Run alone(f, {q, k, v});
  const Looks seen;
  CHECK(Run(f, {q, k, v}) == alone);
  REQUIRE(seen.values.size() >= 4);
  const Tensor scores = shared_matmul(q, transpose(Tensor(k), -2, -1)) * o.scale_for(6);
  const Tensor weights = masked_softmax(scores, causal_mask(20, 20, 7));
  const std::vector<std::pair<std::string, Array>> expected{
      {"scores", scores.array()},
      {"weights", weights.array()},
      {"dropped_weights", dropout(weights, 0.3, Generator(5)).array()},
      {"heads", alone.y}};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(seen.values[i].first == expected[i].first);
    CHECK(same_bits(seen.values[i].second, expected[i].second));
  }
}

TEST_CASE("attention: leading axes broadcast, and heads may be left out") {
  const Array one = random_array({5, 4}, 1), heads = random_array({3, 5, 4}, 2), all = random_array({2, 1, 3, 5, 4}, 3),
              few = random_array({6, 1, 5, 4}, 4);
  const std::vector<std::pair<std::vector<Array>, Shape>> cases{{{all, few, few}, {2, 6, 3, 5, 4}},
                                                                {{heads, few, few}, {6, 3, 5, 4}},
                                                                {{few, one, one}, {6, 1, 5, 4}},
                                                                {{heads, all, heads}, {2, 1, 3, 5, 4}},
                                                                {{one, one, one}, {5, 4}}};
  const OpFunction f = [](In x) { return attention(x[0], x[1], x[2], {.causal = true}); };
  for (const auto& c : cases) {
    const std::vector<Array>& given = c.first;
    CAPTURE(c.second);
    const Array narrow = f({given.begin(), given.end()}).array();
    CHECK(narrow.shape() == c.second);
    std::vector<Tensor> written;
    for (const Array& x : given) written.push_back(copy_of(x.expand({2, 6, x.rank() > 2 ? x.shape()[-3] : 1, 5, 4})));
    const Array full = f(written).array();
    CHECK(same_bits(copy_of(narrow.expand(full.shape())), full));
    check_gradient(f, given);
  }
}

TEST_CASE("attention of nothing: empty results, zeros where there are queries and no keys, means where no columns") {
  const auto run_of = [](const Shape& q, const Shape& k, const Shape& v) {
    const std::vector<Array> inputs{random_array(q, 1), random_array(k, 2), random_array(v, 3)};
    const Run run([](In x) { return attention(x[0], x[1], x[2]); }, inputs);
    CHECK(run.y.shape() == q.with(-1, v[-1]));
    CHECK(run == Run([](In x) { return plain_attention(x[0], x[1], x[2], {}); }, inputs));
    for (const Array& dx : run.dx)
      for (const real d : dx.to_vector()) CHECK(std::isfinite(d));
    return run.y;
  };
  run_of({0, 2, 3, 4}, {0, 2, 3, 4}, {0, 2, 3, 4});
  run_of({2, 0, 3, 4}, {2, 0, 3, 4}, {2, 0, 3, 4});
  run_of({2, 2, 0, 4}, {2, 2, 3, 4}, {2, 2, 3, 4});
  run_of({2, 2, 3, 4}, {2, 2, 3, 4}, {2, 2, 3, 0});
  run_of({2, 2, 0, 4}, {2, 2, 0, 4}, {2, 2, 0, 4});
  for (const real y : run_of({2, 2, 3, 4}, {2, 2, 0, 4}, {2, 2, 0, 5}).to_vector()) CHECK(y == 0);
  // scores of no products are all 0: each query gets the mean of the values
  const Array means = mean(Tensor(random_array({2, 2, 3, 4}, 3)), -2, true).array().expand({2, 2, 3, 4});
  CHECK(distance(run_of({2, 2, 3, 0}, {2, 2, 3, 0}, {2, 2, 3, 4}).to_vector(), Value(means).x) < (f64 ? 1e-15 : 1e-6));
}

TEST_CASE("attention: what does not fit is a sentence") {
  const Tensor x = Array::zeros({2, 3, 4}), k = Array::zeros({2, 5, 4}), row = Array::zeros({4});
  const auto says = [&](const Tensor& q, const Tensor& key, const Tensor& value, const AttentionOptions& o) {
    return error_of([&] { attention(q, key, value, o); });
  };
  CHECK_SENTENCE(says(row, x, x, {}));
  CHECK_SENTENCE(says(x, Array::zeros({2, 3, 5}), x, {}));
  CHECK_SENTENCE(says(x, k, x, {}));
  CHECK_SENTENCE(says(x, x, Array::zeros({1, 3, 4}), {}));
  CHECK_SENTENCE(says(Array::zeros({3, 3, 4}), x, x, {}));
  CHECK_SENTENCE(says(x, Array::zeros({0, 3, 4}), Array::zeros({0, 3, 4}), {}));
  CHECK_SENTENCE(says(k, x, x, {.causal = true}));
  CHECK_SENTENCE(says(x, x, x, {.causal = true, .window = -1}));
  CHECK_SENTENCE(says(x, x, x, {.window = 2}));
  CHECK_SENTENCE(says(x, x, x, {.alibi = Array::zeros({3})}));
  CHECK_SENTENCE(says(x, x, x, {.dropout = 1.5}));
  CHECK_SENTENCE(says(x, x, x, {.dropout = std::nan("")}));
  CHECK_SENTENCE(says(x, x, x, {.dropout = 0.5}));
  CHECK_SENTENCE(says(x, x, x, {.scale = std::nan("")}));
  CHECK_SENTENCE(says(Tensor(), x, x, {}));
  const std::string rule = ", [..., H, Tq, Tk]: each of its extents must be 1 or that of the weights";
  CHECK(says(x, k, k, {.mask = Mask({3, 3})}) ==
        "attention: mask [3, 3] does not broadcast to the weights [2, 3, 5]" + rule);
  CHECK(says(x, x, x, {.mask = Mask({1, 2, 3, 3})}) ==
        "attention: mask [1, 2, 3, 3] does not broadcast to the weights [2, 3, 3]" + rule);
  const Tensor rows = random_array({4, 2, 3, 5}, 8);
  CHECK(says(rows, rows, rows, {.mask = Mask({4, 3})}) ==
        "attention: mask [4, 3] does not broadcast to the weights [4, 2, 3, 3], [B, H, Tq, Tk]: pass a mask [B, Tk] of "
        "padding as key_padding(mask)");
  CHECK(says(rows, rows, rows, {.mask = key_padding(Mask({4, 3}, true))}) == "(no error)");
  const Tensor leads = Array::zeros({4, 2, 3, 4}), others = Array::zeros({3, 2, 3, 4});
  CHECK_SENTENCE(says(leads, others, others, {}));
}

}  // namespace
}  // namespace mote::test::attention_test
