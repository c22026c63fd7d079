// Safetensors files in memory, for tests.
#pragma once

#include <cstdint>
#include <utility>

#include "engine/io/files/safetensors.h"
#include "tests/sources.h"
#include "tests/tools.h"

namespace mote::test {

/// A file from its header and its data, sound or not.
inline std::string file_with(const std::string& header, const std::string& data = "") {
  const std::uint64_t length = header.size();
  std::string file(8, '\0');
  std::memcpy(file.data(), &length, 8);
  return file + header + data;
}

/// What mote writes.
inline std::string file_of(std::vector<NamedArray> tensors, Metadata metadata = {}, bool checksums = true) {
  std::string file;
  detail::write_safetensors([&](const void* p, std::size_t n) { file.append(static_cast<const char*>(p), n); },
                            std::move(tensors), std::move(metadata), checksums);
  return file;
}

/// The file "f"; `bytes` must outlive it.
inline SafetensorsFile opened(const std::string& bytes) { return SafetensorsFile(text_source("f", bytes)); }

/// The error of opening and reading it all.
inline std::string read_error(const std::string& bytes) {
  return error_of([&] { check_all(opened(bytes)); });
}

/// Everything in it, as save_safetensors takes it: in mote's own types.
inline std::vector<NamedArray> all_of(const SafetensorsFile& file) {
  std::vector<NamedArray> tensors;
  for (const TensorEntry& t : file.tensors()) {
    if (t.dtype == DType::boolean)
      tensors.push_back({t.name, file.mask(t)});
    else if (t.dtype == DType::i64)
      tensors.push_back({t.name, file.int_array(t)});
    else
      tensors.push_back({t.name, file.array(t)});
  }
  return tensors;
}

}  // namespace mote::test
