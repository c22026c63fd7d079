// Record, Ablate, Patch and Fix: what is put in comes out, gradients flow through it, nothing stays behind, and a
// call of the model in which a scope reaches nothing says so.
#include "nn/reach.h"

#include <doctest/doctest.h>

#include <optional>
#include <thread>

#include "engine/engine.h"
#include "models/gpt.h"
#include "nn/nn.h"
#include "tests/sentences.h"
#include "tests/tools.h"

namespace mote::test::reach_test {

const IntArray ids = ints({{1, 4, 2, 0, 3, 1}, {2, 2, 5, 1, 0, 4}});
const std::vector<std::string> everything{
    "*", "*.attn scores", "*.attn weights", "*.attn dropped_weights", "*.attn heads", "*ln_* scale"};

GPT gpt(Index kv_heads = 0) {
  GPTConfig config{.block_size = 8, .vocab_size = 6, .n_layer = 2, .n_head = 2, .n_embd = 8};
  config.block.projections.n_kv_head = kv_heads;
  return GPT(config, Generator(1));
}

/// All gradients after a backward pass of some loss of y.
std::vector<Array> gradients(const GPT& model, const Tensor& y) {
  zero_grad(model);
  sum(y * y).backward();
  std::vector<Array> all;
  for (const Parameter& p : parameters(model)) all.push_back(p.grad());
  return all;
}

template <class F>
std::string error_of(const F& f) {
  try {
    f();
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}

TEST_CASE("reach: to record everything changes no bit, neither of results nor of gradients") {
  for (const Index kv_heads : {0, 1}) {
    const GPT model = gpt(kv_heads);
    const Tensor plain = model(ids);
    const std::vector<Array> slopes = gradients(model, plain);
    const Record seen(model, everything);
    const Tensor y = model(ids);
    CHECK(same_bits(y.array(), plain.array()));
    CHECK(seen["transformer.h.1.attn weights"].shape() == Shape{2, 2, 6, 6});
    CHECK(seen["transformer.h.1.attn heads"].shape() == Shape{2, 2, 6, 4});
    CHECK(same_bits(seen["lm_head"].array(), y.array()));
    const std::vector<Array> same = gradients(model, y);
    for (std::size_t i = 0; i < same.size(); ++i)
      if (kv_heads == 0)
        CHECK(same_bits(same[i], slopes[i]));
      else  // those of shared heads are summed in another order: see attention()
        CHECK(max(abs(Tensor(same[i]) - slopes[i])).item() < 1e-5);
  }
}

TEST_CASE("reach: what the same run has had changes no bit, wherever it is put in") {
  const GPT model = gpt();
  const Tensor plain = model(ids);
  std::map<std::string, Tensor> values;
  {
    const Record seen(model, everything);
    model(ids);
    values = seen.values();
  }
  CHECK(values.size() > 20);
  for (const auto& value : values) {
    CAPTURE(value.first);
    const Patch patch(model, value.first, value.second.detach());
    CHECK(same_bits(model(ids).array(), plain.array()));
  }
}

TEST_CASE("reach: all heads taken out is attention taken out, but for the projection's bias") {
  const GPT model = gpt();
  const Tensor bias = model.transformer.h[1].attn.c_proj.bias;
  const auto without = [&](const std::string& places, const Tensor& instead) {
    const Ablate ablate(model, places, instead);
    return model(ids).array();
  };
  const Array y = without("*.1.attn heads", 0.0);
  CHECK(same_bits(y, without("*.1.attn", bias)));
  CHECK(same_bits(y, without("*.1.attn heads 0 1", 0.0)));
  CHECK(same_bits(y, without("*.1.attn weights", 0.0)));
  CHECK(!same_bits(y, model(ids).array()));
  CHECK(!same_bits(y, without("*.1.attn heads 0", 0.0)));
}

TEST_CASE("reach: only the chosen heads and positions change, and what another input had is put there") {
  const GPT model = gpt();
  const IntArray others = ints({{0, 0, 5, 2, 3, 3}, {1, 3, 3, 0, 2, 2}});
  Tensor heads, block;
  {
    const Record seen(model, {"*.h.0.attn heads", "*.h.0"});
    model(others);
    heads = seen["transformer.h.0.attn heads"];
    block = seen["transformer.h.0"];
  }
  const Record seen(model, {"*.h.0.attn heads"});
  model(ids);
  const Tensor was = seen["transformer.h.0.attn heads"];
  const Patch patch(model, "*.h.0.attn heads 1 at 2 -1", heads);
  model(ids);
  const Array now = seen["transformer.h.0.attn heads"].array();
  for (Index h = 0; h < 2; ++h)
    for (Index t = 0; t < 6; ++t)
      for (Index b = 0; b < 2; ++b)
        CHECK(now.at({b, h, t, 0}) == (h == 1 && (t == 2 || t == 5) ? heads : was).array().at({b, h, t, 0}));
  const Patch whole(model, "transformer.h.0", block);  // from here on everything is as with the other input
  const Tensor rest = model(ids);
  CHECK(same_bits(rest.array(), model(others).array()));
}

TEST_CASE("reach: gradients flow through what is put in") {
  const GPT model = gpt();
  const auto f = [&](const std::vector<Tensor>& x) {
    const Patch patch(model, "*.h.0 at 1 2", x[0]);
    const Change times(model, "*.h.1.attn heads 1", [&](const Tensor& heads) { return heads * x[1]; });
    return model(ids);
  };
  const GradcheckResult result = gradcheck(f, {random_array({2, 6, 8}, 2), random_array({2, 2, 6, 4}, 3)});
  CHECK_MESSAGE(result.ok, result.text);
}

TEST_CASE_TEMPLATE("reach: a norm whose scale is changed or kept has the right gradients, and its own bits", Norm,
                   LayerNorm, RMSNorm) {
  for (const Index C : {1, 5, 40}) {
    const Norm norm(C);
    const Array x = random_array({3, C}, 2);
    Tensor kept;
    {
      const Record seen(norm, {"", "scale"});
      norm(x);
      kept = seen["scale"];
    }
    CHECK(kept.shape() == Shape{3, 1});
    const auto f = [&](const std::vector<Tensor>& in) {
      const Change times(norm, "scale", [&](const Tensor& s) { return in.size() > 1 ? s * in[1] : s; });
      return norm(in[0]);
    };
    CHECK(same_bits(f({x}).array(), norm(x).array()));
    const GradcheckResult result = gradcheck(f, {x, random_array({3, 1}, 3)});
    CHECK_MESSAGE(result.ok, result.text);
    const Fix fix(norm, "scale", kept);  // x is then taken as it is: linear
    const Array y = norm(x).array(), twice = norm(x * real(2)).array();
    CHECK(max(abs(Tensor(twice) - Tensor(y) * real(2))).item() < 1e-5);
  }
}

TEST_CASE("reach: a fixed pattern is what attention does, and what AttentionWeights shows") {
  const GPT model = gpt();
  const Tensor pattern = eye(6);
  const AttentionWeights seen;
  const Fix fix(model, "*.h.0.attn weights 1", pattern);
  model(ids);
  REQUIRE(seen.maps().size() == 2);
  CHECK(same_bits(seen.maps()[0].weights.select(1, 1).select(0, 0), pattern.array()));
  CHECK(!same_bits(seen.maps()[0].weights.select(1, 0).select(0, 0), pattern.array()));
}

TEST_CASE("reach: with a cache the same bits as in the whole pass") {
  GPT model = gpt();
  model.eval();
  const NoGrad no_grad;
  const Ablate ablate(model, "*.attn heads 0");
  const Array whole = model(ids).array();
  GPTCache cache = model.cache();
  for (Index t = 0; t < 6; ++t) {
    const Array row = model(ids.slice(1, t, t + 1), Mask(), &cache).array();
    CHECK(same_bits(row, copy_of(whole.slice(1, t, t + 1))));
  }
}

TEST_CASE("reach: layers of one's own, the model itself, and attention over something else") {
  struct Mine : Layer<Mine> {
    Linear up;
    MultiHeadAttention cross;
    explicit Mine(const Generator& r) : up(4, 4, r), cross(4, 2, r) {}
    Tensor forward(const Tensor& x, const Tensor& y) const { return cross(up(x), y, y); }
    void visit(Visitor& v) override { v("up", up), v("cross", cross); }
  };
  const Mine model(Generator(1));
  const Tensor x = randn({1, 3, 4}, Generator(2)), y = randn({1, 5, 4}, Generator(3));
  const Array plain = model(x, y).array();
  const Record seen(model, {"", "cross heads", "up"});
  CHECK(same_bits(model(x, y).array(), plain));
  CHECK(same_bits(seen[""].array(), plain));
  CHECK(seen["cross heads"].shape() == Shape{1, 2, 3, 2});
  const Ablate ablate(model, "", 7.0);
  CHECK(same_bits(model(x, y).array(), full({1, 3, 4}, 7).array()));
}

TEST_CASE("reach: attention of the model's own, without heads, refuses what it refuses when nobody looks") {
  struct Bare : Layer<Bare> {
    AttentionOptions options;
    Tensor forward(const Tensor& q, const Tensor& k) const { return attention(q, k, k, options); }
    void visit(Visitor&) override {}
  };
  Bare bare;
  bare.options.alibi = Array::full({1}, 1);
  const Tensor x = random_array({3, 4}, 1), four = random_array({4, 2, 4}, 2), two = random_array({2, 2, 4}, 3);
  const auto once = [&](const Tensor& q, const Tensor& k) {  // what it says; else what it computes
    Tensor y = 0.0;
    const std::string said = error_of([&] { y = bare(q, k); });
    return std::pair(said, y.array());
  };
  const auto both = [&](const Tensor& q, const Tensor& k) {
    const auto plain = once(q, k);
    const Record seen(bare, {"heads"});
    const auto watched = once(q, k);
    CHECK(watched.first == plain.first);
    CHECK(same_bits(watched.second, plain.second));
    bare(x, x);  // for the scope to see something
  };
  both(x, x);
  both(x, four);
  both(two, four);
  both(four, two);
}

TEST_CASE("reach: nothing stays behind, after an error neither, and other threads do not notice") {
  const GPT model = gpt();
  const Array plain = model(ids).array();
  try {
    const Ablate ablate(model, "*.mlp");
    std::thread([&] { CHECK(same_bits(model(ids).array(), plain)); }).join();
    CHECK(!same_bits(model(ids).array(), plain));
    throw Error("mine");
  } catch (const Error& e) {
    CHECK(std::string(e.what()) == "mine");
  }
  CHECK(same_bits(model(ids).array(), plain));
}

TEST_CASE("reach: names that nothing has, and scopes that reach nothing, say so") {
  const GPT model = gpt();
  const auto message = [&](const std::string& places) { return error_of([&] { const Ablate a(model, places); }); };
  CHECK_SENTENCE(message("transformer.h.1.atn"));
  CHECK_SENTENCE(message("*.attn heats 0"));
  for (const char* places :
       {"*.attn heads 0 at", "*.attn heads 1-2", "*.attn heads -", "*.attn 0", "*.attn heads 99999999999999999999",
        "*.attn heads 0 weights", "*.attn at 1 at 2", "*.ln_1 scale 0"})
    CHECK_MESSAGE(message(places).find("must be LAYER [VALUE") != std::string::npos, places);
  CHECK_SENTENCE(message("*.atn"));
  for (const char* places : {"*a*a*a*a*a*a*a*a*a*a*a*x", "********************z"})  // at once
    CHECK_SENTENCE(message(places));
  REFUSES(const Record r(model, {"*.attn heads 0"}));
  REFUSES(const Ablate a(model, "*.mlp heads"); model(ids));
  REFUSES(const Record r(model, {"*.mlp", "*.mlp weights"}); model(ids));
  const auto running = [&](const std::string& places, const Tensor& value) {
    return error_of([&] {
      const Patch patch(model, places, value);
      model(ids);
    });
  };
  for (const char* places : {"*.attn heads 2", "*.attn heads at 6", "*.mlp at -7"})
    CHECK(running(places, 0.0).find(" is out of range for the value there, ") != std::string::npos);
  CHECK(running("*.mlp", zeros({7})).find("'*.mlp': [7] does not broadcast to the value there, [2, 6, 8]") !=
        std::string::npos);
  CHECK(running("*.mlp", Tensor()).find("'*.mlp': the value to put there is an empty Tensor()") != std::string::npos);
  const Record seen(model, {"*"});
  model(ids);
  REFUSES(seen["transformer.h.1.mpl"]);
}

TEST_CASE("reach: a scope may end before the model runs, or around parts of it alone: nothing happens") {
  static_assert(std::is_nothrow_destructible_v<Record> && std::is_nothrow_destructible_v<Ablate>);
  const GPT model = gpt();
  const Array plain = model(ids).array();
  std::optional<Ablate> ablate;
  ablate.emplace(model, "*.mlp");
  ablate.reset();
  for (const bool with : {false, true, false}) {
    if (with) ablate.emplace(model, "*.mlp");
    CHECK(same_bits(model(ids).array(), plain) == !with);
    ablate.reset();
  }
  REFUSES(const Ablate unused(model, "*.mlp"); const Record seen(model, {"*.attn weights"}); throw Error("mine"));
  const Ablate unused(model, "*.mlp heads");
  const Record seen(model, {"*.h.1"});
  model.transformer.h[0].attn(random_array({1, 3, 8}, 2));  // not the model
  CHECK(seen.values().empty());
}

struct Named : Layer<Named> {
  Linear scale{2, 2, Generator(1)};
  Tensor forward(const Tensor& x) const { return scale(x); }
  void visit(Visitor& v) override { v("scale", scale); }
};
TEST_CASE("reach: a layer may be called as a value is") {
  const Named model;
  const Record seen(model, {"scale"});
  model(ones({1, 2}));
  CHECK(seen["scale"].shape() == Shape{1, 2});
}

TEST_CASE("reach: a scope inside another one's function is an error, and not an endless one") {
  const GPT model = gpt();
  const auto run = [&] {
    const Change change(model, "*.h.0", [&](const Tensor& x) {
      const Record seen(model, {"*.h.1"});
      model(ids);
      return x;
    });
    model(ids);
  };
  REFUSES(run());
}

}  // namespace mote::test::reach_test
