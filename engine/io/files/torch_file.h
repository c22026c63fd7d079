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
/// A Python object that mote does not read. Only the name is kept, which is that of its class or of the function that
/// makes it: "torch.device", "__main__.Net", "torch.Tensor of torch.ComplexFloatStorage". A TorchObject cannot be
/// written.
struct TorchObject {
  std::string name;
  friend bool operator==(const TorchObject&, const TorchObject&) = default;
  friend bool operator<(const TorchObject& a, const TorchObject& b) { return a.name < b.name; }
};
/// The key of an item of a dict. A key that is neither a str nor an int becomes a TorchObject.
using TorchKey = std::variant<std::string, Index, TorchObject>;
struct TorchDict {
  std::vector<TorchItem> items;
  const TorchValue* find(const TorchKey& key) const;  ///< null if there is none
};
struct TorchTensor {
  AnyArray array;
  bool bytes = false;  ///< an IntArray that is torch.uint8 in the file, as the state of a torch.Generator is
};
/// A Python value: None, a bool, an int, a float, a str, a list or tuple, a dict, a tensor, or something that mote
/// does not read.
struct TorchValue {
  std::variant<std::monostate, bool, Index, double, std::string, TorchList, TorchDict, TorchTensor, TorchObject> value;
};
/// The class of a value, as Python calls it: "NoneType", "float", "torch.Tensor of integers", the name of a
/// TorchObject.
std::string class_of(const TorchValue& value);
struct TorchItem {
  TorchKey key;
  TorchValue value;
};

/// Reads a file of torch.save (PyTorch 1.6 and later), and returns the same tree as torch.load(path). No code in the
/// file is executed. An OrderedDict becomes a dict, without the attributes of a state_dict. A torch.Size becomes a
/// tuple, and a Parameter becomes a tensor. A tensor of any device becomes the array that read_any
/// (engine/io/files/elements.h) reads from the file. Tensors that share a storage in the file become arrays that share
/// memory. Tensors that are not in row-major order are copied. All else becomes a TorchObject: other classes, complex
/// and sparse tensors, tensors of 9 axes and more, ints of more than 64 bits. In a build over float, a float64 tensor
/// also becomes a TorchObject if one of its values is not exactly a float32.
/// Errors, in one sentence that begins with the source's name: a dict with a key twice; containers nested deeper than
/// 64, or nested in themselves; damage in a part of the file that is read. Two limits stop a small file from filling
/// the memory. The file may have 2^18 values, and one more for every 32 bytes. A value that is used twice counts twice.
/// The tensors may have 2^20 copied elements, and one more for every byte of the file.
TorchValue load_torch(const ByteSource& source);
TorchValue load_torch(const std::string& path);

/// Writes a file for torch.load, whole or not at all (FileWriter of file.h). torch.load can read the file with and
/// without weights_only, but PyTorch 1 does not read a plain float with weights_only. In the file, tensors are
/// contiguous and of type torch.float32 (torch.float64 in the build mote_f64), torch.int64, torch.bool or torch.uint8.
/// Tensors of the same elements in memory and of the same shape share a storage. Equal trees give equal bytes. Errors:
/// an array that is not defined, bytes outside of 0 to 255, a str that is not UTF-8, a key twice in a dict, containers
/// nested deeper than 64, a TorchObject.
void save_torch(const std::string& path, const TorchValue& value);

namespace detail {
/// The pickle of a tree without tensors, as Python's pickle.load reads it. Errors: those of save_torch.
std::string pickled(const TorchValue& value);
/// Reads a pickle without tensors, as Python's pickle.dump writes it. Errors: those of load_torch, beginning with
/// `name`.
TorchValue unpickled(const std::string& name, const std::string& pickle);
/// Passes the bytes of the file of save_torch() to `put`, piece by piece.
void write_torch(const std::function<void(const void* data, std::size_t bytes)>& put, const TorchValue& value);
}  // namespace detail

}  // namespace mote
