// Reading a zip archive by the directory at its end, and writing a zip archive.
#include "engine/io/files/zip.h"

#include <algorithm>

#include "engine/io/files/crc32.h"
#include "engine/io/text/json.h"

namespace mote {
namespace {

constexpr std::uint64_t end_size = 22, locator_size = 20, end64_size = 56, entry_size = 46, local_size = 30;
constexpr std::uint64_t in_zip64 = 0xffffffff;  ///< this value means that the number is in the zip64 field, in 8 bytes

/// Encodes each number in n bytes, the lowest byte first.
std::string zip_bytes(int n, std::initializer_list<std::uint64_t> numbers) {
  std::string bytes;
  for (const std::uint64_t number : numbers)
    for (int i = 0; i < n; ++i) bytes += static_cast<char>(number >> 8 * i & 255);
  return bytes;
}
/// The number in n bytes of a record, from byte `at` on. The record must have these bytes.
std::uint64_t zip_number(std::string_view record, std::uint64_t at, std::uint64_t n) {
  return little_endian(record.substr(at, n));
}
/// Reads n bytes of an archive from byte `at` on. Returns "" if these bytes go beyond `end`.
std::string zip_read(const ByteSource& source, std::uint64_t at, std::uint64_t n, std::uint64_t end) {
  if (at > end || n > end - at) return {};
  std::string bytes(static_cast<std::size_t>(n), '\0');
  source.read(at, bytes.data(), bytes.size());
  return bytes;
}

/// The member that an entry of the directory describes. All members lie before byte `end`, where the directory begins.
ZipMember read_entry(const ByteSource& source, const std::string& what, std::string_view entry, std::string_view extra,
                     std::uint64_t end) {
  std::string_view wide;  // the zip64 field
  while (extra.size() >= 4) {
    const std::string_view field = extra.substr(4, zip_number(extra, 2, 2));
    if (zip_number(extra, 0, 2) == 1) wide = field;
    extra.remove_prefix(4 + field.size());
  }
  const auto number = [&](std::uint64_t at) {
    const std::uint64_t value = zip_number(entry, at, 4);
    if (value != in_zip64 || wide.size() < 8) return value;
    const std::uint64_t wider = zip_number(wide, 0, 8);
    wide.remove_prefix(8);
    return wider;
  };
  const std::uint64_t size = number(24), stored = number(20), at = number(42);
  check(zip_number(entry, 10, 2) == 0 && zip_number(entry, 8, 2) % 2 == 0 && stored == size, what,
        " is compressed or encrypted: mote reads only members that are stored uncompressed");
  const std::string local = zip_read(source, at, local_size, end);
  check(local.starts_with("PK\3\4"), what,
        ": the archive is damaged: its directory says that the member begins at byte ", at, ", where no member begins");
  const std::uint64_t begin = at + local_size + zip_number(local, 26, 2) + zip_number(local, 28, 2);
  check(begin <= end && size <= end - begin, what, ": the archive is damaged: the member's ", size, " bytes from byte ",
        begin, " on go beyond byte ", end, ", where the directory begins");
  return {begin, size, static_cast<std::uint32_t>(zip_number(entry, 16, 4))};
}

}  // namespace

ZipMembers read_zip(const ByteSource& source) {
  const auto rule = [&](bool holds, const auto&... parts) { check(holds, source.name, ": ", parts...); };
  check_of_tensors(source);
  std::uint64_t end = source.size - std::min(source.size, end_size), locator = end - std::min(end, locator_size);
  std::string record = zip_read(source, end, end_size, source.size);
  rule(record.starts_with("PK\5\6"),
       "the file does not end as a zip archive does: is it cut off, or another kind of file?");
  std::uint64_t count = zip_number(record, 10, 2), size = zip_number(record, 12, 4), begin = zip_number(record, 16, 4);
  record = zip_read(source, locator, locator_size, end);
  if (record.starts_with("PK\6\7")) {
    end = zip_number(record, 8, 8);
    record = zip_read(source, end, end64_size, locator);
    rule(record.starts_with("PK\6\6"),
         "the archive is damaged: its zip64 locator says that the end record begins at byte ", end,
         ", where there is none");
    count = zip_number(record, 32, 8);
    size = zip_number(record, 40, 8);
    begin = zip_number(record, 48, 8);
  }
  rule(begin <= end && size == end - begin,
       "the archive is damaged: its directory does not end where its end record begins");
  const std::string directory = zip_read(source, begin, size, end);
  ZipMembers members;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> used;
  for (std::string_view rest = directory; !rest.empty();) {
    const std::uint64_t entry = begin + (directory.size() - rest.size());
    rule(rest.starts_with("PK\1\2") && rest.size() >= entry_size, "the archive is damaged: at byte ", entry,
         ", where an entry of its directory must begin, there is none");
    const std::uint64_t name = zip_number(rest, 28, 2), extra = zip_number(rest, 30, 2), text = zip_number(rest, 32, 2);
    rule(rest.size() - entry_size >= name + extra + text, "the archive is damaged: the entry at byte ", entry,
         " goes beyond the end of its directory");
    const auto [at, is_new] = members.emplace(rest.substr(entry_size, name), ZipMember());
    const std::string what = source.name + ": member '" + detail::shortened(at->first) + "'";
    check(is_new, what, " occurs twice");
    at->second = read_entry(source, what, rest, rest.substr(entry_size + name, extra), begin);
    used.emplace_back(at->second.offset, at->second.offset + at->second.size);
    rest.remove_prefix(entry_size + name + extra + text);
  }
  rule(members.size() == count, "the archive is damaged: its directory has ", members.size(),
       " members, but its end record counts ", count);
  std::sort(used.begin(), used.end());
  for (std::size_t i = 1; i < used.size(); ++i)
    rule(used[i - 1].second <= used[i].first, "the archive is damaged: two members overlap at byte ", used[i].first);
  return members;
}

AnyArray read_member(const ByteSource& source, const std::string& name, const ZipMember& member, DType type) {
  const Shape row{static_cast<Index>(member.size) / (bits(type) / 8)};
  const StoredElements all{source.name + ": member '" + detail::shortened(name) + "'", type, row, member.offset};
  std::uint32_t crc = 0;
  const AnyArray x = read_any(source, all, [&](const void* data, std::size_t n) { crc = crc32(data, n, crc); });
  check(crc == member.crc32, all.what, ": the checksum is wrong: the file was changed");
  return x;
}

void write_zip(const std::function<void(const void*, std::size_t)>& put, const std::vector<ZipPart>& parts) {
  constexpr std::uint64_t version = 45, utf8 = 1 << 11, date = 1 << 5 | 1;  // zip64; names are UTF-8; 1 January 1980
  std::uint64_t at = 0;
  const auto emit = [&](std::string_view bytes) { put(bytes.data(), bytes.size()), at += bytes.size(); };
  std::string directory;
  for (const ZipPart& part : parts) {
    const std::uint64_t begin = at, size = part.bytes.size(), crc = crc32(part.bytes.data(), part.bytes.size());
    const std::string both = zip_bytes(2, {version, utf8, 0, 0, date}) + zip_bytes(4, {crc, in_zip64, in_zip64}) +
                             zip_bytes(2, {part.name.size()});
    const std::string sizes = zip_bytes(8, {size, size}), name_and_sizes = part.name + zip_bytes(2, {1, 16}) + sizes;
    const std::uint64_t padding = 63 - (begin + local_size + name_and_sizes.size() + 3) % 64;
    emit("PK\3\4" + both + zip_bytes(2, {24 + padding}) + name_and_sizes);
    emit("FB" + zip_bytes(2, {padding}) + std::string(padding, 'Z'));  // padding as an extra field, as in torch.save
    emit(part.bytes);
    directory += "PK\1\2" + zip_bytes(2, {version}) + both + zip_bytes(2, {28, 0, 0, 0}) + zip_bytes(4, {0, in_zip64});
    directory += part.name + zip_bytes(2, {1, 24}) + sizes + zip_bytes(8, {begin});
  }
  const std::uint64_t begin = at, size = directory.size(), end = begin + size, count = parts.size();
  emit(directory + "PK\6\6" + zip_bytes(8, {end64_size - 12}) + zip_bytes(2, {version, version}));
  emit(zip_bytes(8, {0, count, count, size, begin}) + "PK\6\7" + zip_bytes(4, {0}) + zip_bytes(8, {end}));
  emit(zip_bytes(4, {1}) + "PK\5\6" + zip_bytes(4, {0, in_zip64, in_zip64, in_zip64}) + zip_bytes(2, {0}));
}

}  // namespace mote
