// Writing safetensors, with checksums.
#include <algorithm>
#include <set>

#include "engine/base/parallel.h"
#include "engine/io/files/file.h"
#include "engine/io/files/safetensors.h"
#include "engine/io/files/safetensors_header.h"
#include "engine/io/text/json.h"

namespace mote {
namespace {

/// Whether a comes before b in the reference implementation's order. The order is by DType, from the last of the enum
/// to the first. Tensors of the same DType are sorted by the bytes of their names.
bool before(const NamedArray& a, const NamedArray& b) {
  const DType x = dtype_of(a.value), y = dtype_of(b.value);
  return x != y ? x > y : a.name < b.name;
}

/// Checks that names are unique and not reserved. The JSON writer refuses all other names that could not be read
/// again.
void check_names(const std::vector<NamedArray>& tensors) {
  std::set<std::string_view> names;
  for (const NamedArray& t : tensors) {
    check_in("safetensors", names.insert(t.name).second, "two tensors have the name ", Quoted{t.name});
    check_in("safetensors", t.name != detail::metadata_name, "no tensor can have the name ", detail::metadata_name,
             ", which the format reserves");
  }
}

Metadata with_checksums(Metadata metadata, const std::vector<NamedArray>& tensors) {
  for (const auto& [name, text] : metadata)
    check_in("safetensors", name != detail::header_crc_name && name != detail::tensor_crcs_name, "the metadata name ",
             Quoted{name}, " is reserved: mote writes it itself");
  if (std::none_of(metadata.begin(), metadata.end(), [](const auto& entry) { return entry.first == "format"; }))
    metadata.emplace_back("format", "pt");
  std::vector<std::uint32_t> crcs(tensors.size());
  parallel_for(static_cast<Index>(tensors.size()), 1, [&](Index begin, Index end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const std::string_view bytes = bytes_of(tensors[i].value);
      crcs[i] = crc32(bytes.data(), bytes.size());
    }
  });
  std::string sums;
  for (const std::uint32_t crc : crcs) sums.append(sums.empty() ? "" : " ").append(detail::crc_text(crc));
  metadata.emplace_back(detail::header_crc_name, "00000000");
  metadata.emplace_back(detail::tensor_crcs_name, std::move(sums));
  return metadata;
}

std::string header_of(const std::vector<NamedArray>& tensors, Metadata metadata) {
  check_in("safetensors", metadata.size() <= detail::most_metadata, metadata.size(),
           " entries of metadata, with mote's own, are above the limit of ", detail::most_metadata);
  std::sort(metadata.begin(), metadata.end());
  Json root = Json::object();
  if (!metadata.empty()) {
    Json texts = Json::object();
    for (auto& [name, text] : metadata) texts.add(name, std::move(text));
    root.add(detail::metadata_name, std::move(texts));
  }
  std::size_t at = 0;
  for (const NamedArray& t : tensors) {
    std::vector<Json> extents;
    for (const Index extent : shape_of(t.value)) extents.emplace_back(extent);
    const std::size_t end = at + bytes_of(t.value).size();
    root.add(t.name, Json::object({{"dtype", text_of(dtype_of(t.value))},
                                   {"shape", Json::array(std::move(extents))},
                                   {"data_offsets", Json::array({at, end})}}));
    at = end;
  }
  std::string header = text_of(root);
  header.resize((header.size() + 7) / 8 * 8, ' ');
  check_in("safetensors", header.size() <= detail::largest_header, "a header of ", header.size(),
           " bytes is above the limit of ", detail::largest_header);
  return header;
}

}  // namespace

void detail::write_safetensors(const std::function<void(const void*, std::size_t)>& put,
                               std::vector<NamedArray> tensors, Metadata metadata, bool checksums) {
  for (NamedArray& t : tensors)
    std::visit(
        [&](auto& a) {
          check_in("safetensors", a.defined(), "tensor ", Quoted{t.name}, ": ", a.missing());
          a = a.contiguous();
        },
        t.value);
  check_names(tensors);
  std::sort(tensors.begin(), tensors.end(), before);
  std::string header =
      header_of(tensors, checksums ? with_checksums(std::move(metadata), tensors) : std::move(metadata));
  if (checksums) {
    const std::size_t at = header_crc_at(header);
    header.replace(at, 8, crc_text(header_crc(header, at)));
  }
  const std::uint64_t length = header.size();
  put(&length, sizeof length);
  put(header.data(), header.size());
  for (const NamedArray& t : tensors) put(bytes_of(t.value).data(), bytes_of(t.value).size());
}

void save_safetensors(const std::string& path, std::vector<NamedArray> tensors, Metadata metadata) {
  FileWriter file(path);
  detail::write_safetensors([&](const void* data, std::size_t bytes) { file.write(data, bytes); }, std::move(tensors),
                            std::move(metadata), true);
  file.commit();
}

}  // namespace mote
