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

namespace mote {
namespace {

constexpr std::uint64_t longest_text = 1 << 20;

constexpr std::pair<Activation, const char*> activations[] = {
    {Activation::gelu_tanh, "gelu_new"}, {Activation::gelu, "gelu"},
    {Activation::relu, "relu"},          {Activation::silu, "silu"},
    {Activation::tanh, "tanh"},          {Activation::gelu_tanh, "gelu_pytorch_tanh"},
    {Activation::silu, "swish"},         {Activation::gelu, "gelu_python"},
    {Activation::gelu_tanh, "gelu_fast"}};

/// The member, unless it is missing or null.
const Json* given(const JsonPlace& config, const char* name) {
  const Json* const value = config.find(name);
  return value && !value->is(Json::Kind::null) ? value : nullptr;
}
Index count(const JsonPlace& config, const char* name) {
  const Index n = config.at(name).as_integer();
  if (n < 1) config.at(name).fail("must be at least 1");
  return n;
}
double number(const JsonPlace& config, const char* name, double otherwise, double most = HUGE_VAL) {
  const double x = given(config, name) ? config.at(name).as_number() : otherwise;
  if (!(x >= 0 && x <= most))
    config.at(name).fail(most == 1 ? "must be a probability, from 0 to 1" : "must be at least 0");
  return x;
}
bool flag(const JsonPlace& config, const char* name, bool otherwise) {
  return given(config, name) ? config.at(name).as_bool() : otherwise;
}
/// Refused unless it is missing or the only one that mote's GPT does.
void require(const JsonPlace& config, const char* name, const Json& only) {
  if (given(config, name) && config.at(name).value() != only)
    config.at(name).fail("must be " + text_of(only) + ": mote's GPT does nothing else");
}
/// Sizes under these names, in the order of GPTConfig.
void read_sizes(GPTConfig& c, const JsonPlace& config, const std::array<const char*, 5>& names) {
  Index* const sizes[] = {&c.block_size, &c.vocab_size, &c.n_layer, &c.n_head, &c.n_embd};
  for (std::size_t i = 0; i < 5; ++i) *sizes[i] = count(config, names[i]);
  if (c.n_embd % c.n_head != 0) config.at(names[3]).fail(std::string("must divide ") + names[4]);
}

GPTConfig gpt2_from(const JsonPlace& config) {
  for (const char* const name : {"scale_attn_by_inverse_layer_idx", "reorder_and_upcast_attn", "add_cross_attention"})
    require(config, name, false);
  GPTConfig c = GPTConfig::gpt2();
  read_sizes(c, config, {"n_positions", "vocab_size", "n_layer", "n_head", "n_embd"});
  if (given(config, "n_inner")) c.block.n_inner = count(config, "n_inner");
  c.block.norm_eps = number(config, "layer_norm_epsilon", c.block.norm_eps);
  c.dropout = number(config, "embd_pdrop", 0.1, 1);
  const double attention = number(config, "attn_pdrop", 0.1, 1), residual = number(config, "resid_pdrop", 0.1, 1);
  if (residual != c.dropout) c.block.projections.resid_dropout = residual;
  if (attention != c.dropout) c.block.attention.dropout = attention;
  c.tie_weights = flag(config, "tie_word_embeddings", true);
  if (!flag(config, "scale_attn_weights", true)) c.block.attention.scale = 1;
  const char* const entry = "activation_function";
  const std::string word = given(config, entry) ? config.at(entry).as_string() : "gelu_new";
  const auto* const found =
      std::find_if(std::begin(activations), std::end(activations), [&](const auto& a) { return a.second == word; });
  if (found == std::end(activations)) config.at(entry).fail("'" + word + "' is not supported");
  c.block.activation = found->first;
  return c;
}

GPTConfig llama_from(const JsonPlace& config) {
  require(config, "mlp_bias", false);
  require(config, "hidden_act", "silu");
  GPTConfig c = GPTConfig::llama();
  read_sizes(c, config,
             {"max_position_embeddings", "vocab_size", "num_hidden_layers", "num_attention_heads", "hidden_size"});
  require(config, "head_dim", c.n_embd / c.n_head);
  if (c.n_embd / c.n_head % 2 != 0) config.at("num_attention_heads").fail("must leave each head an even width");
  c.block.n_inner = count(config, "intermediate_size");
  Index& shared = c.block.projections.n_kv_head;
  shared = given(config, "num_key_value_heads") ? count(config, "num_key_value_heads") : c.n_head;
  if (c.n_head % shared != 0) config.at("num_key_value_heads").fail("must divide num_attention_heads");
  c.block.norm_eps = number(config, "rms_norm_eps", 1e-6);
  for (const char* const name : {"", "rope_scaling", "rope_parameters"}) {  // the last in newer files
    if (*name && !given(config, name)) continue;
    const JsonPlace rope = *name ? config.at(name) : config;
    for (const char* const type : {"type", "rope_type"}) require(rope, type, "default");
    c.rotary_base = number(rope, "rope_theta", c.rotary_base);
    if (c.rotary_base == 0) rope.at("rope_theta").fail("must be above 0");
  }
  if (const double p = number(config, "attention_dropout", 0, 1); p > 0) c.block.attention.dropout = p;
  if (flag(config, "attention_bias", false)) c.block.projections.bias = true;
  c.tie_weights = flag(config, "tie_word_embeddings", false);
  return c;
}

/// Whether a model is nearer to Llama than to GPT-2.
bool like_llama(const GPTConfig& c) {
  const bool norm = c.block.norm == NormKind::rms_norm, gated = c.block.activation == Activation::swiglu;
  return (c.position == Position::rotary) + norm + gated >= 2;
}

/// Every setting that computing depends on, with defaults filled in.
GPTConfig filled_in(GPTConfig c) {
  c.block = c.block_options().resolved(c.n_embd);
  TransformerBlockOptions& b = c.block;
  if (b.projections.n_kv_head == 0) b.projections.n_kv_head = c.n_head;
  if (c.position != Position::rotary) c.rotary_base = GPTConfig().rotary_base;
  return c;
}

Json gpt2_json(const GPTConfig& c) {
  const TransformerBlockOptions block = filled_in(c).block;
  const auto* const found = std::find_if(std::begin(activations), std::end(activations),
                                         [&](const auto& a) { return a.first == block.activation; });
  const Json end = c.vocab_size > 50256 ? Json(50256) : Json();  // GPT-2's own, which would be the default
  return Json::object({{"activation_function", found == std::end(activations) ? "gelu_new" : found->second},
                       {"architectures", Json::array({"GPT2LMHeadModel"})},
                       {"attn_pdrop", *block.attention.dropout},
                       {"bos_token_id", end},
                       {"embd_pdrop", c.dropout},
                       {"eos_token_id", end},
                       {"initializer_range", 0.02},
                       {"layer_norm_epsilon", block.norm_eps},
                       {"model_type", "gpt2"},
                       {"n_ctx", c.block_size},
                       {"n_embd", c.n_embd},
                       {"n_head", c.n_head},
                       {"n_inner", c.block.n_inner == 0 ? Json() : Json(c.block.n_inner)},
                       {"n_layer", c.n_layer},
                       {"n_positions", c.block_size},
                       {"reorder_and_upcast_attn", false},
                       {"resid_pdrop", *block.projections.resid_dropout},
                       {"scale_attn_by_inverse_layer_idx", false},
                       {"scale_attn_weights", block.attention.scale.value_or(0) != 1},
                       {"tie_word_embeddings", c.tie_weights},
                       {"torch_dtype", sizeof(real) == 4 ? "float32" : "float64"},
                       {"vocab_size", c.vocab_size}});
}

Json llama_json(const GPTConfig& c) {
  const TransformerBlockOptions block = filled_in(c).block;
  return Json::object({{"architectures", Json::array({"LlamaForCausalLM"})},
                       {"attention_bias", *block.projections.bias},
                       {"attention_dropout", *block.attention.dropout},
                       {"bos_token_id", nullptr},
                       {"eos_token_id", nullptr},
                       {"hidden_act", "silu"},
                       {"hidden_size", c.n_embd},
                       {"intermediate_size", block.n_inner},
                       {"max_position_embeddings", c.block_size},
                       {"mlp_bias", false},
                       {"model_type", "llama"},
                       {"num_attention_heads", c.n_head},
                       {"num_hidden_layers", c.n_layer},
                       {"num_key_value_heads", block.projections.n_kv_head},
                       {"rms_norm_eps", block.norm_eps},
                       {"rope_theta", c.rotary_base},
                       {"tie_word_embeddings", c.tie_weights},
                       {"torch_dtype", sizeof(real) == 4 ? "float32" : "float64"},
                       {"vocab_size", c.vocab_size}});
}

Index llmc_padded(Index vocab_size) { return (vocab_size + 127) / 128 * 128; }

/// What another library cannot express is what does not come back. Errors: all settings that differ are named.
void require_same(const char* who, const char* library, const GPTConfig& config, const GPTConfig& back) {
  const std::vector<Field> there = fields(filled_in(back)), here = fields(filled_in(config));
  std::string differences;
  for (const Field& f : here)
    for (const Field& g : there)
      if (f.name == g.name && f.value != g.value) differences += "\n  " + f.name + " = " + f.value + ", not " + g.value;
  check_in(who, differences.empty(), library, " has no such model:", differences);
}

/// The files that hold a folder's weights: model.safetensors, or those that its index names.
std::deque<SafetensorsFile> weight_files(const std::string& folder) {
  const std::string whole = folder + "/model.safetensors", index = whole + ".index.json";
  std::deque<SafetensorsFile> files;
  if (file_exists(whole) || !file_exists(index)) {
    check(file_exists(whole) || !file_exists(folder + "/pytorch_model.bin"), folder,
          " has its weights in pytorch_model.bin alone: save_pretrained(..., safe_serialization=True) writes ",
          "model.safetensors");
    files.emplace_back(whole);
    return files;
  }
  const Json document = parse_json(read_file(index, longest_text), index);
  std::set<std::string> names;
  const JsonPlace map = JsonPlace(document, index).at("weight_map");
  for (const JsonMember& m : map.members()) names.insert(map.at(m.name.c_str()).as_string());
  for (const std::string& name : names) {
    check(name.find_first_of("/\\") == name.npos, index, ": '", name, "' is no file of this folder");
    files.emplace_back(folder + "/" + name);
  }
  return files;
}

/// The parameters in the order of llm.c's files: each kind for all layers.
std::vector<std::string> llmc_names(Index n_layer) {
  std::vector<std::string> names{"transformer.wte.weight", "transformer.wpe.weight"};
  for (const char* const layer : {"ln_1", "attn.c_attn", "attn.c_proj", "ln_2", "mlp.c_fc", "mlp.c_proj"})
    for (const char* const kind : {".weight", ".bias"})
      for (Index l = 0; l < n_layer; ++l) names.push_back("transformer.h." + std::to_string(l) + "." + layer + kind);
  names.insert(names.end(), {"transformer.ln_f.weight", "transformer.ln_f.bias"});
  return names;
}

/// Arrays in this order, behind a header, as float32; 0 where there is none, and in the rows that pad the vocabulary.
void write_llmc(const std::string& path, std::array<std::int32_t, 256> header, const GPTConfig& config,
                std::initializer_list<ArrayByName> all) {
  GPTConfig c = config;
  c.bias = true;
  std::map<std::string, Shape> shapes;
  const GPT like(c, Init::none(Generator()));
  for (const NamedParameter& p : named_parameters(like)) shapes[p.name] = p.parameter.shape();
  FileWriter file(path);
  file.write(header.data(), sizeof header);
  for (const ArrayByName& of : all)
    for (const std::string& name : llmc_names(c.n_layer)) {
      const Array x = of(name);
      const Index padding =
          name == "transformer.wte.weight" ? (llmc_padded(c.vocab_size) - c.vocab_size) * c.n_embd : 0;
      std::vector<float> elements(static_cast<std::size_t>(shapes.at(name).numel() + padding));
      const std::vector<real> values = x.defined() ? x.to_vector() : std::vector<real>();
      std::transform(values.begin(), values.end(), elements.begin(), [](real v) { return static_cast<float>(v); });
      file.write(elements.data(), elements.size() * sizeof(float));
    }
  file.commit();
}

}  // namespace

GPTConfig parse_huggingface_config(const std::string& text, const std::string& what) {
  const Json document = parse_json(text, what);
  const JsonPlace config(document, what);
  const std::string kind = given(config, "model_type") ? config.at("model_type").as_string() : "gpt2";
  if (kind != "gpt2" && kind != "llama")
    config.at("model_type").fail("must be \"gpt2\" or \"llama\", not " + text_of(Json(kind)));
  return kind == "gpt2" ? gpt2_from(config) : llama_from(config);
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
  for (const auto& [name, text] : args) check_in("nanogpt_config", set_field(c, name, text), "no setting ", name);
  return c;
}

std::string huggingface_config(const GPTConfig& config) {
  GPTConfig c = config;
  c.bias = c.bias || !like_llama(c);  // GPT-2's that are missing are 0
  const std::string text = text_of(like_llama(c) ? llama_json(c) : gpt2_json(c), 2) + "\n";
  require_same("save_huggingface", like_llama(c) ? "Llama" : "GPT-2", c, parse_huggingface_config(text));
  return text;
}

GPT load_huggingface(const std::string& folder, const Generator& random) {
  const std::string path = folder + "/config.json";
  const GPTConfig config = parse_huggingface_config(read_file(path, longest_text), path);
  const std::deque<SafetensorsFile> files = weight_files(folder);
  StateDict state;
  double present = 0;
  for (const SafetensorsFile& file : files)
    for (StateEntry& e : state_dict(file)) present += static_cast<double>(e.shape.numel()), state.push_back(e);
  // Before a model is built, so that no config.json can ask for more memory than its weights do.
  check_in("load_huggingface", config.parameters() <= present && config.n_layer <= static_cast<Index>(state.size()),
           path, " describes ", config.n_layer, " layers and ", config.parameters(), " elements, but ", files[0].name(),
           " holds ", state.size(), " tensors of ", present);
  GPT model(config, Init::none(random));
  load_state_dict(model, state, {.names = huggingface_names(model)}, files[0].name());
  model.eval();
  return model;
}

GPT with_biases(const GPT& model) {
  GPTConfig c = model.config;
  c.bias = c.bias || !like_llama(c);
  GPT same(c, Init::none(Generator()));
  load_state_dict(same, state_dict(model), {.strict = false});
  return same;
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
  rule(file.size >= sizeof header, file.size, " bytes are fewer than the ", sizeof header, " of a header");
  file.read(0, header, sizeof header);
  rule(header[0] == 20240326, "begins with ", header[0], ", not with 20240326, the number of llm.c's model files");
  rule(header[1] == 3 || header[1] == 5, "has version ", header[1], "; mote reads 3 (float32) and 5 (bfloat16)");
  constexpr std::pair<const char*, std::int32_t> sizes[] = {{"max_seq_len", 1 << 24}, {"vocab_size", 1 << 24},
                                                            {"num_layers", 10'000},   {"num_heads", 1 << 24},
                                                            {"channels", 1 << 24},    {"padded_vocab_size", 1 << 24}};
  for (std::size_t i = 0; i < std::size(sizes); ++i)
    rule(header[i + 2] >= 1 && header[i + 2] <= sizes[i].second, sizes[i].first, " is ", header[i + 2],
         ", not from 1 to ", sizes[i].second);
  GPTConfig c = GPTConfig::gpt2();
  c.block_size = header[2], c.vocab_size = header[3], c.n_layer = header[4], c.n_head = header[5], c.n_embd = header[6];
  const Index padded = header[7];
  rule(padded >= c.vocab_size, "padded_vocab_size ", padded, " is below vocab_size ", c.vocab_size);
  rule(c.n_embd % c.n_head == 0, "channels ", c.n_embd, " are not divisible by num_heads ", c.n_head);
  const DType type = header[1] == 3 ? DType::f32 : DType::bf16;
  const Index width = bits(type) / 8;
  GPTConfig stored = c;
  stored.vocab_size = padded;
  const double expected = stored.parameters() * static_cast<double>(width) + sizeof header;
  rule(static_cast<double>(file.size) == expected, "has ", file.size, " bytes, but its sizes need ", expected);

  GPT model(c, Init::none(random));
  std::map<std::string, Shape> shapes;
  for (const NamedParameter& p : named_parameters(model)) shapes[p.name] = p.parameter.shape();
  std::uint64_t at = sizeof header;
  StateDict state;
  for (const std::string& name : llmc_names(c.n_layer)) {
    const Shape shape = shapes.at(name);
    state.push_back({name, shape, [&file, stored = StoredElements{path + ": " + name, type, shape, at}] {
                       return read_array(file, stored);
                     }});
    const Index rows = name == "transformer.wte.weight" ? padded * c.n_embd : shape.numel();
    at += static_cast<std::uint64_t>(rows * width);
  }
  load_state_dict(model, state, {}, path);
  return model;
}

void save_llmc(const GPT& model, const std::string& path) {
  GPTConfig c = model.config, back = GPTConfig::gpt2();
  c.bias = true;
  back.block_size = c.block_size, back.vocab_size = c.vocab_size;
  back.n_layer = c.n_layer, back.n_head = c.n_head, back.n_embd = c.n_embd;
  require_same("save_llmc", "llm.c", c, back);
  std::map<std::string, Array> weights;
  for (const NamedParameter& p : named_parameters(model)) weights[p.name] = p.parameter.value();
  const auto size = [](Index n) { return static_cast<std::int32_t>(n); };
  write_llmc(path,
             {20240326, 3, size(c.block_size), size(c.vocab_size), size(c.n_layer), size(c.n_head), size(c.n_embd),
              size(llmc_padded(c.vocab_size))},
             c, {[&](const std::string& name) { return weights[name]; }});
}

void save_llmc_state(const GPTConfig& config, const std::string& path, Index steps, const ArrayByName& exp_avg,
                     const ArrayByName& exp_avg_sq) {
  std::array<std::int32_t, 256> header{20240527, 1, 1};  // of one process
  header[10] = static_cast<std::int32_t>(steps);
  header[20] = 1337;  // the seed of its own random numbers, as it begins with
  write_llmc(path, header, config, {exp_avg, exp_avg_sq});
}

}  // namespace mote
