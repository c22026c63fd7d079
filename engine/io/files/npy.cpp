// Elements of a .npy file from and to arrays.
#include "engine/io/files/npy.h"

#include <algorithm>
#include <limits>

#include "engine/io/files/file.h"
#include "engine/io/files/npy_header.h"

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
  const detail::NpyHeader header = detail::read_npy_header(source);
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
