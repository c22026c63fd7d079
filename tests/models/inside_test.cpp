// Decomposition: what a logit is the sum of, against the model; heads as matrices against heads that run; patches one
// by one against the table.
#include "models/inside.h"

#include <doctest/doctest.h>

#include <optional>

#include "engine/engine.h"
#include "nn/nn.h"
#include "tests/tools.h"

namespace mote::test::inside_test {

const IntArray ids = ints({{1, 4, 2, 0, 3}, {2, 5, 1, 0, 4}}), others = ints({{3, 4, 2, 1, 3}, {0, 5, 5, 0, 2}});

/// With weights so large that every part matters.
GPT gpt(GPTConfig c = {}) {
  c.block_size = 6;
  c.vocab_size = 7;
  c.n_layer = 2;
  c.n_head = 2;
  c.n_embd = 8;
  GPT model(c, Generator(1));
  const Generator random(2);
  for (const Parameter& w : parameters(model)) w.set((Tensor(w.value()) + randn(w.shape(), random) * 0.3).array());
  model.eval();
  return model;
}

std::vector<GPTConfig> kinds() {
  GPTConfig grouped, untied;
  grouped.block.projections.n_kv_head = 1;
  untied.tie_weights = false;
  GPTConfig waves;
  waves.position = Position::sinusoidal;
  GPTConfig llama = GPTConfig::llama();
  llama.block.projections.n_kv_head = 2;
  return {{}, grouped, untied, waves, llama, GPTConfig::attention_only()};
}

double largest(const Tensor& x) { return max(abs(x)).item(); }

TEST_CASE("inside: shares of a logit and of a difference sum to it, and parts to the stream") {
  for (const GPTConfig& kind : kinds()) {
    const GPT model = gpt(kind);
    const NoGrad no_grad;
    const Decomposition in(model, ids);
    CHECK(same_bits(in.logits.array(), model(ids).array()));
    CHECK(same_bits(in.before[0].array(), model.transformer.embed(ids).array()));
    Tensor stream = zeros(in.before[2].shape()), logit = zeros({2, 5}), difference = zeros({2, 5});
    for (const auto& p : in.parts()) stream = stream + p.value;
    CHECK(largest(stream - in.before[2]) < 1e-5);
    for (const auto& s : in.shares(ints({3}))) logit = logit + s.value;
    CHECK(largest(logit - select(in.logits, 2, 3)) < 1e-5);
    for (const auto& s : in.shares(others, ids)) difference = difference + s.value;
    const auto of = [&](const IntArray& token) { return gather(in.logits, 2, token.unsqueeze(2)).array(); };
    CHECK(largest(difference - reshape(Tensor(of(others)) - Tensor(of(ids)), {2, 5})) < 1e-5);
  }
}

TEST_CASE("inside: shares of neurons sum to their network's, and a share is what is missing without its part") {
  const GPT model = gpt();
  const NoGrad no_grad;
  const Decomposition in(model, ids);
  Tensor network;
  for (const auto& s : in.shares(ints({3})))
    if (s.name == "1 mlp") network = s.value;
  const Tensor neurons = in.neuron_shares(1, ints({3}));
  CHECK(neurons.shape() == Shape{2, 5, 32});
  Tensor without;
  {
    const Fix scale(model, "transformer.ln_f scale", [&] {
      const Record seen(model, {"transformer.ln_f scale"});
      model(ids);
      return seen["transformer.ln_f scale"];
    }());
    const Ablate ablate(model, "transformer.h.1.mlp", model.transformer.h[1].mlp->c_proj.bias);
    without = model(ids);
  }
  CHECK(largest(sum(neurons, {-1}) - (select(in.logits, 2, 3) - select(without, 2, 3))) < 1e-5);
  CHECK(largest(network - sum(neurons, {-1})) > 0.01);  // what its bias adds
}

TEST_CASE("inside: the lens ends with the logits, and begins with what the embedding alone says") {
  const GPT model = gpt();
  const Decomposition in(model, ids);
  const Tensor lens = in.lens();
  CHECK(lens.shape() == Shape{3, 2, 5, 7});
  CHECK(same_bits(select(lens, 0, 2).array(), in.logits.array()));
  const Ablate nothing_added(model, "*.attn"), nor_here(model, "*.mlp");
  CHECK(largest(select(lens, 0, 0) - model(ids)) < 1e-5);
}

TEST_CASE("inside: OV is what a head writes of where it looks, and QK what it looks for") {
  for (const Index kv_heads : {0, 1}) {
    GPTConfig c;
    c.block.projections.n_kv_head = kv_heads;
    c.bias = false;
    const GPT model = gpt(c);
    const NoGrad no_grad;
    const Record seen(model, {"*.1.ln_1", "*.1.attn", "*.1.attn scores"});
    const Ablate other(model, "*.1.attn heads 0");
    const Fix pattern(model, "*.1.attn weights", eye(5));
    model(ids);
    const Tensor x = seen["transformer.h.1.ln_1"];
    const FactoredMatrix write = ov(model, 1, 1), look = qk(model, 1, 1);
    CHECK(largest(matmul(x, write.product()) - seen["transformer.h.1.attn"]) < 1e-5);
    const Tensor scores = matmul(matmul(x, look.product()), transpose(x, 1, 2)) / std::sqrt(real(4));
    CHECK(largest(scores - select(seen["transformer.h.1.attn scores"], 1, 1)) < 1e-5);
    const auto size = [](const Tensor& m) { return std::sqrt(static_cast<double>(sum(m * m).item())); };
    const FactoredMatrix both = ov(model, 0, 0) + ov(model, 0, 1), chain = both * transposed(look);
    CHECK(std::abs(both.norm() / size(both.product()) - 1) < 1e-5);
    CHECK(std::abs(chain.norm() / size(matmul(both.product(), transpose(look.product(), 0, 1))) - 1) < 1e-5);
    CHECK(std::abs(composition(both, look) * both.norm() * look.norm() / (both * look).norm() - 1) < 1e-6);
  }
}

TEST_CASE("inside: a head whose OV is the identity copies, one with the other sign never does") {
  GPTConfig c;
  c.n_layer = 1;
  c.block.norm_order = NormOrder::pre;
  const GPT model = gpt(c);
  const FactoredMatrix same{eye(8), eye(8)}, opposite{eye(8), eye(8) * -1};
  CHECK(copying_score(model, 0, same) > 0.8);
  CHECK(copying_score(model, 0, opposite) == 0);
}

TEST_CASE("inside: the table of patches is what patches one by one give") {
  const GPT model = gpt();
  const NoGrad no_grad;
  const Metric metric = [](const Tensor& logits) { return mean(select(select(logits, 1, 4), 1, 3)); };
  const auto name = [](Index l, const char* of) { return "transformer.h." + std::to_string(l) + of; };
  const char* const names[] = {"", ".attn", ".mlp", ".attn heads", ".mlp.c_fc"};
  for (int site = 0; site < 5; ++site) {
    const Tensor table = patch_table(model, ids, others, names[site], metric);
    const bool heads = site == 3;
    REQUIRE(table.shape() == Shape{2, heads ? 2 : 5});
    for (Index l = 0; l < 2; ++l)
      for (Index p = 0; p < table.size(1); ++p) {
        Tensor value;
        {
          const Record seen(model, {name(l, names[site])});
          model(others);
          value = seen[name(l, names[site])];
        }
        const Patch patch(model, name(l, names[site]) + (heads ? " " : " at ") + std::to_string(p), value);
        CHECK(std::abs(table.array().at({l, p}) - metric(model(ids)).item()) < 1e-5);
      }
  }
}

TEST_CASE("inside: importance of heads by ablation and by gradient, whose estimate is exact where all is linear") {
  const GPT model = gpt();
  const Metric metric = [](const Tensor& logits) { return mean(select(select(logits, 1, 4), 1, 3)); };
  sum(model(ids)).backward();
  const Array before = parameters(model)[0].grad();
  const HeadImportance found = head_importance(model, ids, metric);
  CHECK(same_bits(parameters(model)[0].grad(), before));
  const GPT whole = gpt();
  const Ablate ablate(model, "*.1.attn heads 1");
  CHECK(std::abs(found.ablated.array().at({1, 1}) - (metric(whole(ids)).item() - metric(model(ids)).item())) < 1e-5);
  const GPT linear = gpt(GPTConfig::attention_only());  // in its last layer, with the scale kept
  const IntArray one = ints({{1, 4, 2, 0, 3}});
  Tensor scale;
  {
    const Record seen(linear, {"transformer.ln_f scale"});
    linear(one);
    scale = seen["transformer.ln_f scale"];
  }
  const Fix fixed(linear, "transformer.ln_f scale", scale);
  const HeadImportance exact = head_importance(linear, one, metric);
  for (Index h = 0; h < 2; ++h)
    CHECK(std::abs(exact.ablated.array().at({1, h}) - exact.gradient.array().at({1, h})) < 1e-5);
  CHECK(std::abs(exact.ablated.array().at({1, 0})) > 1e-3);
}

TEST_CASE("inside: what cannot be taken apart is an error") {
  GPTConfig post;
  post.block.norm_order = NormOrder::post;
  const GPT last = gpt(post);
  CHECK_THROWS_WITH_AS(Decomposition(last, ids), doctest::Contains("norm_order must be pre"), Error);
  GPTConfig dropout;
  dropout.dropout = 0.1;
  GPT model = gpt(dropout);
  model.train();
  CHECK_THROWS_WITH_AS(Decomposition(model, ids), doctest::Contains("call eval() first"), Error);
  CHECK_THROWS_WITH_AS(ov(model, 2, 0), doctest::Contains("there is no head 0 in layer 2"), Error);
  const Metric metric = [](const Tensor& logits) { return mean(logits); };
  CHECK_THROWS_WITH_AS(patch_table(model, ids, ids, "", metric), doctest::Contains("call eval() first"), Error);
  CHECK_THROWS_WITH_AS(head_importance(model, ids, metric), doctest::Contains("call eval() first"), Error);
  model.eval();
  CHECK_THROWS_WITH_AS(patch_table(model, ids, ints({{1, 2}}), "", metric),
                       doctest::Contains("must have the shape of ids"), Error);
  CHECK_THROWS_WITH_AS(patch_table(model, IntArray({0, 5}), {}, "", metric), doctest::Contains("are empty"), Error);
  for (const char* value : {".attn weights", ".attn heads ", ".attn heads 0", ".attn at 1", "*", ".ln_1 scale"})
    CHECK_THROWS_WITH_AS(patch_table(model, ids, {}, value, metric), doctest::Contains("must be ''"), Error);
  const NoGrad no_grad;
  CHECK_THROWS_WITH_AS(head_importance(model, ids, metric), doctest::Contains("call it without NoGrad"), Error);
}

TEST_CASE("inside: parts that a scope keeps from adding up are an error, what changes inside them is not") {
  const GPT model = gpt();
  for (const char* places : {"*.0.attn", "transformer.h.0", "transformer.ln_f", "lm_head", "", "*.attn.c_proj"}) {
    const Ablate ablate(model, places);
    CHECK_THROWS_WITH_AS(Decomposition(model, ids), doctest::Contains("do not sum to the logits"), Error);
  }
  for (const char* places : {"*.attn heads 0", "*.attn weights", "*.mlp", "*.mlp.c_fc", "transformer.wte"}) {
    const Ablate ablate(model, places);
    CHECK(Decomposition(model, ids).before.size() == 3);
  }
}

TEST_CASE("inside: sums are compared for every logit, also where token 0 has none") {
  GPTConfig untied;
  untied.tie_weights = false;
  const GPT model = gpt(untied);
  Array head = model.lm_head.weight.value();
  std::fill_n(head.mutate(), 8, real(0));
  model.lm_head.weight.set(head);
  CHECK(select(Decomposition(model, ids).logits, 2, 0).to_vector() == std::vector<real>(10, 0));
  for (const char* place : {"", "lm_head"}) {
    const Change all_but_one(model, place, [](const Tensor& y) {
      return concat({slice(y, 2, 0, 1), slice(y, 2, 1, 7) + 0.5}, 2);
    });
    CHECK_THROWS_WITH_AS(Decomposition(model, ids), doctest::Contains("do not sum to the logits"), Error);
  }
  const Change last_alone(model, "lm_head", [](const Tensor& y) {
    return concat({slice(y, 1, 0, 4), slice(y, 1, 4, 5) * 1.5}, 1);
  });
  CHECK_THROWS_WITH_AS(Decomposition(model, ids), doctest::Contains("do not sum to the logits"), Error);
  const Ablate attention(model, "*.0.attn");  // whose sum is also wrong where lm_head cannot see it: at token 0
  CHECK_THROWS_WITH_AS(Decomposition(model, ids), doctest::Contains("do not sum to the logits"), Error);
}

TEST_CASE("inside: a run keeps its weights, whatever becomes of the model") {
  std::optional<GPT> model(gpt());
  const Decomposition in(*model, ids);
  const std::vector<real> lens = in.lens().to_vector(), neurons = in.neuron_shares(1, ints({3})).to_vector();
  for (const Parameter& w : parameters(*model)) w.mutate()[0] += 1;
  for (int gone = 0; gone < 2; ++gone) {
    Tensor logit = zeros({2, 5});
    for (const auto& s : in.shares(ints({3}))) logit = logit + s.value;
    CHECK(largest(logit - select(in.logits, 2, 3)) < 1e-5);
    CHECK(in.lens().to_vector() == lens);
    CHECK(in.neuron_shares(1, ints({3})).to_vector() == neurons);
    model.reset();
  }
}

TEST_CASE("inside: neurons that do not make up what their network adds are an error") {
  const GPT model = gpt();
  const Ablate nothing(model, "*.1.mlp");
  const Decomposition in(model, ids);
  CHECK(in.neuron_shares(0, ints({3})).shape() == Shape{2, 5, 32});
  CHECK_THROWS_WITH_AS(in.neuron_shares(1, ints({3})), doctest::Contains("must be a FeedForward"), Error);
}

}  // namespace mote::test::inside_test
