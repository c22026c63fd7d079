// Reads safetensors files. The header is checked by the rules of the format, and elements by their checksums.
#include "engine/io/files/safetensors.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "engine/io/files/safetensors_header.h"
#include "engine/io/text/json.h"

namespace mote {
namespace {

/// Checks a rule for one tensor, with an error that names the file and the tensor.
struct TensorRule {
  const std::string& file;
  const std::string& tensor;
  template <class... Parts>
  void operator()(bool holds, const Parts&... parts) const {
    check(holds, file, ": tensor ", Quoted{tensor}, ": ", parts...);
  }
};

TensorEntry read_entry(const std::string& file, const std::string& name, const Json& value) {
  const std::string tensor = "tensor " + text_of(Quoted{name});
  const JsonPlace fields(value, file, tensor);
  const std::string type = detail::shortened(fields.at("dtype").as_string());
  TensorEntry entry;
  entry.name = name;
  entry.dtype = by_name(file + ": " + tensor + ": its dtype", words(DType{}), type).value;
  entry.shape = read_shape(fields.at("shape"));
  const std::vector<Index> offsets = read_counts(fields.at("data_offsets"));
  const TensorRule rule{file, name};
  rule(offsets.size() == 2, "its data_offsets must be 2 integers, not ", offsets.size());
  rule(offsets[0] <= offsets[1], "the tensor ends at byte ", offsets[1], ", before its begin at byte ", offsets[0]);
  entry.begin = static_cast<std::uint64_t>(offsets[0]);
  entry.end = static_cast<std::uint64_t>(offsets[1]);
  const Index width = bits(entry.dtype), count = entry.shape.numel();
  rule(count <= std::numeric_limits<Index>::max() / width, "its shape ", entry.shape, " has too many elements");
  rule(count * width % 8 == 0, "its ", count, " elements of ", width, " bits must fill whole bytes");
  rule(count * width / 8 == offsets[1] - offsets[0], "its ", offsets[1] - offsets[0], " bytes do not fit ", entry.shape,
       " elements of type ", entry.dtype, ", which take ", count * width / 8);
  return entry;
}

Metadata read_metadata(const std::string& file, const Json& value) {
  const JsonPlace texts(value, file, detail::metadata_name);
  Metadata metadata;
  metadata.reserve(texts.members().size());
  for (const JsonMember& text : texts.members()) metadata.emplace_back(text.name, texts.at(text).as_string());
  std::sort(metadata.begin(), metadata.end());
  return metadata;
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::string& path) : SafetensorsFile(file_source(path)) {}

SafetensorsFile::SafetensorsFile(ByteSource source) : source_(std::move(source)) {
  const std::string header = read_header();
  read_members(header);
  sort_names();
  check_offsets();
  read_checksums(header);
}

std::string SafetensorsFile::read_header() {
  const auto rule = [this](bool holds, const auto&... parts) { check(holds, source_.name, ": ", parts...); };
  check_of_tensors(source_);
  rule(source_.size >= 8, "the file has ", source_.size, " bytes, too few for the length of its header (8 bytes)");
  std::uint64_t length = 0;
  source_.read(0, &length, sizeof length);
  rule(length <= detail::largest_header, "the header would have ", length, " bytes, above the limit of ",
       detail::largest_header, ": is this a safetensors file?");
  rule(length <= source_.size - 8, "the header of ", length, " bytes goes beyond the end of the file at byte ",
       source_.size);
  data_ = 8 + length;
  std::string header(static_cast<std::size_t>(length), '\0');
  source_.read(8, header.data(), header.size());
  rule(header.starts_with('{'), "the header does not begin with '{'");
  return header;
}

void SafetensorsFile::read_members(const std::string& header) {
  bool has_metadata = false;
  const auto see = [&](const std::string& name, const Json& value) {
    if (name != detail::metadata_name) {
      tensors_.push_back(read_entry(source_.name, name, value));
      return;
    }
    check(!std::exchange(has_metadata, true), source_.name, ": __metadata__ occurs twice");
    if (!value.is(Json::Kind::null)) metadata_ = read_metadata(source_.name, value);
  };
  // A value that takes 2 bytes in the header may take 150 bytes in memory. So that a small file cannot fill the memory,
  // its size limits the number of values in one member.
  parse_json_members(header, source_.name + ": header",
                     detail::most_metadata + 1 + static_cast<std::size_t>(source_.size / 128), see);
  std::sort(tensors_.begin(), tensors_.end(), [](const TensorEntry& a, const TensorEntry& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
}

void SafetensorsFile::sort_names() {
  by_name_.resize(tensors_.size());
  std::iota(by_name_.begin(), by_name_.end(), 0u);
  const auto name_of = [this](std::uint32_t i) -> const std::string& { return tensors_[i].name; };
  std::sort(by_name_.begin(), by_name_.end(), [&](auto a, auto b) { return name_of(a) < name_of(b); });
  const auto twice =
      std::adjacent_find(by_name_.begin(), by_name_.end(), [&](auto a, auto b) { return name_of(a) == name_of(b); });
  check(twice == by_name_.end(), source_.name, ": tensor ", Quoted{twice == by_name_.end() ? "" : name_of(*twice)},
        " occurs twice");
}

void SafetensorsFile::check_offsets() const {
  std::uint64_t next = 0;
  for (const TensorEntry& t : tensors_) {
    const TensorRule rule{source_.name, t.name};
    rule(t.begin <= next, "the tensor begins at byte ", t.begin, ", but the tensor before it ends at byte ", next,
         ": there is a gap");
    rule(t.begin == next, "the tensor begins at byte ", t.begin, ", but the tensor before it ends at byte ", next,
         ": they overlap");
    next = t.end;
  }
  const std::uint64_t present = source_.size - data_;
  check(next <= present, source_.name, ": the file is cut off: the tensors need ", next, " bytes, the file has ",
        present);
  check(next == present, source_.name,
        ": the file must end with the last tensor, but more bytes follow: ", present - next);
}

void SafetensorsFile::read_checksums(const std::string& header) {
  const std::string* const of_header = find_metadata(detail::header_crc_name);
  const std::string* const of_tensors = find_metadata(detail::tensor_crcs_name);
  if (!of_header && !of_tensors) return;
  const auto rule = [this](bool holds, const auto&... parts) { check(holds, source_.name, ": ", parts...); };
  rule(of_header, "the file is damaged: it has checksums of its tensors, but none of its header");
  rule(of_tensors, "the file is damaged: it has a checksum of its header, but none of its tensors");
  const std::size_t at = detail::header_crc_at(header);
  rule(at != std::string::npos && *of_header == detail::crc_text(detail::header_crc(header, at)),
       "the header's checksum is wrong: the file was changed");
  std::string same;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    std::uint32_t crc = 0;
    for (const char c : of_tensors->substr(std::min(9 * i, of_tensors->size()), 8))
      crc = crc << 4 | static_cast<std::uint32_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    same.append(i > 0 ? " " : "").append(detail::crc_text(crc));
    tensors_[i].crc32 = crc;
  }
  rule(same == *of_tensors, "metadata ", detail::tensor_crcs_name, " must have ", tensors_.size(), " checksums");
  has_checksums_ = true;
  std::erase_if(metadata_, [](const auto& entry) {
    return entry.first == detail::header_crc_name || entry.first == detail::tensor_crcs_name;
  });
}

const TensorEntry* SafetensorsFile::find(const std::string& name) const& {
  const auto found = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                                      [this](std::uint32_t i, const std::string& n) { return tensors_[i].name < n; });
  return found != by_name_.end() && tensors_[*found].name == name ? &tensors_[*found] : nullptr;
}

const std::string* SafetensorsFile::find_metadata(const std::string& name) const& {
  for (const auto& [known, text] : metadata_)
    if (known == name) return &text;
  return nullptr;
}

StoredElements SafetensorsFile::stored(const TensorEntry& entry) const {
  return {source_.name + ": tensor " + text_of(Quoted{entry.name}), entry.dtype, entry.shape, data_ + entry.begin};
}

template <class Read>
auto SafetensorsFile::checked(const TensorEntry& entry, const Read& read) const {
  const StoredElements from = stored(entry);
  std::uint32_t crc = 0;
  SeeBytes see;
  if (entry.crc32) see = [&crc](const void* data, std::size_t n) { crc = crc32(data, n, crc); };
  auto x = read(source_, from, see);
  check(!entry.crc32 || crc == *entry.crc32, from.what, ": the checksum is wrong: the file was changed");
  return x;
}

bool SafetensorsFile::read_bytes(const TensorEntry& entry, const SeeBytes& see) const {
  std::uint32_t crc = 0;
  mote::read_bytes(source_, stored(entry), [&](const void* data, std::size_t n) {
    if (entry.crc32) crc = crc32(data, n, crc);
    see(data, n);
  });
  return !entry.crc32 || crc == *entry.crc32;
}

Array SafetensorsFile::array(const TensorEntry& entry) const { return checked(entry, read_array); }
IntArray SafetensorsFile::int_array(const TensorEntry& entry) const { return checked(entry, read_ints); }
Mask SafetensorsFile::mask(const TensorEntry& entry) const { return checked(entry, read_mask); }

}  // namespace mote
