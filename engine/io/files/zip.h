// Zip archives whose members are stored uncompressed, as torch.save writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/files/elements.h"

namespace mote {

/// Where the bytes of a member lie in the archive, and the checksum that they must have.
struct ZipMember {
  std::uint64_t offset = 0, size = 0;
  std::uint32_t crc32 = 0;
};
using ZipMembers = std::map<std::string, ZipMember, std::less<>>;

/// Reads the members of an archive, zip64 or not, by name. Each member lies within the source, and no two members
/// overlap. Errors: a member that is compressed or encrypted, a name that occurs twice, offsets or sizes that do not
/// fit, bytes after the end of the archive. A message begins with the source's name.
ZipMembers read_zip(const ByteSource& source);

/// Reads a whole member as an array of one axis, whose elements have type `type` in the file. Errors: those of
/// read_any; a wrong checksum.
AnyArray read_member(const ByteSource& source, const std::string& name, const ZipMember& member, DType type);

/// A member to be written.
struct ZipPart {
  std::string name;
  std::string_view bytes;
};
/// Passes the bytes of an archive of these members, in this order, to `put`. Each member begins at a multiple of 64
/// bytes. The archive is always zip64, so that an archive of 5 GB is written by the same code as the small archives
/// of the tests.
void write_zip(const std::function<void(const void* data, std::size_t bytes)>& put, const std::vector<ZipPart>& parts);

}  // namespace mote
