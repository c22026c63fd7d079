// Any bytes, as the text to train each tokenizer on and as the text to encode: what is decoded must be the same bytes,
// and what is shown of them, token by token, valid UTF-8.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "engine/base/check.h"
#include "engine/io/text/utf8_stream.h"
#include "train/text/tokenizer.h"

namespace {

using namespace mote;

/// Aborts unless the ids are those of the text. What was encoded must decode: an Error is a finding.
void check_ids(const Tokenizer& tokenizer, const std::vector<Index>& ids, std::string_view text) {
  if (tokenizer.decode(ids) != text) std::abort();
  Utf8Stream stream;
  std::string shown;
  for (const Index id : ids) shown += stream.add(tokenizer.token(id));
  shown += stream.finish();
  if (shown != valid_utf8(text) || valid_utf8(shown) != shown) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size), first = text.substr(0, size / 2);
  for (const TokenizerKind kind : {TokenizerKind::byte, TokenizerKind::byte_pair}) {
    const std::unique_ptr<Tokenizer> tokenizer = train_tokenizer(kind, first, 256 + 40, {"<|", end_of_text});
    check_ids(*tokenizer, tokenizer->encode(text, SpecialText::plain), text);
    check_ids(*tokenizer, tokenizer->encode(text, SpecialText::allow), text);
  }
  try {
    const std::unique_ptr<Tokenizer> characters = train_tokenizer(TokenizerKind::character, text);
    check_ids(*characters, characters->encode(text), text);
    if (valid_utf8(text) != text) std::abort();
  } catch (const Error&) {
    if (valid_utf8(text) == text) std::abort();
  }
  return 0;
}
