// Zip archives: written ones and their layout, those of others, and damaged ones.
#include "engine/io/files/zip.h"

#include "tests/sentences.h"
#include "tests/sources.h"
#include "tests/temp_folder.h"
#include "tests/tools.h"

namespace mote::test::zip_test {
namespace {

using namespace std::string_literals;

std::string zipped(const std::vector<ZipPart>& parts) {
  std::string bytes;
  write_zip([&](const void* data, std::size_t n) { bytes.append(static_cast<const char*>(data), n); }, parts);
  return bytes;
}
std::string error(const std::string& bytes) {
  return error_of([&] { read_zip(text_source("x.zip", bytes)); });
}
/// The text with a number of n bytes, the lowest first, at a place.
std::string with(std::string text, std::size_t at, std::uint64_t number, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) text[at + i] = static_cast<char>(number >> 8 * i & 255);
  return text;
}

/// Two members, "a" with "hello" and "b/c" with nothing, as Python's zipfile writes them: not in zip64.
const std::string plain =
    "PK\3\4\x14\0\0\0\0\0\0\0!\0\x86\xa6\x10"
    "6\5\0\0\0\5\0\0\0\1\0\0\0"
    "ahello"
    "PK\3\4\x14\0\0\0\0\0\0\0!\0\0\0\0\0\0\0\0\0\0\0\0\0\3\0\0\0"
    "b/c"
    "PK\1\2\x14\3\x14\0\0\0\0\0\0\0!\0\x86\xa6\x10"
    "6\5\0\0\0\5\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\x80\1\0\0\0\0"
    "a"
    "PK\1\2\x14\3\x14\0\0\0\0\0\0\0!\0\0\0\0\0\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0\x80\1$\0\0\0"
    "b/c"
    "PK\5\6\0\0\0\0\2\0\2\0`\0\0\0"
    "E\0\0\0\0\0"s;
constexpr std::size_t directory = 0x45, second = directory + 47, end = 0xa5;

TEST_CASE("zip: what is written is read back, and begins at multiples of 64 bytes") {
  const std::string long_text(100'000, 'x'), long_name(300, 'n');
  const std::vector<ZipPart> parts{{"a/data.pkl", "hello"}, {"a/empty", ""}, {"a/data/0", long_text}, {long_name, "1"}};
  const std::string bytes = zipped(parts);
  const ByteSource source = text_source("x.zip", bytes);
  const ZipMembers members = read_zip(source);
  REQUIRE(members.size() == parts.size());
  for (const ZipPart& part : parts) {
    const ZipMember& m = members.at(part.name);
    CHECK(m.offset % 64 == 0);
    CHECK(bytes.substr(m.offset, m.size) == part.bytes);
    const IntArray read = std::get<IntArray>(read_member(source, part.name, m, DType::u8));
    CHECK(std::string(read.data(), read.data() + read.numel()) == part.bytes);
  }
  CHECK(zipped(parts) == bytes);
  CHECK(read_zip(text_source("x.zip", zipped({}))).empty());
  std::string changed = bytes;
  changed[members.at("a/data/0").offset + 50'000] = 'y';
  CHECK(error(changed) == "(no error)");
  const ByteSource damaged = text_source("x.zip", changed);
  REFUSES(read_member(damaged, "a/data/0", members.at("a/data/0"), DType::u8));
}

TEST_CASE("zip: archives that are not zip64, and what is wrong with them") {
  const ZipMembers members = read_zip(text_source("x.zip", plain));
  REQUIRE(members.size() == 2);
  CHECK(plain.substr(members.at("a").offset, members.at("a").size) == "hello");
  CHECK((members.at("b/c").size == 0 && members.at("b/c").crc32 == 0));

  const std::string none =
      "x.zip: the file does not end as a zip archive does: is it cut off, or another kind of file?";
  CHECK(error("") == none);
  CHECK(error("PK\5\6") == none);
  CHECK(error(plain + "a comment") == none);
  CHECK_SENTENCE(error(with(plain, end + 12, 0x61, 4)));
  CHECK_SENTENCE(error(with(plain, end + 16, 0xffffffff, 4)));
  CHECK_SENTENCE(error(with(plain, end + 10, 3, 2)));
  CHECK_SENTENCE(error(with(plain, second, 0, 4)));
  CHECK_SENTENCE(error(with(plain, second + 28, 4, 2)));
  CHECK_SENTENCE(error(with(plain, second + 32, 0xffff, 2)));
  const std::string stored =
      "x.zip: member 'a' is compressed or encrypted: mote reads only members that are stored uncompressed";
  CHECK(error(with(plain, directory + 10, 8, 2)) == stored);
  CHECK(error(with(plain, directory + 8, 1, 2)) == stored);
  CHECK(error(with(plain, directory + 20, 4, 4)) == stored);
  CHECK_SENTENCE(error(with(plain, directory + 42, 1, 4)));
  CHECK_SENTENCE(error(with(plain, directory + 42, 0xffffffff, 4)));
  CHECK_SENTENCE(error(with(plain, second + 42, 60, 4)));
  CHECK_SENTENCE(error(with(with(plain, second + 20, 7, 4), second + 24, 7, 4)));
  CHECK_SENTENCE(error(with(plain, 0x24 + 26, 0xffff, 2)));
  CHECK(error(with(with(plain, directory + 20, 9, 4), directory + 24, 9, 4)) == "(no error)");  // up to b/c's name
  CHECK_SENTENCE(error(with(with(with(plain, second + 20, 5, 4), second + 24, 5, 4), second + 42, 0, 4)));
  std::string twice = plain;
  twice[second + 46] = twice[0x24 + 30] = 'a';
  CHECK(error(twice) == "(no error)");
  const std::string two = zipped({{"a", "1"}, {"a", "2"}});
  CHECK_SENTENCE(error(two));
}

TEST_CASE("zip: numbers of 64 bits") {
  const std::string bytes = zipped({{"a", "hello"}});  // the header of "a", "hello" at byte 64, the directory at 69
  constexpr std::size_t wide = 69 + 46 + 1 + 4, end64 = wide + 24;
  REQUIRE(bytes.substr(64, 5) == "hello");
  CHECK(error(bytes) == "(no error)");
  for (const std::uint64_t big :
       {std::uint64_t{6}, std::uint64_t{1} << 32, std::uint64_t{1} << 60, ~std::uint64_t{0}}) {
    const std::string what = "x.zip: member 'a'";
    CHECK(error(with(bytes, wide, big, 8)).starts_with(what + " is compressed or encrypted"));
    CHECK(error(with(with(bytes, wide, big, 8), wide + 8, big, 8)) ==
          what + ": the archive is damaged: the member's " + std::to_string(big) +
              " bytes from byte 64 on go beyond byte 69, where the directory begins");
    CHECK(error(with(bytes, wide + 16, big, 8)) ==
          what + ": the archive is damaged: its directory says that the member begins at byte " + std::to_string(big) +
              ", where no member begins");
    for (const std::size_t field : {40u, 48u}) CHECK_SENTENCE(error(with(bytes, end64 + field, big, 8)));
    CHECK(error(with(bytes, end64 + 56 + 8, big, 8)) ==
          "x.zip: the archive is damaged: its zip64 locator says that the end record begins at byte " +
              std::to_string(big) + ", where there is none");
  }
  CHECK(error(with(bytes, wide - 2, 0xffff, 2)) == "(no error)");  // a field that ends with all fields
  CHECK_SENTENCE(error(with(bytes, wide - 4, 2, 2)));              // no field of zip64
}

}  // namespace
}  // namespace mote::test::zip_test
