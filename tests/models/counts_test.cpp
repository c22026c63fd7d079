// Every count, size, axis and position of a public signature, given numbers that are none.
#include <functional>
#include <limits>

#include "models/models.h"
#include "tests/tools.h"

namespace mote::test::counts_test {
namespace {

struct Call {
  const char* name;
  std::function<void(Index)> with;
};

/// Numbers that no axis and no position can have, nor, but for 0, a count.
const std::vector<Index> bad = {
    std::numeric_limits<Index>::min(), -(Index(1) << 62), -100, 0, Index(1) << 59, Index(1) << 62,
    std::numeric_limits<Index>::max()};

TEST_CASE("counts: a number that is none is an error in a sentence, or means nothing; it ends no program") {
  const Generator random(1);
  const Tensor x = randn({2, 3, 4}, random), p = softmax(x);
  const IntArray ids = ints({{0, 1, 2}});
  GPTConfig c;
  c.vocab_size = 5;
  c.block_size = 8;
  c.n_layer = c.n_head = 2;
  c.n_embd = 8;
  GPT model(c, random);
  const std::vector<Call> calls = {
      {"split(x,n)", [&](Index n) { split(x, n); }},
      {"split(x,n,ax)", [&](Index n) { split(x, 1, n); }},
      {"split sizes", [&](Index n) { split(x, {n, 2}, 0); }},
      {"chunk", [&](Index n) { chunk(x, n); }},
      {"chunk ax", [&](Index n) { chunk(x, 2, n); }},
      {"argmax", [&](Index n) { argmax(x, n); }},
      {"unbind", [&](Index n) { unbind(x, n); }},
      {"pad_left", [&](Index n) { pad_left({{1, 2}, {3}}, n); }},
      {"randperm", [&](Index n) { randperm(n, random); }},
      {"concat", [&](Index n) { concat({x, x}, n); }},
      {"concat ids", [&](Index n) { concat({ids, ids}, n); }},
      {"stack", [&](Index n) { stack({x, x}, n); }},
      {"stack ids", [&](Index n) { stack({ids, ids}, n); }},
      {"causal_mask", [&](Index n) { causal_mask(n); }},
      {"causal_mask k", [&](Index n) { causal_mask(2, n); }},
      {"causal_mask q", [&](Index n) { causal_mask(n, 2); }},
      {"causal_mask w", [&](Index n) { causal_mask(2, 2, n); }},
      {"transpose", [&](Index n) { transpose(x, 0, n); }},
      {"IntArray value", [&](Index n) { IntArray a({2}, n); }},
      {"Linear in", [&](Index n) { Linear l(n, 4, random); }},
      {"Linear out", [&](Index n) { Linear l(4, n, random); }},
      {"gather", [&](Index n) { gather(x, n, ids); }},
      {"gather index", [&](Index n) { gather(x, 0, IntArray({2, 3, 4}, n)); }},
      {"slice ax", [&](Index n) { slice(x, n, 0, 1); }},
      {"slice start", [&](Index n) { slice(x, 0, n, 1); }},
      {"slice end", [&](Index n) { slice(x, 0, 0, n); }},
      {"slice step", [&](Index n) { slice(x, 0, 0, 2, n); }},
      {"select", [&](Index n) { select(x, 0, n); }},
      {"select ax", [&](Index n) { select(x, n, 0); }},
      {"squeeze", [&](Index n) { squeeze(x, n); }},
      {"unsqueeze", [&](Index n) { unsqueeze(x, n); }},
      {"multinomial", [&](Index n) { multinomial(select(p, 0, 0), n, true, random); }},
      {"multinomial f", [&](Index n) { multinomial(select(p, 0, 0), n, random); }},
      {"LayerNorm", [&](Index n) { LayerNorm l(n); }},
      {"RMSNorm", [&](Index n) { RMSNorm l(n); }},
      {"ChosenNorm", [&](Index n) { ChosenNorm l(NormKind::rms_norm, n); }},
      {"padding_mask", [&](Index n) { padding_mask({1, 2}, n); }},
      {"padding_mask len", [&](Index n) { padding_mask({n}, 3); }},
      {"rotary h", [&](Index n) { rotary(x, Array::zeros({3, 2}), Array::zeros({3, 2}), n, 4); }},
      {"rotary w", [&](Index n) { rotary(x, Array::zeros({3, 2}), Array::zeros({3, 2}), 1, n); }},
      {"Embedding n", [&](Index n) { Embedding e(n, 4, random); }},
      {"Embedding d", [&](Index n) { Embedding e(4, n, random); }},
      {"Embedding pad", [&](Index n) { Embedding e(4, 4, random, n); }},
      {"Embedding id", [&](Index n) { Embedding e(4, 4, random); e(IntArray({2}, n)); }},
      {"tril", [&](Index n) { tril(x, n); }},
      {"triu", [&](Index n) { triu(x, n); }},
      {"KeyValueCache", [&](Index n) { KeyValueCache k(n); }},
      {"split_heads", [&](Index n) { split_heads(x, n); }},
      {"LearnedPositions length", [&](Index n) { LearnedPositions l(n, 4, random); }},
      {"LearnedPositions width", [&](Index n) { LearnedPositions l(4, n, random); }},
      {"LearnedPositions call", [&](Index n) { LearnedPositions l(4, 4, random); l(n); }},
      {"LearnedPositions start", [&](Index n) { LearnedPositions l(4, 4, random); l(2, n); }},
      {"SinusoidalPositions length", [&](Index n) { SinusoidalPositions l(n, 4); }},
      {"SinusoidalPositions width", [&](Index n) { SinusoidalPositions l(4, n); }},
      {"SinusoidalPositions call", [&](Index n) { SinusoidalPositions l(4, 4); l(n); }},
      {"SinusoidalPositions start", [&](Index n) { SinusoidalPositions l(4, 4); l(2, n); }},
      {"alibi", [&](Index n) { alibi_slopes(n); }},
      {"Rotary w", [&](Index n) { Rotary t(n, {}); }},
      {"Rotary len", [&](Index n) { Rotary t(4, {}, n); }},
      {"Rotary start", [&](Index n) { Rotary t(4, {}, 8); t(randn({1, 2, 8}, random), n, 2); }},
      {"Rotary heads", [&](Index n) { Rotary t(4, {}, 8); t(randn({1, 2, 8}, random), 0, n); }},
      {"size", [&](Index n) { x.size(n); }},
      {"stride", [&](Index n) { x.array().stride(n); }},
      {"embedding pad", [&](Index n) { embedding(randn({4, 4}, random), ids, n); }},
      {"Generator", [&](Index n) { Generator g(n); g.manual_seed(n); }},
      {"linspace", [&](Index n) { linspace(0, 1, n); }},
      {"softmax", [&](Index n) { softmax(x, n); }},
      {"log_softmax", [&](Index n) { log_softmax(x, n); }},
      {"randint lo", [&](Index n) { randint(n, 5, {2}, random); }},
      {"randint hi", [&](Index n) { randint(0, n, {2}, random); }},
      {"randint shape", [&](Index n) { randint(0, 3, {n}, random); }},
      {"eye", [&](Index n) { eye(n); }},
      {"zeros", [&](Index n) { zeros({n}); }},
      {"zeros2", [&](Index n) { zeros({n, n}); }},
      {"zeros 0", [&](Index n) { zeros({0, n}); }},
      {"reshape", [&](Index n) { reshape(x, {n}); }},
      {"reshape2", [&](Index n) { reshape(x, {n, -1}); }},
      {"view", [&](Index n) { view(x, {n, 2}); }},
      {"expand", [&](Index n) { expand(zeros({1}), {n}); }},
      {"permute", [&](Index n) { permute(x, {0, 1, n}); }},
      {"sum", [&](Index n) { sum(x, n); }},
      {"sum2", [&](Index n) { sum(x, {0, n}); }},
      {"mean", [&](Index n) { mean(x, n); }},
      {"var", [&](Index n) { var(x, n); }},
      {"var corr", [&](Index n) { var(x, 0, n); }},
      {"max", [&](Index n) { max(x, n); }},
      {"min", [&](Index n) { min(x, n); }},
      {"arange", [&](Index n) { arange(n); }},
      {"arange step", [&](Index n) { arange(0, 4, n); }},
      {"normal shape", [&](Index n) { randn({n}, random); }},
      {"full", [&](Index n) { full({2}, n); }},
      {"pow", [&](Index n) { pow(x, n); }},
      {"TransformerBlock width", [&](Index n) { TransformerBlock b(n, 2, random); }},
      {"TransformerBlock heads", [&](Index n) { TransformerBlock b(4, n, random); }},
      {"TransformerBlock n_inner", [&](Index n) { TransformerBlock b(4, 2, random, {.n_inner = n}); }},
      {"SelfAttention width", [&](Index n) { SelfAttention b(n, 2, random); }},
      {"SelfAttention heads", [&](Index n) { SelfAttention b(4, n, random); }},
      {"SelfAttention n_kv_head", [&](Index n) { SelfAttention b(4, 2, random, {}, {.n_kv_head = n}); }},
      {"SelfAttention block_size", [&](Index n) { SelfAttention b(4, 2, random, {}, {.block_size = n}); }},
      {"SelfAttention window", [&](Index n) { SelfAttention b(4, 2, random, {.window = n}); b(x); }},
      {"MultiHeadAttention width", [&](Index n) { MultiHeadAttention b(n, 2, random); }},
      {"MultiHeadAttention heads", [&](Index n) { MultiHeadAttention b(4, n, random); }},
      {"MultiHeadAttention n_kv_head", [&](Index n) { MultiHeadAttention b(4, 2, random, {}, {.n_kv_head = n}); }},
      {"MultiHeadAttention block_size", [&](Index n) { MultiHeadAttention b(4, 2, random, {}, {.block_size = n}); }},
      {"MultiHeadAttention d_in", [&](Index n) { MultiHeadAttention b(4, 2, random, {}, {.d_in = n}); }},
      {"MultiHeadAttention key_width", [&](Index n) { MultiHeadAttention b(4, 2, random, {}, {.key_width = n}); }},
      {"MultiHeadAttention value_width", [&](Index n) { MultiHeadAttention b(4, 2, random, {}, {.value_width = n}); }},
      {"FeedForward width", [&](Index n) { FeedForward f(n, 8, random); }},
      {"FeedForward hidden", [&](Index n) { FeedForward f(8, n, random); }},
      {"MLP", [&](Index n) { MLP m({3, n, 2}, random); }},
      {"heads q", [&](Index n) { attention(x, x, x, Heads{n, 1}, {}, random); }},
      {"heads k", [&](Index n) { attention(x, x, x, Heads{2, n}, {}, random); }},
      {"heads qkv", [&](Index n) { attention(randn({1, 3, 12}, random), Heads{n, n}, {}, random); }},
      {"heads qkv2", [&](Index n) { attention(randn({1, 3, 12}, random), Heads{2, n}, {}, random); }},
      {"gpt vocab", [&](Index n) { auto d = c; d.vocab_size = n; GPT g(d, Init::none(random)); }},
      {"gpt block", [&](Index n) { auto d = c; d.block_size = n; GPT g(d, Init::none(random)); }},
      {"gpt head", [&](Index n) { auto d = c; d.n_head = n; GPT g(d, Init::none(random)); }},
      {"gpt embd", [&](Index n) { auto d = c; d.n_embd = n; GPT g(d, Init::none(random)); }},
      {"gpt inner", [&](Index n) { auto d = c; d.block.n_inner = n; GPT g(d, Init::none(random)); }},
      {"gpt kv", [&](Index n) { auto d = c; d.block.projections.n_kv_head = n; GPT g(d, Init::none(random)); }},
      {"gpt window", [&](Index n) { auto d = c; d.block.attention.window = n; GPT g(d, Init::none(random)); }},
      {"generate top_k", [&](Index n) { model.generate(ids, 2, {.top_k = n}, random); }},
      {"generate id", [&](Index n) { model.generate(IntArray({1, 2}, n), 2, {}, random); }},
      {"generate pad", [&](Index n) { model.generate(ids, 2, {.pad_token = n}, random); }},
      {"generate stop", [&](Index n) { model.generate(ids, 2, {.stop_token = n}, random); }},
      {"gpt id", [&](Index n) { model(IntArray({1, 2}, n)); }},
      {"gpt target", [&](Index n) { model.loss(ids, IntArray({1, 3}, n)); }},
      {"ov layer", [&](Index n) { ov(model, n, 0); }},
      {"ov head", [&](Index n) { ov(model, 0, n); }},
      {"qk layer", [&](Index n) { qk(model, n, 0); }},
      {"qk head", [&](Index n) { qk(model, 0, n); }},
      {"cross_entropy", [&](Index n) { cross_entropy(select(x, 0, 0), IntArray({3}, n)); }},
      {"cross ignore", [&](Index n) { cross_entropy(select(x, 0, 0), IntArray({3}, 1), {.ignore_index = n}); }},
      {"take_rows", [&](Index n) { take_rows(ids, {n}); }},
      {"at", [&](Index n) { x.array().at({0, 0, n}); }},
      {"neuron_shares", [&](Index n) { Decomposition d(model, ids); d.neuron_shares(n, ints({1})); }},
  };
  int errors = 0;
  for (const Call& call : calls)
    for (const Index n : bad) {
      CAPTURE(call.name);
      CAPTURE(n);
      try {
        call.with(n);
      } catch (const Error& e) {
        CHECK(std::string(e.what()).find(": ") != std::string::npos);
        ++errors;
      }
    }
  CHECK(errors > std::ssize(calls) * std::ssize(bad) / 2);
}

}  // namespace
}  // namespace mote::test::counts_test
