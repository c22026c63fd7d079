// Whatever load_npy accepts must come back, bit for bit, from the file that mote writes of it; nothing may crash it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "engine/base/check.h"
#include "engine/io/files/npy.h"
#include "tests/sources.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mote;
  AnyArray value;
  try {
    value = load_npy(text_source("npy", {reinterpret_cast<const char*>(data), size}));
  } catch (const Error&) {
    return 0;
  }
  // A file this function wrote itself must be readable: an Error from here on is a finding.
  const auto bytes = [](const AnyArray& x) {
    std::string all;
    detail::write_npy([&](const void* from, std::size_t n) { all.append(static_cast<const char*>(from), n); }, x);
    return all;
  };
  const std::string written = bytes(value);
  const AnyArray back = load_npy(text_source("npy", written));
  if (back.index() != value.index() || bytes(back) != written) std::abort();
  return 0;
}
