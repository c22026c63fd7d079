// Hugging Face's config.json, its folders, and llm.c's files.
#include "models/gpt_files.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "engine/io/files/elements.h"
#include "engine/io/files/file.h"
#include "engine/io/text/json.h"
#include "models/names.h"
#include "nn/torch_state.h"

namespace mote {
namespace {

constexpr std::uint64_t longest_text = 1 << 20;

constexpr std::pair<Activation, const char*> activations[] = {
    {Activation::gelu_tanh, "gelu_new"}, {Activation::gelu, "gelu"},
    {Activation::relu, "relu"},          {Activation::silu, "silu"},
    {Activation::tanh, "tanh"},          {Activation::gelu_tanh, "gelu_pytorch_tanh"},
    {Activation::silu, "swish"},         {Activation::gelu, "gelu_python"},
    {Activation::gelu_tanh, "gelu_fast"}};

/// The entries of a config.json. They are read from `from`, or written if `from` is not set. So one list of entries
/// serves both directions.
struct Entries {
  std::optional<JsonPlace> from = {};
  std::vector<JsonMember> written = {};

  /// Whether the entry is there to be read. null counts as missing.
  bool given(const char* name) const {
    const Json* const value = from ? from->find(name) : nullptr;
    return value && !value->is(Json::Kind::null);
  }
  void put(const char* name, Json value) {
    if (!from) written.push_back({name, std::move(value)});
  }
  /// Reads or writes x, a whole number of at least 1. If the entry is not `needed`, it may be missing or null when
  /// read, and x then stays as it is. When written, an entry that is not `needed` is null if x is 0.
  void count(const char* name, Index& x, bool needed = true) {
    put(name, needed || x != 0 ? Json(x) : Json());
    if (!from || (!needed && !given(name))) return;
    x = from->at(name).as_integer();
    if (x < 1) from->at(name).fail("must be at least 1");
  }
  void number(const char* name, double& x, double otherwise, double most = HUGE_VAL) {
    put(name, x);
    if (from) x = given(name) ? from->at(name).as_number() : otherwise;
    if (from && !(x >= 0 && x <= most))
      from->at(name).fail(most == 1 ? "must be a probability, from 0 to 1" : "must be at least 0");
  }
  /// Reads or writes `own`, a dropout rate such as attn_pdrop. `own` is set only if the rate differs from the model's
  /// dropout.
  void rate(const char* name, std::optional<double>& own, const GPTConfig& model, double otherwise) {
    double p = own.value_or(otherwise);
    number(name, p, otherwise, 1);
    if (p != model.dropout) own = p;
  }
  bool flag(const char* name, bool x) {
    put(name, x);
    return given(name) ? from->at(name).as_bool() : x;
  }
  /// Checks an entry for which mote's GPT knows only the value `only`. Errors: the entry is given and has another
  /// value.
  void require(const char* name, const Json& only) const {
    if (given(name) && from->at(name).value() != only)
      from->at(name).fail("must be " + text_of(only) + ": mote's GPT does nothing else");
  }
  void only(const char* name, const Json& value) { put(name, value), require(name, value); }
  /// Reads or writes block_size, vocab_size, n_layer, n_head and n_embd. `names` are the names of their entries in
  /// config.json, in this order.
  void sizes(GPTConfig& c, const std::array<const char*, 5>& names) {
    Index* const all[] = {&c.block_size, &c.vocab_size, &c.n_layer, &c.n_head, &c.n_embd};
    for (std::size_t i = 0; i < 5; ++i) count(names[i], *all[i]);
    if (from && c.n_embd % c.n_head != 0)
      from->at(names[3]).fail(text_of(c.n_head) + " must divide " + names[4] + " " + text_of(c.n_embd));
  }
};

void gpt2_entries(Entries& e, GPTConfig& c) {
  e.only("scale_attn_by_inverse_layer_idx", false);
  e.only("reorder_and_upcast_attn", false);
  e.require("add_cross_attention", false);
  e.sizes(c, {"n_positions", "vocab_size", "n_layer", "n_head", "n_embd"});
  e.put("n_ctx", c.block_size);
  e.count("n_inner", c.block.n_inner, false);
  e.put("initializer_range", 0.02);
  e.number("layer_norm_epsilon", c.block.norm_eps, c.block.norm_eps);
  e.number("embd_pdrop", c.dropout, 0.1, 1);
  e.rate("attn_pdrop", c.block.attention.dropout, c, 0.1);
  e.rate("resid_pdrop", c.block.projections.resid_dropout, c, 0.1);
  if (!e.flag("scale_attn_weights", c.block.attention.scale != 1.0)) c.block.attention.scale = 1;
  const char* const entry = "activation_function";
  const std::string word = e.given(entry) ? e.from->at(entry).as_string() : "gelu_new";
  const auto* const found = std::find_if(std::begin(activations), std::end(activations), [&](const auto& a) {
    return e.from ? a.second == word : a.first == c.block.activation;
  });
  const bool known = found != std::end(activations);
  std::string names;
  for (const auto& [activation, name] : activations) names.append(names.empty() ? "" : ", ").append(name);
  if (e.from && !known) e.from->at(entry).fail("must be one of " + names + ", not '" + word + "'");
  e.put(entry, known ? found->second : word);
  if (known) c.block.activation = found->first;
}

void rope_entries(Entries& e, GPTConfig& c) {
  for (const char* const type : {"type", "rope_type"}) e.require(type, "default");
  e.number("rope_theta", c.rotary_base, c.rotary_base);
  if (e.from && c.rotary_base == 0) e.from->at("rope_theta").fail("must be above 0");
}

void llama_entries(Entries& e, GPTConfig& c) {
  Index& shared = c.block.projections.n_kv_head;
  e.only("mlp_bias", false);
  e.only("hidden_act", "silu");
  e.sizes(c, {"max_position_embeddings", "vocab_size", "num_hidden_layers", "num_attention_heads", "hidden_size"});
  e.count("intermediate_size", c.block.n_inner);
  if (e.from) shared = c.n_head;
  e.count("num_key_value_heads", shared, false);
  if (e.from) {
    e.require("head_dim", c.n_embd / c.n_head);
    if (c.n_embd / c.n_head % 2 != 0)
      e.from->at("num_attention_heads")
          .fail("leaves each head the width " + text_of(c.n_embd / c.n_head) +
                ", but rotary positions need an even one");
    if (c.n_head % shared != 0)
      e.from->at("num_key_value_heads").fail(text_of(shared) + " must divide num_attention_heads " + text_of(c.n_head));
  }
  e.number("rms_norm_eps", c.block.norm_eps, 1e-6);
  rope_entries(e, c);
  for (const char* const name : {"rope_scaling", "rope_parameters"})  // newer files have rope_parameters
    if (e.given(name)) {
      Entries below{e.from->at(name)};
      rope_entries(below, c);
    }
  e.rate("attention_dropout", c.block.attention.dropout, c, 0);
  if (e.flag("attention_bias", c.block.projections.bias.value_or(false))) c.block.projections.bias = true;
}

void all_entries(Entries& e, GPTConfig& c, bool llama) {
  // If bos_token_id or eos_token_id is missing, transformers takes GPT-2's 50256. So a model without this token must
  // write null.
  const Json end = !llama && c.vocab_size > 50256 ? Json(50256) : Json();
  for (const char* const name : {"bos_token_id", "eos_token_id"}) e.put(name, end);
  e.put("architectures", Json::array({llama ? "LlamaForCausalLM" : "GPT2LMHeadModel"}));
  e.put("model_type", llama ? "llama" : "gpt2");
  e.put("torch_dtype", sizeof(real) == 4 ? "float32" : "float64");
  llama ? llama_entries(e, c) : gpt2_entries(e, c);
  c.tie_weights = e.flag("tie_word_embeddings", c.tie_weights);
}

/// Whether the model has at least two of these features of Llama: rotary positions, RMSNorm, SwiGLU. Then it is written
/// as a Llama, otherwise as a GPT-2.
bool like_llama(const GPTConfig& c) {
  const bool norm = c.block.norm == NormKind::rms_norm, gated = c.block.activation == Activation::swiglu;
  return (c.position == Position::rotary) + norm + gated >= 2;
}

/// The config with all defaults filled in, so that two configs can be compared. Without rotary positions, rotary_base
/// has no effect and is reset to its default.
GPTConfig filled_in(GPTConfig c) {
  c.block = c.block_options().resolved(c.n_embd);
  TransformerBlockOptions& b = c.block;
  if (b.projections.n_kv_head == 0) b.projections.n_kv_head = c.n_head;
  if (c.position != Position::rotary) c.rotary_base = GPTConfig().rotary_base;
  return c;
}

Index llmc_padded(Index vocab_size) { return (vocab_size + 127) / 128 * 128; }

/// Checks that another library can express the model of `config`. `back` is the config that reading the written model
/// would give. Errors: settings that differ. The message names all of them.
void require_same(const char* who, const char* library, const GPTConfig& config, const GPTConfig& back) {
  const std::vector<Field> there = fields(filled_in(back)), here = fields(filled_in(config));
  std::string differences;
  for (const Field& f : here)
    for (const Field& g : there)
      if (f.name == g.name && f.value != g.value)
        differences += "\n  " + f.name + " = " + f.value + ", must be " + g.value;
  check_in(who, differences.empty(), library, " cannot express this model:", differences);
}

/// The weights of a folder, and the files that they are read from.
struct Weights {
  std::deque<SafetensorsFile> files = {};
  StateDict state = {};
  std::string name = {};  ///< the path of the first file

  double elements() const {
    double all = 0;
    for (const StateEntry& e : state) all += static_cast<double>(e.shape.numel());
    return all;
  }
};

/// Reads the weights from model.safetensors, or from pytorch_model.bin if there is no safetensors file. The weights may
/// be split into several files, whose names stand in model.safetensors.index.json or pytorch_model.bin.index.json.
Weights weights_of(const std::string& folder) {
  const auto inside = [&](const std::string& name) { return folder + "/" + name; };
  const auto there = [&](const std::string& name) {
    return file_exists(inside(name)) || file_exists(inside(name + ".index.json"));
  };
  const bool torch = !there("model.safetensors") && there("pytorch_model.bin");
  const std::string whole = torch ? "pytorch_model.bin" : "model.safetensors", index = inside(whole + ".index.json");
  std::set<std::string> names{whole};
  if (!file_exists(inside(whole)) && file_exists(index)) {
    const Json document = parse_json(read_file(index, longest_text), index);
    const JsonPlace map = JsonPlace(document, index).at("weight_map");
    if (map.members().empty()) map.fail("must name at least one file");
    names.clear();
    for (const JsonMember& m : map.members()) names.insert(map.at(m).as_string());
  }

  Weights all{.name = inside(*names.begin())};
  for (const std::string& name : names) {
    check(name.find_first_of("/\\") == name.npos, index, ": '", name, "' must be a file beside it, without a folder");
    const StateDict part =
        torch ? state_dict(load_torch(inside(name)), inside(name)) : state_dict(all.files.emplace_back(inside(name)));
    all.state.insert(all.state.end(), part.begin(), part.end());
  }
  return all;
}

/// Checks the sizes of a config before the model takes memory. Errors: a config with more layers than the weights have
/// tensors, or with more parameters than the weights have elements.
void check_sizes(const char* who, const std::string& path, const GPTConfig& config, const Weights& weights) {
  check_in(who, config.parameters() <= weights.elements() && config.n_layer <= std::ssize(weights.state), path,
           " describes ", config.n_layer, " layers and ", config.parameters(), " parameters, but ", weights.name,
           " has only ", weights.state.size(), " tensors with ", weights.elements(), " elements in all");
}

/// A parameter in a file of llm.c. `elements` is its number of elements in the file, including the rows that pad the
/// vocabulary.
struct LlmcArray {
  std::string name;
  Shape shape;
  Index elements;
};
/// The parameters in the order of llm.c's files, which store each kind of parameter for all layers before the next
/// kind.
std::vector<LlmcArray> llmc_arrays(const GPT& model, Index padded) {
  std::map<std::string, Shape> shapes;
  for (const NamedParameter& p : named_parameters(model)) shapes[p.name] = p.parameter.shape();
  std::vector<std::string> names{"transformer.wte.weight", "transformer.wpe.weight"};
  for (const char* const layer : {"ln_1", "attn.c_attn", "attn.c_proj", "ln_2", "mlp.c_fc", "mlp.c_proj"})
    for (const char* const kind : {".weight", ".bias"})
      for (Index l = 0; l < model.config.n_layer; ++l)
        names.push_back("transformer.h." + std::to_string(l) + "." + layer + kind);
  names.insert(names.end(), {"transformer.ln_f.weight", "transformer.ln_f.bias"});
  std::vector<LlmcArray> all;
  for (const std::string& name : names)
    all.push_back({name, shapes.at(name), name == names[0] ? padded * model.config.n_embd : shapes.at(name).numel()});
  return all;
}

/// Returns a model that computes the same as `model` and has all biases of GPT-2. Biases that `model` does not have are
/// 0. A Llama gets no new biases.
GPT with_biases(const GPT& model) {
  GPTConfig c = model.config;
  c.bias = c.bias || !like_llama(c);
  GPT same(c, Init::none(Generator()));
  load_state_dict(same, state_dict(model), {.strict = false});
  return same;
}

}  // namespace

GPTConfig parse_huggingface_config(const std::string& text, const std::string& what) {
  const Json document = parse_json(text, what);
  Entries entries{JsonPlace(document, what)};
  const std::string kind = entries.given("model_type") ? entries.from->at("model_type").as_string() : "gpt2";
  if (kind != "gpt2" && kind != "llama")
    entries.from->at("model_type").fail("must be \"gpt2\" or \"llama\", not " + text_of(Json(kind)));
  GPTConfig c = kind == "llama" ? GPTConfig::llama() : GPTConfig::gpt2();
  all_entries(entries, c, kind == "llama");
  return c;
}

FieldValues nanogpt_args(const GPTConfig& config) {
  FieldValues args;
  for (const Field& f : fields(config))
    for (const char* const name : {"n_layer", "n_head", "n_embd", "block_size", "bias", "vocab_size", "dropout"})
      if (f.name == name) args.emplace_back(f.name, f.value);
  require_same("nanogpt_args", "nanoGPT", config, nanogpt_config(args));
  return args;
}

GPTConfig nanogpt_config(const FieldValues& args) {
  GPTConfig c = GPTConfig::nanogpt();
  for (const auto& [name, text] : args)
    check_in("nanogpt_config", set_field(c, name, text), "a GPTConfig has no field '", name, "'");
  return c;
}

GPT load_nanogpt(const std::string& path, const Generator& random) {
  const std::string file = is_folder(path) ? path + "/ckpt.pt" : path;
  const TorchValue checkpoint = load_torch(file);
  const TorchValue* const args = detail::find(checkpoint, "model_args");
  const TorchValue* const model_there = detail::find(checkpoint, "model");
  check_in("load_nanogpt", args && model_there, file, " has no entry '", args ? "model" : "model_args",
           "', which nanoGPT's ckpt.pt needs");
  GPTConfig config = nanogpt_config(field_values(*args));
  const Weights weights{.state = state_dict(*model_there, file), .name = file};

  const auto entry = [&](const std::string& end) {
    const auto ends = [&](const StateEntry& e) { return e.name.ends_with(end) && e.other.empty(); };
    const auto found = std::find_if(weights.state.begin(), weights.state.end(), ends);
    return found == weights.state.end() ? nullptr : &*found;
  };
  const StateEntry *const head = entry("lm_head.weight"), *const tokens = entry("transformer.wte.weight");
  config.tie_weights = !head || !tokens || head->read().to_vector() == tokens->read().to_vector();

  check_sizes("load_nanogpt", file, config, weights);
  GPT model(config, Init::none(random));
  load_state_dict(model, weights.state, {.names = nanogpt_names(model)}, file);
  model.eval();
  return model;
}

std::string huggingface_config(const GPTConfig& config) {
  GPTConfig c = config;
  c.bias = c.bias || !like_llama(c);  // missing biases of a GPT-2 are written as 0
  GPTConfig whole = filled_in(c);
  if (!like_llama(c)) whole.block.n_inner = c.block.n_inner;
  Entries entries;
  all_entries(entries, whole, like_llama(c));
  std::vector<JsonMember>& all = entries.written;
  std::sort(all.begin(), all.end(), [](const JsonMember& a, const JsonMember& b) { return a.name < b.name; });
  const std::string text = text_of(Json::object(std::move(all)), 2) + "\n";
  require_same("save_huggingface", like_llama(c) ? "Llama" : "GPT-2", c, parse_huggingface_config(text));
  return text;
}

GPT load_huggingface(const std::string& folder, const Generator& random) {
  const std::string path = folder + "/config.json";
  const GPTConfig config = parse_huggingface_config(read_file(path, longest_text), path);
  const Weights weights = weights_of(folder);
  check_sizes("load_huggingface", path, config, weights);
  GPT model(config, Init::none(random));
  load_state_dict(model, weights.state, {.names = huggingface_names(model)}, weights.name);
  model.eval();
  return model;
}

void save_huggingface(const GPT& model, const std::string& folder) {
  const std::string config = huggingface_config(model.config);
  make_folder(folder);
  const GPT same = with_biases(model);
  save(same, folder + "/model.safetensors", huggingface_names(same));
  write_file(folder + "/config.json", config);
}

GPT load_llmc(const std::string& path, const Generator& random) { return load_llmc(file_source(path), random); }

GPT load_llmc(const ByteSource& file, const Generator& random) {
  const std::string& path = file.name;
  const auto rule = [&](bool holds, const auto&... parts) { check_in("llm.c", holds, path, ": ", parts...); };
  std::int32_t header[256] = {};
  rule(file.size >= sizeof header, "has ", file.size, " bytes, but the header alone has ", sizeof header);
  file.read(0, header, sizeof header);
  rule(header[0] == 20240326, "begins with ", header[0], ", not with 20240326, the number of llm.c's model files");
  rule(header[1] == 3 || header[1] == 5, "has version ", header[1], "; mote reads 3 (float32) and 5 (bfloat16)");
  constexpr std::pair<const char*, std::int32_t> sizes[] = {{"max_seq_len", 1 << 24}, {"vocab_size", 1 << 24},
                                                            {"num_layers", 10'000},   {"num_heads", 1 << 24},
                                                            {"channels", 1 << 24},    {"padded_vocab_size", 1 << 24}};
  for (std::size_t i = 0; i < std::size(sizes); ++i)
    rule(header[i + 2] >= 1 && header[i + 2] <= sizes[i].second, sizes[i].first, " ", header[i + 2], " must be 1 to ",
         sizes[i].second);
  GPTConfig c = GPTConfig::gpt2();
  c.block_size = header[2];
  c.vocab_size = header[3];
  c.n_layer = header[4];
  c.n_head = header[5];
  c.n_embd = header[6];
  const Index padded = header[7];
  rule(padded >= c.vocab_size, "padded_vocab_size ", padded, " is below vocab_size ", c.vocab_size);
  rule(c.n_embd % c.n_head == 0, "channels ", c.n_embd, " are not divisible by num_heads ", c.n_head);
  const DType type = header[1] == 3 ? DType::f32 : DType::bf16;
  const Index width = bits(type) / 8;
  GPTConfig stored = c;
  stored.vocab_size = padded;
  const double expected = stored.parameters() * static_cast<double>(width) + sizeof header;
  rule(static_cast<double>(file.size) == expected, "has ", file.size, " bytes, but the sizes in its header need ",
       expected);

  GPT model(c, Init::none(random));
  std::uint64_t at = sizeof header;
  StateDict state;
  for (const auto& [name, shape, elements] : llmc_arrays(model, padded)) {
    const StoredElements array{path + ": " + name, type, shape, at};
    state.push_back({name, shape, [&file, array] { return read_array(file, array); }});
    at += static_cast<std::uint64_t>(elements * width);
  }
  load_state_dict(model, state, {}, path);
  return model;
}

void save_llmc(const GPT& model, const std::string& path) {
  GPTConfig c = model.config, back = GPTConfig::gpt2().resized(c.n_layer, c.n_head, c.n_embd);
  c.bias = true;
  back.block_size = c.block_size;
  back.vocab_size = c.vocab_size;
  require_same("save_llmc", "llm.c", c, back);
  std::map<std::string, Array> weights;
  for (const NamedParameter& p : named_parameters(model)) weights[p.name] = p.parameter.value();
  const auto size = [](Index n) { return static_cast<std::int32_t>(n); };
  const Index padded = llmc_padded(c.vocab_size);
  const std::array<std::int32_t, 256> header{
      20240326,       3,           size(c.block_size), size(c.vocab_size), size(c.n_layer), size(c.n_head),
      size(c.n_embd), size(padded)};
  FileWriter file(path);
  file.write(header.data(), sizeof header);
  for (const LlmcArray& place : llmc_arrays(GPT(c, Init::none(Generator())), padded)) {
    std::vector<float> elements(static_cast<std::size_t>(place.elements));  // 0 where rows pad the vocabulary
    const auto found = weights.find(place.name);
    const std::vector<real> values = found != weights.end() ? found->second.to_vector() : std::vector<real>();
    std::transform(values.begin(), values.end(), elements.begin(), [](real v) { return static_cast<float>(v); });
    file.write(elements.data(), elements.size() * sizeof(float));
  }
  file.commit();
}

}  // namespace mote
