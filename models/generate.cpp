// GPT::generate: chooses tokens, and either uses a cache or runs whole passes.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "models/gpt.h"

namespace mote {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

/// Probabilities [B, V] with all set to 0 except the likeliest that together reach top_p.
Array nucleus(const Array& probabilities, double top_p) {
  Array p = copy_of(probabilities);
  const Index V = p.shape()[1];
  std::vector<Index> order(static_cast<std::size_t>(V));
  for (Index b = 0; b < p.shape()[0]; ++b) {
    real* const row = p.mutate() + b * V;
    std::iota(order.begin(), order.end(), Index(0));
    std::stable_sort(order.begin(), order.end(), [row](Index i, Index j) { return row[i] > row[j]; });
    double reached = 0;
    for (const Index i : order) {
      if (reached >= top_p) {
        row[i] = 0;
      } else {
        reached += static_cast<double>(row[i]);
      }
    }
  }
  return p;
}

/// Probabilities [B, V] with all set to 0 that are below min_p times the largest of their row.
Array at_least(const Array& probabilities, double min_p) {
  Array p = copy_of(probabilities);
  const Index V = p.shape()[1];
  for (Index b = 0; b < p.shape()[0]; ++b) {
    real* const row = p.mutate() + b * V;
    const real least = static_cast<real>(min_p) * *std::max_element(row, row + V);
    std::replace_if(
        row, row + V, [least](real x) { return x < least; }, real(0));
  }
  return p;
}

/// One token for each row of logits [B, V] -> [B].
IntArray choose(const Tensor& logits, const GenerateOptions& options, const Generator& random) {
  if (static_cast<real>(options.temperature) == 0) return argmax(logits);  // or underflows `real`: else 0 / 0
  Tensor allowed = logits;
  if (options.top_k > 0 && options.top_k < logits.size(1)) {
    const Tensor least = slice(topk(logits, options.top_k).values, 1, -1, options.top_k);  // [B, 1]: the k-th largest
    allowed = masked_fill(logits, logits < least, minus_infinity);
  }
  // Shift the largest to 0, so that a low temperature cannot overflow; nor may a high one: -infinity / infinity is NaN.
  const Tensor largest = max(logits, {1}, true);
  const double temperature = std::min(options.temperature, static_cast<double>(std::numeric_limits<real>::max()));
  Tensor p = softmax((allowed - largest) / temperature);
  if (options.top_p < 1) p = nucleus(p.array(), options.top_p);
  if (options.min_p > 0) p = at_least(p.array(), options.min_p);
  return multinomial(p, 1, random).reshape({logits.size(0)});
}

IntArray append(const IntArray& ids, const IntArray& newest) {
  const Index B = ids.shape()[0], T = ids.shape()[1];
  const IntArray before = ids.contiguous();
  IntArray longer({B, T + 1});
  Index* const out = longer.mutate();
  for (Index b = 0; b < B; ++b) {
    std::copy_n(before.data() + b * T, T, out + b * (T + 1));
    out[b * (T + 1) + T] = newest.data()[b];
  }
  return longer;
}

void check_options(const GPTConfig& c, const IntArray& ids, Index count, const GenerateOptions& o) {
  check_in("generate", ids.rank() == 2 && ids.shape()[1] >= 1, "ids ", ids.shape(),
           " must be [B, T] with T at least 1");
  check_in("generate", o.temperature >= 0 && std::isfinite(o.temperature), "temperature ", o.temperature,
           " must be at least 0 and finite");
  check_in("generate", o.top_k >= 0, "top_k ", o.top_k, " must be at least 0");
  check_in("generate", o.top_p > 0 && o.top_p <= 1, "top_p ", o.top_p, " must be in (0, 1]");
  check_in("generate", o.min_p >= 0 && o.min_p <= 1, "min_p ", o.min_p, " must be in [0, 1]");
  check_in("generate", o.pad_token >= -1, "pad_token ", o.pad_token, " must be an id, or -1 for none");
  check_in("generate", o.stop_token >= -1 && o.stop_token < c.vocab_size, "stop_token ", o.stop_token,
           " is out of range for V = ", c.vocab_size);
  check_in("generate", count >= 0, "count ", count, " must be at least 0");
}

void check_logits(const Array& logits, Index position) {  // [B, V]
  constexpr real infinity = std::numeric_limits<real>::infinity();
  const Index B = logits.shape()[0], V = logits.shape()[1];
  for (Index b = 0; b < B; ++b) {
    const real* const row = logits.data() + b * V;
    check_in("generate", std::none_of(row, row + V, [](real x) { return std::isnan(x) || x == infinity; }),
             "the logits after position ", position, " contain NaN or infinity");
    check_in("generate", std::any_of(row, row + V, [](real x) { return x > -infinity; }), "the logits after position ",
             position, " are all -infinity: no token is left to choose");
  }
}

/// Rows with equally long texts. They run as a batch of their own, without padding, and so compute what each would
/// alone, whatever the kind of positions.
struct Group {
  std::vector<Index> rows;
  IntArray ids;  // [rows, T]
  GPTCache cache;
};

std::vector<Group> by_length(const GPT& model, const IntArray& ids, Index pad) {
  const IntArray in = ids.contiguous();
  const Index B = in.shape()[0], T = in.shape()[1];
  std::map<Index, std::vector<Index>> rows;  // by their padding
  for (Index b = 0; b < B; ++b) {
    const Index* const row = in.data() + b * T;
    const Index padding = pad < 0 ? 0 : std::find_if(row, row + T, [pad](Index id) { return id != pad; }) - row;
    check_in("generate", padding < T, "row ", b, " of ids is nothing but pad_token ", pad);
    check_in("generate", pad < 0 || row[T - 1] != pad, "row ", b, " of ids ends with pad_token ", pad,
             ": prompts are padded on the left, by pad_left()");
    rows[padding].push_back(b);
  }
  std::vector<Group> groups;
  for (const auto& [padding, list] : rows)
    groups.push_back({list, take_rows(in, list).slice(1, padding, T), model.cache()});
  return groups;
}

}  // namespace

IntArray pad_left(const std::vector<std::vector<Index>>& prompts, Index pad) {
  std::size_t longest = 0;
  for (std::size_t b = 0; b < prompts.size(); ++b) {
    check_in("pad_left", !prompts[b].empty(), "prompt ", b, " is empty");
    check_in("pad_left", prompts[b][0] != pad, "prompt ", b, " begins with ", pad, ", which would become padding");
    longest = std::max(longest, prompts[b].size());
  }
  IntArray ids({static_cast<Index>(prompts.size()), static_cast<Index>(longest)}, pad);
  Index* end = ids.mutate();
  for (const std::vector<Index>& prompt : prompts) {
    end += longest;
    std::copy_backward(prompt.begin(), prompt.end(), end);
  }
  return ids;
}

IntArray GPT::generate(const IntArray& ids, Index count, const GenerateOptions& options, const Generator& random) {
  check_options(config, ids, count, options);
  const NoGrad no_grad;
  const PackedWeights packed;
  const Evaluation evaluation(*this);
  const StreamGuard streams;
  const Index B = ids.shape()[0], V = config.vocab_size;
  // The logits after the last token. While the whole text fits, a cache needs only the new tokens; after that every new
  // token shifts all others to new positions, so the last block_size are recomputed.
  const auto next_logits = [&](Group& g) {
    const Index T = g.ids.shape()[1];
    const bool fits = config.unbounded() || T <= config.block_size;
    if (options.use_cache && fits) return (*this)(g.ids.slice(1, g.cache.length(), T), g.cache);
    return (*this)(fits ? g.ids : g.ids.slice(1, T - config.block_size, T));
  };
  std::vector<Group> groups = by_length(*this, ids, options.pad_token);
  IntArray all = ids;
  const Index filler = options.pad_token >= 0 ? options.pad_token : options.stop_token;
  std::vector<bool> finished(static_cast<std::size_t>(B), false);
  for (Index step = 0; step < count; ++step) {
    Array last = Array::empty({B, V});
    for (Group& g : groups) {
      const Array logits = next_logits(g).array().select(1, -1).contiguous();  // [rows, V]
      check_logits(logits, g.ids.shape()[1] - 1);
      for (std::size_t i = 0; i < g.rows.size(); ++i)
        std::copy_n(logits.data() + static_cast<Index>(i) * V, V, last.mutate() + g.rows[i] * V);
    }
    IntArray newest = choose(last, options, random);
    if (options.stop_token >= 0) {
      Index* const token = newest.mutate();
      for (std::size_t b = 0; b < finished.size(); ++b) {
        if (finished[b]) token[b] = filler;
        finished[b] = finished[b] || token[b] == options.stop_token;
      }
    }
    all = append(all, newest);
    for (Group& g : groups) g.ids = append(g.ids, take_rows(newest, g.rows));
    if (options.on_token && !options.on_token(newest)) break;
    const bool all_finished = std::find(finished.begin(), finished.end(), false) == finished.end();
    if (all_finished && !finished.empty() && options.stop_token >= 0) break;
  }
  return all;
}

}  // namespace mote
