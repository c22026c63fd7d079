// Elements somewhere in a file, read as an array of mote's own types; the bytes of an array.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "engine/io/files/dtype.h"

namespace mote {

class JsonPlace;

/// What a header says in numbers: counts, which are at least 0, and a shape. Errors: those of JsonPlace; a shape that
/// mote does not have.
std::vector<Index> read_counts(const JsonPlace& place);
Shape read_shape(const JsonPlace& place);

/// The number that some bytes are, at most 8 of them, the lowest first.
std::uint64_t little_endian(std::string_view bytes);

/// A source of bytes: a file, or a text in memory.
struct ByteSource {
  std::string name;  ///< opens every error
  std::uint64_t size;
  std::function<void(std::uint64_t offset, void* to, std::size_t bytes)> read;  ///< by several threads at once
};
/// Errors: those of FileReader.
ByteSource file_source(const std::string& path);

/// Errors: these are the first bytes of a Git LFS pointer, which stands for a file that has not been fetched.
void check_no_pointer(const std::string& name, std::string_view begin);
/// The same of a file of tensors, which may also be a web page, or of torch before 1.6.
void check_of_tensors(const ByteSource& source);

/// Row-major elements from `offset` on.
struct StoredElements {
  std::string what;  ///< opens every error: "model.safetensors: tensor 'wte.weight'"
  DType type;
  Shape shape;
  std::uint64_t offset;
  bool rounded = false;  ///< F64 becomes the nearest real, beyond its range infinity, instead of an error
  std::uint64_t bytes() const;
};

/// Sees the bytes in order while they are read, for a checksum.
using SeeBytes = std::function<void(const void* data, std::size_t bytes)>;
void read_bytes(const ByteSource& source, const StoredElements& stored, const SeeBytes& see);

/// Reads the elements into a new array. No other memory is needed. Errors: the stored type is not readable() as the
/// array's type. An element has no exact value in the array's type, such as F64 in a build over float. The source
/// cannot be read.
Array read_array(const ByteSource& source, const StoredElements& stored, const SeeBytes& see = {});
IntArray read_ints(const ByteSource& source, const StoredElements& stored, const SeeBytes& see = {});
Mask read_mask(const ByteSource& source, const StoredElements& stored, const SeeBytes& see = {});
/// As a Mask, an IntArray or an Array, the first of them that it is readable as.
AnyArray read_any(const ByteSource& source, const StoredElements& stored, const SeeBytes& see = {});

/// The elements of a contiguous array, as mote writes them.
std::string_view bytes_of(const AnyArray& x);

}  // namespace mote
