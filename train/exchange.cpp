// The layouts: of torch's generator state, byte by byte, and of its optimizers' dicts.
#include "train/exchange.h"

#include <algorithm>
#include <cstring>

namespace mote {
namespace {

/// at::CPUGeneratorImplState of torch 1.0 and later, on a machine whose lowest byte comes first.
struct RngState {
  std::uint64_t seed = 0;
  std::int32_t left = 1, seeded = 1;  // words until the next block is made
  std::uint64_t next = 0;             // the word that is drawn next
  std::uint64_t words[624] = {};
  double normal_x = 0, normal = 0, normal_rho = 0;
  std::int32_t has_normal = 0;
  float normal_float = 0;
  std::int64_t has_normal_float = 0;
};
static_assert(sizeof(RngState) == 5056);

template <class T>
const T& as(const TorchValue& value, const std::string& what) {
  const T* const x = std::get_if<T>(&value.value);
  check_in("torch", x, what, " is of another type");
  return *x;
}

Array floats(const TorchValue& value, const std::string& what) {
  const auto* const x = std::get_if<Array>(&as<TorchTensor>(value, what).array);
  check_in("torch", x, what, " is no tensor of floats");
  return *x;
}

/// Whether this parameter is a matrix that is transposed there.
bool transposed(const NameTable& names, const NamedParameter& p) {
  return std::any_of(names.rules.begin(), names.rules.end(),
                     [&](const NameRule& r) { return r.here == p.name && r.transposed; });
}

Array moment(const Array& x, bool transposed) { return transposed ? x.transpose(0, 1).contiguous() : x; }

constexpr const char* moments[] = {"exp_avg", "exp_avg_sq"};

}  // namespace

TorchValue detail::list_of(std::vector<TorchValue> items, bool tuple) { return {TorchList{std::move(items), tuple}}; }

const TorchValue* detail::find(const TorchValue& dict, std::string_view name) {
  const auto* const items = std::get_if<TorchDict>(&dict.value);
  return items ? items->find(name) : nullptr;
}

const TorchValue& detail::at(const TorchValue& dict, std::string_view name) {
  const TorchValue* const found = find(dict, name);
  check_in("torch", found, "there is no '", name, "'");
  return *found;
}

TorchTensor torch_rng_state(const GeneratorState& state) {
  RngState s{.seed = state.seed, .has_normal = state.has_normal};
  if (state.has_normal) s.normal = state.cached_normal;
  std::copy(state.words.begin(), state.words.end(), s.words);
  // A stream of which nothing was drawn begins, there, before the block that its seed makes.
  const bool fresh = state.used == 624 && state.words[0] == static_cast<std::uint32_t>(state.seed);
  if (!fresh) s.next = state.used, s.left = 625 - static_cast<std::int32_t>(state.used);
  unsigned char bytes[sizeof s];
  std::memcpy(bytes, &s, sizeof s);
  return {IntArray({std::ssize(bytes)}, std::vector<Index>(std::begin(bytes), std::end(bytes))), true};
}

GeneratorState generator_state(const TorchValue& rng_state, const TorchBuild& build) {
  const auto* const x = std::get_if<IntArray>(&as<TorchTensor>(rng_state, "the random state").array);
  RngState s;
  check_in("torch", x && x->numel() == sizeof s, "the random state has to be ", sizeof s, " bytes, as get_rng_state() ",
           "gives them");
  std::vector<unsigned char> bytes;
  for (const Index byte : x->to_vector()) bytes.push_back(static_cast<unsigned char>(byte));
  std::memcpy(&s, bytes.data(), sizeof s);
  const bool fresh = s.next == 0 && s.left == 1;
  check_in("torch", s.seeded == 1 && (fresh || (s.next <= 624 && s.left == 625 - static_cast<std::int64_t>(s.next))),
           "the random state is damaged: ", s.next, " words are drawn and ", s.left, " left");
  GeneratorState state{.seed = s.seed, .used = fresh ? 624 : static_cast<std::uint32_t>(s.next), .build = build};
  std::transform(std::begin(s.words), std::end(s.words), state.words.begin(),
                 [](std::uint64_t w) { return static_cast<std::uint32_t>(w); });
  state.has_normal = s.has_normal != 0, state.cached_normal = s.normal;
  return state;
}

TorchValue torch_optimizer_state(const OptimizerState& state, const std::vector<ParameterGroup>& all,
                                 const AdamWOptions& o, const NameTable& names) {
  TorchDict parameters;
  std::vector<TorchValue> groups;
  Index number = 0;
  for (const ParameterGroup& group : all) {
    std::vector<TorchValue> numbers;
    for (const NamedParameter& p : group.parameters) {
      const auto found = state.counts.find(p.name + ".step");
      if (found != state.counts.end() && found->second > 0) {
        TorchDict its{{{"step", {TorchTensor{Array(static_cast<real>(found->second))}}}}};
        for (const char* const name : moments) {
          const auto kept = state.arrays.find(p.name + "." + name);
          check_in("torch", kept != state.arrays.end(), "the optimizer is not AdamW: it keeps no ", name, " of ",
                   p.name);
          its.items.push_back({name, {TorchTensor{moment(kept->second, transposed(names, p))}}});
        }
        parameters.items.push_back({number, {std::move(its)}});
      }
      numbers.push_back({number++});
    }
    groups.push_back({TorchDict{{{"lr", {o.lr * group.lr_scale}},
                                 {"betas", detail::list_of({{o.betas[0]}, {o.betas[1]}}, true)},
                                 {"eps", {o.eps}},
                                 {"weight_decay", {group.weight_decay.value_or(o.weight_decay)}},
                                 {"amsgrad", {false}},
                                 {"maximize", {false}},
                                 {"foreach", {}},
                                 {"capturable", {false}},
                                 {"params", detail::list_of(std::move(numbers))}}}});
  }
  return {TorchDict{{{"state", {std::move(parameters)}}, {"param_groups", detail::list_of(std::move(groups))}}}};
}

void set_torch_optimizer_state(Optimizer& optimizer, const TorchValue& state, const NameTable& names) {
  const TorchDict& parameters = as<TorchDict>(detail::at(state, "state"), "the optimizer's state");
  const std::vector<TorchValue>& groups = as<TorchList>(detail::at(state, "param_groups"), "param_groups").items;
  check_in("torch", groups.size() == optimizer.groups().size(), "the optimizer has ", groups.size(),
           " groups there and ", optimizer.groups().size(), " here");
  OptimizerState all;
  Index steps = 0, number = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::vector<NamedParameter>& here = optimizer.groups()[g].parameters;
    const std::size_t there = as<TorchList>(detail::at(groups[g], "params"), "params").items.size();
    check_in("torch", there == here.size(), "group ", g, " of the optimizer has ", there, " parameters there and ",
             here.size(), " here");
    for (const NamedParameter& p : here) {
      const Index wanted = number++;
      const auto found = std::find_if(parameters.items.begin(), parameters.items.end(), [&](const TorchItem& item) {
        return std::get_if<Index>(&item.key) && std::get<Index>(item.key) == wanted;
      });
      const bool stepped = found != parameters.items.end();
      Index& step = all.counts[p.name + ".step"];
      if (!stepped) continue;
      const TorchValue& count = detail::at(found->value, "step");  // a tensor since torch 1.12
      step = std::holds_alternative<Index>(count.value) ? std::get<Index>(count.value)
                                                        : static_cast<Index>(floats(count, "step").item());
      for (const char* const name : moments)
        all.arrays[p.name + "." + name] =
            moment(floats(detail::at(found->value, name), p.name + "." + name), transposed(names, p));
      steps = std::max(steps, step);
    }
  }
  all.counts["steps"] = steps;
  optimizer.set_state(all);
}

TorchValue torch_state_dict(const Module& module, const NameTable& names) {
  TorchDict dict;
  for (const StateEntry& e : state_dict(module, names)) dict.items.push_back({e.name, {TorchTensor{e.read()}}});
  return {std::move(dict)};
}

StateDict state_dict(const TorchValue& torch_state_dict, const std::string& what) {
  StateDict all;
  for (const TorchItem& item : as<TorchDict>(torch_state_dict, what).items) {
    const auto* const name = std::get_if<std::string>(&item.key);
    check_in("torch", name, what, " has a key that is no name");
    const Array x = floats(item.value, *name);
    all.push_back({*name, x.shape(), [x] { return x; }});
  }
  return all;
}

}  // namespace mote
