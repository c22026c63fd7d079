// A module's state as PyTorch keeps it, a dict of tensors by name, and functions that read such dicts.
#pragma once

#include <string>

#include "engine/io/files/torch_file.h"
#include "nn/fields.h"
#include "nn/state_dict.h"

namespace mote {

/// The state of a module as PyTorch's model.state_dict() returns it. `names` gives the names, and mote's own are the
/// default.
TorchValue torch_state_dict(const Module& module, const NameTable& names = {});
/// A state_dict of PyTorch as a state for load_state_dict(). Errors: a value that is not a dict with names as keys.
/// Whether a name stands for a tensor of floats is only checked when its entry is read.
StateDict state_dict(const TorchValue& torch_state_dict, const std::string& what = "the state");

/// The entries of a dict that are settings, as names and texts: every bool, int, float and str. Empty for a value that
/// is not a dict.
FieldValues field_values(const TorchValue& dict);

namespace detail {
/// The entry of a dict with this name; null if there is none.
const TorchValue* find(const TorchValue& dict, const std::string& name);
/// The entry of a dict with this name. Errors: there is none.
const TorchValue& at(const TorchValue& dict, const std::string& name);
/// The array of a tensor of floats. Errors: any other value.
Array floats_of(const TorchValue& value, const std::string& what);
/// The number in an int, a float or a tensor of one element. Errors: any other value. count_of() also refuses a number
/// that is not a whole number from 0 to 1e15.
double number_of(const TorchValue& value, const std::string& what);
Index count_of(const TorchValue& value, const std::string& what);
}  // namespace detail

}  // namespace mote
