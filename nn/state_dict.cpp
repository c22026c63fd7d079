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

/// The number of rows that a table lists of what is kept there, by its name; 0: as many as here.
std::map<std::string, Index> rows_there(const std::vector<NameRule>& rules) {
  std::map<std::string, Index> rows;
  for (const NameRule& rule : rules)
    rows[rule.there] = std::max(rows[rule.there], rule.rows == 0 ? 0 : rule.from_there + rule.rows);
  return rows;
}

/// The shape of what is kept there, `rows` of them, from that of ours; none if ours does not have what the rule takes.
std::optional<Shape> shape_there(const NameRule& rule, const Shape& ours, Index rows) {
  const bool fits = rule.rows == 0 || (ours.rank() > 0 && std::min({rule.rows, rule.from_here, rule.from_there}) >= 0 &&
                                       rule.rows <= ours[0] - rule.from_here);
  if (!fits || (rule.transposed && ours.rank() != 2)) return {};
  const Shape whole = rule.rows == 0 ? ours : ours.with(0, rows);
  return rule.transposed ? whole.swapped(0, 1) : whole;
}

Array rows_of(const Array& x, Index rows, Index from) { return rows == 0 ? x : x.slice(0, from, from + rows); }

/// Of each row of each place, whether a rule that fits has been about it; a place without rows has one.
struct Named {
  std::vector<std::vector<bool>> rows;

  explicit Named(const std::vector<StatePlace>& places) {
    for (const StatePlace& p : places)
      rows.emplace_back(p.shape.rank() == 0 ? 1 : static_cast<std::size_t>(std::max<Index>(p.shape[0], 1)));
  }
  void add(std::size_t place, const NameRule& rule) {
    std::fill_n(rows[place].begin() + rule.from_here, rule.rows == 0 ? std::ssize(rows[place]) : rule.rows, true);
  }
  bool whole(std::size_t place) const {
    return std::find(rows[place].begin(), rows[place].end(), false) == rows[place].end();
  }
};

/// The transpose of a matrix, in the block that holds it. One scratch serves all: blocks from mote's cache would remain
/// there, one for every shape, for GPT-2 more than its largest matrix.
Array transposed(Array x, std::vector<real>& scratch) {
  detail::copy_elements(x.data(), x.layout().transpose(0, 1), scratch.data());
  x = x.reshape({x.shape()[1], x.shape()[0]});
  std::copy_n(scratch.data(), x.numel(), x.mutate());
  return x;
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
  const std::map<std::string, Index> rows = rows_there(rules);
  std::multimap<std::string, const NameRule*> by_name;  // there
  for (const NameRule& rule : rules) by_name.emplace(rule.there, &rule);
  Matches m;
  m.problems.resize(places.size() + 1);
  Named given(places);
  for (const StateEntry& e : state) {
    const auto ends = [&](const std::string& end) { return e.name.ends_with(end); };
    if (std::any_of(options.names.ignored.begin(), options.names.ignored.end(), ends)) continue;
    bool used = false;
    for (auto [at, end] = by_name.equal_range(e.name); at != end; ++at) {
      const NameRule& rule = *at->second;
      const auto found = place_of.find(rule.here);
      if (found == place_of.end()) continue;
      const std::size_t to = found->second;
      const std::optional<Shape> wanted = shape_there(rule, places[to].shape, rows.at(rule.there));
      const Shape& here = wanted ? *wanted : places[to].shape;
      if (!wanted || !(here == e.shape))
        m.problems[to] += "\n  '" + e.name + "' is " + text_of(e.shape) + " there and " + text_of(here) + " here";
      m.assignments.push_back({&e, rule, to});
      given.add(to, wanted ? rule : NameRule());
      used = true;
    }
    if (!used) m.report.unexpected.push_back(e.name);
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (given.whole(i)) continue;
    const std::vector<std::string>& names = places[i].names;
    m.report.missing.push_back(names.front());
    std::erase_if(m.assignments, [&](const Assignment& a) { return a.to == i; });
    std::string& problem = m.problems[i];
    for (const NameRule& rule : rules) {
      if (rule.read_only || std::find(names.begin(), names.end(), rule.here) == names.end() ||
          !shape_there(rule, places[i].shape, 1) || given.rows[i][static_cast<std::size_t>(rule.from_here)])
        continue;
      if (options.strict) problem += "\n  '" + rule.there + "' is missing there";
      given.add(i, rule);
    }
    if (options.strict && problem.empty()) problem = "\n  '" + names.front() + "' is missing there";
  }
  if (options.strict)
    for (const std::string& name : m.report.unexpected) m.problems.back() += "\n  '" + name + "' has no place here";
  return m;
}

/// An array as it is kept there, of which ours give the rows.
struct Whole {
  NameRule rule;  // the first of them
  Shape shape;
  Index rows;  // 0: all are those of one of ours
  std::multimap<Index, Array> parts = {};

  StateEntry entry(const std::string& owner) const {
    std::vector<Array> list;
    Index end = 0;
    bool once = true;
    for (const auto& [from, part] : parts) {
      once = once && from == end;
      end += rows > 0 ? part.shape()[0] : 1;
      list.push_back(part);
    }
    check_in("state_dict", once && end == std::max<Index>(rows, 1), "'", rule.there, "' ", shape,
             " cannot be made in this ", owner, ": the table gives some of it twice, or not at all");
    return {rule.there, shape, [transposed = rule.transposed, list] {
              const Array whole = list.size() == 1 ? list[0] : joined(list, 0);
              return transposed ? whole.transpose(0, 1) : whole;
            }};
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
  return state_dict(places_of(module), names, module.type_name());
}

StateDict state_dict(const std::vector<StatePlace>& places, const NameTable& names, const std::string& owner) {
  const std::map<std::string, std::size_t> position = positions_of(places);
  const std::vector<NameRule> rules = rules_of(names, places);
  const std::map<std::string, Index> rows = rows_there(rules);
  std::vector<Whole> wholes;
  std::map<std::string, std::size_t> whole_of;
  Named named(places);
  for (const NameRule& rule : rules) {
    const auto found = position.find(rule.here);
    if (rule.read_only || found == position.end()) continue;  // no position: a bias that this module does without, say
    const StatePlace& place = places[found->second];
    const std::optional<Shape> shape = shape_there(rule, place.shape, rows.at(rule.there));
    const auto [whole, added] = whole_of.try_emplace(rule.there, wholes.size());
    if (added) wholes.push_back({rule, shape.value_or(Shape()), rows.at(rule.there), {}});
    check_in("state_dict", shape && *shape == wholes[whole->second].shape, "'", rule.there, "' cannot be made of '",
             rule.here, "' ", place.shape, " in this ", owner);
    wholes[whole->second].parts.emplace(rule.from_there, rows_of(place.get(), rule.rows, rule.from_here));
    named.add(found->second, rule);
  }
  for (std::size_t i = 0; i < places.size(); ++i)
    check_in("state_dict", named.whole(i), "'", places[i].names.front(), "' of this ", owner,
             " has no name in the table");
  StateDict state;
  for (const Whole& whole : wholes) state.push_back(whole.entry(owner));
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
    std::string all;
    for (const std::string& text : problems)
      if (all.find(text) == std::string::npos) all += text;  // the same of several parts
    check_in(who, all.empty(), what, " does not fit this ", owner, ":", all);
  };
  require_none();
  std::vector<Array> values(places.size());
  std::map<std::pair<std::size_t, Index>, const StateEntry*> sources;  // of a place's rows from there on
  Index largest = 0;
  for (const Assignment& a : assignments) largest = std::max(largest, a.rule.transposed ? a.from->shape.numel() : 0);
  std::vector<real> scratch(static_cast<std::size_t>(largest));
  for (const auto& [from, rule, to] : assignments) {
    Array x = from->read();
    check_in(who, x.shape() == from->shape, what, ": '", from->name, "' should be ", from->shape, " and reads as ",
             x.shape());
    if (rule.transposed) x = transposed(std::move(x), scratch);
    const Array part = rows_of(x, rule.rows, rule.from_there);
    const StateEntry*& source = sources[{to, rule.from_here}];
    if (source && !same_elements(rows_of(values[to], rule.rows, rule.from_here), part))
      problems[to] +=
          "\n  '" + source->name + "' and '" + from->name + "' are one parameter here and two different ones there";
    source = from;
    if (rule.rows == 0 || !values[to].defined()) values[to] = rule.rows == 0 ? x : Array::empty(places[to].shape);
    if (rule.rows > 0)
      detail::copy_elements(part.data(), part.layout(),
                            values[to].mutate() + rule.from_here * (part.numel() / rule.rows));
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
