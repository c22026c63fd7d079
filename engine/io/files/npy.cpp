// A .npy file from and to arrays: its header, parsed and written, and its elements.
#include "engine/io/files/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "engine/io/files/file.h"

namespace mote {
namespace {

static_assert(std::numeric_limits<float>::is_iec559, "a double beyond the range of float becomes infinity");

/// What a file's elements are, by their position in AnyArray.
constexpr const char* names[] = {"floats, an Array", "integers, an IntArray", "booleans, a Mask"};

/// An array whose elements lie in a file with the first axis fastest, row-major.
template <class T>
AnyArray row_major(T x) {
  for (int axis = 0, last = x.rank() - 1; axis < last; ++axis, --last) x = x.transpose(axis, last);
  return x.contiguous();
}

/// The first bytes of a file: magic, version, and a Python dictionary with type, order and shape.
struct NpyHeader {
  DType type = DType::f32;
  bool fortran_order = false;
  Shape shape;
  std::size_t data = 0;  ///< where the elements begin
};

constexpr std::size_t header_limit = 10'000;  ///< bytes: NumPy's own limit for reading

/// NumPy's words for the types that mote reads.
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
                                                    {DType::boolean, "|b1"}});

const char* descr_of(DType type) {
  return std::find_if(descrs.begin(), descrs.end(), [&](const auto& w) { return w.value == type; })->name;
}

class Parser {
 public:
  Parser(std::string_view bytes, std::uint64_t size, std::string_view what) : bytes_(bytes), size_(size), what_(what) {}

  NpyHeader header() {
    find_dictionary();
    dictionary();
    end_of_header();
    NpyHeader found{type_, fortran_order_, shape(), bytes_.size()};
    const std::uint64_t there = size_ - found.data, needed = StoredElements{{}, type_, found.shape, 0}.bytes();
    if (there != needed)
      fail("there are " + std::to_string(there) + " bytes of elements, but shape " + text_of(found.shape) +
           " of type '" + descr_of(type_) + "' takes " + std::to_string(needed));
    return found;
  }

 private:
  [[noreturn]] void fail(const std::string& rule) const { throw Error(std::string(what_) + ": " + rule); }
  [[noreturn]] void fail_here(const std::string& rule) const { fail("byte " + std::to_string(at_) + ": " + rule); }

  std::uint32_t little_endian(std::size_t at, std::size_t n) const {
    std::uint32_t value = 0;
    for (std::size_t i = n; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes_[at + i]);
    return value;
  }

  /// Magic, version, length; afterwards the text that is left ends where the header does.
  void find_dictionary() {
    if (!bytes_.starts_with("\x93NUMPY")) fail("this is no .npy file: it does not begin with \\x93NUMPY");
    const std::string cut = "the file is cut off within its header";
    if (bytes_.size() < 10) fail(cut);
    const unsigned major = little_endian(6, 1), minor = little_endian(7, 1);
    if (major < 1 || major > 3 || minor != 0)
      fail("version " + std::to_string(major) + "." + std::to_string(minor) + " is none of 1.0, 2.0, 3.0");
    at_ = major == 1 ? 10 : 12;
    if (bytes_.size() < at_) fail(cut);
    const std::size_t length = little_endian(8, at_ - 8);
    if (length > header_limit)
      fail("a header of " + std::to_string(length) + " bytes is above the limit of " + std::to_string(header_limit));
    if (bytes_.size() - at_ < length) fail(cut);
    bytes_ = bytes_.substr(0, at_ + length);
  }

  char peek() const { return at_ < bytes_.size() ? bytes_[at_] : '\0'; }
  bool take(char c) {
    skip_space();
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void want(char c) {
    if (!take(c)) fail_here(std::string("'") + c + "' must stand here");
  }
  void skip_space() {
    while (peek() == ' ') ++at_;
  }

  void dictionary() {
    constexpr const char* keys[] = {"descr", "fortran_order", "shape"};
    bool seen[3] = {};
    want('{');
    for (bool comma = true; !take('}'); comma = take(',')) {
      if (!comma) want('}');
      const std::size_t start = at_;
      const std::string key(quoted("a key"));
      want(':');
      const std::ptrdiff_t which = std::find(std::begin(keys), std::end(keys), key) - keys;
      if (which == 3) {
        at_ = start;
        fail_here("'" + key + "' is none of descr, fortran_order, shape");
      }
      if (std::exchange(seen[which], true)) fail("'" + key + "' occurs twice in the header");
      if (which == 0) read_type();
      if (which == 1) read_order();
      if (which == 2) read_shape();
    }
    for (std::size_t i = 0; i < 3; ++i)
      if (!seen[i]) fail(std::string("the header has no ") + keys[i]);
  }

  /// The text between single quotes: printable ASCII, no backslash.
  std::string_view quoted(const char* purpose) {
    if (!take('\'')) fail_here(std::string(purpose) + " in single quotes must stand here");
    const std::size_t start = at_;
    while (peek() != '\'') {
      if (peek() < ' ' || peek() > '~' || peek() == '\\') fail_here(std::string(purpose) + " must be plain text");
      ++at_;
    }
    return bytes_.substr(start, at_++ - start);
  }

  void read_type() {
    skip_space();
    if (peek() == '[') fail("arrays of structures are not supported");
    const std::string_view descr = quoted("a type");
    for (const Word<DType>& w : descrs)
      if (descr == w.name) return void(type_ = w.value);
    std::string shown(descr.substr(0, 40));
    if (descr.find('O') != std::string_view::npos)
      fail("type '" + shown + "' are Python objects, which only Python can read");
    if (descr.starts_with('>'))
      fail("type '" + shown + "' is big-endian: in Python, x.astype(x.dtype.newbyteorder('<')) makes it little-endian");
    fail("type '" + shown + "' is none of " + all_names(descrs));
  }

  void read_order() {
    skip_space();
    const std::string_view rest = bytes_.substr(at_);
    fortran_order_ = rest.starts_with("True");
    if (!fortran_order_ && !rest.starts_with("False")) fail_here("True or False must stand here");
    at_ += fortran_order_ ? 4 : 5;
  }

  void read_shape() {
    want('(');
    bool comma = true;
    while (!take(')')) {
      if (!comma) fail_here("',' or ')' must stand here");
      skip_space();
      const char* const start = bytes_.data() + at_;
      Index extent = 0;
      if (peek() < '0' || peek() > '9') fail_here("an extent must stand here, a whole number of at least 0");
      const auto [end, error] = std::from_chars(start, bytes_.data() + bytes_.size(), extent);
      if (error != std::errc()) fail_here("an extent is above 2^63 - 1");
      if (*start == '0' && end != start + 1) fail_here("an extent must not start with a needless 0");
      if (rank_ == Shape::max_rank) fail_here("there are more than " + std::to_string(rank_) + " axes");
      extents_[rank_++] = extent;
      at_ += static_cast<std::size_t>(end - start);
      comma = take(',');
    }
    if (rank_ == 1 && !comma) fail("a shape of one axis is written with a comma, as (3,)");
  }

  void end_of_header() {
    skip_space();
    if (peek() != '\n' || at_ + 1 != bytes_.size())
      fail_here("after the dictionary must stand nothing but spaces and, as the header's last byte, a newline");
  }

  Shape shape() const {
    const std::span<const Index> extents(extents_.data(), rank_);
    Index product = 1;
    for (const Index extent : extents) {
      if (extent > Shape::max_numel / product) fail("there are too many elements in shape " + text_of(extents));
      product *= std::max<Index>(extent, 1);
    }
    return Shape(extents);
  }

  std::string_view bytes_;
  std::uint64_t size_;
  std::string_view what_;
  std::size_t at_ = 0;
  DType type_ = DType::f32;
  bool fortran_order_ = false;
  std::array<Index, Shape::max_rank> extents_{};
  std::size_t rank_ = 0;
};

/// The elements are known to fill the rest of the file. Errors: see load_npy.
NpyHeader read_npy_header(const ByteSource& source) {
  std::string beginning(static_cast<std::size_t>(std::min<std::uint64_t>(source.size, header_limit + 12)), '\0');
  source.read(0, beginning.data(), beginning.size());
  return Parser(beginning, source.size, source.name).header();
}

/// The header as numpy.save writes it: version 1.0, C order, padded so that the elements begin at a multiple of 64.
std::string npy_header_text(DType type, const Shape& shape) {
  std::string text = std::string("{'descr': '") + descr_of(type) + "', 'fortran_order': False, 'shape': (";
  for (int axis = 0; axis < shape.rank(); ++axis) text += (axis > 0 ? ", " : "") + std::to_string(shape[axis]);
  text += shape.rank() == 1 ? ",), }" : "), }";
  // NumPy leaves room for the first extent to grow to 21 digits in place.
  if (shape.rank() > 0) text.append(21 - std::to_string(shape[0]).size(), ' ');
  text.append(64 - (10 + text.size() + 1) % 64, ' ');  // 64 spaces where none were needed, as NumPy has it
  text += '\n';
  const auto byte = [](std::size_t value) { return static_cast<char>(value & 255u); };
  return std::string("\x93NUMPY\x01\0", 8) + byte(text.size()) + byte(text.size() >> 8) + text;
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
  AnyArray x;
  if (readable(header.type, DType::boolean))
    x = read_mask(source, stored);
  else if (readable(header.type, DType::i64))
    x = read_ints(source, stored);
  else
    x = read_array(source, stored);
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
