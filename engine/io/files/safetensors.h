// safetensors, the ecosystem's format for named tensors: a JSON header, then the elements.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/io/files/elements.h"

namespace mote {

/// One tensor to be written.
struct NamedArray {
  std::string name;
  AnyArray value;
};

/// Texts by name: `__metadata__`; at most 2,000 when written.
using Metadata = std::vector<std::pair<std::string, std::string>>;

/// Writes a file, whole or not at all (FileWriter of file.h). Equal arguments give equal bytes: tensors are sorted as
/// the reference implementation sorts them (by element type, then by name), metadata by name. Unless it is given,
/// "format" = "pt" is added to the metadata: without it some loaders refuse a file. Checksums are added, too. With them
/// SafetensorsFile finds any changed bit: "mote.crc32.header", and "mote.crc32.tensors" in the order of the file.
/// Errors: a name that is used twice, that is not UTF-8, or that the format or the checksums need; an array that is not
/// defined; a header above 100 MB; a file that cannot be written.
void save_safetensors(const std::string& path, std::vector<NamedArray> tensors, Metadata metadata = {});

/// One tensor in a file.
struct TensorEntry {
  std::string name;
  DType dtype = {};
  Shape shape;
  std::uint64_t begin = 0, end = 0;  ///< bytes, from the first byte after the header
  std::optional<std::uint32_t> crc32;
};

/// A safetensors file, opened for reading. What the constructor accepts is sound. The header is UTF-8 and JSON, of at
/// most 100 MB. Names occur once. Tensors lie one after another without a gap, from the first byte after the header to
/// the last of the file. Each is as long as its type and shape say. If there are checksums, that of the header is
/// right. Stricter than the reference implementation, as the format's README demands: names used twice are refused, and
/// so is a header that does not begin with '{'. As there, further fields of a tensor are ignored, and the metadata may
/// be null. Source: the README of huggingface/safetensors.
class SafetensorsFile {
 public:
  /// Errors: one sentence that names the file, the tensor and the rule.
  explicit SafetensorsFile(const std::string& path);
  explicit SafetensorsFile(ByteSource source);

  const std::string& name() const& { return source_.name; }
  std::string name() && { return source_.name; }
  /// The tensors of the file, in the file's order.
  const std::deque<TensorEntry>& tensors() const& { return tensors_; }
  std::deque<TensorEntry> tensors() && { return tensors_; }
  /// By name; without the checksums, which save_safetensors adds itself.
  const Metadata& metadata() const& { return metadata_; }
  Metadata metadata() && { return metadata_; }
  /// Null if there is none of that name.
  const TensorEntry* find(const std::string& name) const&;
  const TensorEntry* find(const std::string& name) && = delete;  // what it points to would die with the temporary
  const std::string* find_metadata(const std::string& name) const&;
  const std::string* find_metadata(const std::string& name) && = delete;
  /// Whether the header and every tensor have a checksum.
  bool has_checksums() const { return has_checksums_; }

  /// The elements. Errors: those of read_array (engine/io/files/elements.h), a wrong checksum.
  Array array(const TensorEntry& entry) const;
  IntArray int_array(const TensorEntry& entry) const;  ///< from integers and booleans
  Mask mask(const TensorEntry& entry) const;           ///< from booleans
  /// The bytes of a tensor, piece by piece and in order. False: its checksum is wrong, which is no error here.
  bool read_bytes(const TensorEntry& entry, const SeeBytes& see) const;

 private:
  std::string read_header();
  void read_members(const std::string& header);
  void check_offsets() const;
  void sort_names();
  void read_checksums(const std::string& header);
  StoredElements stored(const TensorEntry& entry) const;
  /// read(source, elements, see), with the checksum compared.
  template <class Read>
  auto checked(const TensorEntry& entry, const Read& read) const;

  ByteSource source_;
  std::uint64_t data_ = 0;              // where the header ends
  std::deque<TensorEntry> tensors_;     // no block is larger than the file, whatever the number
  std::vector<std::uint32_t> by_name_;  // positions in tensors_
  Metadata metadata_;
  bool has_checksums_ = false;
};

namespace detail {
/// The file's bytes, piece by piece. Without checksums exactly what the reference writes for these arguments.
void write_safetensors(const std::function<void(const void* data, std::size_t bytes)>& put,
                       std::vector<NamedArray> tensors, Metadata metadata, bool checksums);
}  // namespace detail

}  // namespace mote
