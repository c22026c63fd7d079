// Rows with nothing to attend; NaN and infinities in keys, values and queries reach nobody through a mask, bit for bit.
#include <functional>
#include <span>

#include "tests/engine/ops/attention/masks_and_slopes.h"
#include "tests/support.h"

namespace mote::test::attention_masked_test {
namespace {

struct Setting {
  Index batch, heads, kv_heads, queries, keys, width, value_width;
  AttentionOptions options;
};

/// Which key rows hold the odd number: batch entry, row.
using Poisoned = std::function<bool(Index, Index)>;

Array poisoned(Array x, const Poisoned& where, real with) {
  const Index heads = x.shape()[1], rows = x.shape()[2], width = x.shape()[3];
  real* const out = x.mutate();
  for (Index i = 0; i < x.numel(); ++i)
    if (where(i / (width * rows * heads), i / width % rows)) out[i] = with;
  return x;
}

Run run_with(const Setting& s, const Poisoned& where, real in_keys, real in_values) {
  const Array q = random_array({s.batch, s.heads, s.queries, s.width}, 1),
              k = random_array({s.batch, s.kv_heads, s.keys, s.width}, 2),
              v = random_array({s.batch, s.kv_heads, s.keys, s.value_width}, 3);
  return Run([&](In x) { return attention(x[0], x[1], x[2], s.options, Generator(5)); },
             {q, poisoned(k, where, in_keys), poisoned(v, where, in_values)});
}

bool finite(const Array& x) {
  for (const real v : x.to_vector())
    if (!std::isfinite(v)) return false;
  return true;
}

/// Every kind of number that must not be multiplied by 0, in keys, in values, in both.
template <class Check>
void each_poison(const Check& check) {
  for (const real bad : {nan, inf, -inf}) {
    check(bad, real(0.5));
    check(real(-1), bad);
    check(bad, bad);
  }
}

TEST_CASE("attention: NaN where a mask or a window hides it from all changes no bit of anything") {
  const Mask padding = padding_mask({70, 100}, 100);
  const Poisoned padded = [](Index b, Index j) { return b == 0 && j >= 70; };
  const Poisoned old = [](Index, Index j) { return j <= 200 - 12 - 5; };   // the first of 12 queries sees 5 keys
  const Poisoned before_one = [](Index, Index j) { return j < 200 - 5; };  // what a single query does not see
  const Mask even = [] {
    Mask m({1, 33});
    for (Index j = 0; j < 33; ++j) m.mutate()[j] = j % 2 == 0;
    return m;
  }();
  const Poisoned odd = [](Index, Index j) { return j % 2 == 1; };
  for (const double p : {0.0, 0.5}) {
    const std::vector<std::pair<Setting, Poisoned>> settings{
        {{2, 2, 2, 100, 100, 8, 8, {.mask = padding, .dropout = p}}, padded},
        {{2, 4, 2, 100, 100, 8, 5, {.causal = true, .mask = padding, .alibi = some_slopes(4), .dropout = p}}, padded},
        {{1, 2, 2, 12, 200, 8, 8, {.causal = true, .window = 5, .dropout = p}}, old},
        {{1, 2, 1, 12, 200, 4, 8, {.causal = true, .window = 5, .alibi = some_slopes(2), .dropout = p}}, old},
        {{1, 2, 2, 1, 200, 8, 8, {.causal = true, .window = 5, .dropout = p}}, before_one},
        {{1, 3, 1, 33, 33, 4, 4, {.causal = true, .mask = even, .window = 20, .dropout = p}}, odd},
        {{1, 1, 1, 7, 33, 1, 1, {.mask = even, .dropout = p}}, odd}};
    for (const auto& s : settings) {
      const Run clean = run_with(s.first, s.second, real(0.25), real(-0.75));
      CHECK(finite(clean.y));
      const auto check = [&](real in_keys, real in_values) {
        const Run run = run_with(s.first, s.second, in_keys, in_values);
        CHECK(run == clean);
        on_all_hardware({4}, [&] { CHECK(run_with(s.first, s.second, in_keys, in_values) == clean); });
      };
      each_poison(check);
      const real huge = std::numeric_limits<real>::max();  // finite, but sums of its products are not
      check(huge, -huge);
      check(real(-1), huge);
    }
  }
}

TEST_CASE("attention: NaN in a later key or value reaches no earlier query, nor its gradient") {
  const Index T = 100;
  const std::vector<std::pair<Index, AttentionOptions>> settings{
      {4, {.causal = true}},
      {1, {.causal = true, .dropout = 0.5}},
      {2, {.causal = true, .alibi = some_slopes(4)}},
      {2, {.causal = true, .alibi = some_slopes(4), .dropout = 0.5}}};
  for (const auto& [groups, options] : settings)
    for (const Index t : {1, 17, 63, 84, 99}) {
      const Setting s{1, 4, groups, T, T, 5, 6, options};
      const Poisoned late = [t](Index, Index j) { return j >= t; };
      const Run clean = run_with(s, late, real(0.25), real(-0.75));
      each_poison([&](real in_keys, real in_values) {
        const Run run = run_with(s, late, in_keys, in_values);
        const Array y = run.y.slice(2, 0, t), dq = run.dx[0].slice(2, 0, t);
        CHECK(finite(y));
        CHECK(finite(dq));
        CHECK(same_bits(y, clean.y.slice(2, 0, t)));
        CHECK(same_bits(dq, clean.dx[0].slice(2, 0, t)));
        CHECK(!finite(run.y.slice(2, t, T)));  // those who may see it do
      });
    }
}

TEST_CASE("attention: a NaN query, or a NaN gradient of its output, changes no gradient of keys that it may not see") {
  const Index T = 40;
  Mask m({T, T}, std::vector<std::uint8_t>(static_cast<std::size_t>(T * T), 1));
  for (const Index j : {0, 7, 31}) m.mutate()[20 * T + j] = 0;
  const auto with_row = [](Array x, Index row, real value) {  // at its last column, to which all must be looked at
    const Index width = x.shape()[3], rows = x.shape()[2];
    real* const out = x.mutate();
    for (Index i = width - 1; i < x.numel(); i += width)
      if (i / width % rows == row) out[i] = value;
    return x;
  };
  const auto hides = [&](const AttentionOptions& o, Index j) {
    return o.causal.value_or(false) ? j > 20 || (o.window > 0 && j <= 20 - o.window) : j == 0 || j == 7 || j == 31;
  };
  for (const double p : {0.0, 0.5})
    for (AttentionOptions o : {AttentionOptions{.causal = true}, {.causal = true, .window = 9}, {.mask = m}})
      for (const bool in_query : {true, false}) {
        o.dropout = p;
        const auto run_with_row = [&](real value) {
          const Array q = random_array({2, 4, T, 5}, 1), dy = random_array({2, 4, T, 6}, 4);
          return Run(
              [&](In x) { return attention(x[0], x[1], x[2], o, Generator(5)); },
              {in_query ? with_row(q, 20, value) : q, random_array({2, 2, T, 5}, 2), random_array({2, 2, T, 6}, 3)},
              in_query ? dy : with_row(dy, 20, value));
        };
        const Run clean = run_with_row(real(0.25));
        for (const real bad : {nan, inf, -inf}) {
          const Run run = run_with_row(bad);
          for (const std::size_t input : {1u, 2u})
            for (Index j = 0; j < T; ++j)
              if (hides(o, j)) CHECK(same_bits(run.dx[input].select(2, j), clean.dx[input].select(2, j)));
          for (Index i = 0; i < T; ++i)
            if (i != 20) CHECK(same_bits(run.dx[0].select(2, i), clean.dx[0].select(2, i)));
          CHECK(!finite(run.dx[2].select(2, 20)));  // its own key it does see
        }
      }
}

TEST_CASE("attention: a large gradient and a large value that may not meet make no NaN of their product") {
  const real large = 16 * std::sqrt(std::numeric_limits<real>::max());
  Array v = Array::zeros({1, 1, 40, 4}), dy = Array::zeros({1, 1, 40, 4});
  for (Index i = 0; i < 4; ++i) {
    v.mutate()[39 * 4 + i] = large;
    dy.mutate()[3 * 4 + i] = large;
  }
  const Run run([](In x) { return attention(x[0], x[1], x[2], {.causal = true}); },
                {random_array({1, 1, 40, 4}, 1), random_array({1, 1, 40, 4}, 2), v}, dy);
  for (const Array& dx : run.dx) CHECK(finite(dx));
}

TEST_CASE("attention: documents packed into one row do not feel a NaN in each other, in any gradient") {
  const Index T = 60, border = 25;  // more rows than one block has, so that its borders would show
  Mask own({T, T});
  for (Index i = 0; i < T; ++i)
    for (Index j = 0; j < T; ++j) own.mutate()[i * T + j] = (i < border) == (j < border);
  for (const AttentionOptions& o : {AttentionOptions{.mask = own}, {.causal = true, .mask = own}}) {
    const auto run_with_first = [&](std::size_t input, real value) {
      std::vector<Array> x;
      for (const std::uint64_t seed : {1u, 2u, 3u}) x.push_back(random_array({1, 2, T, 4}, seed));
      x[input].mutate()[0] = value;
      return Run([&](In in) { return attention(in[0], in[1], in[2], o); }, x);
    };
    for (const std::size_t input : {0u, 1u, 2u}) {
      const Run clean = run_with_first(input, 0);
      for (const real bad : {nan, inf, -inf, std::numeric_limits<real>::max()}) {
        const Run run = run_with_first(input, bad);
        CHECK(same_bits(run.y.slice(2, border, T), clean.y.slice(2, border, T)));
        for (const std::size_t to : {0u, 1u, 2u})
          CHECK(same_bits(run.dx[to].slice(2, border, T), clean.dx[to].slice(2, border, T)));
      }
    }
  }
}

TEST_CASE("attention: scores that overflow by a large scale or slopes make no NaN of what nobody may see") {
  const real most = std::numeric_limits<real>::max();
  const Index seen = 30, T = 40;
  const Mask padding = padding_mask({seen}, T);
  for (const double p : {0.0, 0.5})
    for (const AttentionOptions& o :
         {AttentionOptions{.mask = padding, .scale = static_cast<double>(most / 8), .dropout = p},
          {.causal = true, .mask = padding, .scale = -static_cast<double>(most / 8), .dropout = p},
          {.mask = padding, .alibi = Array::full({2}, -most), .dropout = p},
          {.mask = padding, .alibi = Array::full({2}, inf), .dropout = p}}) {
      const Run run(
          [&](In x) { return attention(x[0], x[1], x[2], o, Generator(5)); },
          {random_array({1, 2, T, 8}, 1, 2, 8), random_array({1, 2, T, 8}, 2, 2, 8), random_array({1, 2, T, 8}, 3)});
      CHECK(!finite(run.dx[1]));
      for (const std::size_t i : {1u, 2u})
        CHECK(same_bits(copy_of(run.dx[i].slice(2, seen, T)), Array::zeros({1, 2, T - seen, 8})));
    }
  // two queries, each of which sees its own key: the first overflows
  const AttentionOptions own{.mask = mask({{true, false}, {false, true}}), .scale = static_cast<double>(most / 8)};
  const Run run([&](In x) { return attention(x[0], x[1], x[2], own); },
                {tensor({{8}, {0}}).array(), tensor({{8}, {1}}).array(), tensor({{1}, {2}}).array()});
  CHECK(run.dx[1].at({1, 0}) == 0);
  CHECK(finite(run.dx[0].slice(0, 1, 2)));
}

TEST_CASE("attention: a query with nothing to attend gives zeros and gets and sends zero gradients") {
  // query 2 has no key by the mask alone, query 4 by mask and causal together, query 6 by mask and window
  const Index T = 8;
  Mask m({T, T}, std::vector<std::uint8_t>(static_cast<std::size_t>(T * T), 1));
  for (Index j = 0; j < T; ++j) m.mutate()[2 * T + j] = 0;
  for (Index j = 0; j <= 4; ++j) m.mutate()[4 * T + j] = 0;
  for (Index j = 4; j < T; ++j) m.mutate()[6 * T + j] = 0;
  for (const double p : {0.0, 0.5})
    for (const bool biased : {false, true}) {
      Setting s{2, 2, 1, T, T, 3, 4, {.causal = true, .mask = m, .window = 3, .dropout = p}};
      if (biased) s.options.alibi = some_slopes(2);
      const Poisoned nowhere = [](Index, Index) { return false; };
      const Run run = run_with(s, nowhere, 0, 0);
      CHECK((finite(run.y) && finite(run.dx[0]) && finite(run.dx[1]) && finite(run.dx[2])));
      for (const Index i : {2, 4, 6})
        for (const Array& x : {run.y, run.dx[0]})
          CHECK(same_bits(copy_of(x.select(2, i)), Array::zeros(x.shape().without(2))));
      const auto [q, dy] = std::pair(random_array({2, 2, T, 3}, 1), random_array({2, 2, T, 4}, 4));
      for (const bool in_query : {true, false}) {  // not even a NaN of its own, or of the loss, goes anywhere
        const auto with_nan = [](const Array& x) {
          return poisoned(
              x, [](Index, Index t) { return t == 2 || t == 4 || t == 6; }, nan);
        };
        const Run nans([&](In x) { return attention(x[0], x[1], x[2], s.options, Generator(5)); },
                       {in_query ? with_nan(q) : q, random_array({2, 1, T, 3}, 2), random_array({2, 1, T, 4}, 3)},
                       in_query ? dy : with_nan(dy));
        CHECK((finite(nans.y) && finite(nans.dx[0]) && finite(nans.dx[1]) && finite(nans.dx[2])));
      }
      const Setting blind{2, 2, 1, T, T, 3, 4, {.mask = Mask({1, T}), .dropout = p}};  // nobody sees anything
      const Run none = run_with(blind, nowhere, 0, 0);
      for (const Array& x : {none.y, none.dx[0], none.dx[1], none.dx[2]}) CHECK(same_bits(x, Array::zeros(x.shape())));
      each_poison([&](real in_keys, real in_values) {
        CHECK(run_with(
                  blind, [](Index, Index) { return true; }, in_keys, in_values) == none);
      });
    }
}

}  // namespace
}  // namespace mote::test::attention_masked_test
