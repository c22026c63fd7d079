// How each kind of part is saved and restored, and what a checkpoint's file must say of itself.
#include "train/checkpoint.h"

#include <algorithm>
#include <bit>
#include <set>

#include "nn/state_dict.h"

namespace mote {
namespace {

const std::string version_key = "mote.checkpoint";

/// A stream as whole numbers: words, position, the cached half of a normal pair (its bits), seed, build.
IntArray numbers_of(const GeneratorState& s) {
  std::vector<Index> all(s.words.begin(), s.words.end());
  for (const Index x :
       {static_cast<Index>(s.used), static_cast<Index>(s.has_normal), std::bit_cast<Index>(s.cached_normal),
        std::bit_cast<Index>(s.seed), static_cast<Index>(s.build.mkl), static_cast<Index>(s.build.version)})
    all.push_back(x);
  return IntArray({static_cast<Index>(all.size())}, all);
}

GeneratorState stream_of(const IntArray& numbers) {
  GeneratorState s;
  const Index* x = numbers.data();
  for (std::uint32_t& word : s.words) word = static_cast<std::uint32_t>(*x++);
  s.used = static_cast<std::uint32_t>(*x++);
  s.has_normal = *x++ != 0;
  s.cached_normal = std::bit_cast<double>(*x++);
  s.seed = std::bit_cast<std::uint64_t>(*x++);
  s.build.mkl = *x++ != 0;
  s.build.version = static_cast<int>(*x);
  return s;
}

/// The elements of `name` in a type that read() gives, or nothing and a problem.
template <class Read>
auto read_tensor(detail::LoadedParts& parts, const std::string& name, const Read& read) {
  using A = decltype(read(parts.file(), std::declval<const TensorEntry&>()));
  const TensorEntry* const entry = parts.tensor(name);
  if (entry) {
    try {
      return read(parts.file(), *entry);
    } catch (const Error& e) {
      parts.problem(e.what());
    }
  }
  return A();
}
Array array_at(const SafetensorsFile& f, const TensorEntry& e) { return f.array(e); }
IntArray ints_at(const SafetensorsFile& f, const TensorEntry& e) { return f.int_array(e); }

void save_module(detail::SavedParts& parts, const std::string& name, const Module& module) {
  for (const StateEntry& e : state_dict(module)) parts(name + "." + e.name, e.read());
  for (const NamedStream& s : named_streams(module)) detail::save_field(parts, name + "." + s.name, s.stream);
}

void load_module(detail::LoadedParts& parts, const std::string& name, Module& module) {
  for (const StatePlace& place : state_places(module)) {
    const Array x = read_tensor(parts, name + "." + place.names.front(), array_at);
    if (!x.defined()) continue;
    if (x.shape() == place.shape)
      parts.change([place, x] { place.set(x); });
    else
      parts.problem("'" + name + "." + place.names.front() + "' is " + Shape::text(x.shape()) + " in the file and " +
                    Shape::text(place.shape) + " here");
  }
  for (const NamedStream& s : named_streams(module)) detail::load_field(parts, name + "." + s.name, s.stream);
}

void save_optimizer(detail::SavedParts& parts, const std::string& name, const Optimizer& optimizer) {
  const OptimizerState state = optimizer.state();
  for (const auto& [key, array] : state.arrays) parts(name + "." + key, array);
  for (const auto& [key, count] : state.counts) detail::save_field(parts, name + "." + key, count);
  detail::save_field(parts, name + ".learning_rate", optimizer.learning_rate());
}

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
  for (const TensorEntry& t : parts.file().tensors())
    if (t.name.starts_with(prefix)) state.arrays[t.name.substr(prefix.size())] = read_tensor(parts, t.name, array_at);
  for (const auto& [key, text] : parts.file().metadata())
    if (key.starts_with(prefix) && key != rate_name) {
      static_cast<void>(parts.text(key));
      state.counts[key.substr(prefix.size())] = parsed<Index>(parts, key, text);
    }
  try {
    parts.change(optimizer.change_to(state));
    parts.change([&optimizer, rate] { optimizer.set_learning_rate(rate); });
  } catch (const Error& e) {
    parts.problem(name + ": " + e.what());
  }
}

void check_checkpoint(const SafetensorsFile& file) {
  const std::string* const text = file.find_metadata(version_key);
  check_in("checkpoint", text, file.name(), " is no checkpoint (load() reads the weights of any safetensors file)");
  Index found = 0;
  detail::read_field("checkpoint version", *text, found);
  check_in("checkpoint", found >= 1 && found <= Checkpoint::version, file.name(), " has version ", found,
           ", and this mote reads versions up to ", Checkpoint::version);
}

}  // namespace

const TensorEntry* detail::LoadedParts::tensor(const std::string& name) {
  asked_.push_back(name);
  const TensorEntry* const found = file_.find(name);
  if (!found) problem("'" + name + "' is missing in the file");
  return found;
}

const std::string* detail::LoadedParts::text(const std::string& name) {
  asked_.push_back(name);
  const std::string* const found = file_.find_metadata(name);
  if (!found) problem("'" + name + "' is missing in the file");
  return found;
}

void detail::LoadedParts::finish() {
  std::set<std::string> known(asked_.begin(), asked_.end());
  for (const char* const own : {"format", "crc32", version_key.c_str()}) known.insert(own);
  for (const TensorEntry& t : file_.tensors())
    if (!known.contains(t.name)) problem("'" + t.name + "' is in the file and not in this run");
  for (const auto& [name, text] : file_.metadata())
    if (!known.contains(name) && !name.starts_with("crc32 "))
      problem("'" + name + "' is in the file and not in this run");
  check_in("checkpoint", problems_.empty(), file_.name(), " does not fit this run:", problems_);
  for (const auto& make : changes_) make();
}

void detail::save_field(SavedParts& parts, const std::string& name, const Array& x) { parts(name, x); }
void detail::save_field(SavedParts& parts, const std::string& name, const IntArray& x) { parts(name, x); }
void detail::save_field(SavedParts& parts, const std::string& name, const std::vector<Index>& x) {
  parts(name, IntArray({static_cast<Index>(x.size())}, x));
}
void detail::save_field(SavedParts& parts, const std::string& name, const Generator& stream) {
  parts(name, numbers_of(stream.get_state()));
}

void detail::load_field(LoadedParts& parts, const std::string& name, Array& x) {
  const Array value = read_tensor(parts, name, array_at);
  parts.change([&x, value] { x = value; });
}
void detail::load_field(LoadedParts& parts, const std::string& name, IntArray& x) {
  const IntArray value = read_tensor(parts, name, ints_at);
  parts.change([&x, value] { x = value; });
}
void detail::load_field(LoadedParts& parts, const std::string& name, std::vector<Index>& x) {
  const IntArray value = read_tensor(parts, name, ints_at);
  if (!value.defined()) return;
  parts.change([&x, list = value.to_vector()]() mutable { x = std::move(list); });
}
void detail::load_field(LoadedParts& parts, const std::string& name, const Generator& stream) {
  const IntArray numbers = read_tensor(parts, name, ints_at);
  if (!numbers.defined()) return;
  if (!(numbers.shape() == numbers_of(GeneratorState()).shape()))
    return parts.problem("'" + name + "' is no random stream");
  const GeneratorState state = stream_of(numbers);
  try {
    Generator(0).set_state(state);
  } catch (const Error& e) {
    return parts.problem("'" + name + "': " + e.what());
  }
  parts.change([stream, state] { stream.set_state(state); });
}

void Checkpoint::add_part(Part part) {
  check_in("checkpoint", !part.name.empty(), "a part needs a name");
  for (const Part& p : parts_) check_in("checkpoint", p.name != part.name, "'", part.name, "' was added twice");
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

void Checkpoint::require(const std::string& name, std::vector<Field> list) {
  const auto save = [name, list](detail::SavedParts& parts) {
    for (const Field& f : list) parts(name + "." + f.name, f.value);
  };
  const auto load = [name, list](detail::LoadedParts& parts) {
    for (const Field& f : list)
      if (const std::string* const text = parts.text(name + "." + f.name); text && *text != f.value)
        parts.problem("'" + name + "." + f.name + "' is " + *text + " in the file and " + f.value + " here");
  };
  add_part({name, save, load});
}

void Checkpoint::save(const std::string& path) const {
  detail::SavedParts parts;
  parts(version_key, std::to_string(version));
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

}  // namespace mote
