// A module's state as torch keeps it, a dict of tensors by name; what such dicts hold.
#pragma once

#include <string>

#include "engine/io/files/torch_file.h"
#include "nn/fields.h"
#include "nn/state_dict.h"

namespace mote {

/// model.state_dict() there, under these names; and what load_state_dict() takes here.
TorchValue torch_state_dict(const Module& module, const NameTable& names = {});
/// Errors: what is no dict of names. What a name stands for is asked for when it is read.
StateDict state_dict(const TorchValue& torch_state_dict, const std::string& what = "the state");

/// The entries of a dict that are settings, as texts by name: each bool, int, float and str; none of what is no dict.
FieldValues field_values(const TorchValue& dict);

namespace detail {
/// The entry of a dict; null if there is none.
const TorchValue* find(const TorchValue& dict, const std::string& name);
/// Errors: there is none.
const TorchValue& at(const TorchValue& dict, const std::string& name);
/// Errors: what is no tensor of floats.
Array floats_of(const TorchValue& value, const std::string& what);
/// An int, a float or the only element of a tensor. Errors: anything else; of a count, too, what counts nothing.
double number_of(const TorchValue& value, const std::string& what);
Index count_of(const TorchValue& value, const std::string& what);
}  // namespace detail

}  // namespace mote
