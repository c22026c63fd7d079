// Elements of a .npy file from and to arrays.
#include "engine/io/files/npy.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>

#include "engine/io/files/file.h"
#include "engine/io/files/half.h"
#include "engine/io/files/npy_header.h"

namespace mote {
namespace {

using detail::NpyHeader;
using detail::NpyType;

static_assert(std::endian::native == std::endian::little, "the files' byte order is taken for the machine's");
static_assert(std::numeric_limits<float>::is_iec559, "a double beyond the range of float becomes infinity");

struct Half {
  std::uint16_t bits;
  operator float() const { return detail::from_half(bits); }
};

constexpr NpyType type_of(const Array*) { return sizeof(real) == 4 ? NpyType::f4 : NpyType::f8; }
constexpr NpyType type_of(const IntArray*) { return NpyType::i8; }
constexpr NpyType type_of(const Mask*) { return NpyType::b1; }
const char* name_of(const Array*) { return "floats, an Array"; }
const char* name_of(const IntArray*) { return "integers, an IntArray"; }
const char* name_of(const Mask*) { return "booleans, a Mask"; }

/// Hands the file of x to write(data, bytes), piece by piece.
template <class T, class Write>
void write_npy(const T& x, Write write) {
  const T elements = x.contiguous();
  const std::string header = detail::npy_header_text(type_of(&x), elements.shape());
  write(header.data(), header.size());
  write(reinterpret_cast<const char*>(elements.data()),
        static_cast<std::size_t>(elements.numel()) * sizeof(*elements.data()));
}

template <class T>
std::string bytes_of(const T& x) {
  std::string bytes;
  write_npy(x, [&](const char* data, std::size_t n) { bytes.append(data, n); });
  return bytes;
}

template <class T>
void save(const std::string& path, const T& x) {
  x.require("save_npy");
  FileWriter file(path);
  write_npy(x, [&](const char* data, std::size_t n) { file.write(data, n); });
  file.commit();
}

/// The array of a header whose elements are of type From; read(offset, into, bytes) fetches a piece of the file.
template <class From, class T, class Read>
T elements_as(const NpyHeader& header, Read& read) {
  std::array<Index, Shape::max_rank> extents{};
  std::copy(header.shape.begin(), header.shape.end(), extents.begin());
  const auto rank = static_cast<std::size_t>(header.shape.rank());
  if (header.fortran_order) std::reverse(extents.begin(), extents.begin() + header.shape.rank());
  T x = T::empty(Shape(std::span<const Index>(extents.data(), rank)));
  auto* const to = x.mutate();
  using To = std::remove_reference_t<decltype(*to)>;
  const auto n = static_cast<std::size_t>(x.numel());
  if constexpr (std::is_same_v<From, To>) {
    read(header.data, to, n * sizeof(From));
  } else {
    std::array<From, 4096> piece;
    for (std::size_t i = 0; i < n; i += piece.size()) {
      const std::size_t here = std::min(piece.size(), n - i);
      read(header.data + i * sizeof(From), piece.data(), here * sizeof(From));
      for (std::size_t k = 0; k < here; ++k) to[i + k] = static_cast<To>(piece[k]);
    }
  }
  if (!header.fortran_order) return x;
  std::array<int, Shape::max_rank> axes{};
  std::iota(axes.rbegin() + static_cast<std::ptrdiff_t>(axes.size() - rank), axes.rend(), 0);
  return x.permute(std::span<const int>(axes.data(), rank)).contiguous();
}

template <class Read>
NpyValue value_of(const NpyHeader& header, std::string_view what, Read read) {
  switch (header.type) {
    case NpyType::f2:
      return elements_as<Half, Array>(header, read);
    case NpyType::f4:
      return elements_as<float, Array>(header, read);
    case NpyType::f8:
      return elements_as<double, Array>(header, read);
    case NpyType::i1:
      return elements_as<std::int8_t, IntArray>(header, read);
    case NpyType::i2:
      return elements_as<std::int16_t, IntArray>(header, read);
    case NpyType::i4:
      return elements_as<std::int32_t, IntArray>(header, read);
    case NpyType::i8:
      return elements_as<std::int64_t, IntArray>(header, read);
    case NpyType::u1:
      return elements_as<std::uint8_t, IntArray>(header, read);
    case NpyType::u2:
      return elements_as<std::uint16_t, IntArray>(header, read);
    case NpyType::u4:
      return elements_as<std::uint32_t, IntArray>(header, read);
    case NpyType::b1:
      break;
  }
  Mask x = elements_as<std::uint8_t, Mask>(header, read);
  for (Index i = 0; i < x.numel(); ++i)
    if (x.data()[i] > 1)
      throw Error(std::string(what) + ": element " + std::to_string(i) + " is " + std::to_string(x.data()[i]) +
                  ", but a boolean is 0 or 1");
  return x;
}

}  // namespace

std::string npy_bytes(const Array& x) { return bytes_of(x); }
std::string npy_bytes(const IntArray& x) { return bytes_of(x); }
std::string npy_bytes(const Mask& x) { return bytes_of(x); }

void save_npy(const std::string& path, const Array& x) { save(path, x); }
void save_npy(const std::string& path, const IntArray& x) { save(path, x); }
void save_npy(const std::string& path, const Mask& x) { save(path, x); }

NpyValue parse_npy(std::string_view bytes, std::string_view what) {
  const NpyHeader header = detail::parse_npy_header(bytes.substr(0, detail::npy_header_bytes), bytes.size(), what);
  return value_of(header, what, [&](std::uint64_t offset, void* into, std::size_t n) {
    if (n > 0) std::memcpy(into, bytes.data() + offset, n);
  });
}

NpyValue load_npy(const std::string& path) {
  const FileReader file(path);
  std::string beginning(static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), detail::npy_header_bytes)), '\0');
  file.read(0, beginning.data(), beginning.size());
  const NpyHeader header = detail::parse_npy_header(beginning, file.size(), path);
  return value_of(header, path, [&](std::uint64_t offset, void* into, std::size_t n) { file.read(offset, into, n); });
}

template <class T>
T load_npy(const std::string& path) {
  NpyValue value = load_npy(path);
  if (T* const x = std::get_if<T>(&value)) return std::move(*x);
  const char* const held = std::visit([](const auto& x) { return name_of(&x); }, value);
  throw Error(path + ": the file holds " + held + ", not " + name_of(static_cast<const T*>(nullptr)));
}
template Array load_npy(const std::string& path);
template IntArray load_npy(const std::string& path);
template Mask load_npy(const std::string& path);

}  // namespace mote
