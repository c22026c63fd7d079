// Reading elements piece by piece, and converting them while they are in the cache.
#include "engine/io/elements.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "engine/io/file.h"

namespace mote {
namespace {

constexpr std::uint64_t piece = 1 << 18;  // stays in the cache between reading, checksum and conversion

/// use(bytes) for one piece after the other, read to whole + offset of the piece, or all to one buffer.
template <class Use>
void each_piece(const ByteSource& source, const StoredElements& stored, std::byte* whole, const Use& use) {
  const std::uint64_t total = stored.bytes();
  std::vector<std::byte> buffer(whole ? 0 : static_cast<std::size_t>(std::min(piece, total)));
  for (std::uint64_t at = 0; at < total; at += piece) {
    const std::size_t n = static_cast<std::size_t>(std::min(piece, total - at));
    std::byte* const to = whole ? whole + at : buffer.data();
    source.read(stored.offset + at, to, n);
    use(to, n);
  }
}

template <class A>
A read_as(const ByteSource& source, const StoredElements& stored, const SeeBytes& see) {
  check_in("read", readable(stored.type), stored.what, ": mote does not read ", text_of(stored.type));
  A x = A::empty(stored.shape);
  auto* const out = x.mutate();
  const DType own = dtype_of(x);
  if (stored.type == own && own != DType::boolean) {  // the same bytes
    each_piece(source, stored, reinterpret_cast<std::byte*>(out), [&](const std::byte* from, std::size_t n) {
      if (see) see(from, n);
    });
    return x;
  }
  const Index width = bits(stored.type) / 8;
  Index done = 0;
  each_piece(source, stored, nullptr, [&](const std::byte* from, std::size_t n) {
    if (see) see(from, n);
    const Index count = static_cast<Index>(n) / width, exact = detail::widen(stored.type, from, count, out + done);
    check_in("read", exact == count, stored.what, ": element ", done + exact, " of type ", text_of(stored.type),
             " has no exact equal in ", text_of(own),
             stored.type == DType::f64 ? ": use mote_f64, or convert it first" : "");
    done += count;
  });
  return x;
}

}  // namespace

ByteSource file_source(const std::string& path) {
  const auto file = std::make_shared<FileReader>(path);
  return {path, file->size(), [file](std::uint64_t offset, void* to, std::size_t n) { file->read(offset, to, n); }};
}

ByteSource text_source(std::string name, std::string_view text) {
  return {std::move(name), text.size(), [text](std::uint64_t offset, void* to, std::size_t n) {
            std::memcpy(to, text.substr(static_cast<std::size_t>(offset), n).data(), n);
          }};
}

void read_bytes(const ByteSource& source, const StoredElements& stored, const SeeBytes& see) {
  each_piece(source, stored, nullptr, see);
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

}  // namespace mote
