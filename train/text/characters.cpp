// Bytes and characters as tokens.
#include "train/text/characters.h"

#include <algorithm>
#include <set>

#include "engine/io/text/json.h"
#include "engine/io/text/utf8.h"

namespace mote {
namespace {

/// The length and code of the character at byte `at` of a text. Errors: the byte is not UTF-8.
std::pair<std::size_t, unsigned> known_character(std::string_view text, std::size_t at, std::size_t start) {
  const auto [length, code] = detail::character_at(text, at);
  check_in("tokenizer", code.has_value(), "byte ", start + at,
           " of the text is not UTF-8: the tokenizer char needs UTF-8, bpe and byte take any bytes");
  return {length, *code};
}

std::string shown_character(unsigned code) {
  std::string digits;
  for (unsigned rest = code; rest != 0 || digits.size() < 4; rest /= 16)
    digits.insert(0, 1, "0123456789ABCDEF"[rest % 16]);
  const std::string number = "U+" + digits;
  if (detail::is_control(code)) return number;
  return std::string(1, '\'').append(detail::utf8_text(code)).append("' (").append(number).append(")");
}

}  // namespace

std::vector<SpecialToken> detail::specials_from(Index first, const std::vector<std::string>& texts) {
  std::vector<SpecialToken> specials;
  for (const std::string& text : texts) specials.push_back({first++, text});
  return specials;
}

std::vector<std::string> detail::all_bytes() {
  std::vector<std::string> bytes;
  for (int b = 0; b < 256; ++b) bytes.emplace_back(1, static_cast<char>(b));
  return bytes;
}

ByteTokenizer::ByteTokenizer(std::vector<SpecialToken> specials) : Tokenizer(detail::all_bytes(), std::move(specials)) {
  for (const SpecialToken& s : this->specials())
    check_in("tokenizer", s.id >= 256, "the id ", s.id, " of '", s.text,
             "' must be at least 256: below are the ids of the bytes");
}

CharacterTokenizer::CharacterTokenizer(const std::vector<std::string>& characters, std::vector<SpecialToken> specials)
    : Tokenizer(characters, std::move(specials)) {
  for (Index id = 0; id < vocab_size(); ++id) {
    const std::string& character = token(id);
    if (special(character) == id) continue;
    const auto [length, code] = detail::character_at(character, 0);
    check_in("tokenizer", code && length == character.size(), "token ", id, " must be exactly one character, in UTF-8");
    codes_.emplace_back(*code, id);
  }
  std::sort(codes_.begin(), codes_.end());
  for (std::size_t i = 1; i < codes_.size(); ++i)
    check_in("tokenizer", codes_[i].first != codes_[i - 1].first, "tokens ", codes_[i - 1].second, " and ",
             codes_[i].second, " are both ", shown_character(codes_[i].first));
}

void CharacterTokenizer::encode_plain(std::string_view text, std::size_t start, std::vector<Index>& ids) const {
  for (std::size_t at = 0; at < text.size();) {
    const auto [length, code] = known_character(text, at, start);
    const auto found = std::lower_bound(codes_.begin(), codes_.end(), std::pair<unsigned, Index>(code, 0));
    check_in("encode", found != codes_.end() && found->first == code, shown_character(code), " at byte ", start + at,
             " is not among the ", codes_.size(),
             " characters of the vocabulary: the tokenizers bpe and byte take any text");
    ids.push_back(found->second);
    at += length;
  }
}

void CharacterTokenizer::describe(Json& object) const {
  Json tokens = Json::array();
  for (const std::string& character : ordinary()) tokens.push_back(character);
  object.add("tokens", std::move(tokens));
}

std::unique_ptr<Tokenizer> train_characters(std::string_view text, const std::vector<std::string>& specials) {
  std::set<unsigned> codes;
  for (std::size_t at = 0; at < text.size();) {
    const auto [length, code] = known_character(text, at, 0);
    codes.insert(code);
    at += length;
  }
  std::vector<std::string> characters;
  for (const unsigned code : codes) characters.push_back(detail::utf8_text(code));
  std::vector<SpecialToken> last = detail::specials_from(static_cast<Index>(characters.size()), specials);
  return std::make_unique<CharacterTokenizer>(characters, std::move(last));
}

}  // namespace mote
