// BytePairTokenizer: bytes, merged pair by pair in the order in which training found the pairs.
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

/// Cuts a text into GPT-2's pieces, and merges in each the adjacent pair of the lowest rank, everywhere from left to
/// right, until no pair has a rank. Time grows as n log n, whatever the text. Source: Sennrich et al. 2016, Radford et
/// al. 2019.
class BytePairTokenizer final : public Tokenizer {
 public:
  /// What a merge makes of two ids; its rank is its place in the list.
  struct Merge {
    Index left, right, result;
  };
  /// Each byte is a token, and each pair is merged once, into what stands for its bytes. Errors: those of Tokenizer.
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

/// The most frequent pair becomes a token, of several the one with the lowest ids, and again, until the vocabulary is
/// full or no pair occurs twice. A pair that lies in two pieces is none. Errors: those of train_tokenizer().
std::unique_ptr<Tokenizer> train_byte_pair(std::string_view text, Integer vocab_size,
                                           const std::vector<std::string>& specials);

namespace detail {
/// Bytes in the characters of GPT-2's files, in which each of them is visible.
std::string visible_bytes(std::string_view bytes);

/// Where the entry of a list stands, for errors: "merges: line 2".
using PlaceOf = std::function<std::string(std::size_t entry)>;
/// The tokenizer of all ordinary tokens, by id, and of merges "left right", both in these characters. Errors begin with
/// the list's name or the merge's place. Tokens twice, or neither a byte nor the product of a merge. A byte without a
/// token. Merges twice, of anything but two tokens, or into what is no token.
std::unique_ptr<Tokenizer> byte_pair_from(const std::vector<std::string>& tokens, const std::string& tokens_name,
                                          const std::vector<std::string>& merges, const PlaceOf& merge_place,
                                          std::vector<SpecialToken> specials);

/// The largest file of a vocabulary or of merges, in bytes.
inline constexpr std::uint64_t longest_vocabulary = 100'000'000;
/// The entries of a file by id, in these characters, and which of them the file calls special.
struct VocabularyFile {
  std::string name;
  std::map<Index, std::string> by_id = {};
  std::set<Index> specials = {};
};
/// An object of spellings and ids. Errors: an id below 0, above 10 million, or twice.
VocabularyFile read_vocabulary(const JsonPlace& entries, const std::string& name);
/// Errors: an id that another spelling has.
void add_special(VocabularyFile& to, const std::string& spelling, Index id);
/// The tokenizer of a file. Special tokens are the file's own ones, <|...|>, and what is neither a byte nor the product
/// of a merge. An id that the file leaves out becomes the special token "<|no token 7|>". Errors: as above; more than
/// 1000 ids that are left out.
std::unique_ptr<Tokenizer> byte_pair_from(const VocabularyFile& vocabulary, const std::vector<std::string>& merges,
                                          const PlaceOf& merge_place);
/// load_gpt2_tokenizer() of what stands in the two files, and in added_tokens.json beside them.
std::unique_ptr<Tokenizer> gpt2_tokenizer_from(std::string_view vocabulary, const std::string& vocabulary_name,
                                               std::string_view merge_list, const std::string& merges_name,
                                               std::string_view added = {}, const std::string& added_name = {},
                                               const std::vector<std::string>& specials = {});
}  // namespace detail

}  // namespace mote
