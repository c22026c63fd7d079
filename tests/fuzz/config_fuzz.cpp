// Whatever parse_huggingface_config() accepts is a config that can be written, and is the same when read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "models/gpt_files.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mote;
  GPTConfig config;
  try {
    config = parse_huggingface_config({reinterpret_cast<const char*>(data), size}, "fuzz");
    config.block_options().resolved(config.n_embd);
  } catch (const Error&) {
    return 0;
  }
  const std::string text = huggingface_config(config);  // an Error from here on is a finding
  if (huggingface_config(parse_huggingface_config(text, "written")) != text) std::abort();
  return 0;
}
