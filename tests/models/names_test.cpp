// Tables of names: what is called how, in which direction, and layers that the other library does not have.
#include "models/names.h"

#include "tests/models/gpt_tools.h"
#include "tests/sentences.h"
#include "tests/state_tools.h"
#include "tests/temp_folder.h"

namespace mote::test::names_test {
namespace {

const GPTConfig small{.block_size = 5, .vocab_size = 7, .n_layer = 1, .n_head = 2, .n_embd = 4};

GPTConfig gpt2(bool tied = true) {
  GPTConfig c = small;
  c.block.activation = Activation::gelu_tanh;
  c.tie_weights = tied;
  return c;
}

const std::string layer_names =
    "transformer.h.0.ln_1.weight transformer.h.0.ln_1.bias transformer.h.0.attn.c_attn.weight "
    "transformer.h.0.attn.c_attn.bias transformer.h.0.attn.c_proj.weight transformer.h.0.attn.c_proj.bias "
    "transformer.h.0.ln_2.weight transformer.h.0.ln_2.bias transformer.h.0.mlp.c_fc.weight "
    "transformer.h.0.mlp.c_fc.bias "
    "transformer.h.0.mlp.c_proj.weight transformer.h.0.mlp.c_proj.bias ";

TEST_CASE("names: nanoGPT's are mote's, a tied matrix under both, masks skipped, a compiled model's prefix read") {
  const GPT m = lively_gpt(small);
  const NameTable names = nanogpt_names(m);
  StateDict state = state_dict(m, names);
  CHECK(names_of(state) == "transformer.wte.weight transformer.wpe.weight " + layer_names +
                               "transformer.ln_f.weight transformer.ln_f.bias lm_head.weight");
  for (const StateEntry& e : state) CHECK(e.shape == e.read().shape());
  for (StateEntry& e : state) e.name = "_orig_mod." + e.name;
  state.push_back(state_entry("_orig_mod.transformer.h.0.attn.bias", Array::zeros({1, 1, 5, 5})));
  GPT other(small, Generator(9));
  load_state_dict(other, state, {.names = names});
  CHECK(bits_of(m) == bits_of(other));
  state = state_dict(m, names);
  state.back() = state_entry("lm_head.weight", Array::zeros({7, 4}));
  REFUSES(load_state_dict(other, state, {.names = names}));
  state.pop_back();
  load_state_dict(other, state, {.names = names});
}

TEST_CASE("names: minGPT's and older nanoGPT's weights are read, and not written") {
  for (const bool tied : {true, false})
    for (const Activation activation : {Activation::gelu, Activation::gelu_tanh}) {
      GPTConfig c = small;
      c.tie_weights = tied;
      c.block.activation = activation;
      const GPT m = lively_gpt(c);
      StateDict there = state_dict(m);  // as torch lists it: a tied matrix twice
      if (tied) there.push_back(state_entry("lm_head.weight", m.lm_head.weight.value()));
      there.push_back(state_entry("transformer.h.0.attn.bias", Array::zeros({1, 1, 5, 5})));
      GPT other(c, Generator(9));
      const NameTable names = nanogpt_names(other);
      load_state_dict(other, there, {.names = names});
      CHECK(bits_of(m) == bits_of(other));
      const std::string written = error_of([&] { state_dict(m, names); });
      if (!tied)
        CHECK(written ==
              "state_dict: nanoGPT of today has tied weights: a model with an lm_head of its own can only be loaded");
      else if (activation == Activation::gelu_tanh)
        CHECK(written == "state_dict: nanoGPT of today has exact GELU: a model with gelu_tanh can only be loaded");
      else
        CHECK(written == "(no error)");
    }
}

TEST_CASE("names: GPT-2 of transformers (its layout: torch_test), both prefixes; the head") {
  const GPT m = lively_gpt(gpt2());
  const NameTable names = huggingface_names(m);
  const StateDict state = state_dict(m, names);
  CHECK(names_of(state) == "transformer.wte.weight transformer.wpe.weight " + layer_names +
                               "transformer.ln_f.weight transformer.ln_f.bias");

  // As on the hub: bare names and masks. As torch saves it: the head under its own name.
  StateDict bare = state, with_head = state;
  for (StateEntry& e : bare) e.name = e.name.substr(12);
  bare.push_back(state_entry("h.0.attn.bias", Array::zeros({1, 1, 5, 5})));
  bare.push_back(state_entry("h.0.attn.masked_bias", Array(-1e4)));
  with_head.push_back(state_entry("lm_head.weight", m.lm_head.weight.value()));
  for (const StateDict& given : {state, bare, with_head}) {
    GPT other(gpt2(), Generator(9));
    load_state_dict(other, given, {.names = names});
    CHECK(bits_of(m) == bits_of(other));
  }
  with_head.back() = state_entry("lm_head.weight", Array::zeros({7, 4}));
  GPT other(gpt2(), Generator(9));
  REFUSES(load_state_dict(other, with_head, {.names = names}));
  REFUSES(load_state_dict(other, {bare.begin() + 1, bare.end()}, {.names = names}));

  const GPT apart = lively_gpt(gpt2(false));
  const StateDict untied = state_dict(apart, huggingface_names(apart));
  CHECK(untied.back().name == "lm_head.weight");
  GPT again(gpt2(false), Generator(9));
  load_state_dict(again, untied, {.names = huggingface_names(again)});
  CHECK(bits_of(apart) == bits_of(again));
  REFUSES(load_state_dict(again, state, {.names = huggingface_names(again)}));
  CHECK(error_of([&] { huggingface_names(m.clone()), huggingface_names(lively_gpt(small)); }) == "(no error)");
  GPTConfig llama = small;
  llama.position = Position::rotary;
  REFUSES(huggingface_names(lively_gpt(llama)));
}

TEST_CASE("names: every GPT through a file, nanoGPT's with its names, too") {
  const TempFolder folder;
  for (GPTConfig c : {GPTConfig::nanogpt(), GPTConfig::gpt2(), GPTConfig::llama(), GPTConfig::attention_only()}) {
    c = c.resized(2, 4, 8);
    c.vocab_size = 7;
    c.block_size = 5;
    const GPT m = lively_gpt(c);
    GPT a(c, Generator(9)), b(c, Generator(9));
    const NameTable names = c.bias ? NameTable() : c.tie_weights ? nanogpt_names(m) : NameTable();
    save(m, folder.path("names"), names);
    load(a, folder.path("names"), {.names = names});
    save(m, folder.path("own"));
    load(b, folder.path("own"));
    CHECK((bits_of(a) == bits_of(m) && bits_of(b) == bits_of(m)));
    CHECK(a.lm_head.weight.same_as(a.transformer.wte.weight) == c.tie_weights);
  }
}

TEST_CASE("names: torch.nn.MultiheadAttention, packed or with kdim and vdim; layers that are none") {
  const MultiHeadAttention packed(4, 2, Generator(1)), apart(4, 2, Generator(1), {}, {.value_width = 3}),
      plain(4, 2, Generator(1), {}, {.bias = false});
  const StateDict state = state_dict(packed, torch_attention_names(packed));
  CHECK(names_of(state) == "in_proj_weight in_proj_bias out_proj.weight out_proj.bias");
  CHECK((state[0].shape == Shape{12, 4} && state[1].shape == Shape{12}));
  CHECK(same_bits(state[0].read().slice(0, 4, 8), packed.k_proj.weight.value()));
  CHECK(names_of(state_dict(apart, torch_attention_names(apart))) ==
        "q_proj_weight in_proj_bias k_proj_weight v_proj_weight out_proj.weight out_proj.bias");
  CHECK(names_of(state_dict(plain, torch_attention_names(plain))) == "in_proj_weight out_proj.weight");
  for (const MultiHeadAttentionOptions& o :
       {MultiHeadAttentionOptions{.n_kv_head = 1}, MultiHeadAttentionOptions{.d_in = 3}})
    REFUSES(torch_attention_names(MultiHeadAttention(4, 2, Generator(1), {}, o)));
}

TEST_CASE("names: torch.nn.TransformerEncoderLayer; blocks that are none") {
  const StateDict state = state_dict(TransformerBlock(4, 2, Generator(1)), torch_encoder_layer_names());
  CHECK(names_of(state) ==
        "self_attn.in_proj_weight self_attn.out_proj.weight linear1.weight linear2.weight norm1.weight norm2.weight "
        "self_attn.in_proj_bias self_attn.out_proj.bias linear1.bias linear2.bias norm1.bias norm2.bias");
  const TransformerBlock gated(4, 2, Generator(1), {.activation = Activation::swiglu});
  REFUSES(state_dict(gated, torch_encoder_layer_names()));
}

}  // namespace
}  // namespace mote::test::names_test
