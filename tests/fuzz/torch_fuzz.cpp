// Whatever load_torch accepts and save_torch writes must come back from that file, and give the same bytes when it is
// written again; nothing may crash it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "engine/io/files/torch_file.h"
#include "engine/io/files/zip.h"
#include "tests/sources.h"

namespace {

std::string torch_bytes(const mote::TorchValue& value) {
  std::string bytes;
  mote::detail::write_torch([&](const void* p, std::size_t n) { bytes.append(static_cast<const char*>(p), n); }, value);
  return bytes;
}

std::string archive_of(std::string_view pickle) {
  std::string bytes;
  const std::string storage("\1\0\1\1\0\0\1\0\0\0\200\77\0\0\0\0\0\0\0\100\1\1\0\1", 24);
  mote::write_zip([&](const void* p, std::size_t n) { bytes.append(static_cast<const char*>(p), n); },
                  {{"a/data.pkl", pickle}, {"a/data/0", storage}, {"a/data/1", storage}, {"a/data/2", ""}});
  return bytes;
}

}  // namespace

/// The input is an archive, or a pickle after the letter p: no change of an archive leaves its checksums right.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mote;
  std::string input(reinterpret_cast<const char*>(data), size);
  if (input.starts_with('p')) input = archive_of(std::string_view(input).substr(1));
  std::string written;
  try {
    written = torch_bytes(load_torch(text_source("fuzz", input)));
  } catch (const Error&) {  // of reading, or of writing what mote does not read
    return 0;
  }
  // A file this function wrote itself must be readable: an Error from here on is a finding.
  if (torch_bytes(load_torch(text_source("written", written))) != written) std::abort();
  return 0;
}
