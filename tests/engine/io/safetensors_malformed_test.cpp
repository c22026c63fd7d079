// Safetensors files that are not sound: each is refused in a sentence, soon, and without memory that the file does not
// account for.

#include <atomic>
#include <cstdlib>
#include <new>

#include "engine/io/files/safetensors_header.h"
#include "tests/engine/io/safetensors_tools.h"
#include "tests/process.h"

namespace {
std::atomic<std::size_t> largest_request{0}, live_bytes{0}, peak_bytes{0};
constexpr std::size_t head = 64;

[[maybe_unused]] void* counted(std::size_t n) {
  char* const block = static_cast<char*>(std::aligned_alloc(head, (n + 2 * head - 1) / head * head));
  if (!block) throw std::bad_alloc();
  std::memcpy(block, &n, sizeof n);
  if (n > largest_request) largest_request = n;
  if (const std::size_t live = live_bytes += n; live > peak_bytes) peak_bytes = live;
  return block + head;
}
[[maybe_unused]] void give_back(void* p) {
  if (!p) return;
  std::size_t n = 0;
  std::memcpy(&n, static_cast<char*>(p) - head, sizeof n);
  live_bytes -= n;
  std::free(static_cast<char*>(p) - head);
}
}  // namespace

#if !defined(__SANITIZE_THREAD__) && !MOTE_TEST_HAS(thread_sanitizer)  // which has its own, linked whole
void* operator new(std::size_t n) { return counted(n); }
void* operator new(std::size_t n, std::align_val_t) { return counted(n); }  // 64 at most, here
void operator delete(void* p) noexcept { give_back(p); }
void operator delete(void* p, std::size_t) noexcept { give_back(p); }
void operator delete(void* p, std::align_val_t) noexcept { give_back(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { give_back(p); }
#endif

namespace mote::test::safetensors_malformed_test {
namespace {

constexpr std::size_t mib = 1 << 20;

/// The error of reading it all, or none; no single request and, times `factor`, not all together may be above the
/// file's size and 1 MiB.
std::string bounded_error(const std::string& bytes, std::size_t factor = 2) {
  const std::size_t before = live_bytes;
  largest_request = 0;
  peak_bytes = before;
  const std::string error = read_error(bytes);
  CHECK(largest_request <= bytes.size() + mib);
  CHECK(peak_bytes - before <= factor * bytes.size() + mib);
  return error;
}

std::string with_length(std::uint64_t length, std::size_t size = 100) {
  std::string file = file_with(std::string(size, ' '));
  std::memcpy(file.data(), &length, 8);
  return file;
}

/// One tensor of 8 bytes.
std::string tensor(const std::string& fields) { return file_with(R"({"t":{)" + fields + "}}", std::string(8, '\0')); }
/// The same as U8, with this shape or these offsets.
std::string shaped(const std::string& shape) {
  return tensor(R"("dtype":"I32","data_offsets":[0,8],"shape":)" + shape);
}
std::string placed(const std::string& offsets) {
  return tensor(R"("dtype":"U8","shape":[8],"data_offsets":)" + offsets);
}
/// Tensors a, b ... of bytes, at these offsets of 8 bytes.
std::string many(const std::vector<std::pair<int, int>>& offsets) {
  std::string header;
  char name = 'a';
  for (const auto& [begin, end] : offsets)
    header += std::string(header.empty() ? "{" : ",") + '"' + name++ + R"(":{"dtype":"U8","shape":[)" +
              std::to_string(end - begin) + R"(],"data_offsets":[)" + std::to_string(begin) + "," +
              std::to_string(end) + "]}";
  return file_with(header + "}", std::string(8, '\1'));
}

using Cases = std::vector<std::pair<std::string, std::string>>;
const std::string accepted = "(no error)";

void check_errors(const Cases& cases) {
  for (const auto& c : cases) {
    INFO(c.first);
    CHECK(bounded_error(c.first) == c.second);
  }
}

TEST_CASE("safetensors, malformed: sizes and lengths") {
  const std::string small = " bytes, too few for the length of its header (8 bytes)";
  const std::string above = " bytes, above the limit of 100000000: is this a safetensors file?";
  Cases cases{
      {"", "f: the file has 0" + small},
      {"1234567", "f: the file has 7" + small},
      {file_with(""), "f: the header does not begin with '{'"},
      {with_length(101), "f: the header of 101 bytes goes beyond the end of the file at byte 108"},
      {with_length(100'000'000), "f: the header of 100000000 bytes goes beyond the end of the file at byte 108"}};
  for (const std::uint64_t n : {std::uint64_t(100'000'001), std::uint64_t(1) << 31, std::uint64_t(1) << 63,
                                ~std::uint64_t(0), ~std::uint64_t(7)})
    cases.push_back({with_length(n), "f: the header would have " + std::to_string(n) + above});
  check_errors(cases);
}

TEST_CASE("safetensors, malformed: JSON") {
  const std::string begin = "f: the header does not begin with '{'", at = "f: header: line 1, column ";
  const std::string value = R"({"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  Cases cases{{"\xef\xbb\xbf{}", begin},
              {"[]", begin},
              {" {}", begin},
              {std::string("\0{}", 3), begin},
              {"{} \t\r\n", accepted},
              {"{", at + "2 (byte 1): a name in double quotes must stand here, not the end of the text"},
              {"{}x", at + "3 (byte 2): unexpected 'x'"
                           ": the document has ended here, and only white space may follow"},
              {"{'a':1}", at + "2 (byte 1): a name in double quotes must stand here, not '''"},
              {"{\"a\xff\":" + value + "}", at + "4 (byte 3): the text is not UTF-8"},
              {R"({"\u0000":)" + value + "}", at + "2 (byte 1): a name must not hold U+0000"},
              {R"({"t":)" + value + R"(,"t":)" + value + "}", "f: tensor 't' occurs twice"},
              {R"({"t":)" + value + R"(,"\u0074":)" + value + "}", "f: tensor 't' occurs twice"},
              {R"({"__metadata__":{},"__metadata__":{}})", "f: __metadata__ occurs twice"},
              {R"({"__metadata__":null})", accepted},
              {R"({"__metadata__":{}})", accepted},
              {R"({"__metadata__":{"a":1}})", "f: __metadata__.a must be a string, not an integer"},
              {R"({"__metadata__":[]})", "f: __metadata__ must be an object, not an array"},
              {R"({"":)" + value + "}", accepted}};
  for (auto& [file, error] : cases) file = file_with(file);
  check_errors(cases);
}

TEST_CASE("safetensors, malformed: the fields of a tensor") {
  const std::string t = "f: tensor 't': ", in_t = "f: tensor 't'.";
  check_errors(
      {{file_with(R"({"t":[]})"), "f: tensor 't' must be an object, not an array"},
       {tensor(R"("shape":[8],"data_offsets":[0,8])"), in_t + "dtype is missing"},
       {tensor(R"("dtype":"U8","data_offsets":[0,8])"), in_t + "shape is missing"},
       {tensor(R"("dtype":"U8","shape":[8])"), in_t + "data_offsets is missing"},
       {tensor(R"("dtype":"U8","shape":[8],"data_offsets":[0,8],"more":[{}])"), accepted},
       {tensor(R"("dtype":"U7","shape":[8],"data_offsets":[0,8])"),
        t + "its dtype 'U7' is none of " + all_names(words(DType{}))},
       {tensor(R"("dtype":8,"shape":[8],"data_offsets":[0,8])"), in_t + "dtype must be a string, not an integer"},
       {tensor(R"("dtype":"F4","shape":[16],"data_offsets":[0,8])"), accepted},
       {tensor(R"("dtype":"F4","shape":[15],"data_offsets":[0,8])"),
        t + "its 15 elements of 4 bits must fill whole bytes"},
       {tensor(R"("dtype":"C64","shape":[],"data_offsets":[0,8])"), accepted},
       {shaped("null"), in_t + "shape must be an array, not null"},
       {shaped("[\"2\"]"), in_t + "shape[0] must be an integer, not a string"},
       {shaped("[2,1e2]"), in_t + "shape[1] must be an integer, not a number with a fraction or an exponent"},
       {shaped("[-2]"), in_t + "shape[0] is below 0"},
       {shaped("[9223372036854775808]"),
        "f: header: line 1, column 51 (byte 50): an integer must be at least -2^63 and below 2^63"},
       {shaped("[2,1,1,1,1,1,1,1]"), accepted},
       {shaped("[2,1,1,1,1,1,1,1,1]"), in_t + "shape has 9 axes, above the limit of 8"},
       {shaped("[2,9223372036854775807]"), in_t + "shape has too many elements"},
       {shaped("[4294967296,4294967296]"), in_t + "shape has too many elements"},
       {shaped("[576460752303423488]"), t + "its shape [576460752303423488] has too many elements"},
       {shaped("[1]"), t + "its 8 bytes do not fit [1] elements of type I32, which take 4"},
       {shaped("[]"), t + "its 8 bytes do not fit [] elements of type I32, which take 4"}});
}

TEST_CASE("safetensors, malformed: offsets") {
  const std::string t = "f: tensor 't': ", b = "f: tensor 'b': ";
  const auto after = [](int begin, int end, const char* what) {
    return "the tensor begins at byte " + std::to_string(begin) + ", but the tensor before it ends at byte " +
           std::to_string(end) + ": " + what;
  };
  const char *const gap = "there is a gap", *const overlap = "they overlap";
  check_errors({{placed("8"), "f: tensor 't'.data_offsets must be an array, not an integer"},
                {placed("[8]"), t + "its data_offsets must be 2 integers, not 1"},
                {placed("[-1,7]"), "f: tensor 't'.data_offsets[0] is below 0"},
                {placed("[8,0]"), t + "the tensor ends at byte 0, before its begin at byte 8"},
                {placed("[0,9223372036854775807]"),
                 t + "its 9223372036854775807 bytes do not fit [8] elements of type U8, which take 8"},
                {placed("[0,7]"), t + "its 7 bytes do not fit [8] elements of type U8, which take 8"},
                {placed("[1,9]"), t + after(1, 0, gap)},
                {many({{0, 8}}), accepted},
                {many({{0, 4}}), "f: the file must end with the last tensor, but more bytes follow: 4"},
                {many({{0, 9}}), "f: the file is cut off: the tensors need 9 bytes, the file has 8"},
                {many({{0, 3}, {4, 8}}), b + after(4, 3, gap)},
                {many({{0, 5}, {4, 8}}), b + after(4, 5, overlap)},
                {many({{0, 8}, {2, 2}}), b + after(2, 8, overlap)},
                {many({{0, 0}, {0, 4}, {4, 4}, {4, 4}, {4, 8}, {8, 8}}), accepted},
                {many({{4, 8}, {4, 4}, {8, 8}, {0, 4}, {0, 0}}), accepted},
                {file_with("{}", "12345678"), "f: the file must end with the last tensor, but more bytes follow: 8"}});
}

TEST_CASE("safetensors, malformed: floods, in bounded memory; in a time that grew with their square it would not end") {
  const std::size_t n = 1'000'000;
  CHECK(bounded_error(file_with("{" + std::string(n, '['))) ==
        "f: header: line 1, column 2 (byte 1): a name in double quotes must stand here, not '['");
  CHECK(bounded_error(file_with("{\"a\":" + std::string(n, '['))) ==
        "f: header: line 1, column 69 (byte 68): arrays and objects are nested deeper than 64");
  std::string keys = "{\"__metadata__\":{";
  for (std::size_t i = 0; i < n; ++i) keys += "\"a\":1,";
  CHECK(bounded_error(file_with(keys)) ==
        "f: header: line 1, column 24 (byte 23): the name 'a' occurs twice in an object");
  const std::string name(n, 'x'), part(80, 'x');
  CHECK(bounded_error(file_with("{\"" + name + "\":1}")) ==
        "f: tensor '" + part + "...' must be an object, not an integer");
  CHECK(bounded_error(tensor("\"dtype\":\"" + name + '"')) ==
        "f: tensor 't': its dtype '" + part + "...' is none of " + all_names(words(DType{})));
  std::string zeros = "0";
  for (std::size_t i = 0; i < 100'000; ++i) zeros += ",0";
  for (const std::string& flood : {shaped("[" + zeros + "]"), placed("[" + zeros + "]")})
    CHECK(bounded_error(flood).find("there are more than 3564 values") != std::string::npos);
  const std::string few = "[" + zeros.substr(0, 1001) + "]";
  CHECK(read_error(shaped(few)) == "f: tensor 't'.shape has 501 axes, above the limit of 8");
  CHECK(read_error(placed(few)) == "f: tensor 't': its data_offsets must be 2 integers, not 501");
}

TEST_CASE("safetensors, malformed: 50,000 tensors, sound or not, and texts") {
  const int n = 50'000;
  std::string tensors, texts, one_range;
  for (int i = 0; i < n; ++i) {
    const std::string name = std::string(i ? "," : "{") + "\"" + std::to_string(i) + "\":";
    tensors += name + R"({"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
    one_range += name + R"({"dtype":"U8","shape":[8],"data_offsets":[0,8]})";
    texts += name + "\"\"";
  }
  const std::size_t smallest_entry = tensors.size() / static_cast<std::size_t>(n);
  CHECK(bounded_error(file_with(tensors + "}"), 2 + (sizeof(TensorEntry) + 16) / smallest_entry) == accepted);
  CHECK(bounded_error(file_with(one_range + "}", "12345678"), 2 + (sizeof(TensorEntry) + 16) / smallest_entry) ==
        "f: tensor '1': the tensor begins at byte 0, but the tensor before it ends at byte 8: they overlap");
  CHECK(bounded_error(file_with("{\"__metadata__\":" + texts + "}}")).find("there are more than") != std::string::npos);
  const std::string twice = tensors + R"(,"7777":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})";
  CHECK(read_error(file_with(twice)) == "f: tensor '7777' occurs twice");
  const std::string bytes = file_with(tensors + "}");
  const SafetensorsFile file = opened(bytes);
  Index found = 0;
  for (int i = 0; i < n; ++i) found += file.find(std::to_string(i)) != nullptr;
  CHECK(found == n);
}

}  // namespace
}  // namespace mote::test::safetensors_malformed_test
