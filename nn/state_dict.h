// The state of a module as named arrays, saved to files and loaded, under mote's names or those of another library.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/io/files/safetensors.h"
#include "nn/module.h"

namespace mote {

/// A named array of a state. Its shape is known at once, and its elements are read when read() is called.
struct StateEntry {
  std::string name;
  Shape shape;
  std::function<Array()> read;
  std::vector<std::string> here = {};  ///< mote's names of the arrays that make up this one; set by state_dict()
  std::string other = {};              ///< the class of a value that is not an array of floats; read() then throws
};
using StateDict = std::vector<StateEntry>;

/// Says which array in the files of another library is which array of a mote module. A rule may also be about only some
/// rows of both arrays. In the field names, `there` means the other library, and `here` means mote.
struct NameRule {
  std::string there, here;
  bool transposed = false;  ///< the other library keeps the matrix as [in, out]
  /// If `rows` is 0, the rule is about the whole arrays. Otherwise it is about `rows` rows along axis 0, which begin at
  /// row `from_here` of mote's array and at row `from_there` of the other library's array. If `transposed`, the other
  /// library's rows are counted after the transposition. All rules of a table together must cover the whole array of
  /// the other library.
  Index rows = 0, from_here = 0, from_there = 0;
  bool read_only = false;  ///< the name is accepted when loading but not written
};

/// How another library names a model's weights in its files, used for saving and loading. A table without rules stands
/// for mote's own names. In a table with rules, an array that no rule names exists in only one of the two libraries.
struct NameTable {
  std::vector<NameRule> rules;
  std::vector<std::string> ignored;  ///< names in files with these endings hold no weights, such as ".attn.masked_bias"
  std::string unwritable = {};       ///< why these names can be read but not written; empty: they can be written
};

/// The parameters of a module in visit order, and then its buffers. A tied parameter is listed once, under its first
/// name. If `names` has rules, the result is the other library's arrays in the order of the rules. Errors: an array of
/// the module, or some of its rows, without a rule; rows of another library's array that the rules fill twice or not at
/// all; a table that is only for reading.
StateDict state_dict(const Module& module, const NameTable& names = {});
/// The tensors of a safetensors file as a state. The file must outlive the state.
StateDict state_dict(const SafetensorsFile& file);
StateDict state_dict(SafetensorsFile&&) = delete;

/// How load_state_dict() and load() read a state.
struct LoadOptions {
  /// true: all names must agree. false: loads the names that agree and reports the others. Shapes must agree in both
  /// cases.
  bool strict = true;
  NameTable names = {};  ///< the names that the state uses
};

/// The names that were not loaded because only the module has them, or only the state. If `strict` was true, there are
/// none.
struct LoadReport {
  std::vector<std::string> missing;     ///< in the module but not, or not completely, in the state; their values stay
  std::vector<std::string> unexpected;  ///< in the state but not in the module
};

/// Sets the parameters and buffers of a module by name. One name of a tied parameter is enough. Values under several
/// names of a tied parameter must be equal bit for bit. A prefix "module." or "_orig_mod.", which wrappers of torch put
/// before all names, is removed. `what` names the state in error messages. Errors: names that only the module or only
/// the state has; shapes that differ. The message lists all of them. After any error, also one of reading, the module
/// is unchanged.
LoadReport load_state_dict(Module& module, const StateDict& state, const LoadOptions& options = {},
                           const std::string& what = "the state");

/// Writes a module's parameters and buffers as a safetensors file, under mote's names or those of `names`:
///
///     save(model, "model.safetensors");
///     save(model, "nanogpt.safetensors", nanogpt_names(model));
///
/// An existing file is replaced completely or not at all. The file does not contain the random streams, the optimizer's
/// state or the step, which a checkpoint (train/keep/checkpoint.h) also contains.
void save(const Module& module, const std::string& path, const NameTable& names = {});
/// Loads a file of save() into a module that was built with the same config: load(model, "model.safetensors"). Errors:
/// those of the file and of load_state_dict(). After an error the module is unchanged.
LoadReport load(Module& module, const std::string& path, const LoadOptions& options = {});

/// A parameter or buffer of a module, with all its names and with functions that set and get its value.
struct StatePlace {
  std::vector<std::string> names;
  Shape shape;
  std::function<void(Array)> set;  ///< cannot fail for an array of this shape
  std::function<Array()> get = {};
};
/// All parameters of a module as StatePlaces, and then all its buffers, in visit order.
std::vector<StatePlace> state_places(Module& module);
/// state_dict() and load_state_dict() for a list of StatePlaces instead of a module. `who` and `owner` are names for
/// error messages.
StateDict state_dict(const std::vector<StatePlace>& places, const NameTable& names, const std::string& owner);
LoadReport load_places(const char* who, const std::vector<StatePlace>& places, const StateDict& state,
                       const LoadOptions& options, const std::string& what, const std::string& owner);

}  // namespace mote
