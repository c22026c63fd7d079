// Files in memory, and safetensors files read to their last byte.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "engine/io/files/safetensors.h"
#include "engine/io/files/safetensors_header.h"

namespace mote {

/// A text as a file of that name. `text` must outlive it.
inline ByteSource text_source(std::string name, std::string_view text) {
  return {std::move(name), text.size(), [text](std::uint64_t offset, void* to, std::size_t n) {
            check(offset <= text.size() && n <= text.size() - offset, n, " bytes from byte ", offset,
                  " on go beyond the end at byte ", text.size());
            if (n > 0) std::memcpy(to, text.data() + offset, n);
          }};
}

/// Reads every byte and compares every checksum. Errors: the first one that differs.
inline void check_all(const SafetensorsFile& file) {
  for (const TensorEntry& t : file.tensors())
    check(file.read_bytes(t, [](const void*, std::size_t) {}), file.name(), ": tensor ", Quoted{t.name},
          ": the checksum is wrong: the file was changed");
}

}  // namespace mote
