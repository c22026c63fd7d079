// Zip archives whose members are stored as they are, as torch.save writes them.
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

/// The members of an archive, zip64 or not, by name: each lies in the source, and none in another. Errors, in one
/// sentence that opens with the source's name: a member that is compressed or encrypted, a name that occurs twice,
/// numbers that do not fit, bytes behind the archive's end.
ZipMembers read_zip(const ByteSource& source);

/// All of a member, as elements of this type in a row. Errors: those of read_any, another checksum than the member's.
AnyArray read_member(const ByteSource& source, const std::string& name, const ZipMember& member, DType type);

/// A member to be written.
struct ZipPart {
  std::string name;
  std::string_view bytes;
};
/// An archive of these members in this order, piece by piece; each begins at a multiple of 64 bytes. It is zip64
/// throughout, so that what is written of 5 GB is no other code than what every test reads.
void write_zip(const std::function<void(const void* data, std::size_t bytes)>& put, const std::vector<ZipPart>& parts);

}  // namespace mote
