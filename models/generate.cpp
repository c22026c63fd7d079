// GPT::generate, with a cache or by a whole forward pass for every token.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "models/choose_token.h"
#include "models/packed_weights.h"

namespace mote {
namespace {

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
           " must be an id below vocab_size ", c.vocab_size, ", or -1 for none");
  check_in("generate", count >= 0, "count ", count, " must be at least 0");
  check_in("generate", count <= std::numeric_limits<Index>::max() - ids.shape()[1], "count ", count,
           " must be at most ", std::numeric_limits<Index>::max() - ids.shape()[1]);
}

/// Rows of the batch whose prompts have the same length. They run as a batch of their own without padding. So each row
/// gives the same result as it would alone, with every kind of position embedding.
struct Group {
  Index padding;
  std::vector<Index> rows;
  GPTCache cache;
  Array logits;  // after the last token: [rows, 1, V]
};

std::vector<Group> by_length(const GPT& model, const IntArray& ids, Index pad) {  // ids are contiguous
  const Index B = ids.shape()[0], T = ids.shape()[1];
  std::vector<Group> groups;
  for (Index b = 0; b < B; ++b) {
    const Index* const row = ids.data() + b * T;
    const Index padding = pad < 0 ? 0 : std::find_if(row, row + T, [pad](Index id) { return id != pad; }) - row;
    check_in("generate", padding < T, "row ", b, " of ids has only pad_token ", pad, ": each row needs another id");
    check_in("generate", pad < 0 || row[T - 1] != pad, "row ", b, " of ids ends with pad_token ", pad,
             ": prompts are padded on the left, by pad_left()");
    const auto before = [](const Group& g, Index p) {
      return g.padding < p;
    };  // groups are sorted by padding: the longest prompts come first
    auto same = std::lower_bound(groups.begin(), groups.end(), padding, before);
    if (same == groups.end() || same->padding != padding) same = groups.insert(same, {padding, {}, model.cache(), {}});
    same->rows.push_back(b);
  }
  return groups;
}

/// The rows of text, each a prompt and the tokens that were generated after it.
class Texts {
 public:
  explicit Texts(const IntArray& ids) {  // contiguous
    const Index T = ids.shape()[1];
    for (const Index* row = ids.data(); row < ids.data() + ids.numel(); row += T) rows_.emplace_back(row, row + T);
  }
  /// The tokens of the rows `rows`, from index `first` to the end: [rows, tokens].
  IntArray from(Index first, const std::vector<Index>& rows) const {
    const auto row = [&](Index b) -> const std::vector<Index>& { return rows_[static_cast<std::size_t>(b)]; };
    IntArray ids = IntArray::empty({static_cast<Index>(rows.size()), std::ssize(row(rows[0])) - first});
    Index* to = ids.mutate();
    for (const Index b : rows) to = std::copy(row(b).begin() + first, row(b).end(), to);
    return ids;
  }
  void append(const IntArray& newest) {
    for (std::size_t b = 0; b < rows_.size(); ++b) rows_[b].push_back(newest.data()[b]);
  }
  IntArray all() const {
    std::vector<Index> every(rows_.size());
    std::iota(every.begin(), every.end(), Index(0));
    return from(0, every);
  }

 private:
  std::vector<std::vector<Index>> rows_;
};

/// The logits after the last token of each row of a group, [rows, 1, V]. While the whole text fits into block_size,
/// only the new tokens are computed, with a cache. In a longer text every new token shifts all others to new positions,
/// so the last block_size tokens are recomputed.
Array next_logits(const GPT& model, Group& g, const Texts& texts, Index length, const GenerateOptions& options,
                  const std::vector<bool>& finished) {
  const GPTConfig& c = model.config;
  const bool fits = c.unbounded() || length - g.padding <= c.block_size;
  const bool cached = options.use_cache && fits;
  const Index first = cached ? g.padding + g.cache.length() : fits ? g.padding : length - c.block_size;
  IntArray next = texts.from(first, g.rows);
  const Index filler = options.filler(), T = next.shape()[1];
  Index* row = next.mutate();
  // A finished row is filled with an id that may be outside the vocabulary. Such an id is replaced before the forward
  // pass. Any id may replace it, because the logits of finished rows are not used.
  for (const Index b : g.rows) {
    if (filler >= c.vocab_size && finished[static_cast<std::size_t>(b)])
      std::replace(row, row + T, filler, options.stop_token);
    row += T;
  }
  const detail::OpenLayer call(model);  // as model(next) does; lm_head runs only on each row's last token
  const Tensor x = model.transformer(next, Mask(), cached ? &g.cache : nullptr);
  return model.lm_head(slice(x, 1, x.size(1) - 1, x.size(1))).array().contiguous();
}

/// Makes T ids [1, T] on which a cache is tested. They begin with the prompt [1, P]. Each later id is the previous one
/// plus 1, modulo the vocabulary.
IntArray longer(const IntArray& prompt, Index T, Index vocabulary) {
  IntArray ids({1, T});
  Index* const to = ids.mutate();
  for (Index t = 0; t < T; ++t)
    to[t] = t < prompt.shape()[1] ? prompt.data()[t] : (to[t - 1] % vocabulary + 1) % vocabulary;
  return ids;
}

/// The cache is tested by feeding T ids to it in pieces. Returns where the piece that starts at id `from` ends. Each
/// piece is half of the remaining ids, rounded up.
Index cached_piece_end(Index from, Index T) { return from + (T - from + 1) / 2; }

/// Feeds ids [1, T] to the model with a cache, piece by piece. Returns the input of lm_head, [1, T, C].
Tensor in_pieces(const GPT& model, const IntArray& ids) {
  const Index T = ids.shape()[1];
  GPTCache cache = model.cache();
  std::vector<Tensor> pieces;
  for (Index from = 0; from < T; from = cached_piece_end(from, T))
    pieces.push_back(model.transformer(ids.slice(1, from, cached_piece_end(from, T)), Mask(), &cache));
  return concat(pieces, 1);
}

/// The index of the first element in which a and b differ, or their number of elements if none differs.
Index first_difference(const Array& a, const Array& b) {
  const auto same = [](real x, real y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  return std::mismatch(a.data(), a.data() + a.numel(), b.data(), same).first - a.data();
}

/// Records the results of all layers. The results of inner layers come before the result of the layer around them.
struct LayerResults : Observer {
  struct Result {
    std::string layer;
    Tensor value;
  };
  std::vector<Result> all;

  LayerResults() { watch(); }
  void event(const Event& e) override {
    if (e.kind == Event::value_shown && e.name.empty())
      all.push_back({thread_context.layer->path(*thread_context.layer), *e.value});
  }
};

/// Names the first layer whose results [1, T, ...] differ with a cache and without, as in "; transformer.h.0.mlp
/// differs first". Returns "" if no results differ, or if the two passes did not run the same layers.
std::string where_it_differs(const GPT& model, const IntArray& ids) {
  const auto results = [](auto&& pass) {
    LayerResults seen;
    try {
      static_cast<void>(pass());
    } catch (const Error&) {
      // After an error, the results of the layers that ran before it are compared.
    }
    return seen.all;
  };
  const auto whole = results([&] { return model.transformer(ids); });
  const auto pieces = results([&] { return in_pieces(model, ids); });

  const Index T = ids.shape()[1];
  Index from = 0, to = cached_piece_end(0, T);
  for (std::size_t i = 0, layer = 0; i < pieces.size(); ++i, ++layer) {
    if (layer == whole.size()) {  // the next piece begins
      layer = 0;
      from = std::exchange(to, cached_piece_end(to, T));
    }
    if (layer >= whole.size() || pieces[i].layer != whole[layer].layer) return "";
    const Array &all = whole[layer].value.array(), &piece = pieces[i].value.array();
    if (all.rank() < 2 || all.shape()[0] != 1 || all.shape()[1] != T) continue;
    const Array expected = all.slice(1, from, to).contiguous();
    if (piece.shape() != expected.shape() || first_difference(expected, piece.contiguous()) < expected.numel())
      return "; " + pieces[i].layer + " differs first";
  }
  return "";
}

/// Compares the model's results with a cache and without, bit by bit. In a pass with a cache, a layer that looks at
/// other tokens but has no cache of its own sees only the new tokens. Only this comparison finds that mistake.
/// Observers do not see the two passes. Errors: the results differ.
void compare_cache(const GPT& model, const IntArray& ids) {
  const char* const advice =
      ". A layer that looks at other positions needs a cache of its own; without one, generate with {.use_cache = "
      "false}";
  static_cast<void>(watching());
  const During<Observer*> unseen{thread_context.observer, nullptr};
  const detail::OpenLayer call(model);
  const Array whole = model.transformer(ids).array().contiguous();
  Array pieces;
  try {
    pieces = in_pieces(model, ids).array().contiguous();
  } catch (const Error& e) {
    throw Error(std::string("generate: the model does not run with a cache: ") + e.what() +
                where_it_differs(model, ids) + advice);
  }
  const Index i = first_difference(whole, pieces);
  if (i == whole.numel()) return;
  const Index C = whole.shape()[2];
  check_in("generate", false, "the model must compute the same with a cache as without, but at position ", i / C,
           " the input of lm_head is ", pieces.data()[i], " with one and ", whole.data()[i], " without",
           where_it_differs(model, ids), advice);
}

/// Returns the PackedWeights that the caller has made for this model. If there is none, packs the weights into `own`
/// and returns `own`. Also compares the model's results with a cache and without, unless that was done before with
/// these weights. The comparison must cost little, so it takes at most 64 tokens of one row, or an eighth of the tokens
/// that the call computes if that is more, but never more than 4096.
PackedWeights& ready_weights(const GPT& model, const std::vector<Group>& groups, const Texts& texts, Index length,
                             Index count, const GenerateOptions& options, std::optional<PackedWeights>& own) {
  Index fewest = std::ssize(groups[0].rows), longest = 0, rows = 0;  // longest: the most tokens that a cache will hold
  const Group* compared = nullptr;
  const GPTConfig& c = model.config;
  for (const Group& g : groups) {
    fewest = std::min<Index>(fewest, std::ssize(g.rows));
    rows += std::ssize(g.rows);
    const Index prompt = length - g.padding, most = prompt + count - 1;
    const Index cached = c.unbounded() ? most : std::min(most, c.block_size);
    if (cached > prompt && cached > longest) {
      longest = cached;
      compared = &g;
    }
  }
  PackedWeights* weights = PackedWeights::open(model);
  if (weights)
    weights->refresh();
  else
    weights = &own.emplace(model, fewest);
  const Index computed = rows * std::min<Index>(length + count, 8 * 4096);
  const Index enough = std::clamp<Index>(computed / 8, 64, 4096), T = std::min(longest, enough);
  if (options.use_cache && T > weights->compared) {
    compare_cache(model, longer(texts.from(compared->padding, {compared->rows[0]}), T, c.vocab_size));
    weights->compared = T;
  }
  return *weights;
}

}  // namespace

IntArray pad_left(const std::vector<std::vector<Index>>& prompts, Integer pad) {
  std::size_t longest = 0;
  for (std::size_t b = 0; b < prompts.size(); ++b) {
    check_in("pad_left", !prompts[b].empty(), "prompt ", b, " is empty: each prompt needs at least one id");
    check_in("pad_left", prompts[b][0] != pad, "prompt ", b, " begins with the id of padding, ", pad,
             ", and would lose its first id");
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

IntArray GPT::generate(const IntArray& ids, Integer count, const GenerateOptions& options, const Generator& random) {
  check_options(config, ids, count, options);
  const NoGrad no_grad;
  const Evaluation evaluation(*this);
  const IntArray prompts = ids.contiguous();
  const Index B = ids.shape()[0];
  std::vector<Group> groups = by_length(*this, prompts, options.pad_token);
  if (B == 0 || count == 0) return groups.empty() ? IntArray({B, ids.shape()[1] + count}) : prompts;
  Texts texts(prompts);
  TokenChooser choose(options, random, config.vocab_size);
  std::optional<PackedWeights> own;
  PackedWeights* const weights =
      count > 1 ? &ready_weights(*this, groups, texts, ids.shape()[1], count, options, own) : nullptr;
  std::vector<bool> finished(static_cast<std::size_t>(B), false);
  struct Row {
    const real* logits;
    real largest;
  };
  std::vector<Row> rows(static_cast<std::size_t>(B));
  IntArray newest({B});
  for (Index length = ids.shape()[1], end = length + count; length < end; ++length) {
    for (Group& g : groups) {
      g.logits = next_logits(*this, g, texts, length, options, finished);
      for (std::size_t i = 0; i < g.rows.size(); ++i) {
        const real* const row = g.logits.data() + static_cast<Index>(i) * config.vocab_size;
        rows[static_cast<std::size_t>(g.rows[i])] = {row, choose.largest(row, length - g.padding - 1)};
      }
    }
    Index* const token = newest.mutate();
    for (std::size_t b = 0; b < rows.size(); ++b) {
      token[b] = choose(rows[b].logits, rows[b].largest);
      if (finished[b]) token[b] = options.filler();
      finished[b] = finished[b] || (options.stop_token >= 0 && token[b] == options.stop_token);
    }
    texts.append(newest);
    if (options.on_token && !options.on_token(newest)) break;
    if (options.on_token && weights && weights->refresh())
      for (Group& g : groups) g.cache = cache();
    if (std::find(finished.begin(), finished.end(), false) == finished.end()) break;
  }
  return texts.all();
}

}  // namespace mote
