// Checkpoint, which saves all that a run depends on in one file and restores it, so that the run goes on as if never
// stopped.
#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/io/files/safetensors.h"
#include "nn/fields.h"
#include "train/optim/optimizer.h"

namespace mote {

namespace detail {
/// A visitor that accepts any field. The concept HasFields uses it to find out whether a type has visit(v), as configs
/// do.
struct AnyField {
  template <class T>
  void operator()(const char*, T&, const char*, const FieldUse& = {}) {}
};
template <class C>
concept HasFields = requires(C& c, AnyField& v) {
  c.visit(v);
};

/// One transfer of all parts of a checkpoint, either into a file (saving) or out of a file (loading).
class Transfer {
 public:
  Transfer() = default;                                             ///< for saving
  explicit Transfer(const SafetensorsFile& file) : file_(&file) {}  ///< for loading from this file
  const SafetensorsFile* file() const { return file_; }             ///< null when saving

  void write(const std::string& name, const AnyArray& value) { tensors.push_back({name, value}); }
  void write(const std::string& name, const std::string& text) { texts.emplace_back(name, text); }
  std::vector<NamedArray> tensors;
  Metadata texts;

  // text(), array() and ints() return the file's entry `name`. If the entry is missing or cannot be read, they note a
  // problem and return null or an undefined array. An entry of the file that nobody asks for is a problem, too.
  const std::string* text(const std::string& name);
  Array array(const std::string& name);
  IntArray ints(const std::string& name);
  /// Reads the array `name`, which finish() will pass to `set`. Notes a problem if its shape is not `shape`.
  void array(const std::string& name, const Shape& shape, const std::function<void(Array)>& set);
  /// Notes a problem unless the text that the file has under `name` equals `here`.
  void require(const std::string& name, const std::string& here);
  /// Marks all entries of a group as asked for, so that finish() does not report them as unexpected.
  void pass_over(const std::string& group);
  void problem(const std::string& text) { problems_ += "\n  " + text; }
  /// Adds a function that changes an object. finish() calls the function if there are no problems. It must not fail.
  void change(std::function<void()> make) { changes_.push_back(std::move(make)); }
  /// Makes all changes that were added. Errors: problems were noted. The message lists all of them, and nothing is
  /// changed.
  void finish();

 private:
  template <class A>
  A elements(const std::string& name, A (SafetensorsFile::*read)(const TensorEntry&) const);

  const SafetensorsFile* file_ = nullptr;
  std::vector<std::string> asked_;
  std::string problems_;
  std::vector<std::function<void()>> changes_;
};

// keep() saves or restores one field by its type. A const field is a setting, so it is compared and not restored.
template <class T>
concept TextField = requires(const T& x, T& y, const std::string& s) {
  field_text(x);
  read_field("", s, y);
};
// Reads a number from a checkpoint. Unlike an option, the number may be infinite or NaN, as a best loss is before the
// first evaluation.
void read_saved(const char* name, const std::string& text, double& x);
template <TextField T>
void read_saved(const char* name, const std::string& text, T& x) {
  read_field(name, text, x);
}
inline void read_saved(const char* name, const std::string& text, std::optional<double>& x) {
  if (text == field_text(std::optional<double>())) return x.reset();
  read_saved(name, text, x.emplace());
}

/// Returns the value that the file has under `name`. If the value is missing or cannot be read, notes a problem and
/// returns nullopt.
template <TextField T>
std::optional<T> value_of(Transfer& t, const std::string& name) {
  const std::string* const text = t.text(name);
  if (!text) return {};
  T value{};
  try {
    read_saved(name.c_str(), *text, value);
  } catch (const Error& e) {
    return t.problem(e.what()), std::nullopt;
  }
  return value;
}

template <TextField T>
void keep(Transfer& t, const std::string& name, const T& x) {
  t.file() ? t.require(name, field_text(x)) : t.write(name, field_text(x));
}
template <TextField T>
void keep(Transfer& t, const std::string& name, T& x) {
  if constexpr (std::is_same_v<T, std::optional<std::string>>)
    check_in("checkpoint", t.file() || !x || *x != field_text(T()), "'", name, "' cannot have the text '",
             field_text(T()), "': in a file it means that nothing was given");
  if (!t.file()) return t.write(name, field_text(x));
  if (std::optional<T> value = value_of<T>(t, name))
    t.change([&x, value = std::move(*value)]() mutable { x = std::move(value); });
}
void keep(Transfer& t, const std::string& name, Array& x);
void keep(Transfer& t, const std::string& name, IntArray& x);
void keep(Transfer& t, const std::string& name, std::vector<Index>& x);
void keep(Transfer& t, const std::string& name, const Parameter& x);
void keep(Transfer& t, const std::string& name, const Generator& stream);

/// The types of values that a checkpoint can keep.
template <class T>
concept Kept = !std::is_base_of_v<Module, T> && !std::is_base_of_v<Optimizer, T> &&
               (HasFields<T> || requires(Transfer & t, const std::string& name, T& value) { keep(t, name, value); });
}  // namespace detail

/// The list of all that a run depends on, by name, which is saved and restored as one file. The Checkpoint refers to
/// the objects that are added, so they must outlive it. Objects may be modules (parameters, buffers and random
/// streams), optimizers (state and learning rate), an EMA, and values; see train/save_and_resume.md.
///
/// Values are Index, double, bool, std::string, enums with words, std::optional of these, Array, IntArray, vectors of
/// Index, Parameters and Generators. Any struct that lists such fields in visit(v), as configs do, is a value as well.
/// So a DataLoader's iterator, a scheduler or a task of your own can be added. A const field in visit(v) is compared
/// and not restored.
///
/// Save between two steps, because gradients are not part of a checkpoint.
///
/// A checkpoint is one safetensors file. "model.transformer.wte.weight" and "optimizer.<parameter>.exp_avg" are
/// tensors. Numbers and settings are texts in its metadata. Every tensor and the header have a checksum.
/// "mote.version" is the version of mote that wrote the file.
class Checkpoint {
 public:
  static constexpr Index version = 1;

  void add(const std::string& name, Module& module);
  void add(const std::string& name, Optimizer& optimizer);
  /// Adds a value, which is saved and restored. Errors of all functions that add something: the name is empty, is used
  /// twice, is reserved ("mote", "format"), or is the beginning of another name up to a dot ("model" and
  /// "model.head").
  template <detail::Kept T>
  void add(const std::string& name, T& value) {
    add_part(name, [name, &value](detail::Transfer& t) {
      if constexpr (detail::HasFields<T>) {
        const auto each = [&](const char* field, auto& x, const char* = "", const FieldUse& = {}) {
          detail::keep(t, name + "." + field, x);
        };
        value.visit(each);
      } else {
        detail::keep(t, name, value);
      }
    });
  }
  template <class T>
  requires(!detail::Kept<T> && !std::is_base_of_v<Module, T> && !std::is_base_of_v<Optimizer, T>) __attribute__((
      unavailable("a checkpoint keeps Index (not int), double (not float), bool, std::string, enums with words, "
                  "std::optional of these, Array, IntArray, std::vector<Index>, Parameter, Generator, and structs that "
                  "list such "
                  "fields in visit(v)"))) void add(const std::string& name, T& value);
  /// Adds settings that must be the same when the run is resumed, such as the config that the model was built with.
  /// They are saved, and compared on loading.
  template <class C>
  void require(const std::string& name, const C& config) {
    require(name, fields(config));
  }
  void require(const std::string& name, std::vector<Field> list);
  /// Adds texts under `name`, which are saved for other programs. Loading ignores whatever the file has under `name`.
  void note(const std::string& name, std::vector<Field> list);

  /// Writes the file, whole or not at all. `notes` go into its metadata for other programs. The names of notes begin
  /// with "mote.", and loading ignores them. Errors: the file cannot be written.
  void save(const std::string& path, const Metadata& notes = {}) const;
  /// Restores everything. Errors: the file is not a checkpoint, is of a newer version or of another `real` type, or
  /// was cut or changed; names that are only in the file or only in this Checkpoint; shapes or settings that differ.
  /// The message lists all differences. After an error nothing has changed.
  void load(const std::string& path) const;

 private:
  using Keep = std::function<void(detail::Transfer&)>;
  void add_part(const std::string& name, Keep keep);

  std::vector<std::pair<std::string, Keep>> parts_;
};

/// Sets the fields of a config to those that a checkpoint has under `name`, so that the model can be built before
/// load() fills it. Errors: a field that the file does not have, or has with another type.
template <class C>
void read_fields(const SafetensorsFile& file, const std::string& name, C& config) {
  for (const Field& f : fields(config)) {
    const std::string* const text = file.find_metadata(name + "." + f.name);
    check_in("checkpoint", text, file.name(), ": has no '", name, ".", f.name, "'");
    set_field(config, f.name, *text);
  }
}

/// Loads the weights of a module (its parameters and buffers) from a checkpoint to which it was added as `name`, to
/// generate with it or to begin another run. If `name` is that of an EMA, the parameters become its averages, and the
/// module keeps its buffers. Errors: a file that is not a checkpoint, or was cut, or was changed in these weights;
/// names that only the file or only the module has; shapes that differ. After an error nothing has changed.
void load_weights(Module& module, const std::string& path, const std::string& name = "model");

}  // namespace mote
