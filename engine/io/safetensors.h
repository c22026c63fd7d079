// safetensors, the ecosystem's format for named tensors: a JSON header, then the elements.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/io/elements.h"

namespace mote {

/// One tensor to be written.
struct NamedArray {
  std::string name;
  AnyArray value;
};

/// Texts by name: `__metadata__`.
using Metadata = std::vector<std::pair<std::string, std::string>>;

/// Writes a file, whole or not at all (engine/io/file.h). Equal arguments give equal bytes: tensors are sorted as the
/// reference implementation sorts them (by element type, then by name), metadata by name. Two kinds of entries are
/// added to the metadata: "format" = "pt", without which some loaders refuse a file, and "crc32" with "crc32 <tensor>",
/// checksums with which SafetensorsFile finds any changed bit. Errors: a name that is used twice, not UTF-8, empty or
/// "__metadata__"; an array that is not defined; a file that cannot be written.
void save_safetensors(const std::string& path, std::vector<NamedArray> tensors, Metadata metadata = {});

/// One tensor in a file.
struct TensorEntry {
  std::string name;
  DType dtype;
  Shape shape;
  std::uint64_t begin, end;  ///< bytes, from the first byte after the header
};

/// A safetensors file, opened for reading. What the constructor accepts is sound: the header is UTF-8 and JSON, of at
/// most 100 MB, of exactly the fields that belong there; names occur once; tensors lie one after another without a gap
/// from the first byte after the header to the last of the file, each as long as its type and shape say. Stricter than
/// the reference: names used twice and unknown fields are refused, and so is a header that does not begin with '{'.
/// Memory is never requested for more than the file holds. Source: the format's README, huggingface/safetensors.
class SafetensorsFile {
 public:
  /// Errors: one sentence that names the file, the tensor and the rule.
  explicit SafetensorsFile(const std::string& path);
  explicit SafetensorsFile(ByteSource source);

  const std::string& name() const { return source_.name; }
  /// In the order of their bytes.
  const std::vector<TensorEntry>& tensors() const { return tensors_; }
  const Metadata& metadata() const { return metadata_; }
  /// Null if there is none of that name.
  const TensorEntry* find(const std::string& name) const;
  const std::string* find_metadata(const std::string& name) const;
  /// Whether the file has a checksum for each tensor.
  bool has_checksums() const { return find_metadata("crc32") != nullptr; }

  /// The elements. Errors: a type that mote does not read, an element that mote's own type cannot hold exactly (F64 in
  /// a build over float, say), a wrong checksum, a file that can no longer be read.
  Array array(const TensorEntry& entry) const;
  IntArray int_array(const TensorEntry& entry) const;  ///< from integers and booleans
  Mask mask(const TensorEntry& entry) const;           ///< from booleans
  /// The bytes of a tensor, piece by piece and in order. False: its checksum is wrong, which is no error here.
  bool read_bytes(const TensorEntry& entry, const SeeBytes& see) const;
  /// Reads every byte and compares every checksum. Errors: the first one that differs.
  void check_all() const;

 private:
  void read_header(const std::string& header);
  void check_offsets();
  StoredElements stored(const TensorEntry& entry) const;
  bool has_sum(const TensorEntry& entry, std::uint32_t sum) const;
  /// read(source, elements, see), with the checksum compared.
  template <class Read>
  auto checked(const TensorEntry& entry, const Read& read) const;

  ByteSource source_;
  std::uint64_t data_ = 0;  // where the header ends
  std::vector<TensorEntry> tensors_;
  Metadata metadata_;
};

namespace detail {
/// The file's bytes, piece by piece. Without checksums exactly what the reference writes for these arguments.
void write_safetensors(const std::function<void(const void* data, std::size_t bytes)>& put,
                       std::vector<NamedArray> tensors, Metadata metadata, bool checksums);
}  // namespace detail

}  // namespace mote
