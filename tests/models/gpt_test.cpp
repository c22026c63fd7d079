// GPT and its config: fields, presets, names, counts, initial numbers, first loss; check_module; what it refuses.
#include <set>

#include "tests/models/gpt_tools.h"

namespace mote::test::gpt_test {
namespace {

const GPTConfig tiny{.block_size = 3, .vocab_size = 5, .n_layer = 1, .n_head = 2, .n_embd = 4};

/// A small model of each preset's kind.
GPTConfig shrunk(GPTConfig c) {
  c = c.resized(1, 4, 8);
  c.block_size = 5, c.vocab_size = 7;
  if (c.block.projections.n_kv_head > 0) c.block.projections.n_kv_head = 2;
  return c;
}

std::vector<std::string> names_of(const GPTConfig& c, bool ties = true) {
  std::vector<std::string> names;
  for (const NamedParameter& p : named_parameters(GPT(c, Generator(1)), ties)) names.push_back(p.name);
  return names;
}

TEST_CASE("GPTConfig: every field once, with a help, from text and back, compared") {
  std::set<std::string> names;
  for (const Field& f : fields(GPTConfig())) {
    CHECK_MESSAGE(names.insert(f.name).second, f.name, " is listed twice");
    CHECK(!f.help.empty());
    GPTConfig c;
    const bool number = f.words.empty();
    std::string other = f.value == "default" || number ? (f.words == "true|false" ? "true" : "1") : f.words;
    if (!number && f.words != "true|false") other = f.words.substr(f.words.rfind('|') + 1);
    if (f.words == "true|false") other = f.value == "true" ? "false" : "true";
    if (other == f.value) other = "2";
    CHECK(set_field(c, f.name, other));
    CHECK_MESSAGE(!same_fields(c, GPTConfig()), f.name);
    GPTConfig again;
    for (const Field& g : fields(c)) CHECK(set_field(again, g.name, g.value));
    CHECK(same_fields(again, c));
  }
  GPTConfig c;
  CHECK(set_field(c, "window", "5"));
  CHECK(set_field(c, "n_kv_head", "3"));
  CHECK(set_field(c, "norm", "rms_norm"));
  CHECK(set_field(c, "attention_bias", "false"));
  CHECK((c.block.attention.window == 5 && c.block.projections.n_kv_head == 3 && c.block.projections.bias == false));
  CHECK(c.block.norm == NormKind::rms_norm);
  CHECK(!set_field(c, "windows", "5"));
  CHECK(error_of([&] { set_field(c, "position", "rope"); }) ==
        "position 'rope' is none of learned, sinusoidal, rotary, alibi, none");
  CHECK(fields_text(GenerateOptions()) ==
        "temperature = 1\ntop_k = 0\ntop_p = 1\nmin_p = 0\nstop_token = -1\nuse_cache = true\n");
}

TEST_CASE("GPTConfig: its fields and their defaults; what it gives its blocks") {
  CHECK(fields_text(GPTConfig()) ==
        "block_size = 1024\nvocab_size = 50304\nn_layer = 12\nn_head = 12\nn_embd = 768\ndropout = 0\nbias = true\n"
        "tie_weights = true\nposition = learned\nrotary_base = 10000\n"
        "window = 0\nscale = default\nattn_dropout = default\nresid_dropout = default\nattention_bias = default\n"
        "n_kv_head = 0\nnorm = layer_norm\nnorm_order = pre\nnorm_eps = 1e-05\nfeed_forward = true\n"
        "activation = gelu\nn_inner = 0\n");
  GPTConfig c = tiny;
  c.position = Position::rotary, c.dropout = 0.25, c.bias = false;
  const TransformerBlockOptions o = c.block_options();
  CHECK((o.dropout == 0.25 && o.bias == false && o.projections.block_size == 3 && o.projections.rotary->length == 3));
  c.rotary_base = 50;
  CHECK(c.block_options().projections.rotary->base == 50);
  c.block.attention.window = 2;
  CHECK((c.unbounded() && c.block_options().projections.block_size == 0));
}

TEST_CASE("GPTConfig: what the presets are") {
  const GPTConfig gpt2 = GPTConfig::gpt2(), nano = GPTConfig::nanogpt(), llama = GPTConfig::llama(),
                  alone = GPTConfig::attention_only();
  for (const GPTConfig& c : {gpt2, nano, llama})
    CHECK((c.block_size == 1024 && c.n_layer == 12 && c.n_head == 12 && c.n_embd == 768 && c.dropout == 0));
  CHECK((gpt2.vocab_size == 50257 && gpt2.bias && gpt2.tie_weights && gpt2.block.activation == Activation::gelu_tanh));
  CHECK((nano.vocab_size == 50304 && !nano.bias && nano.tie_weights && nano.block.activation == Activation::gelu));
  CHECK((llama.vocab_size == 32000 && !llama.bias && !llama.tie_weights));
  CHECK((llama.position == Position::rotary && llama.block.norm == NormKind::rms_norm));
  CHECK((llama.block.projections.n_kv_head == 4 && llama.block.activation == Activation::swiglu));
  CHECK((llama.block.resolved(768).n_inner == 2048 && gpt2.block.resolved(768).n_inner == 3072));
  CHECK((!alone.block.feed_forward && !alone.tie_weights && alone.n_layer == 2));
  for (const GPTConfig& c : {gpt2, nano, llama, alone})
    CHECK((c.block.norm_order == NormOrder::pre && c.block.attention.window == 0 && !c.unbounded()));
  for (const GPTConfig::Preset& p : GPTConfig::presets()) CHECK(same_fields(GPTConfig::preset(p.name), p.make()));
  CHECK(error_of([] { GPTConfig::preset("gpt3"); }) == "preset 'gpt3' is none of gpt2, nanogpt, llama, attention_only");
  const GPTConfig eight = llama.resized(3, 8, 64), six = llama.resized(1, 6, 48);
  CHECK((eight.n_layer == 3 && eight.n_head == 8 && eight.n_embd == 64 && eight.block.projections.n_kv_head == 4));
  CHECK((six.n_head == 6 && six.block.projections.n_kv_head == 0 && six.position == Position::rotary));
}

TEST_CASE("GPT: matrices are drawn one by one, in the order of their names, those that feed a residual sum smaller") {
  GPTConfig c = shrunk(GPTConfig::llama());
  c.n_layer = 8;
  const GPT m(c, Generator(1));
  const Generator again(1);
  for (const NamedParameter& p : named_parameters(m)) {
    const double scale = p.name.ends_with("c_proj.weight") ? 0.25 : 1;  // 1 / sqrt(2 * 8)
    if (p.parameter.shape().rank() == 2)
      CHECK_MESSAGE(same_bits(p.parameter.value(), Init(again).normal(p.parameter.shape(), 0, 0.02 * scale)), p.name);
  }
}

/// The number of parameters of any config, worked out from the config alone.
Index count_formula(const GPTConfig& c) {
  const TransformerBlockOptions& b = c.block;
  const Index C = c.n_embd, kv = b.projections.n_kv_head ? b.projections.n_kv_head : c.n_head;
  const Index qkv = C + 2 * kv * (C / c.n_head);
  const bool gated = b.activation == Activation::swiglu, rms = b.norm == NormKind::rms_norm;
  const Index norm = C * (c.bias && !rms ? 2 : 1);
  const bool attention_bias = b.projections.bias ? *b.projections.bias : c.bias;
  const Index hidden = b.n_inner ? b.n_inner : gated ? (8 * C + 95) / 96 * 32 : 4 * C;
  const Index attn = qkv * C + C * C + (attention_bias ? qkv + C : 0);
  const Index mlp = (gated ? 3 : 2) * hidden * C + (c.bias ? hidden * (gated ? 2 : 1) + C : 0);
  const Index block = norm + attn + (b.feed_forward ? norm + mlp : 0);
  return c.vocab_size * C * (c.tie_weights ? 1 : 2) + (c.position == Position::learned ? c.block_size * C : 0) +
         c.n_layer * block + (b.norm_order == NormOrder::pre ? norm : 0);
}

TEST_CASE("GPT: the number of parameters follows a formula, at GPT-2's size and for every option") {
  CHECK(count_formula(GPTConfig::gpt2()) == 124439808);  // the model itself would fill half a gigabyte
  // nanoGPT prints 123.59M without positions; these are V C + 1024 C + 12 (2 C + 12 C^2) + C with C = 768
  CHECK(count_formula(GPTConfig::nanogpt()) == 50304 * 768 + 1024 * 768 + 12 * (2 * 768 + 12 * 768 * 768) + 768);
  CHECK(count_formula(GPTConfig::llama()) ==
        2 * 32000 * 768 + 12 * (2 * 768 + (768 + 512 + 768) * 768 + 3 * 2048 * 768) + 768);
  CHECK(count_formula(GPTConfig::attention_only()) ==
        2 * 50304 * 768 + 1024 * 768 + 2 * (2 * 768 + 4 * 768 * 768 + 4 * 768) + 2 * 768);
  const std::array<std::optional<bool>, 3> given{std::nullopt, false, true};
  for (const GPTConfig::Preset& preset : GPTConfig::presets())
    for (const std::optional<bool>& attention : given)
      for (const bool bias : {false, true})
        for (const Position position : all_positions)
          for (const NormOrder order : {NormOrder::pre, NormOrder::post}) {
            GPTConfig c = shrunk(preset.make());
            c.position = position, c.bias = bias, c.tie_weights = !bias;
            c.block.norm_order = order, c.block.n_inner = attention ? 5 : 0;
            c.block.projections.bias = attention;
            CHECK_MESSAGE(parameter_count(GPT(c, Generator(1))) == count_formula(c), preset.name, ": ", fields_text(c));
          }
}

TEST_CASE("GPT: the names of each preset's parameters, nanoGPT's in its order") {
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
  post.block.norm_order = NormOrder::post;  // each block ends with a norm: there is none after them
  for (const std::string& name : names_of(post)) CHECK(name.find("ln_f") == std::string::npos);
}

TEST_CASE("GPT") {
  const IntArray ids = ints({{1, 4, 0}, {2, 2, 3}});
  const auto check = [&](const std::string& name, const GPTConfig& c) {
    check_module(
        name, [&](Generator& random) { return GPT(c, random); }, [&](const GPT& m, In) { return m(ids); },
        {.names = names_of(c, false),
         .error =
             [](const GPT& m) {
               m(ints({{1, 2, 3, 4}}));
             },
         .error_text = "GPT: T = 4 is above block_size 3 (in GPT)"});
  };
  check("tied", tiny);
  GPTConfig dropping = tiny;
  dropping.dropout = 0.2;
  check("with dropout", dropping);
  for (const GPTConfig::Preset& preset : GPTConfig::presets()) {
    GPTConfig c = preset.make().resized(1, 2, 4);
    c.block_size = 3, c.vocab_size = 5, c.block.n_inner = 3;
    if (c.block.projections.n_kv_head > 0) c.block.projections.n_kv_head = 1;
    check(preset.name, c);
  }
}

TEST_CASE(
    "GPT draws each matrix once, in visit order, N(0, 0.02) or smaller before a residual sum; biases 0, gains 1") {
  for (const bool tie : {true, false})
    for (const Index layers : {1, 2, 12}) {
      Generator random(4), again(4);
      const GPT m({.block_size = 5, .vocab_size = 7, .n_layer = layers, .n_head = 2, .n_embd = 6, .tie_weights = tie},
                  random);
      const Init draw = again;
      for (const NamedParameter& p : named_parameters(m)) {
        const Array value = p.parameter.value();
        const double residual = 0.02 / std::sqrt(2 * static_cast<double>(layers));
        if (value.rank() < 2)
          CHECK_MESSAGE(same_bits(value, Array::full(value.shape(), p.name.ends_with("weight") ? real(1) : real(0))),
                        p.name);
        else
          CHECK_MESSAGE(
              same_bits(value, draw.normal(value.shape(), 0, p.name.ends_with("c_proj.weight") ? residual : 0.02)),
              p.name);
      }
      CHECK(random.get_state() == again.get_state());
    }
}

TEST_CASE("GPT's first loss on random tokens is ln V, for every preset") {
  for (const GPTConfig::Preset& preset : GPTConfig::presets())
    for (const Index V : {11, 65, 1000}) {
      GPTConfig c = preset.make().resized(2, 4, 64);
      c.block_size = 32, c.vocab_size = V;
      const GPT m(c, Generator(5));
      const IntArray ids = random_tokens({4, 32}, V, 1), targets = random_tokens({4, 32}, V, 2);
      CHECK(static_cast<double>(m.loss(ids, targets).item()) ==
            doctest::Approx(std::log(static_cast<double>(V))).epsilon(0.05));
    }
}

TEST_CASE("GPT refuses sizes and options that make no model, by name") {
  const auto refused = [&](const std::function<void(GPTConfig&)>& change) {
    GPTConfig c = toy(Position::rotary);
    change(c);
    return error_of([&] { GPT(c, Generator(1)); });
  };
  CHECK(refused([](GPTConfig& c) { c.n_embd = 25; }) == "GPT: n_embd 25 is not divisible by n_head 4");
  CHECK(refused([](GPTConfig& c) { c.vocab_size = 0; }) == "GPT: vocab_size 0 must be at least 1");
  CHECK(refused([](GPTConfig& c) { c.block_size = 0; }) == "GPT: block_size 0 must be at least 1");
  CHECK(refused([](GPTConfig& c) { c.n_layer = 0; }) == "GPT: n_layer 0 must be at least 1");
  CHECK(refused([](GPTConfig& c) { c.n_head = -2; }) == "GPT: n_head -2 must be at least 1");
  CHECK(refused([](GPTConfig& c) { c.n_embd = 0; }) == "GPT: n_embd 0 must be at least 1");
  CHECK(refused([](GPTConfig& c) { c.block.attention.causal = false; }) ==
        "GPT: attention must be causal: no token may see what it predicts");
  const std::string position = "GPT: choose positions by config.position, not in the block";
  CHECK(refused([](GPTConfig& c) { c.block.projections.rotary.emplace(); }) == position);
  CHECK(refused([](GPTConfig& c) { c.block.attention.alibi = alibi_slopes(4); }) == position);
  const std::string once = "GPT: choose dropout, bias and block_size in the config, not in its block";
  CHECK(refused([](GPTConfig& c) { c.block.dropout = 0.5; }) == once);
  CHECK(refused([](GPTConfig& c) { c.block.bias = true; }) == once);
  CHECK(refused([](GPTConfig& c) { c.block.projections.block_size = 5; }) == once);
}

}  // namespace
}  // namespace mote::test::gpt_test
