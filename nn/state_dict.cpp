// How a state is matched with a module's fields, renamed, saved and loaded.
#include "nn/state_dict.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "engine/array/join.h"

namespace mote {
namespace {

/// Equal in every bit, whatever it means as a number.
bool same_elements(const Array& a, const Array& b) {
  const Array x = a.contiguous(), y = b.contiguous();
  return std::memcmp(x.data(), y.data(), static_cast<std::size_t>(x.numel()) * sizeof(real)) == 0;
}

bool ends_with_one_of(const std::string& name, const std::vector<std::string>& ends) {
  return std::any_of(ends.begin(), ends.end(), [&](const std::string& end) { return name.ends_with(end); });
}

/// How the array kept outside by this rule is shaped, from our part of it; and back.
Shape outside_shape(const NameRule& rule, const Shape& ours) {
  const Shape whole = rule.parts > 1 ? ours.with(0, ours[0] * rule.parts) : ours;
  return rule.transposed ? whole.swapped(0, 1) : whole;
}

}  // namespace

std::vector<StatePlace> state_places(Module& module) {
  std::vector<StatePlace> places;
  std::map<const Parameter::Cell*, std::size_t> tied;
  for (const NamedParameter& p : named_parameters(module, true)) {
    const auto [found, added] = tied.try_emplace(p.parameter.id(), places.size());
    if (added)
      places.push_back({{p.name}, p.parameter.shape(), [cell = p.parameter](Array x) { cell.set(std::move(x)); }});
    else
      places[found->second].names.push_back(p.name);
  }
  for (const NamedBuffer& b : named_buffers(module))
    places.push_back({{b.name}, b.array->shape(), [b](Array x) { *b.array = std::move(x); }});
  return places;
}

StateDict state_dict(const Module& module) {
  StateDict state;
  for (const NamedParameter& p : named_parameters(module))
    state.push_back({p.name, p.parameter.shape(), [value = p.parameter.value()] { return value; }});
  for (const NamedConstBuffer& b : named_buffers(module))
    state.push_back({b.name, b.array->shape(), [value = *b.array] { return value; }});
  return state;
}

StateDict from_outside(const StateDict& state, const NameTable& names) {
  StateDict inside;
  std::multimap<std::string, const NameRule*> rules;
  for (const NameRule& rule : names.rules) rules.emplace(rule.outside, &rule);
  for (const StateEntry& e : state) {
    if (ends_with_one_of(e.name, names.ignored)) continue;
    const auto [first, last] = rules.equal_range(e.name);
    if (first == last) inside.push_back(e);  // a name that is nobody's: reported as such
    for (auto rule = first; rule != last; ++rule) {
      const NameRule& r = *rule->second;
      check(!r.transposed || e.shape.rank() == 2, "'", e.name, "' is ", e.shape, " and should be a matrix");
      const Shape whole = r.transposed ? e.shape.swapped(0, 1) : e.shape;
      check(r.parts == 1 || (whole.rank() >= 1 && whole[0] % r.parts == 0), "'", e.name, "' ", e.shape,
            " does not divide into ", r.parts, " parts");
      const Shape ours = r.parts == 1 ? whole : whole.with(0, whole[0] / r.parts);
      inside.push_back({r.inside, ours, [e, r, ours] {
                          Array x = e.read();
                          if (r.transposed) x = x.transpose(0, 1);
                          if (r.parts > 1) x = x.slice(0, r.part * ours[0], (r.part + 1) * ours[0]);
                          return r.transposed || r.parts > 1 ? copy_of(x) : x;
                        }});
    }
  }
  return inside;
}

StateDict to_outside(const StateDict& state, const NameTable& names) {
  StateDict outside;
  std::map<std::string, const StateEntry*> ours;
  for (const StateEntry& e : state) ours[e.name] = &e;
  std::set<std::string> used;
  std::map<std::string, std::vector<const NameRule*>> kept;  // rules of one array outside
  std::vector<std::string> order;
  for (const NameRule& rule : names.rules) {
    if (rule.alias) continue;
    if (kept[rule.outside].empty()) order.push_back(rule.outside);
    kept[rule.outside].push_back(&rule);
  }
  for (const std::string& name : order) {
    const std::vector<const NameRule*>& parts = kept[name];
    std::vector<const StateEntry*> entries;
    for (const NameRule* rule : parts)
      if (const auto found = ours.find(rule->inside); found != ours.end()) entries.push_back(found->second);
    if (entries.empty()) continue;  // a bias that this module does without, say
    const NameRule& first = *parts.front();
    check(entries.size() == static_cast<std::size_t>(first.parts), "'", name, "' needs all of its ", first.parts,
          " parts, and only ", entries.size(), " are there");
    for (const NameRule* rule : parts) used.insert(rule->inside);
    outside.push_back({name, outside_shape(first, entries.front()->shape), [entries, parts, first] {
                         Array whole = entries.front()->read();
                         if (first.parts > 1) {
                           std::vector<Array> all;
                           for (const StateEntry* e : entries) all.push_back(e->read());
                           whole = detail::joined(all, 0);
                         }
                         return first.transposed ? copy_of(whole.transpose(0, 1)) : whole;
                       }});
  }
  for (const StateEntry& e : state) check(used.contains(e.name), "'", e.name, "' has no name in this family of files");
  return outside;
}

LoadReport load_state_dict(Module& module, const StateDict& state, const LoadOptions& options,
                           const std::string& what) {
  const StateDict given = options.names ? from_outside(state, *options.names) : state;
  std::multimap<std::string, const StateEntry*> named;
  for (const StateEntry& e : given) named.emplace(e.name, &e);
  std::string problems;
  LoadReport report;
  const std::vector<StatePlace> places = state_places(module);
  std::vector<std::vector<const StateEntry*>> sources(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (const std::string& name : places[i].names) {
      const auto [first, last] = named.equal_range(name);
      for (auto found = first; found != last; ++found) {
        const StateEntry& e = *found->second;
        sources[i].push_back(&e);
        if (!(e.shape == places[i].shape))
          problems += "\n  '" + name + "' is " + Shape::text(e.shape) + " there and " + Shape::text(places[i].shape) +
                      " in the module";
      }
      named.erase(first, last);
    }
    if (sources[i].empty()) report.missing.push_back(places[i].names.front());
  }
  for (const auto& [name, entry] : named) report.unexpected.push_back(name);
  if (options.strict) {
    for (const std::string& name : report.missing) problems += "\n  '" + name + "' is missing there";
    for (const std::string& name : report.unexpected) problems += "\n  '" + name + "' has no place in the module";
  }
  check_in("load", problems.empty(), what, " does not fit this ", module.type_name(), ":", problems);
  std::vector<Array> values(places.size());
  for (std::size_t i = 0; i < places.size(); ++i)
    for (const StateEntry* e : sources[i]) {
      const Array x = e->read();
      check_in("load", !values[i].defined() || same_elements(values[i], x), what, ": '", sources[i].front()->name,
               "' and '", e->name, "' are one parameter in the module and two different ones there");
      values[i] = x;
    }
  for (std::size_t i = 0; i < places.size(); ++i)  // nothing can fail from here on
    if (values[i].defined()) places[i].set(std::move(values[i]));
  return report;
}

void save(const Module& module, const std::string& path, const NameTable* names) {
  const StateDict ours = state_dict(module), state = names ? to_outside(ours, *names) : ours;
  std::vector<NamedArray> tensors;
  for (const StateEntry& e : state) tensors.push_back({e.name, e.read()});
  save_safetensors(path, std::move(tensors));
}

StateDict state_of(const SafetensorsFile& file) {
  StateDict state;
  for (const TensorEntry& t : file.tensors()) state.push_back({t.name, t.shape, [&file, &t] { return file.array(t); }});
  return state;
}

LoadReport load(Module& module, const std::string& path, const LoadOptions& options) {
  const SafetensorsFile file(path);
  return load_state_dict(module, state_of(file), options, path);
}

}  // namespace mote
