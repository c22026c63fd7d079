// Matches a state with the fields of a module, and renames, saves and loads states. Also has copy_weights, which loads
// another module's state.
#include "nn/state_dict.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "engine/array/join.h"

namespace mote {
namespace {

/// Whether two arrays are equal bit for bit. So a NaN equals itself, and 0 does not equal -0.
bool same_elements(const Array& a, const Array& b) {
  const Array x = a.contiguous(), y = b.contiguous();
  return x.numel() == 0 || std::memcmp(x.data(), y.data(), static_cast<std::size_t>(x.numel()) * sizeof(real)) == 0;
}

/// The parameters and buffers of a const module as StatePlaces. They must only be read.
std::vector<StatePlace> places_of(const Module& module) { return state_places(const_cast<Module&>(module)); }

/// A NameRule with the array of the module that it is about. `place` is the index of this array among all StatePlaces.
/// `there` is the shape that the other library's array must have. `there` is empty if the rule does not fit the
/// module's array.
struct PlacedRule {
  NameRule rule;
  std::size_t place;
  std::optional<Shape> there;
};

/// Finds the module's array for each rule of the table. Rules for arrays that the module does not have are left out. A
/// table without rules gets one rule for each of mote's own names. A tied array is written only under its first name.
std::vector<PlacedRule> placed_rules(const NameTable& table, const std::vector<StatePlace>& places) {
  std::vector<NameRule> rules = table.rules;
  std::map<std::string, std::size_t> positions;
  for (std::size_t i = 0; i < places.size(); ++i)
    for (const std::string& name : places[i].names) {
      positions[name] = i;
      if (table.rules.empty()) rules.push_back({.there = name, .here = name, .read_only = name != places[i].names[0]});
    }
  const auto possible = [](const NameRule& r) {
    return std::min({r.rows, r.from_here, r.from_there}) >= 0 &&
           std::max({r.rows, r.from_here, r.from_there}) <= Shape::max_numel;
  };
  std::map<std::string, Index> rows;  // the number of rows of each of the other library's arrays, by its name
  for (const NameRule& r : rules)
    if (possible(r)) rows[r.there] = std::max(rows[r.there], r.from_there + r.rows);
  std::vector<PlacedRule> placed;
  for (const NameRule& r : rules) {
    const auto found = positions.find(r.here);
    if (found == positions.end()) continue;  // for example a bias that this module does not have
    placed.push_back({r, found->second, {}});
    const Shape& ours = places[found->second].shape;
    if (!possible(r)) continue;
    const bool part = r.rows != 0, fits = !part || (ours.rank() > 0 && r.from_here + r.rows <= ours[0]);
    if (!fits || (r.transposed && ours.rank() != 2)) continue;
    const Shape whole = part ? ours.with(0, rows[r.there]) : ours;
    placed.back().there = r.transposed ? whole.swapped(0, 1) : whole;
  }
  return placed;
}

Array rows_of(const Array& x, Index rows, Index from) { return rows == 0 ? x : x.slice(0, from, from + rows); }

/// For each array of the module, which of its rows a rule has covered. An array of rank 0 or without rows counts as one
/// row.
struct NamedRows {
  std::vector<std::vector<bool>> rows;

  explicit NamedRows(const std::vector<StatePlace>& places) {
    for (const StatePlace& p : places)
      rows.emplace_back(p.shape.rank() == 0 ? 1 : static_cast<std::size_t>(std::max<Index>(p.shape[0], 1)));
  }
  /// Marks the rows of a rule as covered. Returns whether the first of these rows was not covered before.
  bool add(const PlacedRule& p) {
    std::vector<bool>& all = rows[p.place];
    const bool part = p.there && p.rule.rows > 0;
    const auto first = all.begin() + (part ? p.rule.from_here : 0);
    const bool news = !*first;
    std::fill(first, part ? first + p.rule.rows : all.end(), true);
    return news;
  }
  bool whole(std::size_t place) const { return std::count(rows[place].begin(), rows[place].end(), false) == 0; }
};

/// Transposes a matrix in place. All matrices share one scratch buffer, because separate buffers would remain in mote's
/// memory cache. For GPT-2, they would take more memory than GPT-2's largest matrix.
Array transposed(Array x, std::vector<real>& scratch) {
  detail::copy_elements(x.data(), x.layout().transpose(0, 1), scratch.data());
  x = x.reshape({x.shape()[1], x.shape()[0]});
  std::copy_n(scratch.data(), x.numel(), x.mutate());
  return x;
}

/// The result of match(): pairs of an entry to load and its rule, messages about problems, and the report. The key of a
/// problem is the index of the module's array, so that messages are in the module's order. Problems that concern no
/// array come last.
struct Matches {
  std::vector<std::pair<const StateEntry*, PlacedRule>> assignments;
  std::multimap<std::size_t, std::string> problems;
  LoadReport report;
};

/// The prefix "_orig_mod.", "module." or both that torch.compile and DistributedDataParallel put before all names of a
/// state. "" if there is no such prefix, or if the model's own names begin with it.
std::string wrapper_prefix(const StateDict& state, const std::vector<PlacedRule>& rules) {
  std::string prefix;
  for (bool found = !state.empty(); found;) {
    found = false;
    for (const char* const wrapper : {"_orig_mod.", "module."}) {
      const std::string longer = prefix + wrapper;
      const auto has = [&](const StateEntry& e) { return e.name.starts_with(longer); };
      const auto meant = [&](const PlacedRule& p) { return p.rule.there.starts_with(longer); };
      if (!std::all_of(state.begin(), state.end(), has) || std::any_of(rules.begin(), rules.end(), meant)) continue;
      prefix = longer;
      found = true;
    }
  }
  return prefix;
}

Matches match(const StateDict& state, const std::vector<StatePlace>& places, const LoadOptions& options) {
  const std::vector<PlacedRule> rules = placed_rules(options.names, places);
  const std::size_t prefix = wrapper_prefix(state, rules).size();
  std::multimap<std::string, const PlacedRule*> by_name;  // by the other library's name
  for (const PlacedRule& p : rules) by_name.emplace(p.rule.there, &p);
  Matches m;
  const auto problem = [&](std::size_t place, const std::string& name, const std::string& what) {
    m.problems.emplace(place, "\n  '" + name + "' " + what);
  };
  NamedRows given(places);
  for (const StateEntry& e : state) {
    const auto ends = [&](const std::string& end) { return e.name.ends_with(end); };
    if (std::any_of(options.names.ignored.begin(), options.names.ignored.end(), ends)) continue;
    const auto [first, last] = by_name.equal_range(e.name.substr(prefix));
    if (first == last) m.report.unexpected.push_back(e.name);
    for (auto at = first; at != last; ++at) {
      const PlacedRule& p = *at->second;
      const Shape here = p.there.value_or(places[p.place].shape);
      if (!e.other.empty())
        problem(p.place, e.name, "is of class " + e.other + ", the model needs a tensor " + text_of(here));
      else if (!p.there || !(here == e.shape))
        problem(p.place, e.name, "is " + text_of(e.shape) + ", the model needs " + text_of(here));
      m.assignments.emplace_back(&e, p);
      given.add(p);
    }
  }
  for (std::size_t i = 0; i < places.size(); ++i)
    if (!given.whole(i)) m.report.missing.push_back(places[i].names.front());
  std::erase_if(m.assignments, [&](const auto& a) { return !given.whole(a.second.place); });
  if (!options.strict) return m;
  for (const PlacedRule& p : rules)
    if (!p.rule.read_only && given.add(p)) problem(p.place, p.rule.there, "is missing");
  for (std::size_t i = 0; i < places.size(); ++i)
    if (!given.whole(i)) problem(i, places[i].names.front(), "is missing");
  for (const std::string& name : m.report.unexpected) problem(places.size(), name, "is not in the model");
  return m;
}

/// An array as another library keeps it, joined from parts of mote's arrays. The key of a part is its first row in the
/// joined array.
StateEntry joined_entry(const std::multimap<Index, const PlacedRule*>& parts, const std::vector<StatePlace>& places,
                        const std::string& owner) {
  const auto& [rule, place, there] = *parts.begin()->second;
  StateEntry whole{rule.there, there.value_or(Shape()), {}};
  std::vector<Array> list;
  Index end = 0;
  bool once = rule.rows > 0 || parts.size() == 1;
  for (const auto& [from, p] : parts) {
    const Shape& ours = places[p->place].shape;
    check_in("state_dict", p->there.has_value(), "'", rule.there, "' cannot be made of '", p->rule.here, "' ", ours,
             " in this ", owner,
             p->rule.transposed && ours.rank() != 2 ? ": only a matrix can be transposed"
                                                    : ": the rule takes rows that it does not have");
    check_in("state_dict", p->there == there, "'", rule.there, "' cannot be made of '", p->rule.here, "' ", ours,
             " in this ", owner, ": other parts of it have another width");
    once = once && from == end;
    end += p->rule.rows;
    list.push_back(rows_of(places[p->place].get(), p->rule.rows, p->rule.from_here));
    whole.here.push_back(p->rule.here);
  }
  check_in("state_dict", once && (rule.rows == 0 || end == whole.shape[rule.transposed ? 1 : 0]), "'", rule.there, "' ",
           whole.shape, " cannot be made in this ", owner,
           ": the rules of the NameTable must give each part of it once");
  whole.read = [transposed = rule.transposed, list] {
    const Array x = list.size() == 1 ? list[0] : joined(list, 0);
    return transposed ? x.transpose(0, 1) : x;
  };
  return whole;
}

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
  check_in("state_dict", names.unwritable.empty(), names.unwritable);
  return state_dict(places_of(module), names, module.type_name());
}

StateDict state_dict(const std::vector<StatePlace>& places, const NameTable& names, const std::string& owner) {
  const std::vector<PlacedRule> rules = placed_rules(names, places);
  std::vector<std::multimap<Index, const PlacedRule*>> wholes;  // the parts of each joined array, by their first row
  std::map<std::string, std::size_t> whole_of;
  NamedRows named(places);
  for (const PlacedRule& p : rules) {
    if (p.rule.read_only) continue;
    const auto [whole, added] = whole_of.try_emplace(p.rule.there, wholes.size());
    if (added) wholes.emplace_back();
    wholes[whole->second].emplace(p.rule.from_there, &p);
    named.add(p);
  }
  for (std::size_t i = 0; i < places.size(); ++i)
    check_in("state_dict", named.whole(i), "'", places[i].names.front(), "' of this ", owner,
             " has no rule in the NameTable, or not for all its rows");
  StateDict state;
  for (const auto& parts : wholes) state.push_back(joined_entry(parts, places, owner));
  return state;
}

StateDict state_dict(const SafetensorsFile& file) {
  StateDict state;
  for (const TensorEntry& t : file.tensors()) state.push_back({t.name, t.shape, [&file, &t] { return file.array(t); }});
  return state;
}

LoadReport load_state_dict(Module& module, const StateDict& state, const LoadOptions& options,
                           const std::string& what) {
  return load_places("load", state_places(module), state, options, what, module.type_name());
}

LoadReport load_places(const char* who, const std::vector<StatePlace>& places, const StateDict& state,
                       const LoadOptions& options, const std::string& what, const std::string& owner) {
  auto [assignments, problems, report] = match(state, places, options);
  const auto require_none = [&, &problems = problems] {
    constexpr std::size_t most = 50;  // lines of the message
    std::string all;
    std::set<std::string_view> said;  // several parts may have the same problem
    for (const auto& [place, text] : problems)
      if (said.insert(text).second && said.size() <= most) all += text;
    if (said.size() > most) all += "\n  and " + std::to_string(said.size() - most) + " more";
    check_in(who, all.empty(), what, " does not fit this ", owner, ":", all);
  };
  require_none();
  std::vector<Array> values(places.size());
  std::map<std::pair<std::size_t, Index>, const StateEntry*> sources;  // by place and first row
  Index largest = 0;
  for (const auto& [from, p] : assignments)
    if (p.rule.transposed) largest = std::max(largest, from->shape.numel());
  std::vector<real> scratch(static_cast<std::size_t>(largest));
  for (const auto& [from, p] : assignments) {
    const NameRule& rule = p.rule;
    Array x = from->read(), &value = values[p.place];
    check_in(who, x.shape() == from->shape, what, ": '", from->name, "' is listed as ", from->shape,
             ", but its read() returned ", x.shape());
    if (rule.transposed) x = transposed(std::move(x), scratch);
    const Array part = rows_of(x, rule.rows, rule.from_there);
    const StateEntry*& source = sources[{p.place, rule.from_here}];
    if (source && !same_elements(rows_of(value, rule.rows, rule.from_here), part))
      problems.emplace(p.place, "\n  '" + source->name + "' and '" + from->name +
                                    "' are one parameter of the model, but their values differ");
    source = from;
    if (rule.rows == 0 || !value.defined()) value = rule.rows == 0 ? x : Array::empty(places[p.place].shape);
    if (rule.rows > 0)
      detail::copy_elements(part.data(), part.layout(), value.mutate() + rule.from_here * (part.numel() / rule.rows));
  }
  require_none();
  for (std::size_t i = 0; i < places.size(); ++i)  // nothing can fail from here on
    if (values[i].defined()) places[i].set(std::move(values[i]));
  return report;
}

void copy_weights(const Module& from, Module& to) {
  StateDict state;
  for (const StatePlace& place : places_of(from))
    for (const std::string& name : place.names) state.push_back({name, place.shape, place.get});
  load_places("copy_weights", state_places(to), state, {}, "the source", to.type_name());
}

void save(const Module& module, const std::string& path, const NameTable& names) {
  std::vector<NamedArray> tensors;
  for (const StateEntry& e : state_dict(module, names)) tensors.push_back({e.name, e.read()});
  save_safetensors(path, std::move(tensors));
}

LoadReport load(Module& module, const std::string& path, const LoadOptions& options) {
  const SafetensorsFile file(path);
  return load_state_dict(module, state_dict(file), options, path);
}

}  // namespace mote
