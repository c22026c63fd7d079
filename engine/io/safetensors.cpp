// Reading safetensors: the header's rules, then elements with their checksums.
#include "engine/io/safetensors.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "engine/io/crc32.h"
#include "engine/io/json.h"
#include "engine/io/safetensors_checksum.h"

namespace mote {
namespace {

constexpr std::uint64_t largest_header = 100'000'000;  // the reference's limit

/// What is wrong with one tensor.
struct TensorRule {
  const std::string& file;
  const std::string& tensor;
  template <class... Parts>
  void operator()(bool holds, const Parts&... parts) const {
    check_in("safetensors", holds, file, ": tensor '", tensor, "': ", parts...);
  }
};

DType read_dtype(const TensorRule& rule, const Json* value) {
  rule(value, "has no dtype");
  rule(value->is(Json::Kind::string), "its dtype must be a string");
  const std::string& word = value->as_string();
  for (const Word<DType>& w : words(DType{}))
    if (word == w.word) return w.value;
  rule(false, "dtype '", word, "' is unknown");
  return {};
}

/// An exact integer from 0 on.
Index read_count(const TensorRule& rule, const char* what, const Json& value) {
  rule(value.is(Json::Kind::integer), what, " must be whole numbers");
  const std::uint64_t most = static_cast<std::uint64_t>(std::numeric_limits<Index>::max());
  const bool negative = !(value == Json(0)) && text_of(value).front() == '-';
  rule(!negative, what, " must be at least 0");
  rule(value.as_unsigned() <= most, what, " must be below 2^63");
  return static_cast<Index>(value.as_unsigned());
}

std::vector<Index> read_counts(const TensorRule& rule, const char* what, const Json* value) {
  rule(value, "has no ", what);
  rule(value->is(Json::Kind::array), "its ", what, " must be an array");
  std::vector<Index> list;
  for (const Json& item : value->items()) list.push_back(read_count(rule, what, item));
  return list;
}

Shape read_shape(const TensorRule& rule, const std::vector<Index>& extents) {
  rule(extents.size() <= Shape::max_rank, "rank ", extents.size(), " is above mote's limit of ", Shape::max_rank);
  Index product = 1;
  for (const Index extent : extents) {
    rule(extent <= Shape::max_numel && product <= Shape::max_numel / std::max<Index>(extent, 1), "its shape ",
         Listed{extents}, " has too many elements");
    product *= std::max<Index>(extent, 1);
  }
  return Shape(extents);
}

TensorEntry read_entry(const std::string& file, const JsonMember& member) {
  const TensorRule rule{file, member.name};
  rule(member.value.is(Json::Kind::object), "must be an object");
  TensorEntry entry{member.name, read_dtype(rule, member.value.find("dtype")), {}, 0, 0};
  entry.shape = read_shape(rule, read_counts(rule, "shape", member.value.find("shape")));
  const std::vector<Index> offsets = read_counts(rule, "data_offsets", member.value.find("data_offsets"));
  rule(offsets.size() == 2, "data_offsets must be two numbers, not ", offsets.size());
  rule(offsets[0] <= offsets[1], "it ends at byte ", offsets[1], ", before it begins at ", offsets[0]);
  entry.begin = static_cast<std::uint64_t>(offsets[0]), entry.end = static_cast<std::uint64_t>(offsets[1]);
  const Index width = bits(entry.dtype), count = entry.shape.numel();  // at most 2^59 elements
  rule(count <= std::numeric_limits<Index>::max() / width, "its shape ", entry.shape, " has too many bytes");
  rule(count * width % 8 == 0, "its ", count, " elements of ", width, " bits do not end with a byte");
  rule(static_cast<std::uint64_t>(count * width / 8) == entry.end - entry.begin, "it has ", entry.end - entry.begin,
       " bytes, but shape ", entry.shape, " of ", text_of(entry.dtype), " needs ", count * width / 8);
  return entry;
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::string& path) : SafetensorsFile(file_source(path)) {}

SafetensorsFile::SafetensorsFile(ByteSource source) : source_(std::move(source)) {
  const auto rule = [this](bool holds, const auto&... parts) {
    check_in("safetensors", holds, source_.name, ": ", parts...);
  };
  rule(source_.size >= 8, source_.size, " bytes are too few: a file begins with the 8 bytes of its header's length");
  std::uint64_t length = 0;
  source_.read(0, &length, sizeof length);
  rule(length <= largest_header, "the header's length of ", length, " bytes is above the limit of ", largest_header,
       " (no safetensors file?)");
  rule(length <= source_.size - 8, "the header's ", length, " bytes go beyond the file's end at ", source_.size);
  data_ = 8 + length;
  std::string header(static_cast<std::size_t>(length), '\0');
  source_.read(8, header.data(), header.size());
  rule(!header.empty() && header.front() == '{', "the header must begin with '{'");
  read_header(header);
  check_offsets();
  if (const std::string* sum = find_metadata("crc32"))
    rule(detail::header_checksum(header, *sum) == *sum, "the header's checksum is wrong: the file was changed");
}

void SafetensorsFile::read_header(const std::string& header) {
  const Json root = parse_json(header, {}, source_.name + ": header");
  bool sums = false;
  for (const JsonMember& member : root.members()) {
    if (member.name != "__metadata__") {
      tensors_.push_back(read_entry(source_.name, member));
      continue;
    }
    if (member.value.is(Json::Kind::null)) continue;
    check_in("safetensors", member.value.is(Json::Kind::object), source_.name, ": __metadata__ must be an object");
    for (const JsonMember& text : member.value.members()) {
      check_in("safetensors", text.value.is(Json::Kind::string), source_.name, ": __metadata__: '", text.name,
               "' must be a string");
      sums = sums || text.name == "crc32";
      metadata_.emplace_back(text.name, text.value.as_string());
    }
  }
  std::sort(metadata_.begin(), metadata_.end());
  std::sort(tensors_.begin(), tensors_.end(), [](const TensorEntry& a, const TensorEntry& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  if (!sums) return;
  for (const TensorEntry& t : tensors_)
    check_in("safetensors", find_metadata("crc32 " + t.name), source_.name, ": tensor '", t.name,
             "': its checksum is missing");
}

void SafetensorsFile::check_offsets() {
  std::uint64_t next = 0;
  for (const TensorEntry& t : tensors_) {
    const TensorRule rule{source_.name, t.name};
    rule(t.begin == next, "it begins at byte ", t.begin, ", and the one before it ends at ", next,
         t.begin > next ? ": a gap" : ": they overlap");
    next = t.end;
  }
  const std::uint64_t present = source_.size - data_;
  check_in("safetensors", next <= present, source_.name, ": the file is cut off: its tensors have ", next,
           " bytes, of which ", present, " are there");
  check_in("safetensors", next == present, source_.name, ": ", present - next, " bytes follow the last tensor");
}

const TensorEntry* SafetensorsFile::find(const std::string& name) const {
  for (const TensorEntry& t : tensors_)
    if (t.name == name) return &t;
  return nullptr;
}

const std::string* SafetensorsFile::find_metadata(const std::string& name) const {
  const auto found = std::lower_bound(metadata_.begin(), metadata_.end(), name,
                                      [](const auto& entry, const std::string& key) { return entry.first < key; });
  return found != metadata_.end() && found->first == name ? &found->second : nullptr;
}

StoredElements SafetensorsFile::stored(const TensorEntry& entry) const {
  return {source_.name + ": tensor '" + entry.name + "'", entry.dtype, entry.shape, data_ + entry.begin};
}

bool SafetensorsFile::has_sum(const TensorEntry& entry, std::uint32_t sum) const {
  const std::string* const wanted = find_metadata("crc32 " + entry.name);
  return !wanted || detail::checksum_text(sum) == *wanted;
}

template <class Read>
auto SafetensorsFile::checked(const TensorEntry& entry, const Read& read) const {
  const StoredElements from = stored(entry);
  std::uint32_t sum = 0;
  const auto x = read(source_, from, SeeBytes([&](const void* data, std::size_t n) { sum = crc32(data, n, sum); }));
  check_in("safetensors", has_sum(entry, sum), from.what, ": its checksum is wrong: the file was changed");
  return x;
}

bool SafetensorsFile::read_bytes(const TensorEntry& entry, const SeeBytes& see) const {
  std::uint32_t sum = 0;
  mote::read_bytes(source_, stored(entry), [&](const void* data, std::size_t n) {
    sum = crc32(data, n, sum);
    see(data, n);
  });
  return has_sum(entry, sum);
}

Array SafetensorsFile::array(const TensorEntry& entry) const { return checked(entry, read_array); }
IntArray SafetensorsFile::int_array(const TensorEntry& entry) const { return checked(entry, read_ints); }
Mask SafetensorsFile::mask(const TensorEntry& entry) const { return checked(entry, read_mask); }

void SafetensorsFile::check_all() const {
  for (const TensorEntry& t : tensors_)
    checked(t, [](const ByteSource& source, const StoredElements& stored, const SeeBytes& see) {
      mote::read_bytes(source, stored, see);
      return true;
    });
}

}  // namespace mote
