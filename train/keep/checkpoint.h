// Checkpoint, the list of all that a run depends on: into one file and back, so that it goes on as if never stopped.
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
/// A type that lists its fields: visit(v), as configs do.
struct AnyField {
  template <class T>
  void operator()(const char*, T&, const char*, const FieldUse& = {}) {}
};
template <class C>
concept HasFields = requires(C& c, AnyField& v) {
  c.visit(v);
};

/// What a checkpoint keeps, on its way into a file or out of one.
class Transfer {
 public:
  Transfer() = default;                                             ///< into a file that is to be written
  explicit Transfer(const SafetensorsFile& file) : file_(&file) {}  ///< out of this file
  const SafetensorsFile* file() const { return file_; }             ///< null: into one

  void write(const std::string& name, const AnyArray& value) { tensors.push_back({name, value}); }
  void write(const std::string& name, const std::string& text) { texts.emplace_back(name, text); }
  std::vector<NamedArray> tensors;
  Metadata texts;

  // What the file has under a name. Nothing (null, or not defined), and a problem, if that is none or cannot be read.
  // What is never asked for is a problem, too.
  const std::string* text(const std::string& name);
  Array array(const std::string& name);
  IntArray ints(const std::string& name);
  /// Lets `set` have an array of this shape.
  void array(const std::string& name, const Shape& shape, const std::function<void(Array)>& set);
  /// A problem unless the file has this very text.
  void require(const std::string& name, const std::string& here);
  /// Asks for all that the file has in a group, and for nothing of it.
  void pass_over(const std::string& group);
  void problem(const std::string& text) { problems_ += "\n  " + text; }
  /// To be made if there are no problems. Cannot fail.
  void change(std::function<void()> make) { changes_.push_back(std::move(make)); }
  /// Errors: all problems at once. Otherwise all changes are made.
  void finish();

 private:
  template <class A>
  A elements(const std::string& name, A (SafetensorsFile::*read)(const TensorEntry&) const);

  const SafetensorsFile* file_ = nullptr;
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

/// The value that the file has under a name; nothing, and a problem, if it has none.
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

/// What a checkpoint keeps by its type.
template <class T>
concept Kept = !std::is_base_of_v<Module, T> && !std::is_base_of_v<Optimizer, T> &&
               (HasFields<T> || requires(Transfer & t, const std::string& name, T& value) { keep(t, name, value); });
}  // namespace detail

/// All that a run depends on, by name. What is added is referred to, and must outlive the checkpoint:
/// modules (their parameters, buffers and random streams), optimizers (state and learning rate), an EMA, values; see
/// train/save_and_resume.md.
///
/// Values are Index, double, bool, std::string, enums with words, std::optional of these, Array, IntArray, vectors of
/// Index, Parameters and Generators. So is any struct that lists such fields in visit(v), as configs do. A DataLoader's
/// iterator, a scheduler or a task of your own takes part by its list. A field that it gives as const is compared.
///
/// Save between two steps: gradients, collected or not, are no part of it.
///
/// A checkpoint is one safetensors file. "model.transformer.wte.weight" and "optimizer.<parameter>.exp_avg" are
/// tensors. Numbers and settings are texts in its metadata. Every tensor and the header have a checksum. "mote.version"
/// says which mote wrote it.
class Checkpoint {
 public:
  static constexpr Index version = 1;

  void add(const std::string& name, Module& module);
  void add(const std::string& name, Optimizer& optimizer);
  /// A value that is saved and restored. Errors, here as for all parts: a name that is empty, used twice, the file's
  /// own ("mote", "format"), or the beginning of another up to a point ("model" and "model.head").
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
  /// Restores everything. Errors: no checkpoint; one of a newer version or of the other `real`; a file that was cut or
  /// changed. Names that only one side has, shapes and settings that differ: all differences at once. After an error
  /// nothing has changed.
  void load(const std::string& path) const;

 private:
  using Keep = std::function<void(detail::Transfer&)>;
  void add_part(const std::string& name, Keep keep);

  std::vector<std::pair<std::string, Keep>> parts_;
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
