// How a run is recorded and taken apart, and how patches run side by side.
#include "models/inside.h"

#include <cmath>

namespace mote {
namespace {

std::string block_name(Index layer) { return "transformer.h." + std::to_string(layer); }

const SelfAttention& attention_of(const GPT& model, Index layer, Index head) {
  const GPTConfig& c = model.config;
  check_in("head", layer >= 0 && layer < c.n_layer && head >= 0 && head < c.n_head, "there is no head ", head,
           " in layer ", layer);
  return model.transformer.h[static_cast<std::size_t>(layer)].attn;
}

/// What c_attn makes of queries (part 0), keys (1) or values (2) for a head of queries: [d, C].
Tensor reads(const SelfAttention& a, Index part, Index head) {
  const Index d = a.n_embd / a.n_head, shared = head / (a.n_head / a.n_kv_head);
  const Index at = part == 0 ? head : a.n_head + (part - 1) * a.n_kv_head + shared;
  return slice(a.c_attn.weight, 0, at * d, (at + 1) * d);
}

/// What the output projection makes of a head: [C, d].
Tensor writes(const SelfAttention& a, Index head) {
  const Index d = a.n_embd / a.n_head;
  return slice(a.c_proj.weight, 1, head * d, (head + 1) * d);
}

/// By how much u norm(x) grows with x where the norm's scale is 1: u times the gain, less the mean if that is taken
/// off.
Tensor through_norm(const GPT& model, const Tensor& u) {
  const Norm& norm = *model.transformer.ln_f;
  const Tensor g = u * norm.weight;
  return norm.kind == NormKind::layer_norm ? g - mean(g, {-1}, true) : g;
}

/// Dropout would make two runs differ in more than what is looked at.
void check_still(const char* who, const GPT& model) {
  double dropout = model.transformer.drop.now();
  for (const TransformerBlock& b : model.transformer.h)
    dropout += b.attn.attn_dropout.now() + b.attn.resid_dropout.now() + (b.mlp ? b.mlp->dropout.now() : 0);
  check_in(who, dropout == 0, "dropout is on: call eval() first");
}

}  // namespace

Decomposition::Decomposition(const GPT& model, const IntArray& ids) : model_(model) {
  check_in("Decomposition", model.transformer.ln_f.has_value(), "the model's norm_order must be pre");
  check_still("Decomposition", model);
  const NoGrad no_grad;
  const Record seen(model, {"*", "*.attn heads", "transformer.ln_f scale"});
  logits = model(ids);
  values_ = seen.values();
  before.push_back(values_.at("transformer.drop"));
  for (Index l = 0; l < model.config.n_layer; ++l) {
    middle.push_back(before.back() + values_.at(block_name(l) + ".attn"));
    before.push_back(values_.at(block_name(l)));
  }
  Tensor total = 0.0, size = 1e-6;
  for (const Part& share : shares(ints({0}))) total = total + share.value, size = size + abs(share.value);
  check_in("Decomposition", max(abs(total - select(logits, -1, 0)) / size).item() < real(1e-3),
           "the parts do not sum to the logits: a scope changes what a layer adds to the stream, or makes of it");
}

std::vector<Decomposition::Part> Decomposition::parts() const {
  const NoGrad no_grad;
  const GPT::Transformer& t = model_.transformer;
  const Tensor token = values_.at("transformer.wte");
  std::vector<Part> all{{"token", t.waves ? token * std::sqrt(static_cast<real>(token.size(-1))) : token}};
  if (t.wpe || t.waves) all.push_back({"position", before[0] - all[0].value});
  for (std::size_t l = 0; l < t.h.size(); ++l) {
    const std::string name = std::to_string(l) + " ", block = block_name(static_cast<Index>(l));
    const SelfAttention& attn = t.h[l].attn;
    for (Index h = 0; h < attn.n_head; ++h)
      all.push_back({name + "head " + std::to_string(h),
                     linear(select(values_.at(block + ".attn heads"), 1, h), writes(attn, h))});
    if (attn.c_proj.bias.defined()) all.push_back({name + "bias", expand(attn.c_proj.bias, token.shape())});
    if (t.h[l].mlp) all.push_back({name + "mlp", values_.at(block + ".mlp")});
  }
  return all;
}

Tensor Decomposition::unembedding(const IntArray& token, const IntArray& less) const {
  const Shape places = logits.shape().without(-1);
  const auto rows = [&](const IntArray& ids) { return embedding(model_.lm_head.weight, ids.expand(places)); };
  return less.defined() ? rows(token) - rows(less) : rows(token);
}

Tensor Decomposition::direction(const IntArray& token, const IntArray& less) const {
  return through_norm(model_, unembedding(token, less)) * values_.at("transformer.ln_f scale");
}

std::vector<Decomposition::Part> Decomposition::shares(const IntArray& token, const IntArray& less) const {
  const NoGrad no_grad;
  const Tensor d = direction(token, less);
  std::vector<Part> all;
  for (const Part& p : parts()) all.push_back({p.name, sum(p.value * d, {-1})});
  if (const Parameter& bias = model_.transformer.ln_f->bias; bias.defined())
    all.push_back({"norm", sum(unembedding(token, less) * bias, {-1})});
  return all;
}

Tensor Decomposition::neuron_shares(Integer layer, const IntArray& token, const IntArray& less) const {
  const NoGrad no_grad;
  check_in("Decomposition", layer >= 0 && layer < model_.config.n_layer && model_.config.block.feed_forward, "layer ",
           layer, " has no feed-forward network");
  const FeedForward& mlp = *model_.transformer.h[static_cast<std::size_t>(layer)].mlp;
  const std::string name = block_name(layer) + ".mlp.";
  const Tensor in = values_.at(name + "c_fc");
  const Tensor neurons = mlp.c_gate ? silu(values_.at(name + "c_gate")) * in : activate(mlp.activation, in);
  return neurons * matmul(direction(token, less), mlp.c_proj.weight);
}

Tensor Decomposition::lens() const {
  const NoGrad no_grad;
  return model_.lm_head((*model_.transformer.ln_f)(stack(before)));
}

double FactoredMatrix::norm() const {  // |L R|^2 is the trace of (L^T L) (R R^T)
  const NoGrad no_grad;
  return std::sqrt(
      static_cast<double>(sum(matmul(transpose(left, 0, 1), left) * matmul(right, transpose(right, 0, 1))).item()));
}

FactoredMatrix operator*(const FactoredMatrix& a, const FactoredMatrix& b) {
  return {a.left, matmul(matmul(a.right, b.left), b.right)};
}

FactoredMatrix operator+(const FactoredMatrix& a, const FactoredMatrix& b) {
  return {concat({a.left, b.left}, 1), concat({a.right, b.right}, 0)};
}

FactoredMatrix transposed(const FactoredMatrix& a) { return {transpose(a.right, 0, 1), transpose(a.left, 0, 1)}; }

FactoredMatrix ov(const GPT& model, Integer layer, Integer head) {
  const NoGrad no_grad;
  const SelfAttention& a = attention_of(model, layer, head);
  return {transpose(reads(a, 2, head), 0, 1), transpose(writes(a, head), 0, 1)};
}

FactoredMatrix qk(const GPT& model, Integer layer, Integer head) {
  const NoGrad no_grad;
  const SelfAttention& a = attention_of(model, layer, head);
  return {transpose(reads(a, 0, head), 0, 1), reads(a, 1, head)};
}

double copying_score(const GPT& model, Integer layer, const FactoredMatrix& written) {
  const NoGrad no_grad;
  attention_of(model, layer, 0);
  check_in("copying_score", model.transformer.ln_f.has_value(), "the model's norm_order must be pre");
  const TransformerBlock& block = model.transformer.h[static_cast<std::size_t>(layer)];
  const Tensor out = transpose(matmul(written.right, transpose(through_norm(model, model.lm_head.weight), 0, 1)), 0, 1);
  Index right = 0;
  const Index V = model.config.vocab_size;
  for (Index t = 0; t < V; ++t) {  // row by row, never [V, V]
    const Tensor e = block.ln_1(slice(model.transformer.wte.weight, 0, t, t + 1));
    right += argmax(linear(matmul(e, written.left), out)).item() == t;
  }
  return static_cast<double>(right) / static_cast<double>(V);
}

double composition(const FactoredMatrix& a, const FactoredMatrix& b) { return (a * b).norm() / (a.norm() * b.norm()); }

Tensor patch_table(const GPT& model, const IntArray& ids, const IntArray& other, const std::string& value,
                   const Metric& metric) {
  const NoGrad no_grad;
  check_in("patch_table", ids.shape().rank() == 2 && (!other.defined() || other.shape() == ids.shape()), "ids ",
           ids.shape(), " and others ", other.defined() ? other.shape() : ids.shape(), " must both be [B, T]");
  check_in("patch_table", ids.numel() > 0, "ids ", ids.shape(), " are empty");
  const bool heads = value == ".attn heads";
  check_in("patch_table", heads || value.find_first_of(" *") == value.npos, "'", value,
           "' should be '', the name of one layer inside a block, such as '.mlp', or '.attn heads'");
  check_still("patch_table", model);
  const Index layers = model.config.n_layer, places = heads ? model.config.n_head : ids.shape()[1];
  const Index runs = layers * places, B = ids.shape()[0];  // run l * places + p has the other value in layer l at p
  std::vector<Tensor> values(static_cast<std::size_t>(layers), Tensor(0.0));
  if (other.defined()) {
    std::vector<std::string> names;
    for (Index l = 0; l < layers; ++l) names.push_back(block_name(l) + value);
    const Record seen(model, names);
    model(other);
    for (std::size_t l = 0; l < values.size(); ++l) values[l] = seen[names[l]];
  }
  const auto patched = [&](const Tensor& x, Index l) {
    Mask here({runs, places});
    for (Index p = 0; p < places; ++p) here.mutate()[(l * places + p) * places + p] = 1;
    const Mask each = here.reshape(heads ? Shape{runs, 1, places, 1, 1} : Shape{runs, 1, places, 1});
    const Tensor by_run = reshape(x, x.shape().with(0, B).insert(0, runs));
    return reshape(where(each, values[static_cast<std::size_t>(l)], by_run), x.shape());
  };
  const IntArray all = concat(std::vector<IntArray>(static_cast<std::size_t>(runs), ids));
  const std::function<Tensor(Index)> run = [&](Index l) {
    if (l == layers) return model(all);
    const Change change(model, block_name(l) + value, [&](const Tensor& x) { return patched(x, l); });
    return run(l + 1);
  };
  const Tensor logits = run(0);
  Array table = Array::zeros({layers, places});
  for (Index r = 0; r < runs; ++r) table.mutate()[r] = metric(slice(logits, 0, r * B, (r + 1) * B)).item();
  return table;
}

HeadImportance head_importance(const GPT& model, const IntArray& ids, const Metric& metric) {
  const Record seen(model, {"*.attn heads"});
  const Tensor whole = metric(model(ids));
  for (const auto& [name, value] : seen.values())
    check_in("head_importance", value.requires_grad(), "needs the gradient at ", name,
             ": call it without NoGrad, and with weights before it that are trainable");
  const std::vector<Parameter> weights = parameters(model);
  std::vector<Array> before;
  for (const Parameter& w : weights) before.push_back(w.grad());
  for (auto [name, value] : seen.values()) value.retain_grad();
  whole.backward();
  for (std::size_t i = 0; i < weights.size(); ++i)
    before[i].defined() ? weights[i].set_grad(before[i]) : weights[i].zero_grad();
  std::vector<Tensor> estimates;
  for (Index l = 0; l < model.config.n_layer; ++l) {
    const Tensor& value = seen[block_name(l) + ".attn heads"];
    estimates.push_back(sum(value.detach() * value.grad(), {0, 2, 3}));
  }
  return {whole.detach() - patch_table(model, ids, {}, ".attn heads", metric), stack(estimates)};
}

}  // namespace mote
