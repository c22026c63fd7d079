// How modules and optimizers are saved and restored, and what a checkpoint's file must say of itself.
#include "train/checkpoint.h"

#include <set>

#include "nn/state_dict.h"
#include "train/ema.h"

namespace mote {
namespace {

const std::string version_key = "mote.checkpoint", release_key = "mote.version", real_key = "mote.real";
const std::string real_name = sizeof(real) == sizeof(double) ? "double" : "float";

void save_module(detail::SavedParts& parts, const std::string& name, const Module& module) {
  for (const StateEntry& e : state_dict(module)) parts(name + "." + e.name, e.read());
  for (const NamedStream& s : named_streams(module)) detail::save_field(parts, name + "." + s.name, s.stream);
}

void load_places(detail::LoadedParts& parts, const std::string& name, const std::vector<StatePlace>& places) {
  for (const StatePlace& place : places) {
    const Array x = parts.array(name + "." + place.names.front());
    if (!x.defined()) continue;
    if (x.shape() == place.shape)
      parts.change([place, x] { place.set(x); });
    else
      parts.problem("'" + name + "." + place.names.front() + "' is " + text_of(x.shape()) + " in the file and " +
                    text_of(place.shape) + " here");
  }
}

void load_module(detail::LoadedParts& parts, const std::string& name, Module& module) {
  load_places(parts, name, state_places(module));
  for (const NamedStream& s : named_streams(module)) detail::load_field(parts, name + "." + s.name, s.stream);
}

void save_optimizer(detail::SavedParts& parts, const std::string& name, const Optimizer& optimizer) {
  const OptimizerState state = optimizer.state();
  for (const auto& [key, array] : state.arrays) parts(name + "." + key, array);
  for (const auto& [key, count] : state.counts) detail::save_field(parts, name + "." + key, count);
  detail::save_field(parts, name + ".learning_rate", optimizer.learning_rate());
}

/// The number in a text; 0, and a problem, if there is none.
template <class T>
T parsed(detail::LoadedParts& parts, const std::string& name, const std::string& text) {
  T value{};
  try {
    detail::read_field(name.c_str(), text, value);
  } catch (const Error& e) {
    parts.problem(e.what());
  }
  return value;
}

/// The learning rate, and whatever else has the optimizer's name in front: which arrays there are depends on its steps.
void load_optimizer(detail::LoadedParts& parts, const std::string& name, Optimizer& optimizer) {
  const std::string prefix = name + ".", rate_name = prefix + "learning_rate";
  double rate = 0;
  if (const std::string* const text = parts.text(rate_name)) rate = parsed<double>(parts, rate_name, *text);
  OptimizerState state;
  bool complete = true;
  for (const TensorEntry& t : parts.file().tensors()) {
    if (!t.name.starts_with(prefix)) continue;
    const Array x = parts.array(t.name);
    complete = complete && x.defined();
    state.arrays[t.name.substr(prefix.size())] = x;
  }
  for (const auto& [key, text] : parts.file().metadata())
    if (key.starts_with(prefix) && key != rate_name) {
      static_cast<void>(parts.text(key));
      state.counts[key.substr(prefix.size())] = parsed<Index>(parts, key, text);
    }
  if (!complete) return;  // the problem has been told
  try {
    parts.change(optimizer.change_to(state));
    const double before = optimizer.learning_rate();
    optimizer.set_learning_rate(rate);  // a trial: what can fail fails here
    optimizer.set_learning_rate(before);
    parts.change([&optimizer, rate] { optimizer.set_learning_rate(rate); });
  } catch (const Error& e) {
    parts.problem(name + ": " + e.what());
  }
}

// What an EMA has beside its averages.
const std::string updates_name = ".updates", decay_name = ".decay", warmup_name = ".warmup";

void save_ema(detail::SavedParts& parts, const std::string& name, const EMA& ema) {
  for (const NamedArray& average : ema.averages()) parts(name + "." + average.name, average.value);
  detail::save_field(parts, name + updates_name, ema.updates());
  detail::save_field(parts, name + decay_name, ema.decay());
  detail::save_field(parts, name + warmup_name, ema.warmup());
}

void load_ema(detail::LoadedParts& parts, const std::string& name, EMA& ema) {
  load_places(parts, name, ema.places());
  if (const std::string* const text = parts.text(name + updates_name)) {
    const Index updates = parsed<Index>(parts, name + updates_name, *text);
    if (updates < 0) parts.problem("'" + name + updates_name + "' must be at least 0");
    parts.change([&ema, updates] { ema.set_updates(updates); });
  }
  detail::load_field(parts, name + decay_name, ema.decay());
  detail::load_field(parts, name + warmup_name, ema.warmup());
}

void check_checkpoint(const SafetensorsFile& file) {
  const std::string* const text = file.find_metadata(version_key);
  check_in("checkpoint", text, file.name(), " is no checkpoint (load() reads the weights of any safetensors file)");
  Index found = 0;
  detail::read_field("checkpoint version", *text, found);
  check_in("checkpoint", found >= 1 && found <= Checkpoint::version, file.name(), " has version ", found,
           ", and this mote reads versions up to ", Checkpoint::version);
  const std::string* const saved_real = file.find_metadata(real_key);
  check_in("checkpoint", saved_real && *saved_real == real_name, file.name(), " was saved by a mote over ",
           saved_real ? *saved_real : "nothing", ", and this one is over ", real_name);
}

/// Whether `name` is `group` or lies in it: "model.head" in "model".
bool lies_in(const std::string& name, const std::string& group) {
  return name.starts_with(group) && (name.size() == group.size() || name[group.size()] == '.');
}

}  // namespace

void detail::LoadedParts::pass_over(const std::string& group) {
  for (const TensorEntry& t : file_.tensors())
    if (lies_in(t.name, group)) asked_.push_back(t.name);
  for (const auto& entry : file_.metadata())
    if (lies_in(entry.first, group)) asked_.push_back(entry.first);
}

void Checkpoint::add_part(Part part) {
  check_in("checkpoint", !part.name.empty(), "a part needs a name");
  for (const char* const own : {"mote", "format"})
    check_in("checkpoint", !lies_in(part.name, own), "'", part.name, "' is a name of the file's own");
  for (const Part& p : parts_) {
    check_in("checkpoint", p.name != part.name, "'", part.name, "' was added twice");
    check_in("checkpoint", !lies_in(p.name, part.name) && !lies_in(part.name, p.name), "'", p.name, "' and '",
             part.name, "' cannot be told apart in a file: the one begins as the other");
  }
  parts_.push_back(std::move(part));
}

void Checkpoint::add(const std::string& name, Module& module) {
  add_part({name, [name, &module](detail::SavedParts& parts) { save_module(parts, name, module); },
            [name, &module](detail::LoadedParts& parts) { load_module(parts, name, module); }});
}

void Checkpoint::add(const std::string& name, Optimizer& optimizer) {
  add_part({name, [name, &optimizer](detail::SavedParts& parts) { save_optimizer(parts, name, optimizer); },
            [name, &optimizer](detail::LoadedParts& parts) { load_optimizer(parts, name, optimizer); }});
}

void Checkpoint::add(const std::string& name, EMA& ema) {
  add_part({name, [name, &ema](detail::SavedParts& parts) { save_ema(parts, name, ema); },
            [name, &ema](detail::LoadedParts& parts) { load_ema(parts, name, ema); }});
}

void Checkpoint::require(const std::string& name, std::vector<Field> list) {
  const auto save = [name, list](detail::SavedParts& parts) {
    for (const Field& f : list) parts(name + "." + f.name, f.value);
  };
  const auto load = [name, list](detail::LoadedParts& parts) {
    for (const Field& f : list) parts.require(name + "." + f.name, f.value);
  };
  add_part({name, save, load});
}

void Checkpoint::note(const std::string& name, std::vector<Field> list) {
  const auto save = [name, list](detail::SavedParts& parts) {
    for (const Field& f : list) parts(name + "." + f.name, f.value);
  };
  add_part({name, save, [name](detail::LoadedParts& parts) { parts.pass_over(name); }});
}

void Checkpoint::save(const std::string& path, const Metadata& notes) const {
  detail::SavedParts parts;
  parts.texts = notes;
  parts(version_key, std::to_string(version));
  parts(release_key, MOTE_VERSION);
  parts(real_key, real_name);
  for (const Part& part : parts_) part.save(parts);
  save_safetensors(path, std::move(parts.tensors), std::move(parts.texts));
}

void Checkpoint::load(const std::string& path) const {
  const SafetensorsFile file(path);
  check_checkpoint(file);
  detail::LoadedParts parts(file);
  for (const Part& part : parts_) part.load(parts);
  parts.finish();
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
  if (file.find_metadata(name + updates_name))
    for (const NamedBuffer& b : named_buffers(module))
      weights.push_back({b.name, b.array->shape(), [b] { return *b.array; }});
  load_state_dict(module, weights, {}, path);
}

}  // namespace mote
