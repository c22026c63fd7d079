// Checks 26: a cache of keys and values.

// hint: First append k to keys and v to values, along the axis of tokens. In the first step, keys is k and values is v.
// hint: keys = keys.defined() ? concat({keys, k}, 1) : k; and likewise values. Return attention(q, keys, values).
// why: No mask is needed, because the cache holds no later tokens and the newest token may attend to all earlier ones.
// why: Token n costs a pass over one token, not a pass over n tokens. The price is memory that grows with the text.
// why: Queries are not kept, because a token asks only once, when it is new. All later tokens need its key and value.
#include "examples/exercises/answers/check.h"
#include "nn/trace.h"

namespace of_check {
/// Takes one step for each of T tokens, and returns the results concatenated, [H, T, d].
template <class Cache>
static Tensor heard(Cache& cache, const Tensor& q, const Tensor& k, const Tensor& v) {
  std::vector<Tensor> all;
  for (Index t = 0; t < q.size(1); ++t) {
    const auto row = [t](const Tensor& x) { return slice(x, 1, t, t + 1); };
    const Trace work;
    all.push_back(cache.step(row(q), row(k), row(v)));
    expect(all[t].defined() && all[t].shape() == row(q).shape(), "another shape");
    expect(work.total().flops <= 20 * slice(k, 1, 0, t + 1).numel(), "the whole text");
  }
  return concat(all, 1);
}

template <class Cache>
static void check() {
  const Generator random(7);
  for (const auto& [H, T, d] : {std::array<Index, 3>{2, 5, 3}, {1, 70, 2}, {4, 1, 6}}) {
    const Tensor q = randn({H, T, d}, random), k = randn({H, T, d}, random), v = randn({H, T, d}, random);
    Cache cache, another;
    expect(!cache.keys.defined(), "shared");
    expect_close("what " + printed(T) + " tokens hear, step by step,", heard(cache, q, k, v),
                 attention(q, k, v, {.causal = true}));
    expect_close("keys, after " + printed(T) + " steps,", cache.keys, k);
    expect_close("values, after " + printed(T) + " steps,", cache.values, v);
    expect(!another.keys.defined(), "shared");
  }
}

enum Kind { newest, in_front, keys_in_front, values_in_front, too_late, undivided, whole, all_rows };
template <Kind kind>
struct ByStep {
  Tensor keys, values, queries;

  static Tensor put(const Tensor& rows, const Tensor& row, bool front) {
    if (!rows.defined() || kind == newest) return row;
    return front ? concat({row, rows}, 1) : concat({rows, row}, 1);
  }
  Tensor step(const Tensor& q, const Tensor& k, const Tensor& v) {
    const Tensor old_keys = keys.defined() ? keys : k, old_values = values.defined() ? values : v;
    keys = put(keys, k, kind == in_front || kind == keys_in_front);
    values = put(values, v, kind == in_front || kind == values_in_front);
    queries = put(queries, q, false);
    if (kind == too_late) return attention(q, old_keys, old_values);
    if (kind == whole || kind == all_rows) {
      const Tensor all = attention(queries, keys, values, {.causal = true});
      return kind == whole ? slice(all, 1, all.size(1) - 1, all.size(1)) : all;
    }
    return attention(kind == undivided ? q * std::sqrt(q.size(-1)) : q, keys, values);
  }
};
struct Shared {
  static inline Tensor keys, values;
  Tensor step(const Tensor& q, const Tensor& k, const Tensor& v) {
    keys = keys.defined() ? concat({keys, k}, 1) : k;
    values = values.defined() ? concat({values, v}, 1) : v;
    return attention(q, keys, values);
  }
};
struct Example {
  Tensor keys, values;
  Tensor step(const Tensor&, const Tensor&, const Tensor&) { return tensor({{{2}}}); }
};

static const Row<void()> rows[] = {
    {"newest alone", "Earlier tokens are forgotten: the new row belongs behind the old ones, not in their place.",
     check<ByStep<newest>>},
    {"put too late", "A token has to hear itself, too: put its key and value into the cache before it attends.",
     check<ByStep<too_late>>},
    {"undivided", "Your scores are not divided by sqrt(d).", check<ByStep<undivided>>},
    {"another order",
     "Rows of keys or of values stand in front: keep both oldest first, a key and its value at one place.",
     check<ByStep<in_front>>, check<ByStep<keys_in_front>>, check<ByStep<values_in_front>>},
    {"the whole text",
     "Right, but earlier tokens attend again: q alone is to meet all keys. That is what a cache saves.",
     check<ByStep<whole>>},
    {"another shape", "step() returns what the newest token hears, and nothing else: its shape is that of q.",
     check<ByStep<all_rows>>, check<Example>},
    {"shared", "Two texts share one cache: keep keys and values in the struct.", check<Shared>},
};
static const Table table(rows);

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
static const Right right(check<solution::TextSoFar>);
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) { return of_check::judge(argc, argv, of_check::check<TextSoFar>); }
