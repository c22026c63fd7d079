// Training of byte pairs. It keeps every distinct piece of the text once with its count, and every pair with its
// places.
#include <map>
#include <optional>
#include <set>

#include "train/text/byte_pair.h"
#include "train/text/characters.h"
#include "train/text/pieces.h"

namespace mote {
namespace {

constexpr std::uint32_t none = 0xffffffffu;

/// Holds the distinct pieces of a text as tokens, merges pairs of tokens, and keeps the counts of all pairs.
class PairCounter {
 public:
  explicit PairCounter(std::string_view text) {
    std::map<std::string_view, Index> pieces;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t next = piece_end(text, at);
      ++pieces[text.substr(at, next - at)];
      at = next;
    }
    std::size_t total = 0;
    for (const auto& [piece, count] : pieces) total += piece.size();
    check_in("train_tokenizer", total < none, "the different words of the text have ", total,
             " bytes, but must have fewer than ", none);
    for (const auto& [piece, count] : pieces)
      for (std::size_t i = 0; i < piece.size(); ++i) {
        const auto place = static_cast<std::uint32_t>(tokens_.size());
        tokens_.push_back(static_cast<unsigned char>(piece[i]));
        counts_.push_back(count);
        before_.push_back(i == 0 ? none : place - 1);
        after_.push_back(i + 1 == piece.size() ? none : place + 1);
      }
    for (std::uint32_t place = 0; place < tokens_.size(); ++place) appear(place);
  }

  using Pair = std::pair<detail::TokenId, detail::TokenId>;
  /// Merges the most frequent pair everywhere into `result`. Returns the pair, or nothing if no pair occurs twice.
  std::optional<Pair> merge(detail::TokenId result) {
    if (frequent_.empty()) return {};
    const Pair pair = frequent_.begin()->second;
    for (const std::uint32_t place : std::exchange(pairs_[pair].places, {}))  // from left to right
      if (after_[place] != none && pair_at(place) == pair) merge_at(place, result);
    return pair;
  }

 private:
  void merge_at(std::uint32_t place, detail::TokenId result) {
    const std::uint32_t right = after_[place];
    for (const std::uint32_t p : {before_[place], place, right}) disappear(p);
    tokens_[place] = result;
    tokens_[right] = none;  // a token that no pair has
    after_[place] = after_[right];
    if (after_[place] != none) before_[after_[place]] = place;
    for (const std::uint32_t p : {before_[place], place}) appear(p);
  }
  Pair pair_at(std::uint32_t place) const { return {tokens_[place], tokens_[after_[place]]}; }
  /// appear() counts the pair whose left token stands at `place`, and disappear() removes it from the counts.
  void appear(std::uint32_t place) {
    if (place == none || after_[place] == none) return;
    change(pair_at(place), counts_[place]).places.push_back(place);
  }
  void disappear(std::uint32_t place) {
    if (place != none && after_[place] != none) change(pair_at(place), -counts_[place]);
  }
  /// How often a pair occurs now, and all places at which it has appeared.
  struct Occurrences {
    Index count = 0;
    std::vector<std::uint32_t> places;
  };
  Occurrences& change(const Pair& pair, Index by) {
    Occurrences& o = pairs_[pair];
    if (o.count >= 2) frequent_.erase({-o.count, pair});
    o.count += by;
    if (o.count >= 2) frequent_.emplace(-o.count, pair);
    return o;
  }

  std::vector<detail::TokenId> tokens_;        // the token at each place; none if merged into one further left
  std::vector<Index> counts_;                  // how often the piece at each place occurs in the text
  std::vector<std::uint32_t> before_, after_;  // places of the neighbours in the piece
  std::map<Pair, Occurrences> pairs_;
  std::set<std::pair<Index, Pair>> frequent_;  // pairs that occur twice or more, sorted by negative count
};

}  // namespace

std::unique_ptr<Tokenizer> train_byte_pair(std::string_view text, Integer vocab_size,
                                           const std::vector<std::string>& specials) {
  const Index least = 256 + static_cast<Index>(specials.size());
  check_in("train_tokenizer", vocab_size >= least && vocab_size <= 1'000'000, "vocab_size ", vocab_size, " must be ",
           least, " (all bytes", specials.empty() ? "" : " and special tokens", ") to 1000000");
  std::vector<std::string> tokens = detail::all_bytes();
  std::vector<BytePairTokenizer::Merge> merges;
  PairCounter counter(text);
  while (static_cast<Index>(tokens.size() + specials.size()) < vocab_size) {
    const auto result = static_cast<detail::TokenId>(tokens.size());
    const std::optional<PairCounter::Pair> pair = counter.merge(result);
    if (!pair) break;
    tokens.push_back(tokens[pair->first] + tokens[pair->second]);
    merges.push_back({pair->first, pair->second, result});
  }
  std::vector<SpecialToken> last = detail::specials_from(static_cast<Index>(tokens.size()), specials);
  return std::make_unique<BytePairTokenizer>(std::move(tokens), std::move(merges), std::move(last));
}

}  // namespace mote
