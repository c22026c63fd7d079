// Tokenizer, which turns text into token ids and back, and the functions that train, load and save tokenizers.
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

/// How a tokenizer splits a text into tokens.
enum class TokenizerKind {
  character,  ///< a token for each Unicode character of a text
  byte,       ///< a token for each of the 256 bytes
  byte_pair   ///< bytes, and runs of bytes that occur often
};
constexpr auto words(TokenizerKind) {
  return std::to_array<Word<TokenizerKind>>(
      {{TokenizerKind::character, "char"}, {TokenizerKind::byte, "byte"}, {TokenizerKind::byte_pair, "bpe"}});
}

/// The ways in which encode() treats the spelling of a special token in a text, such as "<|endoftext|>". The default
/// is an error, because otherwise the author of a text could end a document in the middle of the text.
enum class SpecialText {
  refuse,  ///< an error
  allow,   ///< becomes the special token
  plain    ///< is encoded as any other text
};
constexpr auto words(SpecialText) {
  return std::to_array<Word<SpecialText>>(
      {{SpecialText::refuse, "refuse"}, {SpecialText::allow, "allow"}, {SpecialText::plain, "plain"}});
}

/// A token that stands for no text of its own, such as the end of a document.
struct SpecialToken {
  Index id;
  std::string text;  ///< its spelling
};
/// The token that documents begin and end with, as GPT-2 spells it.
inline constexpr const char* end_of_text = "<|endoftext|>";

/// A tokenizer, which turns text (any bytes) into token ids and back, so that decode(encode(x)) == x.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  Tokenizer(const Tokenizer&) = delete;

  virtual TokenizerKind kind() const = 0;
  Index vocab_size() const { return static_cast<Index>(tokens_.size()); }
  /// The ids of a text, none for "". Errors: the spelling of a special token, with SpecialText::refuse; those of the
  /// kind of tokenizer.
  std::vector<Index> encode(std::string_view text, SpecialText special = SpecialText::refuse) const;
  /// The bytes that the ids stand for, perhaps with half a character at either end. Errors: an id out of range.
  std::string decode(std::span<const Index> ids) const;
  /// The bytes of one token, or the spelling of a special token. Errors: an id out of range.
  const std::string& token(Index id) const;
  const std::vector<SpecialToken>& specials() const { return specials_; }
  /// The id of the special token with this spelling, or -1.
  Index special(std::string_view text) const;

  /// The tokenizer as a JSON text of one line, from which tokenizer_from() makes an equal tokenizer. Equal tokenizers
  /// have equal texts.
  std::string json_text() const;

 protected:
  /// The `ordinary` tokens have, in order, the ids that the special tokens leave free. Errors: special tokens without
  /// a spelling, with a spelling that is not UTF-8, with equal spellings or ids, or with ids that leave a gap.
  Tokenizer(std::vector<std::string> ordinary, std::vector<SpecialToken> specials);
  /// Appends the ids of `text` to `ids`. The text has no special tokens. `start` is the position of `text` in the
  /// whole text, for error messages.
  virtual void encode_plain(std::string_view text, std::size_t start, std::vector<Index>& ids) const = 0;
  /// Adds to the JSON object of json_text() the members that this kind of tokenizer needs. The object already has the
  /// special tokens.
  virtual void describe(Json&) const {}
  /// The bytes of all tokens but special ones, by id.
  std::vector<std::string> ordinary() const;

 private:
  std::vector<std::string> tokens_;
  std::vector<SpecialToken> specials_;
};

namespace detail {
/// Calls body() and returns its result. If body() throws an Error, `name` is put before the message.
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

/// Trains a tokenizer on a text. `vocab_size`, which includes special tokens, is only for byte pairs. The vocabulary
/// becomes smaller if no pair is left that occurs twice. Special tokens have the last ids.
/// Errors: char with a text that is not UTF-8; byte pairs with a vocab_size that has no room for all bytes.
std::unique_ptr<Tokenizer> train_tokenizer(TokenizerKind kind, std::string_view text, Integer vocab_size = 512,
                                           const std::vector<std::string>& specials = {});

/// Reads a tokenizer from the text of json_text(). An example is {"tokenizer": "char", "special": [{"id": 3, "text":
/// "<|endoftext|>"}], "tokens": ["a", "b", "c"]}. Byte pairs also have "merges", and spell both lists in the
/// characters of GPT-2's files. A byte tokenizer has no "tokens". Errors, which name `what` and the place in the text:
/// anything that json_text() would not have produced.
std::unique_ptr<Tokenizer> tokenizer_from(std::string_view json, std::string_view what = "tokenizer");

/// Loads GPT-2's tokenizer from the two files in which it is published, and from added_tokens.json if this lies beside
/// vocab.json. An entry that is neither a byte nor the product of a merge is a special token. An id without an entry
/// becomes a special token, too. `specials` are additional special tokens, whose ids follow the last id. Line endings
/// may be \n or \r\n, and the line "#version" may be missing.
/// Errors: files from which no tokenizer can be made; a special token that is listed twice. The message names the file
/// and the line or token.
std::unique_ptr<Tokenizer> load_gpt2_tokenizer(const std::string& vocab_json, const std::string& merges_txt,
                                               const std::vector<std::string>& specials = {});
/// Loads Hugging Face's tokenizer.json with byte-level byte pairs, such as GPT-2's. encode(), decode() and special
/// tokens agree with transformers. Errors, which name the entry of the file: anything else that the file asks for,
/// such as another model, a normalizer, another pre_tokenizer, a post_processor that adds tokens, truncation, padding,
/// or an added token that is not special.
std::unique_ptr<Tokenizer> load_huggingface_tokenizer(const std::string& tokenizer_json);
/// Loads nanoGPT's meta.pkl of characters, with the ids of the file. A meta.pkl that save_vocabulary() wrote may have
/// a tokenizer of any kind. Errors: a file that is not a meta.pkl.
std::unique_ptr<Tokenizer> load_nanogpt_tokenizer(const std::string& meta_pkl);

/// Loads the tokenizer at a path. The path is a run of mote, a checkpoint, tokenizer.json, meta.pkl, or a folder with
/// one of these files or with GPT-2's two files. Null if there is no tokenizer. Errors: those of the functions above.
std::unique_ptr<Tokenizer> load_tokenizer(const std::string& path);

/// Writes a tokenizer into a folder in the formats of other programs. It writes meta.pkl for nanoGPT and, for byte
/// pairs, also GPT-2's vocab.json and merges.txt. In meta.pkl, bytes that are not UTF-8 become U+FFFD, and stoi has
/// only special tokens and tokens of one character. Errors: a file cannot be written.
void save_vocabulary(const Tokenizer& tokenizer, const std::string& folder);

}  // namespace mote
