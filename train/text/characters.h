// ByteTokenizer and CharacterTokenizer, the two that only look up.
#pragma once

#include <utility>

#include "train/text/tokenizer.h"

namespace mote {

/// A token for each byte, whose id is the byte. No text is unknown to it.
class ByteTokenizer final : public Tokenizer {
 public:
  explicit ByteTokenizer(std::vector<SpecialToken> specials = {});
  TokenizerKind kind() const override { return TokenizerKind::byte; }

 protected:
  void encode_plain(std::string_view text, std::size_t, std::vector<Index>& ids) const override {
    for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
  }
};

/// A token for each of a list of Unicode characters. encode() fails at a character that is not among them, and at a
/// byte that is no UTF-8.
class CharacterTokenizer final : public Tokenizer {
 public:
  /// Errors: what is not one character; one that stands twice.
  explicit CharacterTokenizer(const std::vector<std::string>& characters, std::vector<SpecialToken> specials = {});
  TokenizerKind kind() const override { return TokenizerKind::character; }

 protected:
  void encode_plain(std::string_view text, std::size_t start, std::vector<Index>& ids) const override;
  void describe(Json& object) const override;

 private:
  std::vector<std::pair<unsigned, Index>> codes_;  // sorted
};

/// All characters of a text, in the order of their codes, as nanoGPT has them. Errors: a text that is no UTF-8.
std::unique_ptr<Tokenizer> train_characters(std::string_view text, const std::vector<std::string>& specials);

namespace detail {
/// Each byte as a text.
std::vector<std::string> all_bytes();
/// The special tokens behind `first` others.
std::vector<SpecialToken> specials_from(Index first, const std::vector<std::string>& texts);
}  // namespace detail

}  // namespace mote
