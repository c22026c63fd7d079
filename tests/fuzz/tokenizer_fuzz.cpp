// Whatever the readers of tokenizers accept must come back from its own file, and decode what it encodes; nothing may
// crash them. The first byte says which reader: a file of mote's, or GPT-2's two with a zero byte between them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "train/text/byte_pair.h"

namespace {

using namespace mote;

std::unique_ptr<Tokenizer> read(std::string_view data) {
  if (data.empty() || data[0] != 'g') return tokenizer_from(data.substr(data.empty() ? 0 : 1), "fuzz");
  const std::size_t zero = std::min(data.find('\0'), data.size());
  return detail::gpt2_tokenizer_from(data.substr(1, std::max<std::size_t>(zero, 1) - 1), "vocab.json",
                                     data.substr(std::min(zero + 1, data.size())), "merges.txt");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::unique_ptr<Tokenizer> tokenizer;
  try {
    tokenizer = read(text);
  } catch (const Error&) {
    return 0;
  }
  // What was accepted must be readable again: an Error from here on is a finding.
  const std::string written = tokenizer->json_text();
  const std::unique_ptr<Tokenizer> back = tokenizer_from(written);
  if (back->json_text() != written || back->vocab_size() != tokenizer->vocab_size()) std::abort();
  std::string all;
  for (Index id = 0; id < tokenizer->vocab_size(); ++id) all += tokenizer->token(id);
  for (const std::string_view x : {text, std::string_view(all)}) {
    std::vector<Index> ids;
    try {
      ids = tokenizer->encode(x, SpecialText::allow);
    } catch (const Error&) {
      if (tokenizer->kind() != TokenizerKind::character) std::abort();
      continue;
    }
    if (tokenizer->decode(ids) != x || back->encode(x, SpecialText::allow) != ids) std::abort();
  }
  return 0;
}
