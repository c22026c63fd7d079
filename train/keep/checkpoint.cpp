// How modules and optimizers are saved and restored, and the checks of a checkpoint's file.
#include "train/keep/checkpoint.h"

#include <set>

#include "engine/base/version.h"
#include "nn/state_dict.h"

namespace mote {
namespace {

const std::string version_key = "mote.checkpoint", release_key = "mote.version", real_key = "mote.real";
const std::string real_name = sizeof(real) == sizeof(double) ? "double" : "float";

void keep_module(detail::Transfer& t, const std::string& name, Module& module) {
  if (t.file())
    for (const StatePlace& place : state_places(module))
      t.array(name + "." + place.names.front(), place.shape, place.set);
  else
    for (const StateEntry& e : state_dict(module)) t.write(name + "." + e.name, e.read());
  for (const NamedStream& s : named_streams(module)) detail::keep(t, name + "." + s.name, s.stream);
}

void save_optimizer(detail::Transfer& t, const std::string& name, const Optimizer& optimizer) {
  const OptimizerState state = optimizer.state();
  for (const auto& [key, array] : state.arrays) t.write(name + "." + key, array);
  for (const auto& [key, count] : state.counts) detail::keep(t, name + "." + key, count);
  detail::keep(t, name + ".learning_rate", optimizer.learning_rate());
}

/// Loads the learning rate and all other entries that the file has under the optimizer's name. The names of the entries
/// come from the file, because an optimizer has no arrays for a parameter that it has not updated yet.
void load_optimizer(detail::Transfer& t, const std::string& name, Optimizer& optimizer) {
  const std::string prefix = name + ".", rate_name = prefix + "learning_rate";
  const double rate = detail::value_of<double>(t, rate_name).value_or(0);
  OptimizerState state;
  bool complete = true;
  for (const TensorEntry& e : t.file()->tensors()) {
    if (!e.name.starts_with(prefix)) continue;
    const Array x = t.array(e.name);
    complete = complete && x.defined();
    state.arrays[e.name.substr(prefix.size())] = x;
  }
  for (const auto& [key, text] : t.file()->metadata())
    if (key.starts_with(prefix) && key != rate_name)
      state.counts[key.substr(prefix.size())] = detail::value_of<Index>(t, key).value_or(0);
  if (!complete) return;  // the problem has been reported
  try {
    t.change(optimizer.change_to(state));
    const double before = optimizer.learning_rate();
    optimizer.set_learning_rate(rate);  // a trial: a bad rate must fail before anything is changed
    optimizer.set_learning_rate(before);
    t.change([&optimizer, rate] { optimizer.set_learning_rate(rate); });
  } catch (const Error& e) {
    t.problem(name + ": " + e.what());
  }
}

void check_checkpoint(const SafetensorsFile& file) {
  const std::string* const text = file.find_metadata(version_key);
  check_in("checkpoint", text, file.name(), " is not a checkpoint (load() reads the weights of any safetensors file)");
  Index found = 0;
  detail::read_field("checkpoint version", *text, found);
  check_in("checkpoint", found >= 1 && found <= Checkpoint::version, file.name(), " has version ", found,
           ", and this mote reads versions up to ", Checkpoint::version);
  const std::string* const saved_real = file.find_metadata(real_key);
  check_in("checkpoint", saved_real && *saved_real == real_name, file.name(), " was saved in numbers of type ",
           saved_real ? *saved_real : "unknown", ", but this mote computes in ", real_name);
}

/// Whether `name` is `group` or lies in it: "model.head" in "model".
bool lies_in(const std::string& name, const std::string& group) {
  return name.starts_with(group) && (name.size() == group.size() || name[group.size()] == '.');
}

}  // namespace

void detail::Transfer::pass_over(const std::string& group) {
  for (const TensorEntry& t : file_->tensors())
    if (lies_in(t.name, group)) asked_.push_back(t.name);
  for (const auto& entry : file_->metadata())
    if (lies_in(entry.first, group)) asked_.push_back(entry.first);
}

void Checkpoint::add_part(const std::string& name, Keep keep) {
  check_in("checkpoint", !name.empty(), "a part needs a name");
  for (const char* const own : {"mote", "format"})
    check_in("checkpoint", !lies_in(name, own), "'", name, "' is a name that mote's files use themselves");
  for (const auto& [other, its] : parts_) {
    check_in("checkpoint", other != name, "'", name, "' was added twice");
    check_in("checkpoint", !lies_in(other, name) && !lies_in(name, other), "the names '", other, "' and '", name,
             "' collide in a file: one begins with the other and a dot");
  }
  parts_.emplace_back(name, std::move(keep));
}

void Checkpoint::add(const std::string& name, Module& module) {
  add_part(name, [name, &module](detail::Transfer& t) { keep_module(t, name, module); });
}

void Checkpoint::add(const std::string& name, Optimizer& optimizer) {
  add_part(name, [name, &optimizer](detail::Transfer& t) {
    t.file() ? load_optimizer(t, name, optimizer) : save_optimizer(t, name, optimizer);
  });
}

void Checkpoint::require(const std::string& name, std::vector<Field> list) {
  add_part(name, [name, list](detail::Transfer& t) {
    for (const Field& f : list) detail::keep(t, name + "." + f.name, f.value);
  });
}

void Checkpoint::note(const std::string& name, std::vector<Field> list) {
  add_part(name, [name, list](detail::Transfer& t) {
    if (t.file()) return t.pass_over(name);
    for (const Field& f : list) t.write(name + "." + f.name, f.value);
  });
}

void Checkpoint::save(const std::string& path, const Metadata& notes) const {
  detail::Transfer t;
  t.texts = notes;
  t.write(version_key, std::to_string(version));
  t.write(release_key, mote::version());
  t.write(real_key, real_name);
  for (const auto& [name, keep] : parts_) keep(t);
  save_safetensors(path, std::move(t.tensors), std::move(t.texts));
}

void Checkpoint::load(const std::string& path) const {
  const SafetensorsFile file(path);
  check_checkpoint(file);
  detail::Transfer t(file);
  for (const auto& [name, keep] : parts_) keep(t);
  t.finish();
}

void load_weights(Module& module, const std::string& path, const std::string& name) {
  const SafetensorsFile file(path);
  check_checkpoint(file);
  std::set<std::string> streams;
  for (const NamedStream& s : named_streams(module)) streams.insert(s.name);
  StateDict weights;
  for (StateEntry& e : state_dict(file)) {
    if (!e.name.starts_with(name + ".")) continue;
    e.name.erase(0, name.size() + 1);
    if (!streams.contains(e.name)) weights.push_back(std::move(e));
  }
  if (file.find_metadata(name + ".updates"))  // an EMA has no buffers, so the module keeps its own
    for (const NamedBuffer& b : named_buffers(module))
      weights.push_back({b.name, b.array->shape(), [b] { return *b.array; }});
  load_state_dict(module, weights, {}, path);
}

}  // namespace mote
