// Elements of a source as arrays: piece by piece, from any place, and what is refused.
#include "engine/io/files/elements.h"

#include "engine/io/files/crc32.h"
#include "tests/sentences.h"
#include "tests/sources.h"
#include "tests/temp_folder.h"
#include "tests/tools.h"

namespace mote::test::elements_test {
namespace {

StoredElements stored(DType type, const Shape& shape, std::uint64_t offset = 0) {
  return {"f: tensor 'x'", type, shape, offset};
}

TEST_CASE("elements: many pieces, each seen once and in order") {
  const Index n = 200001;  // more than a piece of each type below, and no multiple of one
  std::string text = "odd";
  for (Index i = 0; i < n; ++i) {
    const std::int32_t x = static_cast<std::int32_t>(i * 7);
    text.append(reinterpret_cast<const char*>(&x), sizeof x);
  }
  const ByteSource source = text_source("f", text);
  std::uint32_t crc = 0;
  std::size_t seen = 0;
  const SeeBytes see = [&](const void* p, std::size_t bytes) { crc = crc32(p, bytes, crc), seen += bytes; };
  const IntArray x = read_ints(source, stored(DType::i32, {n}, 3), see);
  Index wrong = 0;
  for (Index i = 0; i < n; ++i) wrong += x.data()[i] != i * 7;
  CHECK(wrong == 0);
  CHECK(seen == text.size() - 3);
  CHECK(crc == crc32(text.data() + 3, text.size() - 3));
  const Array same_bytes = read_array(source, stored(real_dtype, {n / 2}, 3));
  CHECK(std::memcmp(same_bytes.data(), text.data() + 3, static_cast<std::size_t>(n / 2) * sizeof(real)) == 0);
}

TEST_CASE("elements: from a file, of every rank, and none at all") {
  const TempFolder folder;
  put_file(folder.path("f"), std::string("\1\0\1\2\3\4", 6));
  const ByteSource source = file_source(folder.path("f"));
  CHECK(source.size == 6);
  CHECK(read_mask(source, stored(DType::boolean, {3})).to_vector() == std::vector<std::uint8_t>{1, 0, 1});
  CHECK(read_ints(source, stored(DType::u8, {}, 3)).item() == 2);
  CHECK(read_array(source, stored(DType::u8, {1, 2, 1}, 4)).to_vector() == std::vector<real>{3, 4});
  CHECK(read_array(source, stored(DType::f64, {2, 0}, 6)).shape() == Shape{2, 0});
}

TEST_CASE("elements: what cannot be read, in a sentence") {
  const double tenth = 0.1;
  std::string text(reinterpret_cast<const char*>(&tenth), 8);
  text += std::string(8, '\xff');
  const ByteSource source = text_source("f", text);
  const auto array_error = [&](DType type, const Shape& shape, std::uint64_t offset = 0) {
    return error_of([&] { read_array(source, stored(type, shape, offset)); });
  };
  CHECK(array_error(DType::c64, {1}) == "f: tensor 'x': mote does not read elements of type C64");
  CHECK(array_error(DType::f4, {1}) == "f: tensor 'x': mote does not read elements of type F4");
  CHECK(array_error(DType::u8, {17}) == "f: tensor 'x': its 17 bytes from byte 0 on go beyond the end at 16");
  CHECK(array_error(DType::u8, {1}, 17) == "f: tensor 'x': its 1 bytes from byte 17 on go beyond the end at 16");
  CHECK(array_error(DType::u64, {Shape::max_numel}, 8) ==
        "f: tensor 'x': its 4611686018427387904 bytes from byte 8 on go beyond the end at 16");
  CHECK(array_error(DType::boolean, {2}, 8) == "f: tensor 'x': element 0, a boolean, must be 0 or 1");
  CHECK(array_error(DType::u64, {1}, 8) ==
        std::string("f: tensor 'x': element 0 of type U64 does not fit exactly into ") + (f64 ? "F64" : "F32"));
  CHECK(array_error(DType::f64, {1}) ==
        (f64 ? "(no error)"
             : "f: tensor 'x': element 0 of type F64 does not fit exactly into F32: use mote_f64, or convert the "
               "file first"));
  REFUSES(read_ints(source, stored(DType::u64, {1}, 8)));
  REFUSES(read_ints(source, stored(DType::f32, {1})));
  REFUSES(read_mask(source, stored(DType::u8, {1})));
  REFUSES(read_mask(source, stored(DType::boolean, {1}, 3)));
  char byte = 0;
  REFUSES(source.read(16, &byte, 1));
}

}  // namespace
}  // namespace mote::test::elements_test
