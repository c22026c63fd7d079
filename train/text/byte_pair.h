// BytePairTokenizer, which merges the bytes of a text pair by pair, in the order in which training found the pairs.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "train/text/tokenizer.h"

namespace mote {

class JsonPlace;

namespace detail {
using TokenId = std::uint32_t;
using PairRanks = std::map<std::pair<Index, Index>, std::uint32_t>;
}  // namespace detail

/// A byte-pair tokenizer, which cuts a text into GPT-2's pieces and merges adjacent tokens within each piece. It
/// merges the pair of the lowest rank everywhere in the piece, from left to right, and repeats this until no pair has
/// a rank. Encoding n bytes takes time n log n, whatever the text. Source: Sennrich et al. 2016, Radford et al. 2019.
class BytePairTokenizer final : public Tokenizer {
 public:
  /// A merge of two adjacent ids into one. Its rank is its place in the list of merges.
  struct Merge {
    Index left, right, result;
  };
  /// `ordinary` must have a token for each byte. `merges` must have each pair once. The result of a merge must be the
  /// token of the joined bytes. Errors: those of Tokenizer.
  BytePairTokenizer(std::vector<std::string> ordinary, std::vector<Merge> merges, std::vector<SpecialToken> specials);

  TokenizerKind kind() const override { return TokenizerKind::byte_pair; }

 protected:
  void encode_plain(std::string_view text, std::size_t start, std::vector<Index>& ids) const override;
  void describe(Json& object) const override;

 private:
  std::array<detail::TokenId, 256> bytes_{};
  std::vector<Merge> merges_;  // by rank
  detail::PairRanks ranks_;
};

/// Trains a byte-pair tokenizer on a text. The most frequent pair of adjacent tokens becomes a new token. If several
/// pairs are equally frequent, the one with the lowest ids is taken. This repeats until the vocabulary is full or no
/// pair occurs twice. The two tokens of a pair must lie in the same piece. Errors: those of train_tokenizer().
std::unique_ptr<Tokenizer> train_byte_pair(std::string_view text, Integer vocab_size,
                                           const std::vector<std::string>& specials);

namespace detail {
/// Bytes as GPT-2's files spell them, with one visible character for each byte.
std::string visible_bytes(std::string_view bytes);

/// Names the place of an entry of a list, for errors, such as "merges: line 2".
using PlaceOf = std::function<std::string(std::size_t entry)>;
/// Makes a byte-pair tokenizer from its ordinary tokens, in the order of their ids, and its merges, each written as
/// "left right". Tokens and merges are spelled in the characters of visible_bytes(). Errors, which begin with the
/// list's name or the merge's place: a token that stands twice, or that is neither a byte nor the product of a merge;
/// a byte without a token; a merge that stands twice, that is not of two tokens, or whose product is no token.
std::unique_ptr<Tokenizer> byte_pair_from(const std::vector<std::string>& tokens, const std::string& tokens_name,
                                          const std::vector<std::string>& merges, const PlaceOf& merge_place,
                                          std::vector<SpecialToken> specials);

/// The largest size of a file of a vocabulary or of merges, in bytes.
inline constexpr std::uint64_t longest_vocabulary = 100'000'000;
/// The entries of a vocabulary file by id, spelled as in the file, and the ids that the file calls special.
struct VocabularyFile {
  std::string name;
  std::map<Index, std::string> by_id = {};
  std::set<Index> specials = {};
};
/// Reads a vocabulary from a JSON object of spellings and ids. Errors: an id that is below 0, above 10 million, or
/// used twice.
VocabularyFile read_vocabulary(const JsonPlace& entries, const std::string& name);
/// Adds a special token to a vocabulary. Errors: an id that another spelling has, or that is out of range.
void add_special(VocabularyFile& to, const std::string& spelling, Index id);
/// Makes a byte-pair tokenizer from a vocabulary file and merges. Special tokens are those that the file calls
/// special, those spelled <|...|>, and those that are neither a byte nor the product of a merge. An id that the file
/// leaves out becomes the special token "<|no token 7|>". Errors: those of the other byte_pair_from(); more than 1000
/// ids that are left out.
std::unique_ptr<Tokenizer> byte_pair_from(const VocabularyFile& vocabulary, const std::vector<std::string>& merges,
                                          const PlaceOf& merge_place);
/// Makes the tokenizer that load_gpt2_tokenizer() returns, from the contents of vocab.json, merges.txt and
/// added_tokens.json.
std::unique_ptr<Tokenizer> gpt2_tokenizer_from(std::string_view vocabulary, const std::string& vocabulary_name,
                                               std::string_view merge_list, const std::string& merges_name,
                                               std::string_view added = {}, const std::string& added_name = {},
                                               const std::vector<std::string>& specials = {});
}  // namespace detail

}  // namespace mote
