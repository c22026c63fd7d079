// Whatever load_llmc() accepts is a model of the file's sizes with all of its elements; nothing may crash it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "models/gpt_files.h"
#include "tests/sources.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mote;
  try {
    const GPT model = load_llmc(text_source("fuzz", {reinterpret_cast<const char*>(data), size}));
    const std::size_t elements = (size - 1024) / (data[4] == 3 ? 4 : 2);
    if (static_cast<std::size_t>(parameter_count(model)) > elements) std::abort();  // without the rows of padding
    for (const Parameter& p : parameters(model))
      if (!p.value().is_contiguous()) std::abort();
  } catch (const Error&) {
  }
  return 0;
}
