// Reads elements at any offset of a file as an array of one of mote's own types, and gives the bytes of an array.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "engine/io/files/dtype.h"

namespace mote {

class JsonPlace;

/// Reads a list of counts from a JSON header. Errors: those of JsonPlace; a count below 0.
std::vector<Index> read_counts(const JsonPlace& place);
/// Reads a shape from a JSON header. Errors: those of read_counts; more axes or elements than a Shape can have.
Shape read_shape(const JsonPlace& place);

/// Decodes at most 8 bytes as an unsigned integer, the lowest byte first.
std::uint64_t little_endian(std::string_view bytes);

/// A source of bytes: a file, or a text in memory.
struct ByteSource {
  std::string name;  ///< every error begins with it
  std::uint64_t size;
  std::function<void(std::uint64_t offset, void* to, std::size_t bytes)> read;  ///< several threads may call it at once
};
/// Opens a file as a source. Errors: those of FileReader.
ByteSource file_source(const std::string& path);

/// Checks that a file is not a Git LFS pointer, a text that stands for a file that has not been fetched. `begin` is the
/// first bytes of the file. Errors: the file is such a pointer.
void check_no_pointer(const std::string& name, std::string_view begin);
/// Checks that a source can be a file of tensors. Errors: the source is a Git LFS pointer, a web page, or a file saved
/// by torch before 1.6.
void check_of_tensors(const ByteSource& source);

/// Row-major elements in a source, from byte `offset` on.
struct StoredElements {
  std::string what;  ///< every error begins with it: "model.safetensors: tensor 'wte.weight'"
  DType type;
  Shape shape;
  std::uint64_t offset;
  bool rounded = false;  ///< rounds an F64 to the nearest real, which may be infinity, instead of raising an error
  std::uint64_t bytes() const;
};

/// A function that is given the bytes in order while they are read, for example to compute a checksum.
using SeeBytes = std::function<void(const void* data, std::size_t bytes)>;
void read_bytes(const ByteSource& source, const StoredElements& stored, const SeeBytes& see);

/// Reads the elements into a new array. Beside the array, only a small buffer is allocated. Errors: the stored type is
/// not readable() as the array's type; an element has no exact value in the array's type, such as an F64 in a build
/// over float; the source cannot be read.
Array read_array(const ByteSource& source, const StoredElements& stored, const SeeBytes& see = {});
IntArray read_ints(const ByteSource& source, const StoredElements& stored, const SeeBytes& see = {});
Mask read_mask(const ByteSource& source, const StoredElements& stored, const SeeBytes& see = {});
/// Reads the elements as the first of Mask, IntArray and Array that their type is readable() as.
AnyArray read_any(const ByteSource& source, const StoredElements& stored, const SeeBytes& see = {});

/// The bytes of a contiguous array's elements, as mote writes them to files.
std::string_view bytes_of(const AnyArray& x);

}  // namespace mote
