// How Decomposition records and splits a forward pass, and how patch_table runs all patches in one batch.
#include "models/inside.h"

#include <cmath>
#include <limits>

namespace mote {
namespace {

std::string block_name(Index layer) { return "transformer.h." + std::to_string(layer); }

/// The values of a model's parameters, under all their names.
std::map<std::string, Tensor> weights_of(const GPT& model) {
  std::map<std::string, Tensor> all;
  for (const NamedParameter& p : named_parameters(model, true)) all[p.name] = p.parameter.value();
  return all;
}

/// Returns the weight of this name and shape, or an undefined Tensor if there is no such weight.
Tensor weight(const std::map<std::string, Tensor>& weights, const std::string& name, const Shape& shape) {
  const auto found = weights.find(name);
  return found != weights.end() && found->second.shape() == shape ? found->second : Tensor();
}

/// The projections of one attention layer, found by nanoGPT's names.
struct Projections {
  /// `reads` is c_attn.weight, [(H + 2 Hkv) d, C], with the rows queries | keys | values. `writes` is c_proj.weight,
  /// [C, H d]. d is the width of a head.
  Tensor reads, writes;
  Index heads, shared, d;

  Projections(const GPT& model, Index layer, Index head) {
    const GPTConfig& c = model.config;
    check_in("head", layer >= 0 && layer < c.n_layer && head >= 0 && head < c.n_head, "there is no head ", head,
             " in layer ", layer, ": the model has layers 0 to ", c.n_layer - 1, " with heads 0 to ", c.n_head - 1);
    heads = c.n_head;
    shared = c.block.projections.n_kv_head ? c.block.projections.n_kv_head : heads;
    d = c.n_embd / heads;
    const std::map<std::string, Tensor> weights = weights_of(model);
    const std::string name = block_name(layer) + ".attn.";
    reads = weight(weights, name + "c_attn.weight", {(heads + 2 * shared) * d, c.n_embd});
    writes = weight(weights, name + "c_proj.weight", {c.n_embd, heads * d});
    check_in(
        "head", reads.defined() && writes.defined(), name, "c_attn.weight and ", name,
        "c_proj.weight must be those of a SelfAttention: which rows and columns belong to a head is known only there");
  }
  /// The rows of c_attn that compute queries (part 0), keys (part 1) or values (part 2) for a head of queries: [d, C].
  Tensor read(Index part, Index head) const {
    const Index at = part == 0 ? head : heads + (part - 1) * shared + head / (heads / shared);
    return slice(reads, 0, at * d, (at + 1) * d);
  }
  /// The columns of the output projection for one head: [C, d].
  Tensor write(Index head) const { return slice(writes, 1, head * d, (head + 1) * d); }
};

/// The gradient of the dot product of u and norm(x) with respect to x, where the norm's factor 1 / sqrt(variance + eps)
/// is replaced by 1. It is u times the norm's weight. If the norm subtracts the mean, as LayerNorm does, the mean of
/// this product is subtracted as well.
Tensor through_norm(const GPTConfig& c, const Tensor& gain, const Tensor& u) {
  const Tensor g = u * gain;
  return c.block.norm == NormKind::layer_norm ? g - mean(g, {-1}, true) : g;
}

/// Checks that dropout is off, because dropout would make two passes differ by chance. Errors: dropout is on.
void check_still(const char* who, const GPT& model) {
  for (const NamedModule& m : named_modules(model)) {
    const auto* const dropout = dynamic_cast<const Dropout*>(m.module);
    check_in(who, !dropout || dropout->now() == 0, "dropout is on: call eval() first");
  }
}

/// Records what each head gives to the output projection, [B, H, T, d], under names such as "transformer.h.0.attn
/// heads". An attention layer of your own that does not show its heads to observers is left out.
struct ShownHeads : Observer {
  std::map<std::string, Tensor> shown;
  ShownHeads() { watch(); }
  void event(const Event& e) override {
    if (e.name != "heads") return;
    if (e.kind == Event::value_asked) e.answer(Want::to_see);
    if (e.kind == Event::value_shown) shown[current_layer() + " heads"] = *e.value;
  }
};

/// Whether `sum` equals `whole` up to rounding. `size` is the sum of the absolute values of the terms in `sum`.
bool adds_up(const Tensor& sum, const Tensor& whole, const Tensor& size) {
  const real tolerance = std::sqrt(std::numeric_limits<real>::epsilon());
  const Tensor off = abs(sum - whole) - size * tolerance;
  return max(off.array()).item() <= std::numeric_limits<real>::min();
}

}  // namespace

Decomposition::Decomposition(const GPT& model, const IntArray& ids) : config_(model.config) {
  check_in("Decomposition", config_.block.norm_order == NormOrder::pre, "the model's norm_order must be pre");
  check_still("Decomposition", model);
  const NoGrad no_grad;
  weights_ = weights_of(model);
  {
    const Record seen(model, {"*", "transformer.ln_f scale"});
    const ShownHeads heads;
    logits = model(ids);
    values_ = seen.values();
    values_.insert(heads.shown.begin(), heads.shown.end());
  }
  before.push_back(values_.at("transformer.drop"));
  for (Index l = 0; l < config_.n_layer; ++l) {
    middle.push_back(before.back() + values_.at(block_name(l) + ".attn"));
    before.push_back(values_.at(block_name(l)));
  }
  check_sums();
}

void Decomposition::check_sums() const {
  const Tensor scale = values_.at("transformer.ln_f scale"), head = weights_.at("lm_head.weight");
  const Tensor grows = through_norm(config_, weights_.at("transformer.ln_f.weight"), head);  // [V, C]
  Tensor stream = 0.0, terms = 0.0;
  for (const Part& p : parts()) {
    stream = stream + p.value;
    terms = terms + abs(p.value);
  }
  Tensor sums = linear(stream * scale, grows), sizes = linear(terms * scale, abs(grows));
  if (const Tensor bias = weight(weights_, "transformer.ln_f.bias", {config_.n_embd}); bias.defined()) {
    sums = sums + linear(bias, head);
    sizes = sizes + linear(abs(bias), abs(head));
  }
  check_in("Decomposition", logits.shape() == sums.shape() && adds_up(sums, logits, sizes),
           "the parts do not sum to the logits: a scope changes what a layer adds to the stream, or makes of it, or a ",
           "layer of your own adds something else to it");
}

std::vector<Decomposition::Part> Decomposition::parts() const {
  const NoGrad no_grad;
  const Tensor token = values_.at("transformer.wte");
  const bool waves = config_.position == Position::sinusoidal;
  std::vector<Part> all{{"token", waves ? token * std::sqrt(static_cast<real>(token.size(-1))) : token}};
  if (waves || config_.position == Position::learned) all.push_back({"position", before[0] - all[0].value});
  for (Index l = 0; l < config_.n_layer; ++l) {
    const std::string name = std::to_string(l) + " ", attn = block_name(l) + ".attn", mlp = block_name(l) + ".mlp";
    const auto heads = values_.find(attn + " heads");
    const Index H = heads != values_.end() ? heads->second.size(1) : 0, d = H ? heads->second.size(3) : 0;
    const Tensor writes = weight(weights_, attn + ".c_proj.weight", {config_.n_embd, H * d});
    if (!H || !writes.defined()) {
      all.push_back({name + "attn", values_.at(attn)});
    } else {
      for (Index h = 0; h < H; ++h)
        all.push_back({name + "head " + std::to_string(h),
                       linear(select(heads->second, 1, h), slice(writes, 1, h * d, (h + 1) * d))});
      const Tensor bias = weight(weights_, attn + ".c_proj.bias", {config_.n_embd});
      if (bias.defined()) all.push_back({name + "bias", expand(bias, token.shape())});
    }
    if (config_.block.feed_forward) all.push_back({name + "mlp", values_.at(mlp)});
  }
  return all;
}

Tensor Decomposition::unembedding(const IntArray& token, const IntArray& less) const {
  const Shape places = logits.shape().without(-1);
  const auto rows = [&](const IntArray& ids) { return embedding(weights_.at("lm_head.weight"), ids.expand(places)); };
  return less.defined() ? rows(token) - rows(less) : rows(token);
}

Tensor Decomposition::direction(const IntArray& token, const IntArray& less) const {
  const Tensor u = unembedding(token, less);
  return through_norm(config_, weights_.at("transformer.ln_f.weight"), u) * values_.at("transformer.ln_f scale");
}

std::vector<Decomposition::Part> Decomposition::shares(const IntArray& token, const IntArray& less) const {
  const NoGrad no_grad;
  const Tensor d = direction(token, less);
  std::vector<Part> all;
  for (const Part& p : parts()) all.push_back({p.name, sum(p.value * d, {-1})});
  if (const Tensor bias = weight(weights_, "transformer.ln_f.bias", {config_.n_embd}); bias.defined())
    all.push_back({"norm", sum(unembedding(token, less) * bias, {-1})});
  return all;
}

Tensor Decomposition::neuron_shares(Integer layer, const IntArray& token, const IntArray& less) const {
  const NoGrad no_grad;
  check_in("Decomposition", layer >= 0 && layer < config_.n_layer, "layer ", layer, " is out of range for ",
           config_.n_layer, " layers");
  check_in("Decomposition", config_.block.feed_forward,
           "the model has no feed-forward networks, whose neurons could have shares");
  const std::string name = block_name(layer) + ".mlp";
  const char* const unknown =
      " must be a FeedForward, whose result is c_proj of its neurons: of another network only the whole has a share";
  const auto in = values_.find(name + ".c_fc"), gate = values_.find(name + ".c_gate");
  const bool gated = config_.block.activation == Activation::swiglu;
  check_in("Decomposition", in != values_.end() && gated == (gate != values_.end()), name, unknown);
  const Tensor neurons =
      gated ? silu(gate->second) * in->second : activate(config_.block.activation, in->second);  // [B, T, N]
  const Tensor writes = weight(weights_, name + ".c_proj.weight", {config_.n_embd, neurons.size(-1)});
  check_in("Decomposition", writes.defined(), name, unknown);
  const Tensor bias = weight(weights_, name + ".c_proj.bias", {config_.n_embd});
  Tensor size = linear(abs(neurons), abs(writes));
  if (bias.defined()) size = size + abs(bias);
  check_in("Decomposition", adds_up(linear(neurons, writes, bias), values_.at(name), size), name, unknown);
  return neurons * matmul(direction(token, less), writes);
}

Tensor Decomposition::lens() const {
  const NoGrad no_grad;
  const Tensor gain = weights_.at("transformer.ln_f.weight"), x = stack(before);
  const Tensor bias = weight(weights_, "transformer.ln_f.bias", {config_.n_embd});
  const double eps = config_.block.norm_eps;
  const bool centred = config_.block.norm == NormKind::layer_norm;
  return linear(centred ? layer_norm(x, gain, bias, eps) : rms_norm(x, gain, eps), weights_.at("lm_head.weight"));
}

double FactoredMatrix::norm() const {  // with L = left and R = right, |L R|^2 is the trace of (L^T L) (R R^T)
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
  const Projections p(model, layer, head);
  return {transpose(p.read(2, head), 0, 1), transpose(p.write(head), 0, 1)};
}

FactoredMatrix qk(const GPT& model, Integer layer, Integer head) {
  const NoGrad no_grad;
  const Projections p(model, layer, head);
  return {transpose(p.read(0, head), 0, 1), p.read(1, head)};
}

double copying_score(const GPT& model, Integer layer, const FactoredMatrix& written) {
  const NoGrad no_grad;
  const GPTConfig& c = model.config;
  check_in("copying_score", layer >= 0 && layer < c.n_layer, "layer ", layer, " is out of range for ", c.n_layer,
           " layers");
  check_in("copying_score", c.block.norm_order == NormOrder::pre, "the model's norm_order must be pre");
  const TransformerBlock& block = model.transformer.h[static_cast<std::size_t>(layer)];
  const Tensor gain = weights_of(model).at("transformer.ln_f.weight");
  const Tensor grows = through_norm(c, gain, model.lm_head.weight);
  const Tensor out = transpose(matmul(written.right, transpose(grows, 0, 1)), 0, 1);
  Index right = 0;
  const Index V = c.vocab_size;
  for (Index t = 0; t < V; ++t) {  // row by row, so that no [V, V] array is needed
    const Tensor e = block.ln_1(slice(model.transformer.wte.weight, 0, t, t + 1));
    right += argmax(linear(matmul(e, written.left), out)).item() == t;
  }
  return static_cast<double>(right) / static_cast<double>(V);
}

double composition(const FactoredMatrix& a, const FactoredMatrix& b) { return (a * b).norm() / (a.norm() * b.norm()); }

Tensor patch_table(const GPT& model, const IntArray& ids, const IntArray& other, const std::string& value,
                   const Metric& metric) {
  const NoGrad no_grad;
  check_in("patch_table", ids.shape().rank() == 2, "ids ", ids.shape(), " must be [B, T]");
  check_in("patch_table", !other.defined() || other.shape() == ids.shape(), "other ",
           other.defined() ? other.shape() : Shape(), " must have the shape of ids ", ids.shape());
  check_in("patch_table", ids.numel() > 0, "ids ", ids.shape(), " are empty: both axes must be at least 1");
  const bool heads = value == ".attn heads";
  check_in("patch_table", heads || value.find_first_of(" *") == value.npos, "value '", value,
           "' must be '' (a block as a whole), the name of one layer inside a block, such as '.mlp', or '.attn heads'");
  check_still("patch_table", model);
  const Index layers = model.config.n_layer, places = heads ? model.config.n_head : ids.shape()[1];
  const Index runs = layers * places, B = ids.shape()[0];  // run l * places + p replaces layer l's value at place p
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
    check_in("head_importance", value.requires_grad(), "no gradient reaches '", name,
             "': call it without NoGrad, and with trainable weights in the layers before");
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
