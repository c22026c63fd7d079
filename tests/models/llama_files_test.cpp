// Llamas in Hugging Face's folders: config.json in and out, names and rows, every bit back, and every refusal.
#include <map>

#include "engine/base/storage.h"
#include "engine/io/files/file.h"
#include "models/gpt_files.h"
#include "models/names.h"
#include "tests/models/gpt_tools.h"
#include "tests/sentences.h"
#include "tests/state_tools.h"
#include "tests/temp_folder.h"

namespace mote::test::llama_files_test {
namespace {

GPTConfig small(Index kv_heads = 2, bool tied = false, bool attention_bias = false) {
  GPTConfig c = GPTConfig::llama().resized(2, 4, 16);
  c.block_size = 5;
  c.vocab_size = 7;
  c.tie_weights = tied;
  c.block.projections.n_kv_head = kv_heads;
  if (attention_bias) c.block.projections.bias = true;
  return c;
}

/// Each kind there is.
std::vector<GPTConfig> kinds() {
  std::vector<GPTConfig> all;
  for (const Index kv_heads : {1, 2, 4, 0})
    for (const bool tied : {false, true})
      for (const bool attention_bias : {false, true}) all.push_back(small(kv_heads, tied, attention_bias));
  return all;
}

Array logits(const GPT& m) { return m(ints({{1, 2, 3}, {4, 0, 6}})).array(); }

/// config.json with these entries instead of, or beside, the ones that a Llama needs; "" removes an entry.
GPTConfig parsed(const std::map<std::string, std::string>& entries) {
  std::map<std::string, std::string> all{{"model_type", "\"llama\""},  {"max_position_embeddings", "5"},
                                         {"vocab_size", "7"},          {"num_hidden_layers", "2"},
                                         {"num_attention_heads", "4"}, {"hidden_size", "16"},
                                         {"intermediate_size", "20"}};
  for (const auto& [name, value] : entries) all[name] = value;
  std::string text;
  for (const auto& [name, value] : all)
    if (!value.empty()) text += (text.empty() ? "{" : ", ") + ("\"" + name + "\": " + value);
  return parse_huggingface_config(text + "}");
}
std::string refusal(const std::string& name, const std::string& value) {
  return error_of([&] { parsed({{name, value}}); });
}

TEST_CASE("Llama's config.json: out, and in again; what is missing is as in transformers") {
  CHECK(huggingface_config(small()) == R"({
  "architectures": [
    "LlamaForCausalLM"
  ],
  "attention_bias": false,
  "attention_dropout": 0.0,
  "bos_token_id": null,
  "eos_token_id": null,
  "hidden_act": "silu",
  "hidden_size": 16,
  "intermediate_size": 64,
  "max_position_embeddings": 5,
  "mlp_bias": false,
  "model_type": "llama",
  "num_attention_heads": 4,
  "num_hidden_layers": 2,
  "num_key_value_heads": 2,
  "rms_norm_eps": 1e-05,
  "rope_theta": 10000.0,
  "tie_word_embeddings": false,
  "torch_dtype": ")" + std::string(f64 ? "float64" : "float32") +
                                           R"(",
  "vocab_size": 7
}
)");
  GPTConfig c = parsed({});
  CHECK((c.block.norm_eps == 1e-6 && c.rotary_base == 10000 && c.block.projections.n_kv_head == 4 && !c.tie_weights));
  CHECK((c.position == Position::rotary && c.block.n_inner == 20 && !c.bias && c.dropout == 0));
  for (const char* const rope : {R"({"rope_theta": 500000.0, "rope_type": "default"})", R"({"rope_theta": 500000})"})
    CHECK(parsed({{"rope_parameters", rope}}).rotary_base == 500000);
  c = parsed({{"num_key_value_heads", "2"},
              {"rms_norm_eps", "0.001"},
              {"rope_theta", "5e5"},
              {"rope_scaling", R"({"type": "default"})"},
              {"head_dim", "4"},
              {"attention_bias", "true"},
              {"attention_dropout", "0.25"},
              {"hidden_act", "\"silu\""},
              {"tie_word_embeddings", "true"},
              {"rope_parameters", "null"},
              {"pretraining_tp", "1"}});
  CHECK((c.block.norm_eps == 0.001 && c.rotary_base == 500000 && c.block.projections.n_kv_head == 2 && c.tie_weights));
  CHECK((c.block.projections.bias == true && c.block.attention.dropout == 0.25));
  CHECK(fields(parse_huggingface_config(huggingface_config(c))) == fields(c));
  for (const GPTConfig& kind : kinds()) {
    const std::string text = huggingface_config(kind);
    CHECK(huggingface_config(parse_huggingface_config(text)) == text);
  }
}

TEST_CASE("Llama's config.json: what is missing or unsupported is refused by its name") {
  for (const char* const name : {"max_position_embeddings", "vocab_size", "num_hidden_layers", "num_attention_heads",
                                 "hidden_size", "intermediate_size"}) {
    CHECK(refusal(name, "") == std::string("config.json: ") + name + " is missing");
    CHECK(refusal(name, "0") == std::string("config.json: ") + name + " must be at least 1");
  }
  const auto only = [](const char* name, const char* value) {
    return std::string("config.json: ") + name + " must be " + value + ": mote's GPT does nothing else";
  };
  CHECK(refusal("num_attention_heads", "3") == "config.json: num_attention_heads 3 must divide hidden_size 16");
  CHECK(refusal("num_attention_heads", "16") ==
        "config.json: num_attention_heads leaves each head the width 1, but rotary positions need an even one");
  CHECK(refusal("num_key_value_heads", "3") == "config.json: num_key_value_heads 3 must divide num_attention_heads 4");
  CHECK(refusal("head_dim", "8") == only("head_dim", "4"));
  CHECK(refusal("hidden_act", "\"gelu\"") == only("hidden_act", "\"silu\""));
  CHECK(refusal("mlp_bias", "true") == only("mlp_bias", "false"));
  CHECK(refusal("rope_scaling", R"({"type": "linear", "factor": 2.0})") == only("rope_scaling.type", "\"default\""));
  CHECK(refusal("rope_scaling", R"({"rope_type": "llama3"})") == only("rope_scaling.rope_type", "\"default\""));
  CHECK(refusal("rope_parameters", R"({"rope_type": "yarn"})") == only("rope_parameters.rope_type", "\"default\""));
  CHECK(refusal("rope_parameters", R"({"rope_theta": 0})") ==
        "config.json: rope_parameters.rope_theta must be above 0");
  CHECK(refusal("rope_scaling", "2").starts_with("config.json: rope_scaling must be "));
  CHECK(refusal("rms_norm_eps", "-1") == "config.json: rms_norm_eps must be at least 0");
  CHECK(refusal("attention_dropout", "2") == "config.json: attention_dropout must be a probability, from 0 to 1");
  const std::string good = huggingface_config(small());
  for (std::size_t i = 0; i < 8 * good.size(); ++i) {
    std::string text = good;
    text[i / 8] = static_cast<char>(text[i / 8] ^ (1 << i % 8));
    const std::string error = error_of([&] { huggingface_config(parse_huggingface_config(text)); });
    CHECK((error == "(no error)" || error.starts_with("config.json: ")));
  }
}

TEST_CASE("Llama's config.json: models that Llama is not, all differing settings named") {
  GPTConfig c = small();
  c.dropout = 0.5;
  c.bias = true;
  c.block.attention.window = 3;
  c.block.norm_order = NormOrder::post;
  REFUSES(huggingface_config(c));
  for (int without = 0; without < 3; ++without) {
    c = small();
    if (without == 0) c.position = Position::learned;
    if (without == 1) c.block.norm = NormKind::layer_norm;
    if (without == 2) c.block.activation = Activation::silu;
    const char* const differing[] = {"position = learned, must be rotary", "norm = layer_norm, must be rms_norm",
                                     "activation = silu, must be swiglu"};
    CHECK(error_of([&] { huggingface_names(GPT(c, Generator(1))); }) ==
          std::string("save_huggingface: Llama cannot express this model:\n  ") + differing[without]);
  }
}

TEST_CASE("Llama's names: those of LlamaForCausalLM, in the order of its parameters; queries, keys, values are rows") {
  const GPT m = lively_gpt(small(2, false, true));
  const StateDict state = state_dict(m, huggingface_names(m));
  std::string expected = "model.embed_tokens.weight ";
  for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
    for (const std::string kind : {"weight ", "bias "})
      for (const std::string part : {"q", "k", "v", "o"}) expected += layer + "self_attn." + part + "_proj." + kind;
    for (const std::string part : {"gate", "up", "down"}) expected += layer + "mlp." + part + "_proj.weight ";
    expected += layer + "input_layernorm.weight " + layer + "post_attention_layernorm.weight ";
  }
  CHECK(names_of(state) == expected + "model.norm.weight lm_head.weight");
  const Array all = m.transformer.h[0].attn.c_attn.weight.value();
  CHECK((same_bits(state[1].read(), all.slice(0, 0, 16)) && same_bits(state[2].read(), all.slice(0, 16, 24)) &&
         same_bits(state[3].read(), all.slice(0, 24, 32))));
  StateDict older = state;  // files from before they were left out
  older.push_back(state_entry("model.layers.0.self_attn.rotary_emb.inv_freq", Array::zeros({2})));
  GPT again(m.config, Generator(9));
  load_state_dict(again, older, {.names = huggingface_names(again)});
  CHECK(bits_of(again) == bits_of(m));
  StateDict wrong = state;
  wrong[2] = state_entry(wrong[2].name, Array::zeros({16, 16}));
  wrong.erase(wrong.begin() + 3);
  wrong.pop_back();
  REFUSES(load_state_dict(again, wrong, {.names = huggingface_names(again)}));
  const GPT tied = lively_gpt(small(2, true));
  StateDict once = state_dict(tied, huggingface_names(tied));
  CHECK(once.back().name == "model.norm.weight");
  once.push_back(state_entry("lm_head.weight", tied.lm_head.weight.value()));  // as torch itself saves it
  GPT other(tied.config, Generator(9));
  load_state_dict(other, once, {.names = huggingface_names(other)});
  CHECK(bits_of(other) == bits_of(tied));
}

TEST_CASE("Llama's folders: every bit back, equal files, for each kind of model") {
  const TempFolder folder;
  for (GPTConfig c : kinds()) {
    c.block.n_inner = 24;
    const GPT m = lively_gpt(c);
    CHECK(c.parameters() == static_cast<double>(parameter_count(m)));
    save_huggingface(m, folder.path("a"));
    const GPT again = load_huggingface(folder.path("a"), Generator(5));
    CHECK((bits_of(again) == bits_of(m) && same_bits(logits(again), logits(m)) && !again.training()));
    CHECK(again.lm_head.weight.same_as(again.transformer.wte.weight) == c.tie_weights);
    save_huggingface(again, folder.path("b"));
    for (const std::string name : {"/config.json", "/model.safetensors"})
      CHECK(get_file(folder.path("a") + name) == get_file(folder.path("b") + name));
  }
}

TEST_CASE("Llama's folders: loading takes the weights and at most two matrices more, however long the context") {
  const TempFolder folder;
  GPTConfig c = GPTConfig::llama().resized(3, 4, 64);
  c.block_size = 32;
  c.vocab_size = 100;
  save_huggingface(GPT(c, Generator(1)), folder.path());
  std::string config = get_file(folder.path("config.json"));
  const std::string entry = "\"max_position_embeddings\": ";
  config.replace(config.find(entry) + entry.size(), 2, "9223372036854775807");
  put_file(folder.path("config.json"), config);
  release_memory();
  reset_peak_memory();
  const Index before = memory_stats().live_bytes;
  const GPT m = load_huggingface(folder.path());
  const Index weights = memory_stats().live_bytes - before, peak = memory_stats().peak_bytes - before;
  const Index angles = 3 * 2 * 4096 * 8 * static_cast<Index>(sizeof(real)),
              largest = 192 * 64 * static_cast<Index>(sizeof(real));
  CHECK(weights <= parameter_count(m) * static_cast<Index>(sizeof(real)) * 5 / 4 + 64 * 1024 + angles);
  CHECK(peak - weights <= 2 * largest);
}

}  // namespace
}  // namespace mote::test::llama_files_test
