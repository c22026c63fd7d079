// ByteTokenizer and CharacterTokenizer, whose tokens are single bytes and single characters.
#pragma once

#include <utility>

#include "train/text/tokenizer.h"

namespace mote {

/// A tokenizer with a token for each byte, whose id is the byte. It can encode any text.
class ByteTokenizer final : public Tokenizer {
 public:
  explicit ByteTokenizer(std::vector<SpecialToken> specials = {});
  TokenizerKind kind() const override { return TokenizerKind::byte; }

 protected:
  void encode_plain(std::string_view text, std::size_t, std::vector<Index>& ids) const override {
    for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
  }
};

/// A tokenizer whose tokens are the Unicode characters of a list. encode() fails at a character that is not in the
/// list, and at a byte that is not UTF-8.
class CharacterTokenizer final : public Tokenizer {
 public:
  /// Errors: an entry that is not one character; a character that stands twice.
  explicit CharacterTokenizer(const std::vector<std::string>& characters, std::vector<SpecialToken> specials = {});
  TokenizerKind kind() const override { return TokenizerKind::character; }

 protected:
  void encode_plain(std::string_view text, std::size_t start, std::vector<Index>& ids) const override;
  void describe(Json& object) const override;

 private:
  std::vector<std::pair<unsigned, Index>> codes_;  // sorted
};

/// A tokenizer of all characters of a text, in the order of their codes as in nanoGPT. Errors: a text that is not
/// UTF-8.
std::unique_ptr<Tokenizer> train_characters(std::string_view text, const std::vector<std::string>& specials);

namespace detail {
/// The 256 bytes, each as a text of one byte.
std::vector<std::string> all_bytes();
/// Special tokens with these spellings and with the ids from `first` on.
std::vector<SpecialToken> specials_from(Index first, const std::vector<std::string>& texts);
}  // namespace detail

}  // namespace mote
