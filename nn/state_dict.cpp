// How a state is matched with a module's fields, renamed, saved and loaded; copy_weights, which loads another module.
#include "nn/state_dict.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "engine/array/join.h"

namespace mote {
namespace {

/// Equal in every bit, whatever it means as a number.
bool same_elements(const Array& a, const Array& b) {
  const Array x = a.contiguous(), y = b.contiguous();
  return x.numel() == 0 || std::memcmp(x.data(), y.data(), static_cast<std::size_t>(x.numel()) * sizeof(real)) == 0;
}

/// The same places, only to be read.
std::vector<StatePlace> places_of(const Module& module) { return state_places(const_cast<Module&>(module)); }

/// The rules of a table; of an empty one mote's own names, of which the first of a tied array is written.
std::vector<NameRule> rules_of(const NameTable& table, const std::vector<StatePlace>& places) {
  std::vector<NameRule> rules = table.rules;
  if (!rules.empty()) return rules;
  for (const StatePlace& place : places)
    for (const std::string& name : place.names)
      rules.push_back({.there = name, .here = name, .read_only = name != place.names.front()});
  return rules;
}

/// Where each name is in the list.
std::map<std::string, std::size_t> positions_of(const std::vector<StatePlace>& places) {
  std::map<std::string, std::size_t> positions;
  for (std::size_t i = 0; i < places.size(); ++i)
    for (const std::string& name : places[i].names) positions[name] = i;
  return positions;
}

/// The shape of what is kept there, from that of our part of it; none if ours cannot be such a part or there is
/// no such part.
std::optional<Shape> shape_there(const NameRule& rule, const Shape& ours) {
  if (rule.part < 0 || rule.part >= rule.parts || (rule.parts > 1 && ours.rank() == 0) ||
      (rule.transposed && ours.rank() != 2))
    return {};
  const Shape whole = rule.parts > 1 ? ours.with(0, ours[0] * rule.parts) : ours;
  return rule.transposed ? whole.swapped(0, 1) : whole;
}

/// The transpose of a matrix, in the block that holds it. One scratch serves all: blocks from mote's cache would remain
/// there, one for every shape, for GPT-2 more than its largest matrix.
Array transposed(Array x, std::vector<real>& scratch) {
  detail::copy_elements(x.data(), x.layout().transpose(0, 1), scratch.data());
  x = x.reshape({x.shape()[1], x.shape()[0]});
  std::copy_n(scratch.data(), x.numel(), x.mutate());
  return x;
}

/// Our part of `x`, which is kept there.
Array part_of(Array x, const NameRule& rule, std::vector<real>& scratch) {
  const Array whole = rule.transposed ? transposed(std::move(x), scratch) : std::move(x);
  if (rule.parts == 1) return whole;
  const Index n = whole.shape()[0] / rule.parts;
  return copy_of(whole.slice(0, rule.part * n, (rule.part + 1) * n));
}

/// An array of a state and where it goes.
struct Assignment {
  const StateEntry* from;
  NameRule rule;
  std::size_t to;
};

/// Which entries go where, and what does not fit: the problems of every place, then of the rest.
struct Matches {
  std::vector<Assignment> assignments;
  std::vector<std::string> problems;
  LoadReport report;
};

Matches match(const StateDict& state, const std::vector<StatePlace>& places, const LoadOptions& options) {
  const std::map<std::string, std::size_t> place_of = positions_of(places);
  const std::vector<NameRule> rules = rules_of(options.names, places);
  std::multimap<std::string, const NameRule*> by_name;  // there
  for (const NameRule& rule : rules) by_name.emplace(rule.there, &rule);
  Matches m;
  m.problems.resize(places.size() + 1);
  std::vector<bool> given(places.size());
  for (const StateEntry& e : state) {
    const auto ends = [&](const std::string& end) { return e.name.ends_with(end); };
    if (std::any_of(options.names.ignored.begin(), options.names.ignored.end(), ends)) continue;
    bool used = false;
    for (auto [at, end] = by_name.equal_range(e.name); at != end; ++at) {
      const NameRule& rule = *at->second;
      const auto found = place_of.find(rule.here);
      if (found == place_of.end()) continue;
      const std::size_t to = found->second;
      const std::optional<Shape> wanted = shape_there(rule, places[to].shape);
      const Shape& here = wanted ? *wanted : places[to].shape;
      if (!wanted || !(here == e.shape))
        m.problems[to] += "\n  '" + e.name + "' is " + text_of(e.shape) + " there and " + text_of(here) + " here";
      m.assignments.push_back({&e, rule, to});
      used = given[to] = true;
    }
    if (!used) m.report.unexpected.push_back(e.name);
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (given[i]) continue;
    const std::vector<std::string>& names = places[i].names;
    m.report.missing.push_back(names.front());
    const auto written = std::find_if(rules.begin(), rules.end(), [&](const NameRule& rule) {
      return !rule.read_only && std::find(names.begin(), names.end(), rule.here) != names.end();
    });
    if (options.strict)
      m.problems[i] = "\n  '" + (written == rules.end() ? names.front() : written->there) + "' is missing there";
  }
  if (options.strict)
    for (const std::string& name : m.report.unexpected) m.problems.back() += "\n  '" + name + "' has no place here";
  return m;
}

LoadReport fill(const char* who, Module& module, const StateDict& state, const LoadOptions& options,
                const std::string& what) {
  const std::vector<StatePlace> places = state_places(module);
  auto [assignments, problems, report] = match(state, places, options);
  const auto require_none = [&, &problems = problems] {
    std::string all;
    for (const std::string& text : problems)
      if (all.find(text) == std::string::npos) all += text;  // the same of several parts
    check_in(who, all.empty(), what, " does not fit this ", module.type_name(), ":", all);
  };
  require_none();
  std::vector<Array> values(places.size());
  std::vector<const StateEntry*> sources(places.size());
  Index largest = 0;
  for (const Assignment& a : assignments) largest = std::max(largest, a.rule.transposed ? a.from->shape.numel() : 0);
  std::vector<real> scratch(static_cast<std::size_t>(largest));
  for (const auto& [from, rule, to] : assignments) {
    Array x = from->read();
    check_in(who, x.shape() == from->shape, what, ": '", from->name, "' should be ", from->shape, " and reads as ",
             x.shape());
    const Array value = part_of(std::move(x), rule, scratch);
    if (values[to].defined() && !same_elements(values[to], value))
      problems[to] += "\n  '" + sources[to]->name + "' and '" + from->name +
                      "' are one parameter here and two different ones there";
    values[to] = value, sources[to] = from;
  }
  require_none();
  for (std::size_t i = 0; i < places.size(); ++i)  // nothing can fail from here on
    if (values[i].defined()) places[i].set(std::move(values[i]));
  return report;
}

/// An array as it is kept there, and our parts of it.
struct Whole {
  NameRule rule;
  std::map<Index, Array> parts;

  void add(const NameRule& mine, const Array& value) {
    const bool fits = mine.part >= 0 && mine.part < rule.parts && parts.emplace(mine.part, value).second;
    check_in("state_dict", fits, "the table gives '", mine.here, "' as part ", mine.part, " of the ", rule.parts,
             " of '", rule.there, "', which has no such part or has one already");
  }
};

}  // namespace

std::vector<StatePlace> state_places(Module& module) {
  std::vector<StatePlace> places;
  std::map<const Parameter::Cell*, std::size_t> tied;
  for (const auto& [name, p] : named_parameters(module, true)) {
    const auto [found, added] = tied.try_emplace(p.id(), places.size());
    if (added)
      places.push_back({{}, p.shape(), [p = p](Array x) { p.set(std::move(x)); }, [p = p] { return p.value(); }});
    places[found->second].names.push_back(name);
  }
  for (const NamedBuffer& b : named_buffers(module))
    places.push_back({{b.name}, b.array->shape(), [b](Array x) { *b.array = std::move(x); }, [b] { return *b.array; }});
  return places;
}

StateDict state_dict(const Module& module, const NameTable& names) {
  StateDict state;
  const std::vector<StatePlace> held = places_of(module);
  const std::map<std::string, std::size_t> position = positions_of(held);
  std::vector<Whole> wholes;
  std::map<std::string, std::size_t> whole_of;
  std::vector<bool> used(held.size());
  for (const NameRule& rule : rules_of(names, held)) {
    const auto found = position.find(rule.here);
    if (rule.read_only || found == position.end()) continue;  // no position: a bias that this module does without, say
    const auto [whole, added] = whole_of.try_emplace(rule.there, wholes.size());
    if (added) wholes.push_back({rule, {}});
    wholes[whole->second].add(rule, held[found->second].get());
    used[found->second] = true;
  }
  for (std::size_t i = 0; i < held.size(); ++i)
    check_in("state_dict", used[i], "'", held[i].names.front(), "' of this ", module.type_name(),
             " has no name in the table");
  for (const auto& [rule, parts] : wholes) {
    std::vector<Array> list;
    for (const auto& [part, value] : parts) list.push_back(value);
    const Shape& first = list[0].shape();
    const std::optional<Shape> shape = shape_there(rule, first);
    bool fits = shape && list.size() == static_cast<std::size_t>(rule.parts);
    for (const Array& part : list) fits = fits && part.shape() == first;
    check_in("state_dict", fits, "'", rule.there, "' cannot be made of the ", list.size(), " arrays like '", rule.here,
             "' ", first, " in this ", module.type_name());
    state.push_back({rule.there, *shape, [rule = rule, list = list] {
                       const Array whole = rule.parts == 1 ? list[0] : joined(list, 0);
                       return rule.transposed ? whole.transpose(0, 1) : whole;
                     }});
  }
  return state;
}

StateDict state_dict(const SafetensorsFile& file) {
  StateDict state;
  for (const TensorEntry& t : file.tensors()) state.push_back({t.name, t.shape, [&file, &t] { return file.array(t); }});
  return state;
}

LoadReport load_state_dict(Module& module, const StateDict& state, const LoadOptions& options,
                           const std::string& what) {
  return fill("load", module, state, options, what);
}

void copy_weights(const Module& from, Module& to) {
  StateDict state;
  for (const StatePlace& place : places_of(from))
    for (const std::string& name : place.names) state.push_back({name, place.shape, place.get});
  fill("copy_weights", to, state, {}, "the source");
}

void save(const Module& module, const std::string& path, const NameTable& names) {
  std::vector<NamedArray> tensors;
  for (const StateEntry& e : state_dict(module, names)) tensors.push_back({e.name, e.read()});
  save_safetensors(path, std::move(tensors));
}

LoadReport load(Module& module, const std::string& path, const LoadOptions& options) {
  const SafetensorsFile file(path);
  return fill("load", module, state_dict(file), options, path);
}

}  // namespace mote
