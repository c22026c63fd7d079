// A GPT of one layer against PyTorch's from seed 1337: initial weights, every value and gradient of the first step,
// twenty steps of AdamW, what it writes afterwards; and another GPT's losses.
#include <map>

#include "models/gpt.h"
#include "tests/tools.h"
#include "tests/vectors.h"
#include "train/optim/adamw.h"

namespace mote::test::tiny_gpt_vectors_test {
namespace {

/// What mote computed, under the names of tests/vectors/tiny_gpt.txt.
using Computed = std::map<std::string, Array>;

/// The seed's numbers are drawn without building a model first: so this one's own draws are of another stream.
GPT tiny_model() {
  return GPT({.block_size = 8,
              .vocab_size = 11,
              .n_layer = 1,
              .n_head = 2,
              .n_embd = 16,
              .tie_weights = false,
              .block = {.projections = {.bias = false}, .activation = Activation::gelu_tanh}},
             Generator(0));
}

/// The model's parameters in the order in which the file has them: first the drawn ones, as they are drawn. c_attn is
/// wq, wk and wv one below the other.
std::vector<NamedParameter> drawn(const GPT& m) {
  const TransformerBlock& h = m.transformer.h[0];
  return {{"wte", m.transformer.wte.weight},  {"wpe", m.transformer.wpe->weight},
          {"qkv", h.attn.c_attn.weight},      {"h.0.attn.wo", h.attn.c_proj.weight},
          {"h.0.mlp.w1", h.mlp->c_fc.weight}, {"h.0.mlp.w2", h.mlp->c_proj.weight},
          {"head", m.lm_head.weight}};
}
std::vector<NamedParameter> all_of(const GPT& m) {
  const TransformerBlock& h = m.transformer.h[0];
  std::vector<NamedParameter> all = drawn(m);
  const auto norm = [](const ChosenNorm& chosen) -> const LayerNorm& { return std::get<LayerNorm>(chosen.layer); };
  const LayerNorm& ln_1 = norm(h.ln_1);
  const LayerNorm& ln_2 = norm(*h.ln_2);
  const LayerNorm& ln_f = norm(*m.transformer.ln_f);
  const std::vector<NamedParameter> rest{{"h.0.ln1.g", ln_1.weight},       {"h.0.ln1.b", ln_1.bias},
                                         {"h.0.ln2.g", ln_2.weight},       {"h.0.ln2.b", ln_2.bias},
                                         {"h.0.mlp.b1", h.mlp->c_fc.bias}, {"h.0.mlp.b2", h.mlp->c_proj.bias},
                                         {"lnf.g", ln_f.weight},           {"lnf.b", ln_f.bias}};
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

/// One array per parameter, or per third of c_attn, as `what` of it.
template <class What>
void note_each(Computed& got, const std::string& prefix, const GPT& m, const What& what) {
  for (const NamedParameter& p : all_of(m)) {
    const Array numbers = what(p.parameter);
    if (p.name != "qkv") {
      got[prefix + p.name] = copy_of(numbers);
      continue;
    }
    Index row = 0;
    for (const char* const third : {"h.0.attn.wq", "h.0.attn.wk", "h.0.attn.wv"}) {
      got[prefix + third] = copy_of(numbers.slice(0, row, row + 16));
      row += 16;
    }
  }
}
Array value_of(const Parameter& p) { return p.value(); }
Array grad_of(const Parameter& p) { return p.grad(); }

/// Step 0's values on the way, from the model's own parts.
void note_middle(Computed& got, GPT& m, const IntArray& ids) {
  const NoGrad no_grad;
  const TransformerBlock& h = m.transformer.h[0];
  const Tensor x = m.transformer.embed(ids);
  got["mid0.embedded"] = x.array();
  const Tensor normed = h.ln_1(x);
  got["mid0.h.0.ln1"] = normed.array();
  const Array q = slice(h.attn.c_attn(normed), 2, 0, 16).array();
  got["mid0.h.0.q"] = copy_of(q.contiguous().reshape({4, 8, 2, 8}).transpose(1, 2));
  got["mid0.h.0.weights"] = attention_maps(m, ids)[0].weights;
  const Tensor after_attn = x + h.attn(normed);
  got["mid0.h.0.after_attn"] = after_attn.array();
  got["mid0.h.0.gelu"] = activate(h.mlp->activation, h.mlp->c_fc((*h.ln_2)(after_attn))).array();
  got["mid0.h.0.after_mlp"] = h(x).array();
  got["logits0"] = m(ids).array();
}

Array numbers_of(const IntArray& ids) {
  return Array(ids.shape(), std::vector<real>(ids.data(), ids.data() + ids.numel()));
}

/// The whole run.
Computed run() {
  Computed got;
  GPT m = tiny_model();
  const Generator random(1337);
  for (const NamedParameter& p : drawn(m)) init::normal(p.parameter, 0, 0.02, random);
  note_each(got, "init.", m, value_of);
  IntArray rows({4, 9});
  random.randint({rows.mutate(), 36}, 0, 11);
  got["tokens"] = numbers_of(rows);
  const IntArray ids = rows.slice(1, 0, 8), targets = rows.slice(1, 1, 9);
  note_middle(got, m, ids);

  AdamW optimizer(decay_groups(m, 0.1), {.lr = 1e-2, .betas = {0.9, 0.95}});
  std::vector<real> losses;
  for (int step = 0; step < 20; ++step) {
    optimizer.zero_grad();
    const Tensor loss = m.loss(ids, targets);
    losses.push_back(loss.item());
    loss.backward();
    if (step == 0) note_each(got, "grad0.", m, grad_of);
    optimizer.step();
    if (step == 0) note_each(got, "after_step1.", m, value_of);
  }
  losses.push_back(m.loss(ids, targets).item());
  got["loss"] = got["loss_float64"] = Array({21}, losses);
  note_each(got, "final.", m, value_of);
  note_each(got, "final_float64_first4.", m, [](const Parameter& p) { return p.value(); });
  for (auto& [name, numbers] : got) {
    if (!name.starts_with("final_float64_first4.")) continue;
    double total = 0;
    for (const real x : numbers.to_vector()) total += std::abs(static_cast<double>(x));
    got["final_abs_sum_float64." + name.substr(21)] = Array(static_cast<real>(total));
    numbers = copy_of(numbers.contiguous().reshape({numbers.numel()}).slice(0, 0, 4));
  }
  got["sampled_seed_0"] = numbers_of(m.generate(ints({{0}}), 24, {}, Generator(0)));
  return got;
}

double largest(const Vector& v) {
  double most = 0;
  for (const double x : v.numbers()) most = std::max(most, std::abs(x));
  return most;
}

/// How closely: initial numbers and ids digit by digit; the float32 run within rounding, gradients also within a
/// thousandth of their tensor's largest, since some tensors' are all small; in double, the float64 run more tightly.
void compare(const Vector& v, const Array& got) {
  const std::vector<real> wide = got.to_vector();
  const auto starts = [&](const char* prefix) { return v.name.starts_with(prefix); };
  if (v.name == "tokens" || v.name == "sampled_seed_0") {
    check_digits(v, std::vector<std::int64_t>(wide.begin(), wide.end()));
  } else if (starts("init.")) {
    check_digits(v, got);
  } else if (starts("mid0.") || v.name == "logits0") {
    check_near(v, got, 1e-6);
  } else if (starts("grad0.")) {
    check_near(v, got, std::min(1e-6, 1e-3 * largest(v)));
  } else if (starts("after_step1.") || starts("final.")) {
    check_near(v, got, 2e-5);
  } else if (v.name == "loss") {
    check_near(v, got, 2e-6);
  } else if (v.name == "loss_float64") {
    check_near(v, got, f64 ? 1e-14 : 2e-6);
  } else if (starts("final_float64_first4.")) {
    check_near(v, got, f64 ? 1e-14 : 2e-5);
  } else if (starts("final_abs_sum_float64.")) {
    check_near(v, got, 2e-5);
  } else {
    FAIL_CHECK(v.name << ": nothing says how closely it is to be compared");
  }
}

TEST_CASE("tiny GPT: PyTorch's weights, values, gradients, losses and text, from one seed") {
  Computed got = run();
  compare_all(VectorFile("tiny_gpt.txt"), got, compare);
}

TEST_CASE("a GPT with dropout, biases and tied weights trains with PyTorch's losses") {
  const VectorFile file("gpt_run.txt");
  REQUIRE(file.all().size() == 2);
  const Generator random(3), data(4);  // the first one draws weights and dropout's masks
  GPT m({.block_size = 8, .vocab_size = 13, .n_layer = 2, .n_head = 3, .n_embd = 12, .dropout = 0.1}, random);
  AdamW optimizer(decay_groups(m, 0.1), {.lr = 3e-3, .betas = {0.9, 0.95}});
  std::vector<real> losses;
  for (int step = 0; step < 10; ++step) {
    const IntArray rows = randint(0, 13, {3, 8}, data);
    optimizer.zero_grad();
    const Tensor loss = m.loss(rows.slice(1, 0, 7), rows.slice(1, 1, 8));
    losses.push_back(loss.item());
    loss.backward();
    optimizer.step();
  }
  check_near(file["losses"], Array({10}, losses), 1e-6);
  check_digits(file["next"], Init(random).uniform({3}, 0, 1));
}

}  // namespace
}  // namespace mote::test::tiny_gpt_vectors_test
