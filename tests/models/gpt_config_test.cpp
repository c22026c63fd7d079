// GPTConfig: presets, names and counts of each kind of model's parameters, words and sizes it refuses.
#include "tests/models/gpt_oracle.h"

namespace mote::test::gpt_config_test {
namespace {

/// The number of parameters of any config, worked out from the config alone.
Index count_formula(const GPTConfig& c) {
  const Index C = c.n_embd, kv = c.n_kv_head ? c.n_kv_head : c.n_head, qkv = C + 2 * kv * (C / c.n_head);
  const bool gated = c.activation == Activation::swiglu, rms = c.norm == NormKind::rms_norm;
  const Index norm = C * (c.bias && !rms ? 2 : 1);
  const bool attention_bias = c.attention_bias.value_or(c.bias);
  const bool mlp_bias = c.mlp_bias.value_or(c.bias);
  const Index hidden = c.n_inner ? c.n_inner : gated ? (8 * C + 95) / 96 * 32 : 4 * C;
  const Index attn = qkv * C + C * C + (attention_bias ? qkv + C : 0);
  const Index mlp = (gated ? 3 : 2) * hidden * C + (mlp_bias ? hidden * (gated ? 2 : 1) + C : 0);
  const Index block = norm + attn + (c.feed_forward ? norm + mlp : 0);
  return c.vocab_size * C * (c.tie_weights ? 1 : 2) + (c.position == Position::learned ? c.block_size * C : 0) +
         c.n_layer * block + (c.norm_order == NormOrder::pre ? norm : 0);
}

/// The parameters' names, each after its path: "transformer.wte" + ".weight".
std::vector<std::string> names_of(const GPTConfig& c) {
  Generator random(1);
  std::vector<std::string> names;
  for (const NamedParameter& p : named_parameters(GPT(c, random), true)) names.push_back(p.name);
  return names;
}

GPTConfig shrunk(GPTConfig c) {
  c.block_size = 5, c.vocab_size = 7, c.n_layer = 1, c.n_head = 4, c.n_embd = 8;
  if (c.n_kv_head > 0) c.n_kv_head = 2;
  return c;
}

TEST_CASE("GPTConfig: resized keeps the kind, and the heads of keys and values where they divide") {
  const GPTConfig llama = GPTConfig::llama(), eight = llama.resized(3, 8, 64), six = llama.resized(1, 6, 48);
  CHECK((eight.n_layer == 3 && eight.n_head == 8 && eight.n_embd == 64 && eight.n_kv_head == 4));
  CHECK((six.n_layer == 1 && six.n_head == 6 && six.n_embd == 48 && six.n_kv_head == 0));
  CHECK((six.position == Position::rotary && six.norm == NormKind::rms_norm && !six.bias && !six.tie_weights));
  CHECK(llama.n_head == 12);
  CHECK(GPTConfig::gpt2().resized(1, 5, 40).n_kv_head == 0);
}

TEST_CASE("GPTConfig: what the presets are") {
  const GPTConfig gpt2 = GPTConfig::gpt2(), nano = GPTConfig::nanogpt(), llama = GPTConfig::llama(),
                  alone = GPTConfig::attention_only();
  for (const GPTConfig& c : {gpt2, nano, llama})
    CHECK((c.block_size == 1024 && c.n_layer == 12 && c.n_head == 12 && c.n_embd == 768 && c.dropout == 0));
  CHECK((gpt2.vocab_size == 50257 && gpt2.bias && gpt2.tie_weights && gpt2.activation == Activation::gelu_tanh));
  CHECK((nano.vocab_size == 50304 && !nano.bias && nano.tie_weights && nano.activation == Activation::gelu));
  CHECK((llama.vocab_size == 32000 && !llama.bias && !llama.tie_weights && llama.activation == Activation::swiglu));
  CHECK((llama.position == Position::rotary && llama.norm == NormKind::rms_norm && llama.n_kv_head == 4));
  CHECK((llama.inner() == 2048 && gpt2.inner() == 3072));
  CHECK((!alone.feed_forward && !alone.tie_weights && alone.n_layer == 2));
  for (const GPTConfig& c : {gpt2, nano, llama, alone})
    CHECK((c.norm_order == NormOrder::pre && c.window == 0 && !c.unbounded()));
}

TEST_CASE("GPTConfig: the number of parameters follows a formula, at GPT-2's size and for every option") {
  CHECK(count_formula(GPTConfig::gpt2()) == 124439808);  // the model itself would fill half a gigabyte
  // nanoGPT prints 123.59M without positions; these are V C + 1024 C + 12 (2 C + 12 C^2) + C with C = 768
  CHECK(count_formula(GPTConfig::nanogpt()) == 50304 * 768 + 1024 * 768 + 12 * (2 * 768 + 12 * 768 * 768) + 768);
  CHECK(count_formula(GPTConfig::llama()) ==
        2 * 32000 * 768 + 12 * (2 * 768 + (768 + 512 + 768) * 768 + 3 * 2048 * 768) + 768);
  CHECK(count_formula(GPTConfig::attention_only()) ==
        2 * 50304 * 768 + 1024 * 768 + 2 * (2 * 768 + 4 * 768 * 768 + 4 * 768) + 2 * 768);
  for (const char* name : {"gpt2", "nanogpt", "llama", "attention_only"})
    for (const std::string& position : position_names)
      for (const NormOrder order : {NormOrder::pre, NormOrder::post})
        for (const char* activation : {"relu", "swiglu"})
          for (const int given : {-1, 0, 1})
            for (const Index n_inner : {0, 5}) {
              GPTConfig c = shrunk(GPTConfig::preset(name));
              c.position = position_from(position), c.norm_order = order, c.activation = activation_from(activation);
              c.attention_bias = given, c.mlp_bias = -given, c.n_inner = n_inner, c.tie_weights = given == 0;
              Generator random(1);
              const GPT m(c, random);
              CHECK_MESSAGE(parameter_count(m) == count_formula(c), name, ": ", text_of(c));
            }
}

TEST_CASE("GPTConfig: a gated network's width is 8/3 C, rounded up to a multiple of 32") {
  GPTConfig c;
  c.activation = Activation::swiglu;
  for (Index C = 1; C <= 4096; ++C) {
    c.n_embd = C;
    const Index n = c.inner();
    if (n % 32 != 0 || 3 * n < 8 * C || 3 * (n - 32) >= 8 * C) FAIL_CHECK("C = " << C << ": " << n);
  }
  c.n_inner = 7;
  CHECK(c.inner() == 7);
}

TEST_CASE("GPT: the names of each preset's parameters, in visit order") {
  const auto listed = [](const std::string& before, const std::vector<std::string>& block, const std::string& after) {
    std::vector<std::string> names{"transformer.wte.weight"};
    if (!before.empty()) names.push_back(before);
    for (const std::string& name : block) names.push_back("transformer.h.0." + name);
    names.push_back("transformer.ln_f.weight");
    if (!after.empty()) names.push_back(after);
    names.push_back("lm_head.weight");
    return names;
  };
  const std::string wpe = "transformer.wpe.weight", bias = "transformer.ln_f.bias";
  CHECK(names_of(shrunk(GPTConfig::gpt2())) ==
        listed(wpe,
               {"ln_1.weight", "ln_1.bias", "attn.c_attn.weight", "attn.c_attn.bias", "attn.c_proj.weight",
                "attn.c_proj.bias", "ln_2.weight", "ln_2.bias", "mlp.c_fc.weight", "mlp.c_fc.bias", "mlp.c_proj.weight",
                "mlp.c_proj.bias"},
               bias));
  CHECK(names_of(shrunk(GPTConfig::nanogpt())) == listed(wpe,
                                                         {"ln_1.weight", "attn.c_attn.weight", "attn.c_proj.weight",
                                                          "ln_2.weight", "mlp.c_fc.weight", "mlp.c_proj.weight"},
                                                         ""));
  CHECK(names_of(shrunk(GPTConfig::llama())) ==
        listed("",
               {"ln_1.weight", "attn.c_attn.weight", "attn.c_proj.weight", "ln_2.weight", "mlp.c_gate.weight",
                "mlp.c_fc.weight", "mlp.c_proj.weight"},
               ""));
  CHECK(names_of(shrunk(GPTConfig::attention_only())) ==
        listed(wpe,
               {"ln_1.weight", "ln_1.bias", "attn.c_attn.weight", "attn.c_attn.bias", "attn.c_proj.weight",
                "attn.c_proj.bias"},
               bias));
  GPTConfig post = shrunk(GPTConfig::gpt2());
  post.norm_order = NormOrder::post;  // each block ends with a norm: there is none after them
  for (const std::string& name : names_of(post)) CHECK(name.find("ln_f") == std::string::npos);
}

TEST_CASE("GPT: every preset's first loss is ln V, and what feeds a residual sum is drawn smaller") {
  for (const char* name : {"gpt2", "nanogpt", "llama", "attention_only"}) {
    GPTConfig c = GPTConfig::preset(name);
    c.block_size = 32, c.vocab_size = 65, c.n_layer = 2, c.n_head = 4, c.n_embd = 64;
    Generator random(5);
    const GPT m(c, random);
    const IntArray ids = random_tokens({4, 32}, 65, 1), targets = random_tokens({4, 32}, 65, 2);
    CHECK(static_cast<double>(m.loss(ids, targets).item()) == doctest::Approx(std::log(65.0)).epsilon(0.05));
    for (const NamedParameter& p : named_parameters(m)) {
      if (p.parameter.shape().rank() < 2) continue;
      double square = 0;
      for (const real v : p.parameter.value().to_vector()) square += static_cast<double>(v) * static_cast<double>(v);
      const double std = std::sqrt(square / static_cast<double>(p.parameter.value().numel()));
      CHECK_MESSAGE(std == doctest::Approx(p.name.ends_with("c_proj.weight") ? 0.01 : 0.02).epsilon(0.08), p.name);
    }
  }
}

TEST_CASE("GPTConfig: unknown words are errors that list the choices") {
  CHECK(error_of([] { GPTConfig::preset("gpt3"); }) == "preset 'gpt3' is none of gpt2, nanogpt, llama, attention_only");
  CHECK(error_of([] { position_from("rope"); }) ==
        "position 'rope' is none of learned, sinusoidal, rotary, alibi, none");
  CHECK(error_of([] { position_from(""); }) == "position '' is none of learned, sinusoidal, rotary, alibi, none");
  for (std::size_t i = 0; i < position_names.size(); ++i)
    CHECK(position_from(position_names[i]) == static_cast<Position>(i));
}

TEST_CASE("GPT refuses options that make no model") {
  Generator random(1);
  const auto refused = [&](const std::function<void(GPTConfig&)>& change) {
    GPTConfig c = toy("rotary");
    change(c);
    return error_of([&] { GPT(c, random); });
  };
  CHECK(refused([](GPTConfig& c) { c.n_embd = 25; }) == "GPT: n_embd 25 is not divisible by n_head 4");
  CHECK(refused([](GPTConfig& c) { c.window = -1; }) == "GPT: window -1 must be 0 or above");
  CHECK(refused([](GPTConfig& c) { c.n_inner = -1; }) == "GPT: n_inner -1 must be 0 or above");
  CHECK(refused([](GPTConfig& c) { c.n_kv_head = 3; }) ==
        "MultiHeadAttention: 4 heads cannot share n_kv_head = 3 evenly");
  CHECK(refused([](GPTConfig& c) { c.n_kv_head = -1; }) ==
        "MultiHeadAttention: 4 heads cannot share n_kv_head = -1 evenly");
  CHECK(refused([](GPTConfig& c) { c.n_kv_head = 8; }) ==
        "MultiHeadAttention: 4 heads cannot share n_kv_head = 8 evenly");
  CHECK(refused([](GPTConfig& c) { c.rotary.base = 0; }) == "Rotary: base 0 must be above 0 and finite");
  CHECK(refused([](GPTConfig& c) { c.rotary.fraction = 1.5; }) == "Rotary: fraction 1.5 is outside (0, 1]");
  CHECK(refused([](GPTConfig& c) { c.n_embd = 12; }) ==
        "Rotary: a head of width 3 is odd, but its columns are turned in pairs");
}

}  // namespace
}  // namespace mote::test::gpt_config_test
