// Tokenizer, text as token ids and back; how one is trained, kept in a file, and read.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/argument.h"
#include "engine/base/check.h"
#include "engine/base/words.h"

namespace mote {

class Json;

enum class TokenizerKind {
  character,  ///< a token for each Unicode character of a text
  byte,       ///< a token for each of the 256 bytes
  byte_pair   ///< bytes, and runs of bytes that occur often
};
constexpr auto words(TokenizerKind) {
  return std::to_array<Word<TokenizerKind>>(
      {{TokenizerKind::character, "char"}, {TokenizerKind::byte, "byte"}, {TokenizerKind::byte_pair, "bpe"}});
}

/// What encode() does with a text that has the spelling of a special token, such as "<|endoftext|>". Whoever wrote the
/// text could end a document with it: an error unless it is wanted.
enum class SpecialText {
  refuse,  ///< an error
  allow,   ///< becomes the special token
  plain    ///< is encoded as any other text
};
constexpr auto words(SpecialText) {
  return std::to_array<Word<SpecialText>>(
      {{SpecialText::refuse, "refuse"}, {SpecialText::allow, "allow"}, {SpecialText::plain, "plain"}});
}

struct SpecialToken {
  Index id;
  std::string text;  ///< its spelling
};
/// The token that documents begin and end with, as GPT-2 spells it.
inline constexpr const char* end_of_text = "<|endoftext|>";

/// Text, which is any bytes, as token ids and back: decode(encode(x)) == x.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  Tokenizer(const Tokenizer&) = delete;

  virtual TokenizerKind kind() const = 0;
  Index vocab_size() const { return static_cast<Index>(tokens_.size()); }
  /// Ids of a text; none for "". Errors: the spelling of a special token, with SpecialText::refuse; those of the kind.
  std::vector<Index> encode(std::string_view text, SpecialText special = SpecialText::refuse) const;
  /// The bytes that the ids stand for, perhaps with half a character at either end. Errors: an id out of range.
  std::string decode(std::span<const Index> ids) const;
  /// The bytes of one token, of a special one its spelling. Errors: an id out of range.
  const std::string& token(Index id) const;
  const std::vector<SpecialToken>& specials() const { return specials_; }
  /// The id of the special token that is spelled so, or -1.
  Index special(std::string_view text) const;

  /// The tokenizer as a JSON text of one line, the same for the same tokenizer; see tokenizer_from().
  std::string json_text() const;

 protected:
  /// `ordinary` tokens have the ids that special ones leave, in order. Errors: special tokens without a spelling, with
  /// one that is no UTF-8, with the same, or with ids that leave a gap.
  Tokenizer(std::vector<std::string> ordinary, std::vector<SpecialToken> specials);
  /// Appends the ids of `text` to `ids`. The text has no special tokens. `start` is the place of `text` in the whole
  /// text: errors name it.
  virtual void encode_plain(std::string_view text, std::size_t start, std::vector<Index>& ids) const = 0;
  /// Adds to the JSON object what the kind needs besides special tokens.
  virtual void describe(Json&) const {}
  /// The bytes of all tokens but special ones, by id.
  std::vector<std::string> ordinary() const;

 private:
  std::vector<std::string> tokens_;
  std::vector<SpecialToken> specials_;
};

namespace detail {
/// body(); its errors begin with a name.
template <class Body>
decltype(auto) named(const std::string& name, const Body& body) {
  try {
    return body();
  } catch (const Error& e) {
    const std::string problem = e.what();
    throw Error(problem.starts_with(name) ? problem : name + ": " + problem);
  }
}
}  // namespace detail

/// A tokenizer for a text. `vocab_size`, special tokens included, is for byte pairs alone: a smaller vocabulary comes
/// out where no pair is left that occurs twice. Special tokens have the last ids.
/// Errors: char with a text that is no UTF-8; byte pairs with a vocab_size that has no room for all bytes.
std::unique_ptr<Tokenizer> train_tokenizer(TokenizerKind kind, std::string_view text, Integer vocab_size = 512,
                                           const std::vector<std::string>& specials = {});

/// The tokenizer in a JSON text: {"tokenizer": "char", "special": [{"id": 3, "text": "<|endoftext|>"}], "tokens": ["a",
/// "b", "c"]}; of byte pairs also "merges", both in the characters of GPT-2's files. Bytes need no list of tokens.
/// Errors, which name `what` and the place: anything that json_text() would not have produced.
std::unique_ptr<Tokenizer> tokenizer_from(std::string_view json, std::string_view what = "tokenizer");

/// GPT-2's tokenizer from the two files that it is published in, and from added_tokens.json where it lies beside them.
/// An entry that is neither a byte nor the product of a merge is a special token. An id without an entry becomes one,
/// too. `specials` are special tokens of one's own, with the ids behind the last one. Lines may end as on Windows, and
/// the line "#version" may be missing.
/// Errors, with the file and the line or token: anything that makes no tokenizer; a special token that is there twice.
std::unique_ptr<Tokenizer> load_gpt2_tokenizer(const std::string& vocab_json, const std::string& merges_txt,
                                               const std::vector<std::string>& specials = {});
/// Hugging Face's tokenizer.json with byte-level pairs, as GPT-2's: encode(), decode() and special tokens agree with
/// transformers. Errors: whatever else the file may ask for, by its name: another model, a normalizer, another
/// pre_tokenizer, a post_processor that adds tokens, truncation, padding, an added token that is not special.
std::unique_ptr<Tokenizer> load_huggingface_tokenizer(const std::string& tokenizer_json);
/// nanoGPT's meta.pkl of characters, in its order; or one that save_vocabulary() wrote, of any kind. Errors: a file
/// that is none.
std::unique_ptr<Tokenizer> load_nanogpt_tokenizer(const std::string& meta_pkl);

/// The tokenizer that lies at a path: a run of mote or one of its checkpoints, tokenizer.json, meta.pkl, or a folder
/// with one of these or with GPT-2's two files. Null: nothing of it is there. Errors: those of reading.
std::unique_ptr<Tokenizer> load_tokenizer(const std::string& path);

/// Writes the tokenizer into a folder as others read it. It writes meta.pkl for nanoGPT. Of byte pairs it also writes
/// the two files of GPT-2. Bytes that are no UTF-8 become U+FFFD in meta.pkl. Its stoi has only tokens of one
/// character. Errors: a file cannot be written.
void save_vocabulary(const Tokenizer& tokenizer, const std::string& folder);

}  // namespace mote
