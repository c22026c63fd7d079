// Reading and writing .npy files: the header and the elements.
#include "engine/io/files/npy.h"

#include <algorithm>
#include <array>
#include <limits>

#include "engine/base/check.h"
#include "engine/io/files/file.h"
#include "engine/io/text/json.h"

namespace mote {
namespace {

static_assert(std::numeric_limits<float>::is_iec559, "a double beyond the range of float becomes infinity");

/// How errors name the element types, in the order of AnyArray.
constexpr const char* names[] = {"floats (an Array)", "integers (an IntArray)", "booleans (a Mask)"};

/// Returns the array of a file in Fortran order as a row-major array. x has the elements of the file, read as if they
/// were row-major, and the axes in reverse order.
template <class T>
AnyArray row_major(T x) {
  for (int axis = 0, last = x.rank() - 1; axis < last; ++axis, --last) x = x.transpose(axis, last);
  return x.contiguous();
}

/// The header of a file: its magic bytes and version are followed by a Python dictionary with type, order and shape.
struct NpyHeader {
  DType type = DType::f32;
  bool big_endian = false, fortran_order = false;
  Shape shape;
  std::size_t data = 0;  ///< where the elements begin
};

constexpr std::size_t header_limit = 10'000;  ///< bytes; NumPy has the same limit for reading

/// NumPy's names for the types that mote reads.
constexpr auto descrs = std::to_array<Word<DType>>({{DType::f16, "<f2"},
                                                    {DType::f32, "<f4"},
                                                    {DType::f64, "<f8"},
                                                    {DType::i8, "|i1"},
                                                    {DType::i16, "<i2"},
                                                    {DType::i32, "<i4"},
                                                    {DType::i64, "<i8"},
                                                    {DType::u8, "|u1"},
                                                    {DType::u16, "<u2"},
                                                    {DType::u32, "<u4"},
                                                    {DType::u64, "<u8"},
                                                    {DType::boolean, "|b1"},
                                                    {DType::boolean, "|?"}});

const char* descr_of(DType type) {
  return std::find_if(descrs.begin(), descrs.end(), [&](const auto& w) { return w.value == type; })->name;
}

/// Translates the Python dictionary of a header to JSON of the same length. Python has other quotes and brackets,
/// writes True and False, and may write a comma after the last entry.
std::string json_of(std::string_view dictionary) {
  std::string text(dictionary);
  bool quoted = false;
  std::size_t comma = std::string::npos;
  for (std::size_t i = 0, last = 0; i < text.size(); ++i) {
    constexpr std::string_view python = "'\"()[]", json = "\"'[]()";
    const std::size_t which = python.find(text[i]);
    quoted ^= which == 0;
    if (which < (quoted ? 2 : json.size())) text[i] = json[which];
    if (quoted || text[i] == ' ') continue;
    for (const char* const word : {"True", "False", "true", "false"})
      if (dictionary.substr(i).starts_with(word)) text[i] ^= 'T' ^ 't';
    if (comma != std::string::npos && (text[i] == ']' || text[i] == '}')) text[comma] = ' ';
    const bool follows_entry = text[last] != ',' && text[last] != '[' && text[last] != '{';
    comma = text[i] == ',' && follows_entry ? i : std::string::npos;
    last = i;
  }
  return text;
}

/// Finds the dictionary in the first bytes of a file. The dictionary follows the magic bytes, the version and the
/// length.
std::string_view find_dictionary(std::string_view bytes, const std::string& what) {
  const auto has = [&](std::size_t n) { check(bytes.size() >= n, what, ": the file is cut off within its header"); };
  check(bytes.starts_with("\x93NUMPY"), what, ": this is no .npy file: it does not begin with \\x93NUMPY",
        bytes.starts_with("PK") ? ", but is a zip archive, such as .npz: save its arrays one by one" : "");
  has(10);
  const std::uint64_t major = little_endian(bytes.substr(6, 1)), minor = little_endian(bytes.substr(7, 1));
  check(major >= 1 && major <= 3 && minor == 0, what, ": version ", major, ".", minor, " is none of 1.0, 2.0, 3.0");
  const std::size_t at = major == 1 ? 10 : 12;
  has(at);
  const std::uint64_t length = little_endian(bytes.substr(8, at - 8));
  check(length <= header_limit, what, ": a header of ", length, " bytes is above the limit of ", header_limit);
  has(at + length);
  std::string_view dictionary = bytes.substr(at, length);
  if (dictionary.ends_with('\n')) dictionary.remove_suffix(1);
  check(dictionary.find_first_of("\\\t\r\n") == std::string_view::npos, what,
        ": the header must hold no backslash, no tab, and no newline but at its end");
  check(dictionary.find("[(") == std::string_view::npos, what, ": arrays of structures are not supported");
  return bytes.substr(at, length);
}

/// Reads the element type. Any byte-order character may precede the type, because programs in C++ also write "<u1" and
/// "=f4".
DType type_of(const JsonPlace& place, const std::string& what) {
  const std::string &descr = place.as_string(), shown = detail::shortened(descr);
  check(descr.find('O') == std::string::npos, what, ": type '", shown,
        "' are Python objects, which only Python can read");
  const std::string_view kind = std::string_view(descr).substr(descr.find_first_of("<>=|") == 0 ? 1 : 0);
  const auto* const found =
      std::find_if(descrs.begin(), descrs.end(), [&](const auto& w) { return w.name + 1 == kind; });
  return found != descrs.end() ? found->value : by_name(what + ": type", descrs, shown).value;
}

/// The same source with the bytes of every element reversed. The elements begin at byte `from` and have `width`
/// bytes.
ByteSource turned(const ByteSource& source, std::size_t from, std::size_t width) {
  const auto read = [&source, from, width](std::uint64_t offset, void* to, std::size_t bytes) {
    source.read(offset, to, bytes);
    check((offset - from) % width == 0 && bytes % width == 0, source.name, ": a part of an element was read");
    auto* const first = static_cast<std::byte*>(to);
    for (std::byte* at = first; at != first + bytes; at += width) std::reverse(at, at + width);
  };
  return {source.name, source.size, read};
}

/// Reads the header and checks that the elements fill the rest of the file. Errors: see load_npy.
NpyHeader read_npy_header(const ByteSource& source) {
  std::string beginning(static_cast<std::size_t>(std::min<std::uint64_t>(source.size, header_limit + 12)), '\0');
  source.read(0, beginning.data(), beginning.size());
  const std::string_view dictionary = find_dictionary(beginning, source.name);
  const std::string what = source.name + ": header as JSON";
  const Json json = parse_json(json_of(dictionary), what);
  const JsonPlace entries(json, what);
  for (const JsonMember& m : entries.members())
    if (m.name != "descr" && m.name != "fortran_order" && m.name != "shape")
      entries.at(m).fail("is none of descr, fortran_order, shape");
  const NpyHeader header{type_of(entries.at("descr"), source.name), entries.at("descr").as_string().starts_with('>'),
                         entries.at("fortran_order").as_bool(), read_shape(entries.at("shape")),
                         static_cast<std::size_t>(dictionary.data() - beginning.data()) + dictionary.size()};
  check(header.shape.rank() != 1 || dictionary.find(',', dictionary.find('(')) < dictionary.find(')'), source.name,
        ": a shape of one axis is written with a comma, as (3,)");
  const std::uint64_t there = source.size - header.data,
                      needed = StoredElements{{}, header.type, header.shape, 0}.bytes();
  check(there == needed, source.name, ": there are ", there, " bytes of elements, but shape ", header.shape,
        " of type '", descr_of(header.type), "' takes ", needed);
  return header;
}

/// The header as numpy.save writes it: version 1.0, C order, and spaces up to 128 bytes. The spaces let the first
/// extent grow to 21 digits in place. 128 bytes are enough for every Shape, because a Shape has at most eight axes and
/// a limited number of elements.
std::string npy_header_text(DType type, const Shape& shape) {
  std::string text =
      std::string("\x93NUMPY\x01\0v\0", 10) + "{'descr': '" + descr_of(type) + "', 'fortran_order': False, 'shape': (";
  for (int axis = 0; axis < shape.rank(); ++axis) text += (axis > 0 ? ", " : "") + std::to_string(shape[axis]);
  text += shape.rank() == 1 ? ",), }" : "), }";
  text.resize(127, ' ');
  return text + '\n';
}

}  // namespace

void detail::write_npy(const std::function<void(const void*, std::size_t)>& put, AnyArray x) {
  std::visit([](auto& a) { a = a.contiguous(); }, x);
  const std::string header = npy_header_text(dtype_of(x), shape_of(x));
  put(header.data(), header.size());
  put(bytes_of(x).data(), bytes_of(x).size());
}

void save_npy(const std::string& path, const AnyArray& x) {
  std::visit([](const auto& a) { a.require("save_npy"); }, x);
  FileWriter file(path);
  detail::write_npy([&](const void* data, std::size_t n) { file.write(data, n); }, x);
  file.commit();
}

AnyArray load_npy(const ByteSource& source) {
  const NpyHeader header = read_npy_header(source);
  std::vector<Index> extents(header.shape.begin(), header.shape.end());
  if (header.fortran_order) std::reverse(extents.begin(), extents.end());
  const StoredElements stored{source.name, header.type, Shape(extents), header.data, true};
  const auto width = static_cast<std::size_t>(bits(header.type) / 8);
  const AnyArray x = read_any(header.big_endian ? turned(source, header.data, width) : source, stored);
  return header.fortran_order ? std::visit([](const auto& a) { return row_major(a); }, x) : x;
}

AnyArray load_npy(const std::string& path) { return load_npy(file_source(path)); }

template <class T>
T load_npy(const std::string& path) {
  AnyArray value = load_npy(path);
  check(std::holds_alternative<T>(value), path, ": the file holds ", names[value.index()], ", not ",
        names[AnyArray(T()).index()]);
  return std::get<T>(std::move(value));
}
template Array load_npy(const std::string& path);
template IntArray load_npy(const std::string& path);
template Mask load_npy(const std::string& path);

}  // namespace mote
