// Whatever SafetensorsFile accepts and mote can hold must come back from the file that mote writes of it, which must be
// the same bytes when it is written again; nothing may crash it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "engine/io/files/safetensors.h"
#include "tests/sources.h"

namespace {

using namespace mote;

std::string file_of(const std::vector<NamedArray>& tensors, const Metadata& metadata) {
  std::string bytes;
  detail::write_safetensors([&](const void* p, std::size_t n) { bytes.append(static_cast<const char*>(p), n); },
                            tensors, metadata, true);
  return bytes;
}

AnyArray read(const SafetensorsFile& file, const TensorEntry& t) {
  if (readable(t.dtype, DType::boolean)) return file.mask(t);
  if (readable(t.dtype, DType::i64) && t.dtype != DType::u64) return file.int_array(t);
  return file.array(t);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<NamedArray> tensors;
  Metadata metadata;
  try {
    const SafetensorsFile file(text_source("fuzz", {reinterpret_cast<const char*>(data), size}));
    check_all(file);
    metadata = file.metadata();
    for (const TensorEntry& t : file.tensors())
      if (file.find(t.name) != &t) std::abort();
    for (const TensorEntry& t : file.tensors()) tensors.push_back({t.name, read(file, t)});
  } catch (const Error&) {
    return 0;
  }
  // A file this function wrote itself must be readable: an Error from here on is a finding.
  const std::string written = file_of(tensors, metadata);
  const SafetensorsFile back(text_source("written", written));
  if (back.tensors().size() != tensors.size() || !back.has_checksums()) std::abort();
  std::vector<NamedArray> again;
  for (const TensorEntry& t : back.tensors()) again.push_back({t.name, read(back, t)});
  if (file_of(again, back.metadata()) != written) std::abort();
  return 0;
}
