// Writing safetensors, and its checksums.
#include <algorithm>
#include <cstring>

#include "engine/io/crc32.h"
#include "engine/io/file.h"
#include "engine/io/json.h"
#include "engine/io/safetensors.h"
#include "engine/io/safetensors_checksum.h"

namespace mote {
namespace {

const std::string no_checksum = "00000000";
const std::string checksum_entry = "\"crc32\":\"";

struct Bytes {
  const void* data;
  std::size_t size;
};

Bytes bytes_of(const AnyArray& x) {
  return std::visit(
      [](const auto& a) -> Bytes {
        using Element = std::remove_cvref_t<decltype(*a.data())>;
        return {a.data(), static_cast<std::size_t>(a.numel()) * sizeof(Element)};
      },
      x);
}

AnyArray contiguous(const AnyArray& x) {
  return std::visit([](const auto& a) -> AnyArray { return a.contiguous(); }, x);
}

std::string header_of(const std::vector<NamedArray>& tensors, const Metadata& metadata) {
  Json root = Json::object();
  if (!metadata.empty()) {
    Json texts = Json::object();
    for (const auto& [name, text] : metadata) texts.add(name, text);
    root.add("__metadata__", std::move(texts));
  }
  Index at = 0;
  for (const NamedArray& t : tensors) {
    std::vector<Json> extents;
    for (const Index extent : shape_of(t.value)) extents.emplace_back(extent);
    const Index end = at + shape_of(t.value).numel() * bits(dtype_of(t.value)) / 8;
    root.add(t.name, Json::object({{"dtype", text_of(dtype_of(t.value))},
                                   {"shape", Json::array(std::move(extents))},
                                   {"data_offsets", Json::array({at, end})}}));
    at = end;
  }
  std::string header = text_of(root);
  header.resize((header.size() + 7) / 8 * 8, ' ');
  return header;
}

}  // namespace

std::string detail::checksum_text(std::uint32_t crc) {
  std::string text(8, '0');
  for (std::size_t i = 0; i < 8; ++i) text[i] = "0123456789abcdef"[(crc >> (28 - 4 * i)) & 15];
  return text;
}

std::string detail::header_checksum(std::string header, const std::string& sum) {
  const std::size_t at = header.find(checksum_entry + sum + '"');
  if (at == std::string::npos || sum.size() != no_checksum.size()) return {};
  header.replace(at + checksum_entry.size(), sum.size(), no_checksum);
  return checksum_text(crc32(header.data(), header.size()));
}

void detail::write_safetensors(const std::function<void(const void*, std::size_t)>& put,
                               std::vector<NamedArray> tensors, Metadata metadata, bool checksums) {
  for (NamedArray& t : tensors) {
    check_in("safetensors", !t.name.empty() && t.name != "__metadata__", "no tensor can be named '", t.name, "'");
    std::visit([](const auto& a) { a.require("safetensors"); }, t.value);
  }
  // The reference's order: element types from the largest on, then names byte by byte.
  std::sort(tensors.begin(), tensors.end(), [](const NamedArray& a, const NamedArray& b) {
    const DType x = dtype_of(a.value), y = dtype_of(b.value);
    return x != y ? x > y : a.name < b.name;
  });
  if (checksums) {
    for (const NamedArray& t : tensors) {
      const AnyArray x = contiguous(t.value);
      const Bytes bytes = bytes_of(x);
      metadata.emplace_back("crc32 " + t.name, checksum_text(crc32(bytes.data, bytes.size)));
    }
    metadata.emplace_back("crc32", no_checksum);
    metadata.emplace_back("format", "pt");
  }
  std::sort(metadata.begin(), metadata.end());
  std::string header = header_of(tensors, metadata);
  if (checksums) {
    const std::string sum = header_checksum(header, no_checksum);
    header.replace(header.find(checksum_entry + no_checksum) + checksum_entry.size(), sum.size(), sum);
  }
  const std::uint64_t length = header.size();
  put(&length, sizeof length);
  put(header.data(), header.size());
  for (const NamedArray& t : tensors) {
    const AnyArray x = contiguous(t.value);
    const Bytes bytes = bytes_of(x);
    put(bytes.data, bytes.size);
  }
}

void save_safetensors(const std::string& path, std::vector<NamedArray> tensors, Metadata metadata) {
  FileWriter file(path);
  detail::write_safetensors([&](const void* data, std::size_t bytes) { file.write(data, bytes); }, std::move(tensors),
                            std::move(metadata), true);
  file.commit();
}

}  // namespace mote
