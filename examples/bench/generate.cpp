// bench generate: measures how many tokens per second a model generates, and compares this with a limit. The limit is
// the bandwidth of memory, because the weights are read for every token.
#include <algorithm>

#include "examples/bench/measure.h"
#include "examples/bench/models.h"
#include "examples/bench/output.h"
#include "models/packed_weights.h"

namespace bench {
namespace {

using mote::Index;

/// The bytes that are read to generate one more token: the weights of the linear layers once, and the cached keys and
/// values of each sequence. On average the cache holds half of the tokens.
double bytes_per_token(const mote::GPT& model, Index batch, Index tokens) {
  const mote::GPTConfig& c = model.config;
  const Index shared = c.block.projections.n_kv_head ? c.block.projections.n_kv_head : c.n_head;
  const Index kept = batch * c.n_layer * (c.n_embd / c.n_head) * shared * tokens;
  return static_cast<double>(weights_of(model) + kept) * sizeof(mote::real);
}

}  // namespace

void generate(int argc, char** argv, Output& out) {
  Choice choice(argc, argv, "S2");
  choice.one.batch = 1;
  Common common;
  common.seconds = 2;
  mote::Options options("Measures generation: tokens drawn one after the other by the probabilities of a model.");
  choice.add_to(options);
  if (!common.parse(options, argc, argv)) return;
  std::vector<Case> list;
  for (Case c : cases())
    if (c.name != "S0" && c.name != "S1") {
      c.batch = 1;
      list.push_back(c);
    }
  list = choice.chosen(list);
  out.table(
      "tokens one at a time. The limit: reading a block as large as all weights, again and again, between the texts",
      {"model", "batch", "tokens", "tokens/s", "MB/token", "GB/s", "limit", "of limit"});
  for (const Case& c : list) {
    mote::GPT model(c.config, mote::Generator(1));
    const Index tokens = std::max<Index>(1, c.config.block_size - 1);  // after one first token
    const mote::Generator random(2);
    const mote::IntArray start({c.batch, 1});
    const double bytes = bytes_per_token(model, c.batch, tokens);
    const mote::PackedWeights packed(model);  // packed once for all texts
    const Result r = measure([&] { model.generate(start, tokens, {}, random); },
                             {.bytes = bytes * static_cast<double>(tokens), .block = bytes}, common.seconds);
    const double each = r.seconds / static_cast<double>(tokens);
    out.row({c.name, c.batch, tokens, static_cast<double>(c.batch) / each, bytes * 1e-6, bytes / each * 1e-9, r.gbytes,
             share(r.share)});
  }
  out.note("Weights are packed once, before.");
}

}  // namespace bench
