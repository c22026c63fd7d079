// The layout of torch's generator state, byte by byte, and of the state dicts of torch's optimizers.
#include "train/keep/exchange.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace mote {
namespace {

/// The layout of at::CPUGeneratorImplState in torch 1.0 and later, on a little-endian machine.
struct RngState {
  std::uint64_t seed = 0;
  std::int32_t left = 1, seeded = 1;  // left: words until the next block is made
  std::uint64_t next = 0;             // index of the word that is drawn next
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
  constexpr bool tensor = std::is_same_v<T, TorchTensor>, dict = std::is_same_v<T, TorchDict>;
  check_in("torch", x, what,
           tensor ? " must be a tensor"
           : dict ? " must be a dict"
                  : " must be a list",
           ", not ", class_of(value));
  return *x;
}

constexpr const char* moments[] = {"exp_avg", "exp_avg_sq"};

/// Returns a StatePlace for each parameter of a group. A StatePlace reads and writes the parameter's array `what`, such
/// as "exp_avg", in an optimizer's state. A parameter without a step count gets 0 steps.
std::vector<StatePlace> places_of(OptimizerState& state, const ParameterGroup& group, const std::string& what) {
  std::vector<StatePlace> places;
  for (const auto& [name, p] : group.parameters) {
    const auto set = [&, entry = name + "." + what](const Array& x) { state.arrays[entry] = x; };
    const auto get = [&, name = name, what, shape = p.shape()] {
      if (state.counts[name + ".step"] == 0) return Array(0).expand(shape);
      const auto kept = state.arrays.find(name + "." + what);
      check_in("torch", kept != state.arrays.end(), "the optimizer is not AdamW: there is no ", what, " of ", name);
      return kept->second;
    };
    places.push_back({{name}, p.shape(), set, get});
  }
  return places;
}

}  // namespace

TorchTensor torch_rng_state(const GeneratorState& state) {
  RngState s{.seed = state.seed, .has_normal = state.has_normal};
  if (state.has_normal) s.normal = state.cached_normal;
  std::copy(state.words.begin(), state.words.end(), s.words);
  // A stream from which nothing was drawn has next 0 and left 1, because torch makes the first block of words only at
  // the first draw.
  const bool fresh = state.used == 624 && state.words[0] == static_cast<std::uint32_t>(state.seed);
  if (!fresh) {
    s.next = state.used;
    s.left = 625 - static_cast<std::int32_t>(state.used);
  }
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&s);
  return {IntArray({sizeof s}, std::vector<Index>(bytes, bytes + sizeof s)), true};
}

GeneratorState generator_state(const TorchValue& rng_state) {
  const auto* const x = std::get_if<IntArray>(&as<TorchTensor>(rng_state, "the random state").array);
  RngState s;
  check_in("torch", x && x->numel() == sizeof s, "the random state must have ", sizeof s, " bytes, as get_rng_state() ",
           "returns");
  const IntArray bytes = x->contiguous();
  std::copy_n(bytes.data(), sizeof s, reinterpret_cast<unsigned char*>(&s));
  const bool fresh = s.next == 0 && s.left == 1;
  check_in("torch", s.seeded == 1, "the random state is damaged: its mark of a seed is ", s.seeded, ", not 1");
  check_in("torch", fresh || (s.next <= 624 && s.left == 625 - static_cast<std::int64_t>(s.next)),
           "the random state is damaged: it counts ", s.next, " drawn words of 624 and ", s.left,
           " words left, which must add up to 625");
  GeneratorState state{.seed = s.seed, .used = fresh ? 624 : static_cast<std::uint32_t>(s.next)};
  std::copy_n(s.words, 624, state.words.begin());
  state.has_normal = s.has_normal != 0;
  state.cached_normal = s.normal;
  return state;
}

TorchValue torch_optimizer_state(const OptimizerState& state, const std::vector<ParameterGroup>& all,
                                 const AdamWOptions& o, const NameTable& names) {
  OptimizerState mine = state;
  TorchDict parameters;
  std::vector<TorchValue> groups;
  Index number = 0;
  for (const ParameterGroup& group : all) {
    const StateDict mean = state_dict(places_of(mine, group, moments[0]), names, "optimizer"),
                    square = state_dict(places_of(mine, group, moments[1]), names, "optimizer");
    std::vector<TorchValue> numbers;
    for (std::size_t i = 0; i < mean.size(); ++i) {
      const Index steps = mine.counts[mean[i].here[0] + ".step"];
      for (const std::string& name : mean[i].here)
        check_in("torch", mine.counts[name + ".step"] == steps, "parts of ", mean[i].name,
                 " have had different numbers of steps, but torch keeps one number for all of them");
      if (steps > 0)
        parameters.items.push_back({number,
                                    {TorchDict{{{"step", {TorchTensor{Array(static_cast<real>(steps))}}},
                                                {moments[0], {TorchTensor{mean[i].read().contiguous()}}},
                                                {moments[1], {TorchTensor{square[i].read().contiguous()}}}}}}});
      numbers.push_back({number++});
    }
    groups.push_back({TorchDict{{{"lr", {o.lr * group.lr_scale}},
                                 {"betas", {TorchList{{{o.betas[0]}, {o.betas[1]}}, true}}},
                                 {"eps", {o.eps}},
                                 {"weight_decay", {group.weight_decay.value_or(o.weight_decay)}},
                                 {"amsgrad", {false}},
                                 {"maximize", {false}},
                                 {"foreach", {}},
                                 {"capturable", {false}},
                                 {"params", {TorchList{std::move(numbers)}}}}}});
  }
  return {TorchDict{{{"state", {std::move(parameters)}}, {"param_groups", {TorchList{std::move(groups)}}}}}};
}

void set_torch_optimizer_state(Optimizer& optimizer, const TorchValue& state, const NameTable& names) {
  const TorchDict& parameters = as<TorchDict>(detail::at(state, "state"), "the optimizer's state");
  const std::vector<TorchValue>& groups = as<TorchList>(detail::at(state, "param_groups"), "param_groups").items;
  check_in("torch", groups.size() == optimizer.groups().size(), "the optimizer has ", groups.size(),
           " groups in the file, but ", optimizer.groups().size(), " in this run");
  OptimizerState all;
  std::set<Index> taken;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const ParameterGroup& group = optimizer.groups()[g];
    for (const char* const other : {"amsgrad", "maximize"}) {
      const TorchValue* const on = detail::find(groups[g], other);
      const bool* const flag = on ? std::get_if<bool>(&on->value) : nullptr;
      check_in("torch", !flag || !*flag, "the optimizer uses ", other, ": mote's AdamW does not have it");
    }

    const StateDict here = state_dict(places_of(all, group, ""), names, "optimizer");
    const std::vector<TorchValue>& numbers = as<TorchList>(detail::at(groups[g], "params"), "params").items;
    check_in("torch", numbers.size() == here.size(), "group ", g, " of the optimizer has ", numbers.size(),
             " parameters in the file, but ", here.size(), " in this run");
    StateDict given[2];
    for (std::size_t i = 0; i < here.size(); ++i) {
      const StateEntry& e = here[i];
      const Index number = detail::count_of(numbers[i], "params of group " + std::to_string(g));
      check_in("torch", taken.insert(number).second, "the optimizer has parameter ", number, " twice");
      const TorchValue* const found = parameters.find(number);
      if (!found) continue;  // this parameter was never updated
      for (const char* const part : {"step", moments[0], moments[1]})
        check_in("torch", detail::find(*found, part), "the optimizer has no ", part, " of ", e.name);
      const Index steps = detail::count_of(detail::at(*found, "step"), "the steps of " + e.name);
      for (const std::string& name : e.here) {
        Index& mine = all.counts[name + ".step"];
        check_in("torch", mine == 0 || mine == steps, "parts of ", name,
                 " have had different numbers of steps, but mote keeps one number for all of them");
        mine = steps;
      }
      for (std::size_t k = 0; k < 2; ++k) {
        const Array x = detail::floats_of(detail::at(*found, moments[k]), e.name + "." + moments[k]);
        given[k].push_back({e.name, x.shape(), [x] { return x; }});
      }
    }
    for (std::size_t k = 0; k < 2; ++k)
      load_places("torch", places_of(all, group, moments[k]), given[k], {.strict = false, .names = names}, moments[k],
                  "optimizer");
  }
  for (const TorchItem& item : parameters.items) {
    const Index* const number = std::get_if<Index>(&item.key);
    check_in("torch", number && taken.contains(*number), "the optimizer has a state ",
             number ? "of parameter " + std::to_string(*number) + ", which no group lists" : "whose key is not an int");
  }
  Index& steps = all.counts["steps"];
  for (const auto& [name, count] : all.counts) steps = std::max(steps, count);
  optimizer.set_state(all);
}

}  // namespace mote
