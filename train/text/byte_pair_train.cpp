// Training of byte pairs: every distinct piece of the text once, with its count, and for each pair where it stands.
#include <algorithm>
#include <map>
#include <optional>
#include <queue>

#include "train/text/byte_pair.h"
#include "train/text/characters.h"
#include "train/text/pieces.h"

namespace mote {
namespace {

constexpr std::uint32_t none = detail::PairTable::none;

/// The pieces of a text one behind the other, as tokens that merge.
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
    check_in("train_tokenizer", total < none, "the text has more than ", none, " bytes of different words");
    for (const auto& [piece, count] : pieces)
      for (std::size_t i = 0; i < piece.size(); ++i) {
        const auto place = static_cast<std::uint32_t>(tokens_.size());
        tokens_.push_back(static_cast<unsigned char>(piece[i]));
        counts_.push_back(count);
        before_.push_back(i == 0 ? none : place - 1);
        after_.push_back(i + 1 == piece.size() ? none : place + 1);
      }
    for (std::uint32_t place = 0; place < tokens_.size(); ++place) appear(place);
    queue_changed();
  }

  /// The most frequent pair, merged everywhere into `result`; nothing if none occurs twice.
  std::optional<std::pair<detail::TokenId, detail::TokenId>> merge(detail::TokenId result) {
    while (!queue_.empty() && queue_.top().count != occurrences_[queue_.top().number]) queue_.pop();
    if (queue_.empty()) return {};
    const std::uint32_t number = queue_.top().number;
    queue_.pop();
    const auto [left, right] = pairs_.pair(number);
    for (const std::uint32_t place : std::exchange(places_[number], {}))  // from left to right
      if (tokens_[place] == left && after_[place] != none && tokens_[after_[place]] == right) merge_at(place, result);
    queue_changed();
    return pairs_.pair(number);
  }

 private:
  struct Candidate {
    Index count;
    std::uint32_t number;
    detail::TokenId left, right;
    friend bool operator<(const Candidate& a, const Candidate& b) {  // what is taken later
      if (a.count != b.count) return a.count < b.count;
      return a.left != b.left ? a.left > b.left : a.right > b.right;
    }
  };

  void merge_at(std::uint32_t place, detail::TokenId result) {
    const std::uint32_t right = after_[place];
    for (const std::uint32_t p : {before_[place], place, right}) disappear(p);
    tokens_[place] = result;
    tokens_[right] = none;  // a token that no pair has
    after_[place] = after_[right];
    if (after_[place] != none) before_[after_[place]] = place;
    for (const std::uint32_t p : {before_[place], place}) appear(p);
  }
  /// The pair whose left token stands at `place` is there, or no more.
  void appear(std::uint32_t place) {
    if (place == none || after_[place] == none) return;
    const std::uint32_t number = pairs_.insert(tokens_[place], tokens_[after_[place]]);
    if (number == occurrences_.size()) {
      occurrences_.push_back(0);
      places_.emplace_back();
    }
    places_[number].push_back(place);
    change(number, counts_[place]);
  }
  void disappear(std::uint32_t place) {
    if (place == none || after_[place] == none) return;
    change(pairs_.find(tokens_[place], tokens_[after_[place]]), -counts_[place]);
  }
  void change(std::uint32_t number, Index by) {
    occurrences_[number] += by;
    changed_.push_back(number);
  }
  /// A changed pair is queued anew; what is in the queue with another count is out of date.
  void queue_changed() {
    std::sort(changed_.begin(), changed_.end());
    changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
    for (const std::uint32_t number : changed_) {
      if (occurrences_[number] < 2) continue;
      const auto [left, right] = pairs_.pair(number);
      queue_.push({occurrences_[number], number, left, right});
    }
    changed_.clear();
  }

  std::vector<detail::TokenId> tokens_;        // by place; none: merged into one further left
  std::vector<Index> counts_;                  // how often the piece that a place lies in occurs
  std::vector<std::uint32_t> before_, after_;  // places of the neighbours in the piece
  detail::PairTable pairs_;
  std::vector<Index> occurrences_;                  // by pair
  std::vector<std::vector<std::uint32_t>> places_;  // by pair, where it stood when it came to be
  std::vector<std::uint32_t> changed_;
  std::priority_queue<Candidate> queue_;
};

}  // namespace

std::unique_ptr<Tokenizer> train_byte_pair(std::string_view text, Index vocab_size,
                                           const std::vector<std::string>& specials) {
  const Index least = 256 + static_cast<Index>(specials.size());
  check_in("train_tokenizer", vocab_size >= least && vocab_size <= 1'000'000, "vocab_size ", vocab_size, " must be ",
           least, " (all bytes", specials.empty() ? "" : " and special tokens", ") to 1000000");
  std::vector<std::string> tokens = detail::all_bytes();
  std::vector<BytePairTokenizer::Merge> merges;
  PairCounter counter(text);
  while (static_cast<Index>(tokens.size() + specials.size()) < vocab_size) {
    const auto result = static_cast<detail::TokenId>(tokens.size());
    const auto pair = counter.merge(result);
    if (!pair) break;
    tokens.push_back(tokens[pair->first] + tokens[pair->second]);
    merges.push_back({pair->first, pair->second, result});
  }
  std::vector<SpecialToken> last = detail::specials_from(static_cast<Index>(tokens.size()), specials);
  return std::make_unique<BytePairTokenizer>(std::move(tokens), merges, std::move(last));
}

}  // namespace mote
