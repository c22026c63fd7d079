// GPT and its config: fields, presets, names, counts, initial numbers, first loss; check_module; what it refuses.
#include <set>

#include "tests/models/gpt_tools.h"
#include "tests/sentences.h"

namespace mote::test::gpt_test {
namespace {

const GPTConfig tiny{.block_size = 3, .vocab_size = 5, .n_layer = 1, .n_head = 2, .n_embd = 4};

/// A small model of each preset's kind.
GPTConfig shrunk(GPTConfig c) {
  c = c.resized(1, 4, 8);
  c.block_size = 5;
  c.vocab_size = 7;
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
    const std::string first = f.words.substr(0, f.words.find('|')), last = f.words.substr(f.words.rfind('|') + 1);
    const std::string other = f.words.empty() ? (f.value == "1" ? "2" : "1") : f.value == last ? first : last;
    CHECK(set_field(c, f.name, other));
    CHECK_MESSAGE(fields(c) != fields(GPTConfig()), f.name);
    GPTConfig again;
    for (const Field& g : fields(c)) CHECK(set_field(again, g.name, g.value));
    CHECK(fields(again) == fields(c));
  }
  GPTConfig c;
  CHECK(set_field(c, "window", "5"));
  CHECK(set_field(c, "n_kv_head", "3"));
  CHECK(set_field(c, "norm", "rms_norm"));
  CHECK(set_field(c, "attention_bias", "false"));
  CHECK((c.block.attention.window == 5 && c.block.projections.n_kv_head == 3 && c.block.projections.bias == false));
  CHECK(c.block.norm == NormKind::rms_norm);
  CHECK(!set_field(c, "windows", "5"));
  REFUSES(set_field(c, "position", "rope"));
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
  c.position = Position::rotary;
  c.dropout = 0.25;
  c.bias = false;
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
  for (const GPTConfig::Preset& p : GPTConfig::presets()) CHECK(fields(GPTConfig::preset(p.name)) == fields(p.make()));
  REFUSES(GPTConfig::preset("gpt3"));
  const GPTConfig eight = llama.resized(3, 8, 64), six = llama.resized(1, 6, 48);
  CHECK((eight.n_layer == 3 && eight.n_head == 8 && eight.n_embd == 64 && eight.block.projections.n_kv_head == 4));
  CHECK((six.n_head == 6 && six.block.projections.n_kv_head == 0 && six.position == Position::rotary));
  const GPTConfig small = gpt_config({{"n_layer", "3"}, {"preset", "llama"}}, 10, 8);  // in whatever order
  CHECK((small.n_layer == 3 && small.position == Position::rotary && small.vocab_size == 10));
}

TEST_CASE("GPT: the number of parameters of every preset, worked out by hand") {
  const auto count = [](const GPTConfig& c) { return parameter_count(GPT(c, Init::none(Generator(1)))); };
  CHECK(count(GPTConfig::gpt2()) == 124439808);
  GPTConfig largest = GPTConfig::gpt2().resized(1, 25, 1600);  // one of 48 layers, one token, one position
  largest.vocab_size = largest.block_size = 1;
  CHECK((50257 + 1024 + 2) * 1600 + 48 * (count(largest) - 4 * 1600) == 1557611200);
  // nanoGPT prints 123.59M without positions; these are V C + 1024 C + 12 (2 C + 12 C^2) + C with C = 768
  CHECK(count(GPTConfig::nanogpt()) == 50304 * 768 + 1024 * 768 + 12 * (2 * 768 + 12 * 768 * 768) + 768);
  CHECK(count(GPTConfig::llama()) == 2 * 32000 * 768 + 12 * (2 * 768 + (768 + 512 + 768) * 768 + 3 * 2048 * 768) + 768);
  CHECK(count(GPTConfig::attention_only()) ==
        2 * 50304 * 768 + 1024 * 768 + 2 * (2 * 768 + 4 * 768 * 768 + 4 * 768) + 2 * 768);
}

TEST_CASE("GPTConfig: parameters() of every kind of model is the number that it has") {
  for (const auto& [name, make] : GPTConfig::presets())
    for (int kind = 0; kind < 128; ++kind) {
      GPTConfig c = shrunk(make());
      c.bias = kind & 1;
      if (kind & 2) c.block.feed_forward = !c.block.feed_forward;
      if (kind & 4) c.block.norm_order = NormOrder::post;
      if (kind & 8) c.block.norm = NormKind::rms_norm;
      if (kind & 16) c.block.projections.bias = !c.bias;
      if (kind & 32) c.block.n_inner = 6;
      if (kind & 64) c.block.projections.out_bias = !c.block.projections.bias.value_or(c.bias);
      if (c.block.activation == Activation::swiglu && c.block.n_inner == 0) continue;  // rounded: "about"
      CAPTURE(name);
      CAPTURE(kind);
      CHECK(c.parameters() == static_cast<double>(parameter_count(GPT(c, Generator(1)))));
    }
}

TEST_CASE("GPT: the names of parameters, a gate's before what it gates (GPT-2's: names_test)") {
  const std::string h = "transformer.h.0.";
  CHECK(names_of(shrunk(GPTConfig::llama())) ==
        std::vector<std::string>{"transformer.wte.weight", h + "ln_1.weight", h + "attn.c_attn.weight",
                                 h + "attn.c_proj.weight", h + "ln_2.weight", h + "mlp.c_gate.weight",
                                 h + "mlp.c_fc.weight", h + "mlp.c_proj.weight", "transformer.ln_f.weight",
                                 "lm_head.weight"});
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
         .error_text = "GPT: the length T = 4 is above block_size 3 (in GPT)"});
  };
  check("tied", tiny);
  GPTConfig dropping = tiny;
  dropping.dropout = 0.2;
  check("with dropout", dropping);
  for (const GPTConfig::Preset& preset : GPTConfig::presets()) {
    GPTConfig c = preset.make().resized(1, 2, 4);
    c.block_size = 3;
    c.vocab_size = 5;
    c.block.n_inner = 3;
    if (c.block.projections.n_kv_head > 0) c.block.projections.n_kv_head = 1;
    check(preset.name, c);
  }
}

TEST_CASE(
    "GPT draws each matrix once, in visit order, N(0, 0.02) or smaller before a residual sum; biases 0, gains 1") {
  for (const GPTConfig::Preset& preset : GPTConfig::presets())
    for (const Index layers : {1, 2, 12}) {
      Generator random(4), again(4);
      GPTConfig c = shrunk(preset.make());
      c.n_layer = layers;
      const GPT m(c, random);
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

TEST_CASE("GPT refuses sizes and options that make no model, by name") {
  const auto refused = [&](const std::function<void(GPTConfig&)>& change) {
    GPTConfig c = toy(Position::rotary);
    change(c);
    return error_of([&] { GPT(c, Generator(1)); });
  };
  CHECK_SENTENCE(refused([](GPTConfig& c) { c.n_embd = 25; }));
  CHECK_SENTENCE(refused([](GPTConfig& c) { c.vocab_size = 0; }));
  CHECK_SENTENCE(refused([](GPTConfig& c) { c.block_size = 0; }));
  CHECK_SENTENCE(refused([](GPTConfig& c) { c.n_layer = 0; }));
  CHECK_SENTENCE(refused([](GPTConfig& c) { c.n_head = -2; }));
  CHECK_SENTENCE(refused([](GPTConfig& c) { c.n_embd = 0; }));
  CHECK_SENTENCE(refused([](GPTConfig& c) { c.block.attention.causal = false; }));
  const std::string position = "GPT: config.block sets rotary or alibi itself: choose them by config.position";
  CHECK(refused([](GPTConfig& c) { c.block.projections.rotary.emplace(); }) == position);
  CHECK(refused([](GPTConfig& c) { c.block.attention.alibi = alibi_slopes(4); }) == position);
  const std::string once = "GPT: config.block sets dropout, bias or block_size itself: set them in the config";
  CHECK(refused([](GPTConfig& c) { c.block.dropout = 0.5; }) == once);
  CHECK(refused([](GPTConfig& c) { c.block.bias = true; }) == once);
  CHECK(refused([](GPTConfig& c) { c.block.projections.block_size = 5; }) == once);
}

TEST_CASE("GPT: Init::twice draws nanoGPT's weights for a seed") {
  // torch.manual_seed(1337); the layers of nanoGPT's GPT for these sizes, then its init: the first numbers of each
  const GPT model(GPTConfig{6, 11, 2, 2, 8}, Init::twice(Generator(1337)));
  const auto begins = [&](const std::string& name, const std::vector<double>& first) {
    for (const NamedParameter& p : named_parameters(model)) {
      if (p.name != name) continue;
      std::vector<real> got = p.parameter.value().to_vector();
      got.resize(first.size());
      CHECK_MESSAGE(distance(got, first) < 1e-9, name);
      return;
    }
    FAIL(name);
  };
  begins("transformer.wte.weight", {-0.0106787719, 0.0171127524, -0.0209917277});
  begins("transformer.wpe.weight", {-0.0194623936, -0.000720736571, -0.0307511874});
  begins("transformer.h.0.attn.c_attn.weight", {-0.027964348, 0.00879834592, 0.0284780115});
  begins("transformer.h.0.attn.c_proj.weight", {0.00790532771, -0.00528687658, -0.00118697539});
  begins("transformer.h.1.mlp.c_proj.weight", {0.00240971451, -0.00113903696, 0.000755861227});
}

}  // namespace
}  // namespace mote::test::gpt_test
