// .npy files: NumPy's own bytes, every type and order that is read, damaged and foreign files.
#include "engine/io/files/npy.h"

#include "engine/io/files/file.h"
#include "tests/sentences.h"
#include "tests/sources.h"
#include "tests/temp_folder.h"
#include "tests/tools.h"

namespace mote::test::npy_test {
namespace {

/// The file that numpy 1.24.2 saves for this dictionary, followed by the elements' bytes: padded to 128 bytes.
template <class T = std::uint8_t>
std::string file(const std::string& dictionary, const std::vector<T>& elements = {}) {
  std::string bytes = std::string("\x93NUMPY\x01\0v\0", 10) + dictionary;
  bytes.resize(127, ' ');
  bytes += '\n';
  return bytes.append(reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T));
}
/// The same with any version and length of header.
std::string framed(const std::string& version, std::uint32_t length, std::size_t length_bytes,
                   const std::string& rest) {
  std::string bytes = "\x93NUMPY" + version;
  for (std::size_t i = 0; i < length_bytes; ++i) bytes += static_cast<char>(length >> 8 * i & 255u);
  return bytes + rest;
}
std::string dictionary(const std::string& type, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
}

std::string npy_bytes(const AnyArray& x) {
  std::string bytes;
  detail::write_npy([&](const void* data, std::size_t n) { bytes.append(static_cast<const char*>(data), n); }, x);
  return bytes;
}
AnyArray parsed(const std::string& bytes) { return load_npy(text_source("npy", bytes)); }
Array floats(const std::string& bytes) { return std::get<Array>(parsed(bytes)); }
IntArray integers(const std::string& bytes) { return std::get<IntArray>(parsed(bytes)); }
std::string error(const std::string& bytes) {
  return error_of([&] { load_npy(text_source("x.npy", bytes)); });
}

const std::string real_type = f64 ? "<f8" : "<f4";

TEST_CASE("npy: what is written is what numpy.save writes, and is read back") {
  CHECK(npy_bytes(Array(real(1.5))) == file<real>(dictionary(real_type, "()"), {real(1.5)}));
  CHECK(npy_bytes(array({3}, {0, 1, 2})) == file<real>(dictionary(real_type, "(3,)"), {0, 1, 2}));
  CHECK(npy_bytes(array({2, 3}, {0, 1, 2, 3, 4, 5})) ==
        file<real>(dictionary(real_type, "(2, 3)"), {0, 1, 2, 3, 4, 5}));
  CHECK(npy_bytes(array({2, 2}, {1, 2, 3, 4}).transpose(0, 1)) ==
        file<real>(dictionary(real_type, "(2, 2)"), {1, 3, 2, 4}));
  CHECK(npy_bytes(Array::zeros({1, 1, 1, 1, 1, 0, 12345, 12345})) ==
        file(dictionary(real_type, "(1, 1, 1, 1, 1, 0, 12345, 12345)")));
  CHECK(npy_bytes(ints({{-1, 2}})) == file<std::int64_t>(dictionary("<i8", "(1, 2)"), {-1, 2}));
  CHECK(npy_bytes(IntArray(Shape{0, 4})) == file(dictionary("<i8", "(0, 4)")));
  CHECK(npy_bytes(mask({true, false, true})) == file<std::uint8_t>(dictionary("|b1", "(3,)"), {1, 0, 1}));
  const Array wide = Array::zeros({0, 1111, 1111, 1111, 1111, 1111, 100, 1});  // hardly any take more digits
  CHECK(npy_bytes(wide) == file(dictionary(real_type, "(0, 1111, 1111, 1111, 1111, 1111, 100, 1)")));
  CHECK(floats(npy_bytes(wide)).shape() == wide.shape());
  REFUSES(npy_bytes(Array()));

  const Array special(Shape{static_cast<Index>(special_values().size())}, special_values());
  CHECK(same_bits(floats(npy_bytes(special)), special));
  const Array random = random_array({3, 1, 4, 5000}, 1);
  CHECK(same_bits(floats(npy_bytes(random)), random));
  CHECK(same_bits(floats(npy_bytes(random.transpose(1, 3))), random.transpose(1, 3)));
}

TEST_CASE("npy: every type, widened exactly") {
  const auto same = [](const Array& x, const std::vector<double>& values) {
    return distance(x.to_vector(), values) == 0;
  };
  CHECK(same(floats(file<std::uint16_t>(dictionary("<f2", "(5,)"), {0x3c00, 0xc000, 0x3555, 1, 0x7c00})),
             {1, -2, 0.333251953125, 0x1p-24, static_cast<double>(inf)}));
  CHECK(same(floats(file<float>(dictionary("<f4", "(2,)"), {0.1f, -3e38f})),
             {static_cast<double>(0.1f), static_cast<double>(-3e38f)}));
  const std::vector<double> doubles{0.1, 1 + 0x1p-24, 1 + 0x1.8p-24, 1e300, -1e300, 1e-300};
  const Array rounded = floats(file<double>(dictionary("<f8", "(6,)"), doubles));
  if (f64)
    CHECK(same(rounded, doubles));
  else  // to nearest, ties to even; beyond the range to infinity
    CHECK(same(rounded, {static_cast<double>(0.1f), 1, 1 + 0x1p-23, HUGE_VAL, -HUGE_VAL, 0}));
  CHECK(equal(integers(file<std::int8_t>(dictionary("|i1", "(2,)"), {-128, 127})), ints({-128, 127})));
  CHECK(equal(integers(file<std::int16_t>(dictionary("<i2", "(2,)"), {-32768, 5})), ints({-32768, 5})));
  CHECK(equal(integers(file<std::int32_t>(dictionary("<i4", "(2,)"), {INT32_MIN, 5})), ints({INT32_MIN, 5})));
  CHECK(equal(integers(file<std::int64_t>(dictionary("<i8", "(2,)"), {INT64_MIN, 5})), ints({INT64_MIN, 5})));
  CHECK(equal(integers(file<std::uint8_t>(dictionary("|u1", "(2,)"), {255, 5})), ints({255, 5})));
  CHECK(equal(integers(file<std::uint16_t>(dictionary("<u2", "(2,)"), {65535, 5})), ints({65535, 5})));
  CHECK(equal(integers(file<std::uint32_t>(dictionary("<u4", "(2,)"), {UINT32_MAX, 5})), ints({UINT32_MAX, 5})));
  CHECK(equal(integers(file<std::uint64_t>(dictionary("<u8", "(2,)"), {INT64_MAX, 5})), ints({INT64_MAX, 5})));
  CHECK_SENTENCE(error(file<std::uint64_t>(dictionary("<u8", "(2,)"), {5, std::uint64_t{1} << 63})));
  const Mask m = std::get<Mask>(parsed(file<std::uint8_t>(dictionary("|b1", "(2,)"), {1, 0})));
  CHECK(m.to_vector() == std::vector<std::uint8_t>{1, 0});
  CHECK_SENTENCE(error(file<std::uint8_t>(dictionary("|b1", "(2,)"), {1, 2})));
}

TEST_CASE("npy: marks of the order of bytes, as C++ programs and big machines write them") {
  for (const std::string type : {"<u1", "|u1", "=u1", ">u1", "u1"})
    CHECK(equal(integers(file<std::uint8_t>(dictionary(type, "(2,)"), {255, 5})), ints({255, 5})));
  for (const std::string type : {"<b1", "|b1", "=b1", "b1", "?"})
    CHECK(std::holds_alternative<Mask>(parsed(file<std::uint8_t>(dictionary(type, "(2,)"), {1, 0}))));
  for (const std::string type : {"<f4", "=f4", "f4"})
    CHECK(same_bits(floats(file<float>(dictionary(type, "(2,)"), {1.5f, -2})), array({2}, {1.5, -2})));
  CHECK(same_bits(floats(file<std::uint8_t>(dictionary(">f4", "(2,)"), {0x3f, 0xc0, 0, 0, 0xc0, 0, 0, 0})),
                  array({2}, {1.5, -2})));
  CHECK(same_bits(floats(file<std::uint8_t>(dictionary(">f8", "(1,)"), {0x3f, 0xf8, 0, 0, 0, 0, 0, 0})),
                  array({1}, {1.5})));
  CHECK(equal(integers(file<std::uint8_t>(dictionary(">i2", "(3,)"), {0, 1, 1, 0, 0xff, 0xfe})), ints({1, 256, -2})));
  std::vector<std::uint8_t> many(4 * 300'000, 0);  // several pieces are read
  for (std::size_t i = 3; i < many.size(); i += 4) many[i] = static_cast<std::uint8_t>(i / 4 % 251);
  const IntArray x = integers(file<std::uint8_t>(dictionary(">i4", "(300000,)"), many));
  for (Index i = 0; i < 300'000; ++i) REQUIRE(x.at({i}) == i % 251);
  const IntArray wide =
      integers(file<std::uint8_t>(dictionary(">i8", "(3, 1)", "True"), std::vector<std::uint8_t>(24)));
  CHECK(equal(wide, ints({{0}, {0}, {0}})));
}

TEST_CASE("npy: Fortran order, versions, and a header in another order") {
  CHECK(equal(integers(file<std::int64_t>(dictionary("<i8", "(2, 3)", "True"), {0, 3, 1, 4, 2, 5})),
              ints({{0, 1, 2}, {3, 4, 5}})));
  CHECK(equal(integers(file<std::int32_t>(dictionary("<i4", "(3,)", "True"), {0, 1, 2})), ints({0, 1, 2})));
  CHECK(floats(file<float>(dictionary("<f4", "()", "True"), {2})).item() == 2);
  CHECK(floats(file<float>(dictionary("<f4", "(0, 3)", "True"))).shape() == Shape{0, 3});
  std::vector<std::int8_t> cube(24);
  for (int i = 0; i < 24; ++i) cube[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(i);
  const IntArray x = integers(file<std::int8_t>(dictionary("|i1", "(2, 3, 4)", "True"), cube));
  CHECK(x.is_contiguous());
  for (Index i = 0; i < 2; ++i)
    for (Index j = 0; j < 3; ++j)
      for (Index k = 0; k < 4; ++k) CHECK(x.at({i, j, k}) == i + 2 * j + 6 * k);
  const IntArray four = integers(file<std::int8_t>(dictionary("|i1", "(2, 3, 1, 4)", "True"), cube));
  CHECK(equal(four, x.reshape({2, 3, 1, 4})));

  const std::string other = "{ 'shape':( 2 ,1 , ) ,'descr':'|u1','fortran_order':False}\n";
  const auto length = static_cast<std::uint32_t>(other.size());
  for (const char version : {'\1', '\2', '\3'})
    CHECK(equal(integers(framed({version, '\0'}, length, version == 1 ? 2 : 4, other + "ab")), ints({{97}, {98}})));
}

TEST_CASE("npy: foreign and malformed files") {
  const std::string good = dictionary("|u1", "(2,)") + "\n";
  const auto with = [](const std::string& text) {
    return error(framed({"\1\0", 2}, static_cast<std::uint32_t>(text.size()), 2, text + "ab"));
  };
  const auto shaped = [&](const std::string& shape) { return with(dictionary("|u1", shape) + "\n"); };
  const auto typed = [&](const std::string& type) { return with(dictionary(type, "(2,)") + "\n"); };
  CHECK(with(good) == "(no error)");
  const std::string none = "x.npy: this is no .npy file: it does not begin with \\x93NUMPY",
                    cut = "x.npy: the file is cut off within its header";
  CHECK(error("") == none);
  CHECK(error("PK\3\4") == none + ", but is a zip archive, such as .npz: save its arrays one by one");
  CHECK(error("\x93NUMPY") == cut);
  CHECK(error(framed({"\2\0", 2}, 60, 2, "")) == cut);
  CHECK(error(framed({"\1\0", 2}, 60, 2, "{'descr'")) == cut);
  CHECK_SENTENCE(error(framed({"\x9\0", 2}, 60, 2, good)));
  CHECK_SENTENCE(error(framed({"\1\1", 2}, 60, 2, good)));
  CHECK_SENTENCE(error(framed({"\2\0", 2}, 1'000'000'000, 4, good)));

  const std::string newline = "x.npy: the header must hold no backslash, no tab, and no newline but at its end";
  for (const std::string& text : {good + " ", "\n" + good, "\t" + good, dictionary("a\\x", "(2,)") + "\n"})
    CHECK(with(text) == newline);
  CHECK(with(dictionary("|u1", "(2,)")) == "(no error)");
  CHECK(with(dictionary("|u1", "(2,)") + "      ") == "(no error)");

  const std::string header = "x.npy: header as JSON: ", at_shape = header + "line 1, column 52 (byte 51): ";
  CHECK(shaped("(2, 1,)") == "(no error)");
  CHECK(shaped("(2, 1, )") == "(no error)");
  CHECK(shaped("(2)") == "x.npy: a shape of one axis is written with a comma, as (3,)");
  for (const std::string foreign : {"[2,]", "(2]", "[2)", "(,)", "(2,,)", "(2 1)", "(2,", "\"(2,)\"", "(2,),,"})
    CHECK(shaped(foreign).starts_with(header + "line 1, column "));
  CHECK(shaped("2") == header + "shape must be an array, not an integer");
  CHECK(shaped("(-2,)") == header + "shape[0] is below 0");
  CHECK(shaped("(2.0,)") == header + "shape[0] must be an integer, not a number with a fraction or an exponent");
  CHECK(shaped("(02,)") == at_shape + "a number must not start with a needless 0");
  CHECK(shaped("(1,1,1,1,1,1,1,1,2)") == header + "shape has 9 axes, above the limit of 8");
  CHECK(shaped("(9223372036854775808,)") == at_shape + "an integer must be at least -2^63 and below 2^63");
  CHECK(shaped("(4294967296, 4294967296)") == header + "shape has too many elements");
  CHECK(shaped("(3,)") == "x.npy: there are 2 bytes of elements, but shape [3] of type '|u1' takes 3");
  CHECK(shaped("(0,)") == "x.npy: there are 2 bytes of elements, but shape [0] of type '|u1' takes 0");
  CHECK(shaped("(576460752303423488,)") ==
        "x.npy: there are 2 bytes of elements, but shape [576460752303423488] of type '|u1' takes 576460752303423488");

  CHECK(typed("|O") == "x.npy: type '|O' are Python objects, which only Python can read");
  const std::string types = "' is none of <f2, <f4, <f8, |i1, <i2, <i4, <i8, |u1, <u2, <u4, <u8, |b1, |?";
  for (const std::string type : {"<c8", "<U3", "|S3", "<M8[ns]", "<F4", "", "|V2", "<<f4", "4", "<f16"})
    CHECK(typed(type) == "x.npy: type '" + type + types);
  CHECK(with("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }\n") ==
        "x.npy: arrays of structures are not supported");
  CHECK(with("{'descr': 4, 'fortran_order': False, 'shape': (2,), }\n") ==
        header + "descr must be a string, not an integer");

  CHECK(with("{'descr': '|u1', 'fortran_order': None, 'shape': (2,), }\n") ==
        header + "line 1, column 35 (byte 34): a value must stand here, not 'N'");
  CHECK(with("{'descr': '|u1', 'fortran_order': 0, 'shape': (2,), }\n") ==
        header + "fortran_order must be a boolean, not an integer");
  CHECK(with("{'descr': '|u1', 'shape': (2,), }\n") == header + "fortran_order is missing");
  CHECK(with("{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, 'shape': (2,), }\n") ==
        header + "line 1, column 18 (byte 17): the name 'descr' occurs twice in an object");
  CHECK(with("{'descr': '|u1', 'extra': 1, 'fortran_order': False, 'shape': (2,), }\n") ==
        header + "extra is none of descr, fortran_order, shape");
  CHECK(with("{'descr': '|u1' 'shape': (2,), }\n").starts_with(header + "line 1, column 17 (byte 16): "));
  for (const std::string foreign : {"{\"descr\": '|u1'}\n", "{'descr\": \"|u1'}\n", "{,}\n", "{'descr': '|u1'\n",
                                    "{'descr': '|u1', 'fortran_order': false, 'shape': (2,), }\n"})
    CHECK(with(foreign).starts_with(header + "line "));
  CHECK(with("(1, 2)\n") == header + "the document must be an object, not an array");
}

TEST_CASE("npy: cut anywhere it is refused; with any bit flipped it is refused or comes back from its own bytes") {
  const std::string bytes = npy_bytes(array({2, 3}, {1, 2, 3, 4, 5, 6}));
  for (std::size_t n = 0; n < bytes.size(); ++n) CHECK(error(bytes.substr(0, n)).starts_with("x.npy: "));
  CHECK(error(bytes + "x").starts_with("x.npy: there are "));
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    const std::string message = error(flipped);
    if (message != "(no error)") {
      CHECK(message.starts_with("x.npy: "));
      continue;
    }
    const std::string written = npy_bytes(parsed(flipped));
    CHECK(npy_bytes(parsed(written)) == written);
  }
}

TEST_CASE("npy: files") {
  const TempFolder folder;
  const std::string path = folder.path("x.npy");
  const Array x = random_array({7, 3000}, 3);
  save_npy(path, x);
  CHECK(same_bits(load_npy<Array>(path), x));
  CHECK(read_file(path, 1 << 20) == npy_bytes(x));
  CHECK(error_of([&] { load_npy<IntArray>(path); }) ==
        path + ": the file holds floats (an Array), not integers (an IntArray)");
  REFUSES(save_npy(path, Array()));
  REFUSES(save_npy(path + "/no/folder", Array()));
  CHECK(same_bits(load_npy<Array>(path), x));
  save_npy(path, ints({1, 2}));
  CHECK(equal(load_npy<IntArray>(path), ints({1, 2})));
  save_npy(path, mask({true}));
  CHECK(load_npy<Mask>(path).at({0}) == 1);
  write_file(path, "not numpy");
  CHECK(error_of([&] { load_npy(path); }) == path + ": this is no .npy file: it does not begin with \\x93NUMPY");
  CHECK(error_of([&] { load_npy(folder.path("none")); }).find(folder.path("none")) != std::string::npos);
}

}  // namespace
}  // namespace mote::test::npy_test
