// bench generate: tokens per second, and how much of the bandwidth reading the weights for each of them takes.
#include <algorithm>

#include "engine/base/parallel.h"
#include "engine/ops/packed_weights.h"
#include "examples/bench/choice.h"
#include "examples/bench/measure.h"

namespace bench {
namespace {

using mote::Index;

struct GenerateWish {
  Index tokens = 0;
  bool cache = true;
  template <class V>
  void visit(V& v) {
    v("tokens", tokens, "to generate after one first token; 0: as many as fit into the context");
    v("cache", cache, "keep keys and values; false computes all of them again for each token");
  }
};

/// Bytes that one more token needs read: the weights of linear layers once, and for each sequence the keys and values
/// of, on average, half of the tokens.
double bytes_per_token(const mote::GPT& model, Index batch, Index tokens) {
  const mote::GPTConfig& c = model.config;
  Index elements = c.tie_weights ? c.vocab_size * c.n_embd : 0;
  for (const mote::NamedParameter& p : mote::named_parameters(model))
    if (p.name != "transformer.wte.weight" && p.name != "transformer.wpe.weight") elements += p.parameter.numel();
  const Index groups = c.block.projections.n_kv_head > 0 ? c.block.projections.n_kv_head : c.n_head;
  elements += batch * c.n_layer * 2 * (c.n_embd / c.n_head * groups) * tokens / 2;
  return static_cast<double>(elements) * sizeof(mote::real);
}

}  // namespace

void generate(int argc, char** argv, Output& out) {
  Choice choice(argc, argv, "S2", 1);
  GenerateWish wish;
  Common common;
  common.seconds = 2;
  Options options("Measures generation: tokens drawn one after the other by the probabilities of a model.");
  options.add("How to generate", wish);
  choice.add_to(options);
  if (!begin(options, argc, argv, common, out)) return;
  std::vector<Case> list;
  for (Case c : cases())
    if (c.name != "S0" && c.name != "S1") c.batch = 1, list.push_back(c);
  list = choice.chosen(list);
  out.table(
      "generate",
      "tokens one at a time. The limit: reading a block as large as all weights, again and again, between the texts",
      {{"model", "model", As::text},
       {"threads", "threads", As::integer},
       {"batch", "batch", As::integer},
       {"tokens", "tokens", As::integer},
       {"tokens_per_second", "tokens/s"},
       {"us_per_token", "us/token"},
       {"mb_per_token", "MB/token"},
       {"gbytes", "GB/s"},
       {"limit_gbytes", "limit"},
       {"share", "of limit", As::share}});
  for (const Case& c : list) {
    common.use_threads(c.threads);
    mote::GPT model(c.config, mote::Generator(1));
    const Index tokens = wish.tokens > 0 ? wish.tokens : std::max<Index>(1, c.config.block_size - 1);
    const mote::Generator random(2);
    const mote::IntArray start({c.batch, 1});
    const mote::GenerateOptions how{.use_cache = wish.cache};
    const double bytes = bytes_per_token(model, c.batch, tokens);
    const mote::PackedWeights packed;  // once for all texts
    const Result r = measure([&] { model.generate(start, tokens, how, random); },
                             {.bytes = bytes * static_cast<double>(tokens), .block = bytes}, common.seconds);
    const double each = r.seconds / static_cast<double>(tokens);
    out.row({c.name, mote::threads(), c.batch, tokens, static_cast<double>(c.batch) / each, each * 1e6, bytes * 1e-6,
             bytes / each * 1e-9, r.gbytes, r.share});
  }
  out.note(
      "Weights are packed once, before. With several sequences at a time, us/token is the time of a token for all of "
      "them.");
}

}  // namespace bench
