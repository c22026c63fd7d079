// Whatever parse_npy accepts must come back, bit for bit, from the file that mote writes of it; nothing may crash it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "engine/base/check.h"
#include "engine/io/files/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mote;
  NpyValue value;
  try {
    value = parse_npy(std::string_view(reinterpret_cast<const char*>(data), size));
  } catch (const Error&) {
    return 0;
  }
  // A file this function wrote itself must be readable: an Error from here on is a finding.
  const auto bytes = [](const NpyValue& v) { return std::visit([](const auto& x) { return npy_bytes(x); }, v); };
  const std::string written = bytes(value);
  const NpyValue back = parse_npy(written);
  if (back.index() != value.index() || bytes(back) != written) std::abort();
  return 0;
}
