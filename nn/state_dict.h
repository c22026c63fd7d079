// The state of a module as named arrays: into a file and back, under mote's names or those of another library.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/io/safetensors.h"
#include "nn/module.h"

namespace mote {

/// One array of a state: its shape is known, its elements are read when they are needed.
struct StateEntry {
  std::string name;
  Shape shape;
  std::function<Array()> read;
};
using StateDict = std::vector<StateEntry>;

/// A parameter's or a buffer's place in a module, under all its names.
struct StatePlace {
  std::vector<std::string> names;
  Shape shape;
  std::function<void(Array)> set;  ///< cannot fail for an array of this shape
};
std::vector<StatePlace> state_places(Module& module);

/// Parameters and buffers in visit order; a tied parameter once, under its first name.
StateDict state_dict(const Module& module);

/// How one array is called and kept elsewhere.
struct NameRule {
  std::string outside, inside;
  bool transposed = false;    ///< a matrix is kept as [in, out] there
  Index part = 0, parts = 1;  ///< ours is this one of equal parts, along axis 0, of what is kept there
  bool alias = false;         ///< another name of what a rule above has written: read, never written
};
/// The names of a family of files, used in both directions.
struct NameTable {
  std::vector<NameRule> rules;
  std::vector<std::string> ignored;  ///< ends of names outside that hold no weights, such as ".attn.masked_bias"
};
/// `state` under the names of the outside, and back. Errors: parts of which some are missing.
StateDict to_outside(const StateDict& state, const NameTable& names);
StateDict from_outside(const StateDict& state, const NameTable& names);

struct LoadOptions {
  /// All names must agree. False takes what is there and reports the rest. Shapes must agree in any case.
  bool strict = true;
  const NameTable* names = nullptr;  ///< the file's names; not given: mote's own
};

/// What loading left aside when it was not strict.
struct LoadReport {
  std::vector<std::string> missing;     ///< in the module, not in the state: kept as they were
  std::vector<std::string> unexpected;  ///< in the state, not in the module
};

/// Sets the parameters and buffers of a module by name. One name of a tied parameter suffices; what is given under several
/// must be the same elements. `what` names the source in errors. Errors: names that only one side has, shapes that
/// differ; the message lists all of them, and nothing has changed.
LoadReport load_state_dict(Module& module, const StateDict& state, const LoadOptions& options = {},
                           const std::string& what = "the state");

/// The tensors of a file as a state; the file must outlive it.
StateDict state_of(const SafetensorsFile& file);

/// Writes a module's parameters and buffers as a safetensors file: under mote's names, or those of `names`. An existing
/// file is replaced, whole or not at all. Not in it: random streams, the optimizer, the step; for these see
/// train/checkpoint.h.
void save(const Module& module, const std::string& path, const NameTable* names = nullptr);
/// Reads them back. The module must have been built with the same config. Nothing changes on an error.
LoadReport load(Module& module, const std::string& path, const LoadOptions& options = {});

}  // namespace mote
