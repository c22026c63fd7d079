// Checkpoint, the list of all that a run depends on: into one file and back, so that it goes on as if never stopped.
#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/io/files/safetensors.h"
#include "engine/io/text/fields.h"
#include "train/optimizer.h"

namespace mote {

class Checkpoint;
class EMA;

namespace detail {
/// A type that lists its fields: visit(v), as configs do.
struct AnyField {
  template <class T>
  void operator()(const char*, T&, const char*, const FieldUse& = {}) {}
};
template <class C>
concept HasFields = requires(C& c, AnyField& v) {
  c.visit(v);
};

/// What one name contributes to a file.
struct SavedParts {
  std::vector<NamedArray> tensors;
  Metadata texts;
  void operator()(const std::string& name, const AnyArray& value) { tensors.push_back({name, value}); }
  void operator()(const std::string& name, const std::string& text) { texts.emplace_back(name, text); }
};

/// What reading finds: problems, and the changes to be made if there are none. A change cannot fail.
class LoadedParts {
 public:
  explicit LoadedParts(const SafetensorsFile& file) : file_(file) {}
  const SafetensorsFile& file() const { return file_; }
  /// Asks for all that the file has in a group, and for nothing of it.
  void pass_over(const std::string& group);
  // What the file has under a name. Nothing (null, or not defined), and a problem, if that is none or cannot be read.
  // What is never asked for is a problem, too.
  const std::string* text(const std::string& name);
  Array array(const std::string& name);
  IntArray ints(const std::string& name);
  /// A problem unless the file has this very text.
  void require(const std::string& name, const std::string& here);
  void problem(const std::string& text) { problems_ += "\n  " + text; }
  void change(std::function<void()> make) { changes_.push_back(std::move(make)); }
  /// Errors: all problems at once. Otherwise all changes are made.
  void finish();

 private:
  template <class A, class Read>
  A elements(const std::string& name, const Read& read);

  const SafetensorsFile& file_;
  std::vector<std::string> asked_;
  std::string problems_;
  std::vector<std::function<void()>> changes_;
};

// A field's way into a file and back, by its type. What is const is no state but a setting: compared, not changed.
template <class T>
concept TextField = requires(const T& x, T& y, const std::string& s) {
  field_text(x);
  read_field("", s, y);
};
// Other than an option's, a number of a run may be infinite, as the best loss before the first, or NaN.
void read_saved(const char* name, const std::string& text, double& x);
template <TextField T>
void read_saved(const char* name, const std::string& text, T& x) {
  read_field(name, text, x);
}
inline void read_saved(const char* name, const std::string& text, std::optional<double>& x) {
  if (text == field_text(std::optional<double>())) return x.reset();
  read_saved(name, text, x.emplace());
}

template <TextField T>
void save_field(SavedParts& parts, const std::string& name, const T& x) {
  parts(name, field_text(x));
}
inline void save_field(SavedParts& parts, const std::string& name, const std::optional<std::string>& x) {
  const std::string not_given = field_text(std::optional<std::string>());
  check_in("checkpoint", !x || *x != not_given, "the text '", not_given, "' of '", name,
           "' would come back as not given");
  parts(name, field_text(x));
}
void save_field(SavedParts& parts, const std::string& name, const Array& x);
void save_field(SavedParts& parts, const std::string& name, const IntArray& x);
void save_field(SavedParts& parts, const std::string& name, const std::vector<Index>& x);
void save_field(SavedParts& parts, const std::string& name, const Generator& stream);

template <TextField T>
void load_field(LoadedParts& parts, const std::string& name, const T& x) {
  parts.require(name, field_text(x));
}
template <TextField T>
void load_field(LoadedParts& parts, const std::string& name, T& x) {
  const std::string* const text = parts.text(name);
  if (!text) return;
  T value{};
  try {
    read_saved(name.c_str(), *text, value);
  } catch (const Error& e) {
    return parts.problem(e.what());
  }
  parts.change([&x, value]() mutable { x = std::move(value); });
}
void load_field(LoadedParts& parts, const std::string& name, Array& x);
void load_field(LoadedParts& parts, const std::string& name, IntArray& x);
void load_field(LoadedParts& parts, const std::string& name, std::vector<Index>& x);
void load_field(LoadedParts& parts, const std::string& name, const Generator& stream);

/// What a checkpoint keeps by its type.
template <class T>
concept Kept = !std::is_base_of_v<Module, T> && !std::is_base_of_v<Optimizer, T> &&
               (HasFields<T> || requires(SavedParts & saved, LoadedParts& loaded, const std::string& name, T& value) {
                 save_field(saved, name, value);
                 load_field(loaded, name, value);
               });
}  // namespace detail

/// All that a run depends on, by name. What is added is referred to, and must outlive the checkpoint.
///
///     Index step = 0;
///     Checkpoint run;
///     run.add("model", model);          // parameters, buffers and random streams: all that its visit() lists
///     run.add("optimizer", optimizer);  // its state and its learning rate
///     run.add("ema", ema);              // averages of the weights, where there are any
///     run.add("data", data);            // the stream that batches are drawn from
///     run.add("step", step);
///     if (file_exists(path)) run.load(path);
///     for (; step < steps; ++step) {
///       if (step % 100 == 0) run.save(path);
///       ...
///     }
///
/// Values are Index, double, bool, std::string, enums with words, std::optional of these, Array, IntArray, vectors of
/// Index, Generators, and any struct that lists such fields in visit(v), as configs do: a DataLoader's iterator, a
/// scheduler or a task of your own takes part by its list. A field that the list gives as const is compared.
///
/// Save between two steps: gradients, collected or not, are no part of it.
///
/// A checkpoint is one safetensors file: "model.transformer.wte.weight" and "optimizer.<parameter>.exp_avg" are
/// tensors, numbers and settings are texts in its metadata, and every tensor and the header have a checksum.
/// "mote.version" says which mote wrote it.
class Checkpoint {
 public:
  static constexpr Index version = 1;

  void add(const std::string& name, Module& module);
  void add(const std::string& name, Optimizer& optimizer);
  void add(const std::string& name, EMA& ema);
  /// A value that is saved and restored. Errors, here as for all parts: a name that is empty, used twice, the file's
  /// own ("mote", "format"), or the beginning of another up to a point ("model" and "model.head").
  template <detail::Kept T>
  void add(const std::string& name, T& value) {
    if constexpr (detail::HasFields<T>) {
      add_part({name,
                [name, &value](detail::SavedParts& parts) {
                  const auto each = [&](const char* field, auto& x, const char* = "", const FieldUse& = {}) {
                    detail::save_field(parts, name + "." + field, x);
                  };
                  value.visit(each);
                },
                [name, &value](detail::LoadedParts& parts) {
                  const auto each = [&](const char* field, auto& x, const char* = "", const FieldUse& = {}) {
                    detail::load_field(parts, name + "." + field, x);
                  };
                  value.visit(each);
                }});
    } else {
      add_part({name, [name, &value](detail::SavedParts& parts) { detail::save_field(parts, name, value); },
                [name, &value](detail::LoadedParts& parts) { detail::load_field(parts, name, value); }});
    }
  }
  template <class T>
  requires(!detail::Kept<T> && !std::is_base_of_v<Module, T> && !std::is_base_of_v<Optimizer, T> &&
           !std::is_same_v<EMA, T>)
      __attribute__((unavailable(
          "a checkpoint keeps Index (not int), double (not float), bool, std::string, enums with words, "
          "std::optional of these, Array, IntArray, std::vector<Index>, Generator, and structs that list such "
          "fields in visit(v)"))) void add(const std::string& name, T& value);
  /// Settings that must be the same when the run goes on, such as the config that the model was built with: saved, and
  /// compared on loading.
  template <class C>
  void require(const std::string& name, const C& config) {
    require(name, fields(config));
  }
  void require(const std::string& name, std::vector<Field> list);
  /// Texts for others to read, under `name`: saved, and passed over on loading, whatever the file has there.
  void note(const std::string& name, std::vector<Field> list);

  /// Writes the file, whole or not at all. `notes` go into its metadata, for others to read: their names begin with
  /// "mote.", and loading passes over them. Errors: it cannot be written.
  void save(const std::string& path, const Metadata& notes = {}) const;
  /// Restores everything. Errors: no checkpoint, one of a newer version or of the other `real`, a file that was cut or
  /// changed, names that only one side has, shapes and settings that differ: all differences at once, and nothing has
  /// changed.
  void load(const std::string& path) const;

 private:
  struct Part {
    std::string name;
    std::function<void(detail::SavedParts&)> save;
    std::function<void(detail::LoadedParts&)> load;
  };
  void add_part(Part part);

  std::vector<Part> parts_;
};

/// Sets the fields of a config from those that a checkpoint has under `name`: to build the model that load() then
/// fills. Errors: a field that the file does not have, or not as this type.
template <class C>
void read_fields(const SafetensorsFile& file, const std::string& name, C& config) {
  for (const Field& f : fields(config)) {
    const std::string* const text = file.find_metadata(name + "." + f.name);
    check_in("checkpoint", text, file.name(), ": has no '", name, ".", f.name, "'");
    set_field(config, f.name, *text);
  }
}

/// Only the weights of a module (its parameters and buffers) from a checkpoint to which it was added as `name`: to
/// generate with it, or to begin another run. Under the name of an EMA lie the averages of the parameters: the module
/// then keeps its buffers. Errors: no checkpoint, a file that was cut or changed, names that only one side has, shapes
/// that differ; nothing has changed then.
void load_weights(Module& module, const std::string& path, const std::string& name = "model");

}  // namespace mote
