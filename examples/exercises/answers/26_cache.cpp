// Checks 26: a cache of keys and values.

// hint: Put k behind keys and v behind values first, along the axis of the tokens; in the first step there is only k.
// hint: keys = keys.defined() ? concat({keys, k}, 1) : k; the same with values; return attention(q, keys, values).
// why: No mask is needed: a cache holds nothing of the future, so the newest token may look at all of it.
// why: Token n costs n products instead of a whole pass over n tokens; the price is memory that grows with the text.
// why: Queries are not kept: a token asks once, when it is new, but is found again and again by its key.
#include "examples/exercises/answers/check.h"
#include "nn/trace.h"

namespace of_check {
enum Mistake { newest, in_front, too_late, unscaled, whole, constant };
template <Mistake mistake>
struct Wrongly {
  Tensor keys, values, queries;

  static Tensor put(const Tensor& rows, const Tensor& row) {
    if (!rows.defined() || mistake == newest) return row;
    return mistake == in_front ? concat({row, rows}, 1) : concat({rows, row}, 1);
  }
  Tensor step(const Tensor& q, const Tensor& k, const Tensor& v) {
    if (mistake == constant) return tensor({{{2}}});
    const Tensor old_keys = keys.defined() ? keys : k, old_values = values.defined() ? values : v;
    keys = put(keys, k), values = put(values, v);
    if (mistake == too_late) return attention(q, old_keys, old_values);
    queries = put(queries, q);
    const Index n = keys.size(1);
    if (mistake == whole) return slice(attention(queries, keys, values, {.causal = true}), 1, n - 1, n);
    return attention(mistake == unscaled ? q * std::sqrt(q.size(-1)) : q, keys, values);
  }
};

/// What the tokens hear in their steps, one behind the other.
template <class Cache>
static Tensor heard(Cache& cache, const Tensor& q, const Tensor& k, const Tensor& v) {
  std::vector<Tensor> all;
  for (Index t = 0; t < q.size(1); ++t) {
    const auto row = [t](const Tensor& x) { return slice(x, 1, t, t + 1); };
    const Trace work;
    all.push_back(cache.step(row(q), row(k), row(v)));
    expect(all[t].defined() && all[t].shape() == row(q).shape(),
           "step() returns what the newest token hears, and nothing else: its shape is that of q, " +
               printed(row(q).shape()) + ".");
    expect(
        work.total().flops <= 20 * slice(k, 1, 0, t + 1).numel(),
        "Right, but earlier tokens attend again: q alone, one row, is to meet all keys. That is what a cache saves.");
  }
  return concat(all, 1);
}

template <class Cache>
static void check() {
  const Generator random(7);
  for (const auto& [H, T, d] : {std::array<Index, 3>{2, 5, 3}, {1, 70, 2}, {4, 1, 6}}) {
    const Tensor q = randn({H, T, d}, random), k = randn({H, T, d}, random), v = randn({H, T, d}, random);
    Cache cache;
    const Tensor got = heard(cache, q, k, v), want = attention(q, k, v, {.causal = true});
    const auto no = [&](auto wrong, const char* sentence) {
      if (const Tensor y = heard(wrong, q, k, v); !close(y, want)) expect_not(got, y, sentence);
      if (close(got, want) && !close(wrong.keys, k)) expect_not(cache.keys, wrong.keys, sentence);
    };
    no(Wrongly<newest>(), "Earlier tokens are forgotten: the new row belongs behind the old ones, not in their place.");
    no(Wrongly<too_late>(), "A token has to hear itself, too: put its key and value into the cache before it attends.");
    no(Wrongly<unscaled>(), "Your scores are not divided by sqrt(d).");
    no(Wrongly<in_front>(), "New rows stand in front. The mean knows no order, and stays; but keep oldest first.");
    expect_close("what " + printed(T) + " tokens hear, step by step,", got, want);
    expect_close("keys, after " + printed(T) + " steps,", cache.keys, k);
    expect_close("values, after " + printed(T) + " steps,", cache.values, v);
  }
}

#ifdef PROVE
namespace solution {
struct TextSoFar {
  Tensor keys, values;

  Tensor step(const Tensor& q, const Tensor& k, const Tensor& v) {
    keys = keys.defined() ? concat({keys, k}, 1) : k;
    values = values.defined() ? concat({values, v}, 1) : v;
    return attention(q, keys, values);
  }
};
}  // namespace solution

static const Tried tried[] = {
    {"solution", "", check<solution::TextSoFar>},
    {"only the newest", "forgotten", check<Wrongly<newest>>},
    {"put after attending", "hear itself", check<Wrongly<too_late>>},
    {"not divided", "not divided by sqrt(d)", check<Wrongly<unscaled>>},
    {"in front", "stand in front", check<Wrongly<in_front>>},
    {"the whole text again", "attend again", check<Wrongly<whole>>},
    {"hard-coded", "what the newest token hears", check<Wrongly<constant>>},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) { return of_check::judge(argc, argv, of_check::check<TextSoFar>); }
