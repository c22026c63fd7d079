// Models that PyTorch wrote compute what PyTorch computed; tests/torch/round_trip.py makes the files, and reads those
// written here. Without it the files are tests/vectors/torch.

#include <cstdlib>

#include "models/gpt_files.h"
#include "models/names.h"
#include "models/tutorials/book.h"
#include "nn/nn.h"
#include "tests/module_tools.h"

namespace mote::test::torch_test {
namespace {

std::string setting(const char* name, const std::string& otherwise) {
  const char* const value = std::getenv(name);
  return value ? value : otherwise;
}
const std::string files = setting("MOTE_TORCH_FILES", MOTE_SOURCE_DIR "/tests/vectors/torch");
const std::string output = setting("MOTE_TORCH_OUTPUT", "");

/// Compares `run` on the inputs of a case with what is in the file; writes, if asked, what another model of ours does.
template <class M, class RunModel, class Save>
void check_case(const std::string& name, M& model, const RunModel& run, const Save& save_model) {
  const SafetensorsFile io(files + "/" + name + ".io.safetensors");
  const auto compute = [&](const M& m) {
    std::vector<Tensor> x;
    for (int i = 0; const TensorEntry* e = io.find("x" + std::to_string(i)); ++i) x.push_back(io.array(*e));
    const TensorEntry* const ids = io.find("ids");
    const NoGrad no_grad;
    return run(m, x, ids ? io.int_array(*ids) : IntArray()).array();
  };
  model.eval();
  const Array y = compute(model), expected = io.array(*io.find("y"));
  REQUIRE(y.shape() == expected.shape());
  const std::vector<real> theirs = expected.to_vector();
  const double error = distance(y.to_vector(), {theirs.begin(), theirs.end()});
  CHECK_MESSAGE(error < 1e-5, name, ": ", error);
  scramble(model, 50);
  CHECK(distance(compute(model).to_vector(), {theirs.begin(), theirs.end()}) > 0.01);
  if (output.empty()) return;
  save_model(model);
  std::vector<NamedArray> tensors{{"y", compute(model)}};
  for (const TensorEntry& e : io.tensors()) {
    if (e.name == "ids") tensors.push_back({"ids", io.int_array(e)});
    if (e.name.starts_with("x")) tensors.push_back({e.name, io.array(e)});
  }
  save_safetensors(output + "/" + name + ".io.safetensors", tensors);
}

/// A model whose names and layout `names` translates.
template <class M, class RunModel>
void check_file(const std::string& name, M&& model, const NameTable& names, const RunModel& run) {
  const std::string file = "/" + name + ".safetensors";
  load(model, files + file, {.names = names});
  check_case(name, model, run, [&](const M& m) { save(m, output + file, names); });
}

const auto logits = [](const GPT& m, const std::vector<Tensor>&, const IntArray& ids) { return m(ids); };
const auto call = [](const auto& m, const std::vector<Tensor>& x, const IntArray&) { return m(x[0]); };
const auto call_3 = [](const auto& m, const std::vector<Tensor>& x, const IntArray&) { return m(x[0], x[1], x[2]); };

TEST_CASE("torch: nanoGPT, with and without biases") {
  for (const bool bias : {true, false}) {
    const GPTConfig c{.block_size = 8, .vocab_size = 11, .n_layer = 2, .n_head = 2, .n_embd = 8, .bias = bias};
    GPT model(c, Generator(1));
    check_file(bias ? "nanogpt" : "nanogpt_no_bias", model, nanogpt_names(model), logits);
  }
}

TEST_CASE("torch: GPT-2 as transformers keeps it, with and without prefix, head, masks") {
  for (const std::string name : {"hf", "hf_bare", "hf_untied"}) {
    GPT model = load_huggingface(files + "/" + name);
    CHECK((model.config.block_size == 8 && model.config.tie_weights == (name != "hf_untied")));
    check_case(name, model, logits, [&](const GPT& m) { save_huggingface(m, output + "/" + name); });
  }
}

TEST_CASE("torch: Llama as transformers keeps it, shared keys and values, or biases and a tied head") {
  for (const std::string name : {"hf_llama", "hf_llama_tied"}) {
    GPT model = load_huggingface(files + "/" + name);
    CHECK((model.config.position == Position::rotary && model.config.tie_weights == (name == "hf_llama_tied")));
    check_case(name, model, logits, [&](const GPT& m) { save_huggingface(m, output + "/" + name); });
  }
}

TEST_CASE("torch: MultiheadAttention, packed and with kdim and vdim") {
  MultiHeadAttention packed(8, 2, Generator(1)), apart(8, 2, Generator(1), {}, {.key_width = 6, .value_width = 5});
  check_file("mha", packed, torch_attention_names(packed), call_3);
  check_file("mha_kdim", apart, torch_attention_names(apart), call_3);
}

TEST_CASE("torch: TransformerEncoderLayer, norms first and last") {
  TransformerBlockOptions o{.attention = {.causal = false}, .n_inner = 12};
  TransformerBlock pre(8, 2, Generator(1), o);
  check_file("encoder_pre", pre, torch_encoder_layer_names(), call);
  o.norm_order = NormOrder::post;
  o.activation = Activation::relu;
  TransformerBlock post(8, 2, Generator(1), o);
  check_file("encoder_post", post, torch_encoder_layer_names(), call);
}

TEST_CASE("torch: attention from 3 columns to 4, with the book's names and with a table of one's own") {
  tutorials::book::MultiHeadAttention book(3, 4, 6, 0, 2, Generator(1));
  check_file("book", book, {}, call);
  MultiHeadAttention general(4, 2, Generator(1), {.causal = true}, {.bias = false, .out_bias = true, .d_in = 3});
  const NameTable names{{{"W_query.weight", "q_proj.weight"},
                         {"W_key.weight", "k_proj.weight"},
                         {"W_value.weight", "v_proj.weight"},
                         {"out_proj.weight", "o_proj.weight"},
                         {"out_proj.bias", "o_proj.bias"}},
                        {"mask"}};
  load(general, files + "/book.safetensors", {.names = names});
  check_case("book", general, call, [](const MultiHeadAttention&) {});
}

}  // namespace
}  // namespace mote::test::torch_test
