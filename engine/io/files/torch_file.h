// Files of torch.save: a tree of plain values and tensors, as a pickle in a zip archive.
#pragma once

#include <compare>
#include <string>
#include <variant>
#include <vector>

#include "engine/io/files/elements.h"

namespace mote {

struct TorchValue;
struct TorchItem;

/// A list or a tuple.
struct TorchList {
  std::vector<TorchValue> items;
  bool tuple = false;
};
/// What mote does not read, by the name of its class, or of the function that makes it: "torch.device", "__main__.Net",
/// "torch.Tensor of torch.ComplexFloatStorage". It can neither be written nor asked for what is in it.
struct TorchObject {
  std::string name;
  friend bool operator==(const TorchObject&, const TorchObject&) = default;
  friend bool operator<(const TorchObject& a, const TorchObject& b) { return a.name < b.name; }
};
/// A key that is no str and no int is what mote does not read.
using TorchKey = std::variant<std::string, Index, TorchObject>;
struct TorchDict {
  std::vector<TorchItem> items;
  const TorchValue* find(const TorchKey& key) const;  ///< null if there is none
};
struct TorchTensor {
  AnyArray array;
  bool bytes = false;  ///< an IntArray that is torch.uint8 in the file, as the state of a torch.Generator is
};
/// None, a bool, an int, a float, a str, a container, a tensor, or something else.
struct TorchValue {
  std::variant<std::monostate, bool, Index, double, std::string, TorchList, TorchDict, TorchTensor, TorchObject> value;
};
/// Its class, as Python calls it: "NoneType", "float", "torch.Tensor of integers", an object's name.
std::string class_of(const TorchValue& value);
struct TorchItem {
  TorchKey key;
  TorchValue value;
};

/// What torch.load(path) returns of a file of torch.save (PyTorch 1.6 and later). Nothing of it is executed. An
/// OrderedDict is a dict, without the attributes of a state_dict; torch.Size is a tuple, a Parameter a tensor. Tensors,
/// of any device, become what read_any (engine/io/files/elements.h) makes of their elements. Tensors that share a
/// storage share it here, too. Those that are not in row-major order are copied. All else becomes a TorchObject: other
/// classes, complex and sparse tensors, tensors of 9 axes and more, ints above 64 bits. In mote over float it is also a
/// float64 tensor with a value that is no float32.
/// Errors, in one sentence that opens with the source's name: a dict with a key twice; containers nested deeper than
/// 64, or in themselves; a damaged file, in what is used of it. Two limits stop a small file from filling the memory.
/// There may be 2^18 values and one more for every 32 bytes of the file; a value that is used twice counts twice. There
/// may be 2^20 copied elements and one more for every byte.
TorchValue load_torch(const ByteSource& source);
TorchValue load_torch(const std::string& path);

/// Writes a file for torch.load, with weights_only (where PyTorch 1 knows no plain float) or without, whole or not at
/// all (FileWriter of file.h). Tensors are contiguous there: torch.float32 (mote_f64: torch.float64), torch.int64,
/// torch.bool, torch.uint8. Those of the same elements in memory, in the same shape, share a storage. Equal trees
/// give equal bytes. Errors: an array that is not defined, bytes outside of 0 to 255, a str that is not UTF-8, a key
/// twice in a dict, containers nested deeper than 64, a TorchObject.
void save_torch(const std::string& path, const TorchValue& value);

namespace detail {
/// The pickle of a tree without tensors, as Python's pickle.load reads it. Errors: those of save_torch.
std::string pickled(const TorchValue& value);
/// And what pickle.dump has written, without tensors. Errors: those of load_torch; they begin with the name.
TorchValue unpickled(const std::string& name, const std::string& pickle);
/// The bytes of the file, piece by piece.
void write_torch(const std::function<void(const void* data, std::size_t bytes)>& put, const TorchValue& value);
}  // namespace detail

}  // namespace mote
