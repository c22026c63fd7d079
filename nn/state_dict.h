// The state of a module as named arrays: into a file and back, under mote's names or those of another library.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/io/files/safetensors.h"
#include "nn/module.h"

namespace mote {

/// One array of a state: its shape is known, its elements are read when they are needed.
struct StateEntry {
  std::string name;
  Shape shape;
  std::function<Array()> read;
  std::vector<std::string> here = {};  ///< of what state_dict() lists: what it is made of, by our names
  std::string other = {};              ///< the class of what is no array of floats, which read() refuses
};
using StateDict = std::vector<StateEntry>;

/// How one array, or some of its rows, are called and kept elsewhere, "there", and here, in mote.
struct NameRule {
  std::string there, here;
  bool transposed = false;  ///< a matrix that is kept as [in, out] there
  /// So many rows (along axis 0) of ours, from `from_here` on, are those from `from_there` on of what is kept there,
  /// once it is transposed; all that is there is what a table's rules list. 0: the two are one array.
  Index rows = 0, from_here = 0, from_there = 0;
  bool read_only = false;  ///< a name that may occur there, but is not written
};

/// The names of a family of files, used in both directions. Empty: mote's own names. Otherwise a name without a rule
/// has no place on the other side.
struct NameTable {
  std::vector<NameRule> rules;
  std::vector<std::string> ignored;  ///< ends of names there that hold no weights, such as ".attn.masked_bias"
  std::string unwritable = {};       ///< why nothing is written under these names, only read; empty: it is
};

/// Parameters and buffers in visit order, a tied parameter once, under its first name; or all that `names` lists, in
/// its order. Errors: an array, or rows of one, without a name in the table; rows there that it gives nothing, or two;
/// a table that is only for reading.
StateDict state_dict(const Module& module, const NameTable& names = {});
/// The tensors of a file as a state; the file must outlive it.
StateDict state_dict(const SafetensorsFile& file);
StateDict state_dict(SafetensorsFile&&) = delete;

struct LoadOptions {
  /// All names must agree. False takes what is there and reports the rest. Shapes must agree in any case.
  bool strict = true;
  NameTable names = {};  ///< of the state
};

/// What loading left aside when it was not strict.
struct LoadReport {
  std::vector<std::string> missing;     ///< in the module, not or not whole in the state: kept as they were
  std::vector<std::string> unexpected;  ///< in the state, not in the module
};

/// Sets the parameters and buffers of a module by name. One name of a tied parameter suffices; what is given under
/// several must be equal in every bit. A prefix that all names of the state have is left out if it is one of torch's
/// wrappers, "module." or "_orig_mod.". `what` names the source in errors. Errors: names that only one side has, shapes
/// that differ; the message lists all of them, and nothing has changed. Nor has it after an error of reading.
LoadReport load_state_dict(Module& module, const StateDict& state, const LoadOptions& options = {},
                           const std::string& what = "the state");

/// Writes a module's parameters and buffers as a safetensors file, under mote's names or those of `names`:
///
///     save(model, "model.safetensors");
///     save(model, "nanogpt.safetensors", nanogpt_names(model));
///
/// An existing file is replaced, whole or not at all. Not in it: random streams, the optimizer, the step; for these see
/// train/keep/checkpoint.h.
void save(const Module& module, const std::string& path, const NameTable& names = {});
/// Reads them back into a module that was built with the same config: load(model, "model.safetensors"). Errors: those
/// of the file and of load_state_dict(); nothing has changed then.
LoadReport load(Module& module, const std::string& path, const LoadOptions& options = {});

/// A parameter's or a buffer's place in a module, under all its names.
struct StatePlace {
  std::vector<std::string> names;
  Shape shape;
  std::function<void(Array)> set;  ///< cannot fail for an array of this shape
  std::function<Array()> get = {};
};
/// The places of all that a state holds: parameters, then buffers, in visit order.
std::vector<StatePlace> state_places(Module& module);
/// What state_dict() and load_state_dict() do for a module, for any places; `who` and `owner` are for errors.
StateDict state_dict(const std::vector<StatePlace>& places, const NameTable& names, const std::string& owner);
LoadReport load_places(const char* who, const std::vector<StatePlace>& places, const StateDict& state,
                       const LoadOptions& options, const std::string& what, const std::string& owner);

}  // namespace mote
