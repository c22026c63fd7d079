// GPTs in the files of other projects: config.json in and out, folders, memory, llm.c's files, and every refusal.
#include "models/gpt_files.h"

#include <bit>
#include <map>

#include "engine/base/storage.h"
#include "engine/io/files/file.h"
#include "models/names.h"
#include "nn/torch_state.h"
#include "tests/models/gpt_tools.h"
#include "tests/sentences.h"
#include "tests/sources.h"
#include "tests/temp_folder.h"

namespace mote::test::gpt_files_test {
namespace {

GPTConfig small() {
  GPTConfig c = GPTConfig::gpt2().resized(2, 2, 4);
  c.block_size = 5;
  c.vocab_size = 7;
  return c;
}

Array logits(const GPT& m) { return m(ints({{1, 2, 3}, {4, 0, 6}})).array(); }

/// config.json with these entries instead of, or beside, the ones that a GPT-2 needs; "" removes an entry.
std::string config_text(const std::map<std::string, std::string>& entries) {
  std::map<std::string, std::string> all{
      {"n_positions", "5"}, {"vocab_size", "7"}, {"n_layer", "2"}, {"n_head", "2"}, {"n_embd", "4"}};
  for (const auto& [name, value] : entries) all[name] = value;
  std::string text;
  for (const auto& [name, value] : all)
    if (!value.empty()) text += (text.empty() ? "{" : ", ") + ("\"" + name + "\": " + value);
  return text + "}";
}
GPTConfig parsed(const std::map<std::string, std::string>& entries) {
  return parse_huggingface_config(config_text(entries));
}
std::string refusal(const std::string& name, const std::string& value) {
  return error_of([&] { parsed({{name, value}}); });
}

TEST_CASE("config.json: the hub's own for GPT-2, in and out again") {
  const GPTConfig c = parse_huggingface_config(R"({
  "activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1, "bos_token_id": 50256,
  "embd_pdrop": 0.1, "eos_token_id": 50256, "initializer_range": 0.02, "layer_norm_epsilon": 1e-05,
  "model_type": "gpt2", "n_ctx": 1024, "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024,
  "resid_pdrop": 0.1, "summary_activation": null, "summary_first_dropout": 0.1, "summary_proj_to_labels": true,
  "summary_type": "cls_index", "summary_use_proj": true,
  "task_specific_params": {"text-generation": {"do_sample": true, "max_length": 50}}, "vocab_size": 50257 })");
  GPTConfig expected = GPTConfig::gpt2();
  expected.dropout = 0.1;
  CHECK(fields(c) == fields(expected));
  CHECK(fields(parse_huggingface_config(huggingface_config(c))) == fields(c));
  CHECK(huggingface_config(small()) == R"({
  "activation_function": "gelu_new",
  "architectures": [
    "GPT2LMHeadModel"
  ],
  "attn_pdrop": 0.0,
  "bos_token_id": null,
  "embd_pdrop": 0.0,
  "eos_token_id": null,
  "initializer_range": 0.02,
  "layer_norm_epsilon": 1e-05,
  "model_type": "gpt2",
  "n_ctx": 5,
  "n_embd": 4,
  "n_head": 2,
  "n_inner": null,
  "n_layer": 2,
  "n_positions": 5,
  "reorder_and_upcast_attn": false,
  "resid_pdrop": 0.0,
  "scale_attn_by_inverse_layer_idx": false,
  "scale_attn_weights": true,
  "tie_word_embeddings": true,
  "torch_dtype": ")" + std::string(f64 ? "float64" : "float32") +
                                           R"(",
  "vocab_size": 7
}
)");
}

TEST_CASE("config.json: every setting in and out") {
  GPTConfig c = parsed({{"n_inner", "20"},
                        {"tie_word_embeddings", "false"},
                        {"layer_norm_epsilon", "0.001"},
                        {"embd_pdrop", "0"},
                        {"attn_pdrop", "0.25"},
                        {"resid_pdrop", "0.5"},
                        {"scale_attn_weights", "false"}});
  CHECK((c.block.n_inner == 20 && !c.tie_weights && c.block.norm_eps == 0.001 && c.block.attention.scale == 1.0));
  const GPT m(c, Generator(1));
  const TransformerBlock& block = m.transformer.h[0];
  CHECK((m.transformer.drop.p == 0 && block.attn.attn_dropout.p == 0.25 && block.attn.resid_dropout.p == 0.5));
  CHECK((block.mlp->dropout.p == 0.5 && block.mlp->c_fc.weight.shape()[0] == 20));
  CHECK(fields(parse_huggingface_config(huggingface_config(c))) == fields(c));
  for (const auto& [word, activation] :
       {std::pair("gelu", Activation::gelu), std::pair("relu", Activation::relu), std::pair("silu", Activation::silu),
        std::pair("tanh", Activation::tanh), std::pair("gelu_new", Activation::gelu_tanh),
        std::pair("gelu_pytorch_tanh", Activation::gelu_tanh), std::pair("swish", Activation::silu),
        std::pair("gelu_python", Activation::gelu), std::pair("gelu_fast", Activation::gelu_tanh)}) {
    c = parsed({{"activation_function", '"' + std::string(word) + '"'}});
    CHECK(c.block.activation == activation);
    CHECK(fields(parse_huggingface_config(huggingface_config(c))) == fields(c));
  }
  c = parsed({{"n_inner", "null"}, {"embd_pdrop", "null"}});
  CHECK((c.block.n_inner == 0 && c.dropout == 0.1 && c.block.activation == Activation::gelu_tanh));
}

TEST_CASE("config.json: dropout everywhere, in the blocks, of attention weights, of what is added") {
  GPTConfig everywhere = small(), blocks = small(), weights = small(), output = small();
  everywhere.dropout = 0.5;
  blocks.block.projections.resid_dropout = blocks.block.attention.dropout = 0.5;
  weights.block.attention.dropout = 0.5;
  output.block.projections.resid_dropout = 0.5;
  const auto rates = [](const GPTConfig& c) {
    const GPT m(c, Generator(1));
    const TransformerBlock& b = m.transformer.h[0];
    return std::vector<double>{m.transformer.drop.p, b.attn.attn_dropout.p, b.attn.resid_dropout.p, b.mlp->dropout.p};
  };
  for (const GPTConfig& c : {everywhere, blocks, weights, output})
    CHECK(rates(parse_huggingface_config(huggingface_config(c))) == rates(c));
  CHECK(rates(output) == std::vector<double>{0, 0, 0.5, 0.5});
}

TEST_CASE("config.json: what is missing or unsupported is refused by its name") {
  for (const char* const name : {"n_positions", "vocab_size", "n_layer", "n_head", "n_embd"}) {
    CHECK(refusal(name, "") == std::string("config.json: ") + name + " is missing");
    CHECK(refusal(name, "0") == std::string("config.json: ") + name + " must be at least 1");
    CHECK(refusal(name, "-3") == std::string("config.json: ") + name + " must be at least 1");
  }
  CHECK(refusal("n_head", "3") == "config.json: n_head 3 must divide n_embd 4");
  CHECK(refusal("n_inner", "0") == "config.json: n_inner must be at least 1");
  CHECK(refusal("n_layer", "2.0").starts_with("config.json: n_layer must be "));
  CHECK(refusal("n_layer", "\"2\"").starts_with("config.json: n_layer must be "));
  CHECK(refusal("model_type", "\"bert\"") == "config.json: model_type must be \"gpt2\" or \"llama\", not \"bert\"");
  CHECK(refusal("activation_function", "\"mish\"") ==
        "config.json: activation_function must be one of gelu_new, gelu, relu, silu, tanh, gelu_pytorch_tanh, swish, "
        "gelu_python, gelu_fast, not 'mish'");
  CHECK(refusal("attn_pdrop", "1.5") == "config.json: attn_pdrop must be a probability, from 0 to 1");
  CHECK(refusal("layer_norm_epsilon", "-1") == "config.json: layer_norm_epsilon must be at least 0");
  for (const char* const name : {"scale_attn_by_inverse_layer_idx", "reorder_and_upcast_attn", "add_cross_attention"}) {
    CHECK(refusal(name, "true") ==
          std::string("config.json: ") + name + " must be false: mote's GPT does nothing else");
    CHECK(refusal(name, "false") == "(no error)");
  }
  REFUSES(parse_huggingface_config("[]", "x/config.json"));
  REFUSES(parse_huggingface_config("{", "x/config.json"));
}

TEST_CASE("config.json: every text that is cut off or has one bit changed is a config or an error") {
  const std::string good = huggingface_config(small());
  for (std::size_t n = 0; n + 2 < good.size(); ++n)
    CHECK(error_of([&] { parse_huggingface_config(good.substr(0, n)); }).starts_with("config.json: "));
  for (std::size_t i = 0; i < 8 * good.size(); ++i) {
    std::string text = good;
    text[i / 8] = static_cast<char>(text[i / 8] ^ (1 << i % 8));
    const std::string error = error_of([&] { parse_huggingface_config(text); });
    CHECK((error == "(no error)" || error.starts_with("config.json: ")));
  }
}

TEST_CASE("config.json: models that GPT-2 is not, all differing settings named") {
  GPTConfig c = small();
  c.block.norm = NormKind::rms_norm;
  c.block.attention.window = 3;
  c.block.projections.bias = false;
  REFUSES(huggingface_config(c));
  const TempFolder folder;
  REFUSES(save_huggingface(GPT(c, Generator(1)), folder.path("x")));
  CHECK(folder.names().empty());
  REFUSES(huggingface_config(GPTConfig::attention_only()));
}

TEST_CASE("Hugging Face folders: a model without biases is the same with biases of 0, and comes for evaluation") {
  const TempFolder folder;
  GPTConfig c = GPTConfig::nanogpt().resized(2, 2, 4);
  c.block_size = 5;
  c.vocab_size = 7;
  c.dropout = 0.5;
  const GPT m = lively_gpt(c);
  save_huggingface(m, folder.path());
  const GPT again = load_huggingface(folder.path());
  CHECK((again.config.bias && !again.training()));
  CHECK(same_bits(logits(m), logits(again)));
  CHECK(get_file(folder.path("config.json")).find("\"eos_token_id\": null") != std::string::npos);
  c.vocab_size = 50257;
  CHECK(huggingface_config(c).find("\"eos_token_id\": 50256") != std::string::npos);
}

TEST_CASE("Hugging Face folders: weights in parts, which the index names; what else there may be") {
  const TempFolder folder;
  const GPT m = lively_gpt(small());
  save_huggingface(m, folder.path());
  const SafetensorsFile whole(folder.path("model.safetensors"));
  std::vector<NamedArray> parts[2];
  std::string map;
  for (const TensorEntry& e : whole.tensors()) {
    const int part = e.name.find(".h.1.") != std::string::npos;
    parts[part].push_back({e.name, whole.array(e)});
    map += (map.empty() ? "" : ", ") + ("\"" + e.name + "\": \"part-" + std::to_string(part) + ".safetensors\"");
  }
  for (const int part : {0, 1})
    save_safetensors(folder.path("part-" + std::to_string(part) + ".safetensors"), parts[part]);
  remove_file(folder.path("model.safetensors"));
  TorchDict older;  // as save_pretrained() wrote it once, here behind DistributedDataParallel and torch.compile
  for (const int part : {0, 1})
    for (const NamedArray& a : parts[part])
      older.items.push_back({"module._orig_mod." + a.name, {TorchTensor{a.value}}});
  save_torch(folder.path("pytorch_model.bin"), {older});
  CHECK(same_bits(logits(load_huggingface(folder.path())), logits(m)));
  const std::string index = folder.path("model.safetensors.index.json");
  put_file(index, "{\"metadata\": {}, \"weight_map\": {" + map + "}}");
  CHECK(same_bits(logits(load_huggingface(folder.path())), logits(m)));
  put_file(index, "{\"weight_map\": {\"a\": \"../part-0.safetensors\"}}");
  CHECK(error_of([&] { load_huggingface(folder.path()); }) ==
        index + ": '../part-0.safetensors' must be a file beside it, without a folder");
  put_file(index, "{\"weight_map\": {}}");
  CHECK(error_of([&] { load_huggingface(folder.path()); }) == index + ": weight_map must name at least one file");
  put_file(index, "{}");
  CHECK(error_of([&] { load_huggingface(folder.path()); }) == index + ": weight_map is missing");
}

TEST_CASE("nanoGPT's ckpt.pt: its model, tied or not, from the file or its folder; what it lacks is named") {
  const TempFolder folder;
  const std::string path = folder.path("ckpt.pt");
  for (const bool tied : {true, false}) {
    GPTConfig c = GPTConfig::nanogpt().resized(2, 2, 4);
    c.block_size = 5;
    c.vocab_size = 7;
    c.tie_weights = tied;
    const GPT m = lively_gpt(c);
    c.tie_weights = true;  // it says nothing about that
    TorchDict args;
    for (const auto& [name, text] : nanogpt_args(c)) {
      const bool flag = text == "false", fraction = name == "dropout";
      args.items.push_back({name, flag       ? TorchValue{false}
                                  : fraction ? TorchValue{0.0}
                                             : TorchValue{Index{std::stoll(text)}}});
    }
    TorchValue weights = torch_state_dict(m);
    TorchDict& all = std::get<TorchDict>(weights.value);
    if (tied) all.items.push_back({std::string("lm_head.weight"), all.items[0].value});
    all.items.push_back({std::string("transformer.h.0.attn.bias"), {TorchTensor{Mask({1, 1, 5, 5}, true)}}});
    save_torch(path, {TorchDict{{{"model", weights}, {"model_args", {args}}}}});
    for (const std::string& from : {path, folder.path()}) {
      const GPT back = load_nanogpt(from);
      CHECK((!back.training() && back.config.tie_weights == tied));
      CHECK(same_bits(logits(m), logits(back)));
    }
    for (TorchItem& item : args.items)
      if (item.key == TorchKey(std::string("n_layer"))) item.value = {Index{200}};
    save_torch(path, {TorchDict{{{"model", weights}, {"model_args", {args}}}}});
    CHECK(error_of([&] { load_nanogpt(path); }).find(path + " describes 200 layers") != std::string::npos);
  }
  save_torch(path, {TorchDict{}});
  CHECK(error_of([&] { load_nanogpt(path); }) ==
        "load_nanogpt: " + path + " has no entry 'model_args', which nanoGPT's ckpt.pt needs");
}

TEST_CASE("nanoGPT's model_args: out and in again; models that it is not, all differing settings named") {
  GPTConfig c = GPTConfig::nanogpt().resized(3, 2, 8);
  c.block_size = 5;
  c.vocab_size = 7;
  c.dropout = 0.25;
  c.bias = true;
  CHECK(nanogpt_args(c) == FieldValues{{"block_size", "5"},
                                       {"vocab_size", "7"},
                                       {"n_layer", "3"},
                                       {"n_head", "2"},
                                       {"n_embd", "8"},
                                       {"dropout", "0.25"},
                                       {"bias", "true"}});
  CHECK(fields(nanogpt_config(nanogpt_args(c))) == fields(c));
  c.block.activation = Activation::relu;
  c.block.norm_eps = 0.1;
  c.block.attention.window = 2;
  c.block.attention.scale = 1;
  const std::string refused =
      "nanogpt_args: nanoGPT cannot express this model:\n  window = 2, must be 0\n  scale = 1, must be default"
      "\n  norm_eps = 0.1, must be 1e-05\n  activation = relu, must be gelu";
  CHECK(error_of([&] { nanogpt_args(c); }) == refused);
  CHECK(error_of([&] { nanogpt_names(GPT(c, Generator(1))); }) == refused);
  REFUSES(nanogpt_config({{"n_heads", "2"}}));
}

TEST_CASE("Hugging Face folders: every bit back, equal files, refusals") {
  const TempFolder folder;
  GPTConfig c = small();
  c.block.n_inner = 10;
  c.dropout = 0.1;
  const GPT m = lively_gpt(c);
  save_huggingface(m, folder.path("a/b"));
  GPT again = load_huggingface(folder.path("a/b"), Generator(5));
  again.eval();
  CHECK(same_bits(logits(m), logits(again)));
  CHECK((again.lm_head.weight.same_as(again.transformer.wte.weight) && again.config.block.n_inner == 10));
  save_huggingface(again, folder.path("c"));
  for (const std::string name : {"/config.json", "/model.safetensors"})
    CHECK(get_file(folder.path("a/b") + name) == get_file(folder.path("c") + name));

  const std::string config = folder.path("c/config.json"), weights = folder.path("c/model.safetensors");
  put_file(config, config_text({{"n_inner", "10"}, {"n_positions", "4"}}));
  CHECK(error_of([&] { load_huggingface(folder.path("c")); }) ==
        "load: " + weights + " does not fit this GPT:\n  'transformer.wpe.weight' is [5, 4], the model needs [4, 4]");
  // Sizes for which there are no weights, before anything is built.
  const Index before = memory_stats().peak_bytes;
  using Entry = std::pair<std::string, std::string>;
  for (const Entry& e : {Entry{"n_layer", "1000000000"}, Entry{"n_embd", "4000000000000"},
                         Entry{"vocab_size", "9223372036854775807"}, Entry{"n_inner", "100000000"}}) {
    put_file(config, config_text({e}));
    CHECK(error_of([&] {
            load_huggingface(folder.path("c"));
          }).starts_with("load_huggingface: " + config + " describes "));
  }
  CHECK(memory_stats().peak_bytes - before < 100'000);
  REFUSES(load_huggingface(folder.path("none")));
}

TEST_CASE("Hugging Face folders: loading takes the weights and at most one matrix more") {
  const TempFolder folder;
  GPTConfig c = GPTConfig::gpt2().resized(3, 2, 64);
  c.block_size = 32;
  c.vocab_size = 100;
  save_huggingface(GPT(c, Generator(1)), folder.path());
  release_memory();
  reset_peak_memory();
  const Index before = memory_stats().live_bytes;
  const GPT m = load_huggingface(folder.path());
  const Index weights = memory_stats().live_bytes - before, peak = memory_stats().peak_bytes - before;
  const Index largest = 4 * 64 * 64 * static_cast<Index>(sizeof(real));
  CHECK(weights >= parameter_count(m) * static_cast<Index>(sizeof(real)));
  CHECK(weights <= parameter_count(m) * static_cast<Index>(sizeof(real)) * 5 / 4 + 64 * 1024);
  CHECK(peak - weights <= largest);
  CHECK(memory_stats().cached_bytes <= largest);
}

TEST_CASE("llm.c: what is written is read, without biases, too") {
  const TempFolder folder;
  const std::string path = folder.path("model.bin");
  for (const bool bias : {true, false}) {
    GPTConfig c = small();
    c.bias = bias;
    const GPT m = lively_gpt(c);
    save_llmc(m, path);
    const GPT again = load_llmc(path);
    for (const auto& [name, array] : parts_of(m)) CHECK(array.shape() == parts_of(again).at(name).shape());
    if (!f64) CHECK(same_bits(logits(m), logits(again)));
    const std::size_t padded = 1024 + 4 * (static_cast<std::size_t>(parameter_count(again)) + (128 - 7) * 4);
    CHECK(get_file(path).size() == padded);
  }
  GPTConfig c = small();
  c.block.activation = Activation::gelu;
  c.dropout = 0.5;
  REFUSES(save_llmc(GPT(c, Generator(1)), path));
}

/// A file of llm.c with a model's weights.
struct LlmcFile {
  std::array<std::int32_t, 256> header{};
  std::string body;
  LlmcFile(const GPT& m, std::int32_t version, Index padded) {
    const GPTConfig& c = m.config;
    const Index sizes[] = {20240326, version, c.block_size, c.vocab_size, c.n_layer, c.n_head, c.n_embd, padded};
    for (std::size_t i = 0; i < std::size(sizes); ++i) header[i] = static_cast<std::int32_t>(sizes[i]);
    const Parts parts = parts_of(m);
    const auto put = [&](const std::string& name) {
      for (const real x : parts.at("transformer." + name).to_vector()) {
        const std::uint32_t bits = std::bit_cast<std::uint32_t>(static_cast<float>(x));
        const std::uint32_t stored = version == 5 ? bits >> 16 : bits;
        body.append(reinterpret_cast<const char*>(&stored), version == 5 ? 2 : 4);
      }
    };
    put("wte.weight");
    body.append(static_cast<std::size_t>((padded - c.vocab_size) * c.n_embd * (version == 5 ? 2 : 4)), '\x7f');
    put("wpe.weight");
    for (const std::string field : {"ln_1", "attn.c_attn", "attn.c_proj", "ln_2", "mlp.c_fc", "mlp.c_proj"})
      for (const std::string part : {".weight", ".bias"})
        for (Index i = 0; i < c.n_layer; ++i) put("h." + std::to_string(i) + "." + field + part);
    put("ln_f.weight");
    put("ln_f.bias");
  }
  std::string bytes() const { return std::string(reinterpret_cast<const char*>(header.data()), sizeof header) + body; }
};

/// Weights that bfloat16 holds exactly.
GPT rounded() {
  GPT m = lively_gpt(small());
  for (const Parameter& p : parameters(m)) {
    real* const x = p.mutate();
    for (Index i = 0; i < p.numel(); ++i)
      x[i] =
          static_cast<real>(std::bit_cast<float>(std::bit_cast<std::uint32_t>(static_cast<float>(x[i])) & 0xFFFF0000u));
  }
  return m;
}

TEST_CASE("llm.c: versions 3 and 5, with and without padding, every bit") {
  const TempFolder folder;
  const GPT m = rounded();
  for (const std::int32_t version : {3, 5})
    for (const Index padded : {7, 128}) {
      put_file(folder.path("x"), LlmcFile(m, version, padded).bytes());
      GPT loaded = load_llmc(folder.path("x"));
      loaded.eval();
      CHECK(same_bits(logits(loaded), logits(m)));
      CHECK(fields(loaded.config) == fields(m.config));
    }
}

TEST_CASE("llm.c: cut anywhere it is refused; with any bit changed it is refused, or a model of the same sizes") {
  const GPT m = rounded();
  for (const std::int32_t version : {3, 5}) {
    const std::string good = LlmcFile(m, version, 8).bytes();
    const auto load = [](const std::string& bytes) { return error_of([&] { load_llmc(text_source("f", bytes)); }); };
    CHECK(load(good) == "(no error)");
    for (std::size_t length = 0; length < good.size(); ++length)
      if (!load(good.substr(0, length)).starts_with("llm.c: f: ")) FAIL_CHECK("cut at " << length);
    std::string bytes = good;
    // Every bit of the header; of the weights, which are all alike, every 13th: each bit of a byte in its turn.
    for (std::size_t bit = 0; bit < 8 * good.size(); bit += bit < 8 * 1024 ? 1 : 13) {
      const auto flip = [&] { bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8)); };
      flip();
      const std::string error = load(bytes);
      const bool size =
          bit < 32 * 8 && bit / 32 != 3 && bit / 32 != 5;  // V below the padding and the heads may be others
      if (!error.starts_with("llm.c: f: ") && (size || error != "(no error)"))
        FAIL_CHECK("bit " << bit << ": " << error);
      flip();
    }
  }
}

TEST_CASE("llm.c: what is no such file is refused before anything is allocated") {
  const TempFolder folder;
  const std::string path = folder.path("x"), opens = "llm.c: " + path + ": ";
  const LlmcFile good(rounded(), 3, 128);
  const auto refused = [&](const std::string& bytes) {
    put_file(path, bytes);
    return error_of([&] { load_llmc(path); });
  };
  const auto with = [&](std::size_t entry, std::int32_t value) {
    LlmcFile file = good;
    file.header[entry] = value;
    return refused(file.bytes());
  };
  CHECK(refused(good.bytes()) == "(no error)");
  release_memory();
  reset_peak_memory();
  const Index before = memory_stats().live_bytes;
  CHECK(refused("") == opens + "has 0 bytes, but the header alone has 1024");
  CHECK(refused(good.bytes().substr(0, 1023)) == opens + "has 1023 bytes, but the header alone has 1024");
  CHECK(with(0, 20240327) == opens + "begins with 20240327, not with 20240326, the number of llm.c's model files");
  CHECK(with(1, 2) == opens + "has version 2; mote reads 3 (float32) and 5 (bfloat16)");
  CHECK(with(2, -5) == opens + "max_seq_len -5 must be 1 to 16777216");
  CHECK(with(3, 0) == opens + "vocab_size 0 must be 1 to 16777216");
  CHECK(with(4, 2147483647) == opens + "num_layers 2147483647 must be 1 to 10000");
  CHECK(with(5, 0) == opens + "num_heads 0 must be 1 to 16777216");
  CHECK(with(5, 3) == opens + "channels 4 are not divisible by num_heads 3");
  CHECK(with(6, -2147483647 - 1) == opens + "channels -2147483648 must be 1 to 16777216");
  CHECK(with(7, 6) == opens + "padded_vocab_size 6 is below vocab_size 7");
  const std::string size = std::to_string(good.bytes().size());
  for (const std::size_t entry : {2u, 4u, 6u, 7u})
    CHECK(with(entry, entry == 4 ? 9999 : 16777216)
              .starts_with(opens + "has " + size + " bytes, but the sizes in its header need "));
  CHECK(with(1, 5).starts_with(opens + "has " + size + " bytes, but the sizes in its header need "));
  const std::string less = std::to_string(good.bytes().size() - 1), more = std::to_string(good.bytes().size() + 1);
  CHECK(refused(good.bytes().substr(0, good.bytes().size() - 1)) ==
        opens + "has " + less + " bytes, but the sizes in its header need " + size);
  CHECK(refused(good.bytes() + "x") == opens + "has " + more + " bytes, but the sizes in its header need " + size);
  CHECK(memory_stats().peak_bytes - before < 1000);
  REFUSES(load_llmc(folder.path("none")));
}

}  // namespace
}  // namespace mote::test::gpt_files_test
