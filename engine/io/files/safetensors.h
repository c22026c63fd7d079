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

/// Pairs of a name and a text, `__metadata__` in the file. At most 2,000 pairs can be written.
using Metadata = std::vector<std::pair<std::string, std::string>>;

/// Writes a safetensors file, whole or not at all (FileWriter of file.h). Equal arguments give equal bytes. Tensors are
/// sorted as the reference implementation sorts them (by element type, then by name). Metadata are sorted by name. If
/// the metadata have no "format", "format" = "pt" is added, because some loaders refuse a file without it. Checksums
/// are added to the metadata: "mote.crc32.header" for the header, and "mote.crc32.tensors" for the tensors in the order
/// of the file. With these checksums SafetensorsFile finds any changed bit. Errors: a name that is used twice, that is
/// not UTF-8, or that is reserved for the format or the checksums; an array that is not defined; a header above 100 MB;
/// a file that cannot be written.
void save_safetensors(const std::string& path, std::vector<NamedArray> tensors, Metadata metadata = {});

/// One tensor in a file.
struct TensorEntry {
  std::string name;
  DType dtype = {};
  Shape shape;
  std::uint64_t begin = 0, end = 0;  ///< byte offsets from the first byte after the header
  std::optional<std::uint32_t> crc32;
};

/// A safetensors file, opened for reading. The constructor checks the whole header, which must be JSON in UTF-8 of at
/// most 100 MB. Names must occur once. Tensors must lie one after another without a gap, from the first byte after the
/// header to the last byte of the file. Each tensor must be as long as its type and shape say. If there are checksums,
/// the checksum of the header must be right. Names used twice and a header that does not begin with '{' are refused, as
/// the format's README demands, although the reference implementation accepts them. As in the reference implementation,
/// unknown fields of a tensor are ignored, and the metadata may be null. Source: the README of huggingface/safetensors.
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
  /// The metadata, sorted by name, without the checksums that save_safetensors adds.
  const Metadata& metadata() const& { return metadata_; }
  Metadata metadata() && { return metadata_; }
  /// The tensor of this name, or null if there is none.
  const TensorEntry* find(const std::string& name) const&;
  const TensorEntry* find(const std::string& name) && = delete;  // the tensor would die with the temporary file object
  const std::string* find_metadata(const std::string& name) const&;
  const std::string* find_metadata(const std::string& name) && = delete;
  /// Whether the header and every tensor have a checksum.
  bool has_checksums() const { return has_checksums_; }

  /// Reads the elements of a tensor. Errors: those of read_array (engine/io/files/elements.h); a wrong checksum.
  Array array(const TensorEntry& entry) const;
  IntArray int_array(const TensorEntry& entry) const;  ///< reads integers and booleans
  Mask mask(const TensorEntry& entry) const;           ///< reads booleans
  /// Passes the bytes of a tensor to `see`, piece by piece and in order. Returns false if the tensor's checksum is
  /// wrong, which is no error here.
  bool read_bytes(const TensorEntry& entry, const SeeBytes& see) const;

 private:
  std::string read_header();
  void read_members(const std::string& header);
  void check_offsets() const;
  void sort_names();
  void read_checksums(const std::string& header);
  StoredElements stored(const TensorEntry& entry) const;
  /// Calls read(source, elements, see) and checks the tensor's checksum.
  template <class Read>
  auto checked(const TensorEntry& entry, const Read& read) const;

  ByteSource source_;
  std::uint64_t data_ = 0;              // the position of the first byte after the header
  std::deque<TensorEntry> tensors_;     // a deque, because a growing vector may take a block larger than the file
  std::vector<std::uint32_t> by_name_;  // positions in tensors_, sorted by name
  Metadata metadata_;
  bool has_checksums_ = false;
};

namespace detail {
/// Passes the bytes of the file to `put`, piece by piece. Without checksums, the bytes are exactly those that the
/// reference implementation writes for the same arguments.
void write_safetensors(const std::function<void(const void* data, std::size_t bytes)>& put,
                       std::vector<NamedArray> tensors, Metadata metadata, bool checksums);
}  // namespace detail

}  // namespace mote
