// Reading elements piece by piece, and converting them while they are in the cache.
#include "engine/io/files/elements.h"

#include <algorithm>
#include <memory>

#include "engine/base/parallel.h"
#include "engine/io/files/file.h"
#include "engine/io/text/json.h"

namespace mote {
namespace {

constexpr std::uint64_t piece = 1 << 18;  // bytes; a piece stays in the cache between reading, checksum and conversion

void check_there(const ByteSource& source, const StoredElements& stored) {
  check(stored.offset <= source.size && stored.bytes() <= source.size - stored.offset, stored.what, ": its ",
        stored.bytes(), " bytes from byte ", stored.offset, " on go beyond the end at ", source.size);
}

template <class A>
A read_as(const ByteSource& source, const StoredElements& stored, const SeeBytes& see) {
  A x;
  const DType own = dtype_of(x);
  check(readable(stored.type), stored.what, ": mote does not read elements of type ", stored.type);
  check(readable(stored.type, own), stored.what, ": elements of type ", stored.type, " cannot be read as ",
        own == DType::i64 ? "integers" : "booleans");
  check_there(source, stored);
  x = A::empty(stored.shape);
  auto* const to = x.mutate();
  if (stored.type == own && own != DType::boolean) {  // no conversion: the file has the same bytes as the array
    auto* bytes = reinterpret_cast<std::byte*>(to);
    const std::uint64_t total = stored.bytes();
    parallel_for(static_cast<Index>((total + piece - 1) / piece), 1, [&](Index begin, Index end) {
      for (auto at = static_cast<std::uint64_t>(begin) * piece;
           at < std::min(total, static_cast<std::uint64_t>(end) * piece); at += piece)
        source.read(stored.offset + at, bytes + at, static_cast<std::size_t>(std::min(piece, total - at)));
    });
    if (see && total > 0) see(bytes, static_cast<std::size_t>(total));
    return x;
  }
  Index done = 0;
  read_bytes(source, stored, [&](const void* from, std::size_t n) {
    if (see) see(from, n);
    const Index count = static_cast<Index>(n) * 8 / bits(stored.type);
    const auto* const bytes = static_cast<const std::byte*>(from);
    const Index exact = detail::widen(stored.type, bytes, count, to + done, stored.rounded);
    check(exact == count || stored.type != DType::boolean, stored.what, ": element ", done + exact,
          ", a boolean, must be 0 or 1");
    check(exact == count, stored.what, ": element ", done + exact, " of type ", stored.type,
          " does not fit exactly into ", own,
          stored.type == DType::f64 ? ": use mote_f64, or convert the file first" : "");
    done += count;
  });
  return x;
}

}  // namespace

std::vector<Index> read_counts(const JsonPlace& place) {
  std::vector<Index> counts;
  for (std::size_t i = 0; i < place.items().size(); ++i) {
    counts.push_back(place.at(i).as_integer());
    if (counts.back() < 0) place.at(i).fail("is below 0");
  }
  return counts;
}

Shape read_shape(const JsonPlace& place) {
  const std::vector<Index> extents = read_counts(place);
  if (extents.size() > Shape::max_rank)
    place.fail("has " + text_of(extents.size()) + " axes, above the limit of " + text_of(Shape::max_rank));
  Index product = 1;
  for (const Index extent : extents) {
    if (product > Shape::max_numel / std::max<Index>(extent, 1)) place.fail("has too many elements");
    product *= std::max<Index>(extent, 1);
  }
  return Shape(extents);
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

ByteSource file_source(const std::string& path) {
  const auto file = std::make_shared<FileReader>(path);
  return {path, file->size(), [file](std::uint64_t offset, void* to, std::size_t n) { file->read(offset, to, n); }};
}

void check_no_pointer(const std::string& name, std::string_view begin) {
  check(!begin.starts_with("version https://git-lfs"), name,
        " is a Git LFS pointer and not the file itself: git lfs pull fetches it");
}

void check_of_tensors(const ByteSource& source) {
  std::string begin(static_cast<std::size_t>(std::min<std::uint64_t>(source.size, 32)), '\0');
  source.read(0, begin.data(), begin.size());
  check_no_pointer(source.name, begin);
  for (const char* const tag : {"<!doctype html", "<!DOCTYPE html", "<html"})
    check(!begin.starts_with(tag), source.name, " is a web page: download the file itself");
  check(!begin.starts_with(std::string_view("\x80\2\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 14)), source.name,
        " was saved by torch before 1.6, or with _use_new_zipfile_serialization=False: load it in Python and "
        "torch.save() "
        "it again");
}

std::uint64_t StoredElements::bytes() const {  // computed so that no product exceeds 2^63
  const auto n = static_cast<std::uint64_t>(shape.numel()), width = static_cast<std::uint64_t>(bits(type));
  return n / 8 * width + n % 8 * width / 8;
}

void read_bytes(const ByteSource& source, const StoredElements& stored, const SeeBytes& see) {
  check_there(source, stored);
  const std::uint64_t total = stored.bytes();
  const auto buffer = std::make_unique<std::byte[]>(static_cast<std::size_t>(std::min(piece, total)));
  for (std::uint64_t at = 0; at < total; at += piece) {
    const auto n = static_cast<std::size_t>(std::min(piece, total - at));
    source.read(stored.offset + at, buffer.get(), n);
    see(buffer.get(), n);
  }
}

Array read_array(const ByteSource& source, const StoredElements& stored, const SeeBytes& see) {
  return read_as<Array>(source, stored, see);
}
IntArray read_ints(const ByteSource& source, const StoredElements& stored, const SeeBytes& see) {
  return read_as<IntArray>(source, stored, see);
}
Mask read_mask(const ByteSource& source, const StoredElements& stored, const SeeBytes& see) {
  return read_as<Mask>(source, stored, see);
}
AnyArray read_any(const ByteSource& source, const StoredElements& stored, const SeeBytes& see) {
  if (readable(stored.type, DType::boolean)) return read_mask(source, stored, see);
  if (readable(stored.type, DType::i64)) return read_ints(source, stored, see);
  return read_array(source, stored, see);
}

std::string_view bytes_of(const AnyArray& x) {
  return std::visit(
      [](const auto& a) {
        return std::string_view(reinterpret_cast<const char*>(a.data()),
                                static_cast<std::size_t>(a.numel()) * sizeof *a.data());
      },
      x);
}

}  // namespace mote
