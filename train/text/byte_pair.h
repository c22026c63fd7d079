// BytePairTokenizer: bytes, merged pair by pair in the order in which training found the pairs; PairTable.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "train/text/tokenizer.h"

namespace mote {
namespace detail {

using TokenId = std::uint32_t;

/// Numbers for pairs of ids, in the order in which they came, from 0: an open hash table.
class PairTable {
 public:
  static constexpr std::uint32_t none = 0xffffffffu;

  std::uint32_t size() const { return static_cast<std::uint32_t>(keys_.size()); }
  std::pair<TokenId, TokenId> pair(std::uint32_t number) const {
    return {static_cast<TokenId>(keys_[number] >> 32), static_cast<TokenId>(keys_[number])};
  }
  /// The number of a pair, or none.
  std::uint32_t find(TokenId left, TokenId right) const {
    return slots_.empty() ? none : slots_[place(key_of(left, right))];
  }
  /// The number of a pair, a new one if need be.
  std::uint32_t insert(TokenId left, TokenId right) {
    if (2 * (keys_.size() + 1) > slots_.size()) grow();
    std::uint32_t& slot = slots_[place(key_of(left, right))];
    if (slot == none) {
      slot = size();
      keys_.push_back(key_of(left, right));
    }
    return slot;
  }

 private:
  static std::uint64_t key_of(TokenId left, TokenId right) { return std::uint64_t{left} << 32 | right; }
  /// Where a key is, or would be.
  std::size_t place(std::uint64_t key) const {
    std::uint64_t mixed = key * 0x9e3779b97f4a7c15u;  // Fibonacci hashing, with the high bits brought down
    mixed ^= mixed >> 32;
    mixed *= 0xd6e8feb86659fd93u;
    mixed ^= mixed >> 29;
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = static_cast<std::size_t>(mixed) & mask;
    while (slots_[at] != none && keys_[slots_[at]] != key) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    slots_.assign(slots_.empty() ? 64 : 2 * slots_.size(), none);
    for (std::uint32_t number = 0; number < size(); ++number) slots_[place(keys_[number])] = number;
  }

  std::vector<std::uint64_t> keys_;   // by number
  std::vector<std::uint32_t> slots_;  // numbers; their count is a power of two
};

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
  BytePairTokenizer(std::vector<std::string> ordinary, const std::vector<Merge>& merges,
                    std::vector<SpecialToken> specials);

  TokenizerKind kind() const override { return TokenizerKind::byte_pair; }

 protected:
  void encode_plain(std::string_view text, std::size_t start, std::vector<Index>& ids) const override;
  void describe(Json& object) const override;

 private:
  std::array<detail::TokenId, 256> bytes_{};
  detail::PairTable ranks_;
  std::vector<detail::TokenId> results_;  // by rank
};

/// The most frequent pair becomes a token, of several the one with the lowest ids, and again, until the vocabulary is
/// full or no pair occurs twice. A pair that lies in two pieces is none. Errors: those of train_tokenizer().
std::unique_ptr<Tokenizer> train_byte_pair(std::string_view text, Index vocab_size,
                                           const std::vector<std::string>& specials);

namespace detail {
/// Bytes in the characters of GPT-2's files, in which each of them is visible.
std::string visible_bytes(std::string_view bytes);

/// Where the entry of a list stands, for errors: "merges: line 2".
using PlaceOf = std::function<std::string(std::size_t entry)>;
/// The tokenizer of all ordinary tokens, by id, and of merges "left right", both in these characters.
/// Errors, which begin with the list's name or the merge's place: tokens twice, or neither a byte nor the product of a
/// merge; a byte without a token; merges twice, of anything but two tokens, or into what is no token.
std::unique_ptr<Tokenizer> byte_pair_from(const std::vector<std::string>& tokens, const std::string& tokens_name,
                                          const std::vector<std::string>& merges, const PlaceOf& merge_place,
                                          std::vector<SpecialToken> specials);
/// load_gpt2_tokenizer() of what stands in the two files.
std::unique_ptr<Tokenizer> gpt2_tokenizer_from(std::string_view vocabulary, const std::string& vocabulary_name,
                                               std::string_view merge_list, const std::string& merges_name);
}  // namespace detail

}  // namespace mote
