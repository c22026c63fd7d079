// Converts dicts of torch.save to states of modules and back.
#include "nn/torch_state.h"

#include <cmath>

namespace mote {

Array detail::floats_of(const TorchValue& value, const std::string& what) {
  const auto* const tensor = std::get_if<TorchTensor>(&value.value);
  const auto* const x = tensor ? std::get_if<Array>(&tensor->array) : nullptr;
  check_in("torch", x, what, " must be a tensor of floats, not ", class_of(value));
  return *x;
}

double detail::number_of(const TorchValue& value, const std::string& what) {
  if (const auto* const n = std::get_if<Index>(&value.value)) return static_cast<double>(*n);
  if (const auto* const x = std::get_if<double>(&value.value)) return *x;
  check_in("torch", std::holds_alternative<TorchTensor>(value.value), what, " must be a number, not ", class_of(value));
  const Array x = floats_of(value, what);
  check_in("torch", x.numel() == 1, what, " must be one number, not a tensor ", x.shape());
  return static_cast<double>(x.reshape({}).item());
}
Index detail::count_of(const TorchValue& value, const std::string& what) {
  const double n = number_of(value, what);
  check_in("torch", n >= 0 && n <= 1e15 && n == std::floor(n), what, " must be a whole number from 0 to 1e15, not ", n);
  return static_cast<Index>(n);
}

const TorchValue* detail::find(const TorchValue& dict, const std::string& name) {
  const auto* const items = std::get_if<TorchDict>(&dict.value);
  return items ? items->find(name) : nullptr;
}

const TorchValue& detail::at(const TorchValue& dict, const std::string& name) {
  const TorchValue* const found = find(dict, name);
  check_in("torch", found, "the state has no entry '", name, "'");
  return *found;
}

FieldValues field_values(const TorchValue& dict) {
  FieldValues all;
  const auto* const entries = std::get_if<TorchDict>(&dict.value);
  if (!entries) return all;
  for (const TorchItem& item : entries->items) {
    const auto* const name = std::get_if<std::string>(&item.key);
    if (!name) continue;
    const auto add = [&](const auto& x) {
      if constexpr (requires { detail::field_text(x); }) all.emplace_back(*name, detail::field_text(x));
    };
    std::visit(add, item.value.value);
  }
  return all;
}

TorchValue torch_state_dict(const Module& module, const NameTable& names) {
  TorchDict dict;
  for (const StateEntry& e : state_dict(module, names)) dict.items.push_back({e.name, {TorchTensor{e.read()}}});
  return {std::move(dict)};
}

StateDict state_dict(const TorchValue& torch_state_dict, const std::string& what) {
  const auto* const dict = std::get_if<TorchDict>(&torch_state_dict.value);
  check_in("torch", dict, what, " must be a dict, not ", class_of(torch_state_dict));
  StateDict all;
  for (const TorchItem& item : dict->items) {
    const auto* const name = std::get_if<std::string>(&item.key);
    check_in("torch", name, what, " has a key that is not a string");
    const auto* const tensor = std::get_if<TorchTensor>(&item.value.value);
    StateEntry entry{*name, tensor ? shape_of(tensor->array) : Shape(), {}};
    if (!tensor || !std::holds_alternative<Array>(tensor->array)) entry.other = class_of(item.value);
    entry.read = [value = item.value, what = *name] { return detail::floats_of(value, what); };
    all.push_back(std::move(entry));
  }
  return all;
}

}  // namespace mote
