// Encodes with byte pairs. A heap holds the pairs that can be merged.
#include "train/text/byte_pair.h"

#include <functional>
#include <queue>

#include "train/text/pieces.h"

namespace mote {
namespace {

constexpr std::uint32_t nowhere = 0xffffffffu;

/// Applies the merges to one piece after the other, and reuses its buffers from piece to piece.
class PieceMerger {
 public:
  PieceMerger(const detail::PairRanks& ranks, const std::vector<BytePairTokenizer::Merge>& merges)
      : ranks_(ranks), merges_(merges) {}

  /// Merges a piece, whose bytes have the ids `bytes`, and appends the resulting ids to `ids`.
  void merge(const std::vector<detail::TokenId>& bytes, std::vector<Index>& ids) {
    tokens_ = bytes;
    const auto n = static_cast<std::uint32_t>(bytes.size());
    before_.resize(n);
    after_.resize(n);
    for (std::uint32_t i = 0; i < n; ++i) {
      before_[i] = i == 0 ? nowhere : i - 1;
      after_[i] = i + 1 == n ? nowhere : i + 1;
    }
    for (std::uint32_t i = 0; i < n; ++i) look_at(i);
    for (queue_found(); !queue_.empty(); queue_found()) merge_all_of_lowest_rank();
    for (std::uint32_t i = 0; i != nowhere && i < n; i = after_[i]) ids.push_back(tokens_[i]);
  }

 private:
  /// A pair that can be merged, with its rank in the high 32 bits and the place of its left token in the low 32 bits.
  /// The smallest candidate is merged first.
  using Candidate = std::uint64_t;

  std::uint32_t rank_at(std::uint32_t place) const {
    if (after_[place] == nowhere) return nowhere;
    const auto found = ranks_.find({tokens_[place], tokens_[after_[place]]});
    return found == ranks_.end() ? nowhere : found->second;
  }
  void look_at(std::uint32_t place) {
    if (const std::uint32_t rank = rank_at(place); rank != nowhere) found_.push_back(Candidate{rank} << 32 | place);
  }
  /// Merges all queued pairs of the lowest rank. New pairs that these merges create wait in found_ until all pairs of
  /// this rank are merged, even if the new pairs have a lower rank.
  void merge_all_of_lowest_rank() {
    const auto rank = static_cast<std::uint32_t>(queue_.top() >> 32);
    while (!queue_.empty() && queue_.top() >> 32 == rank) {
      const auto place = static_cast<std::uint32_t>(queue_.top());
      queue_.pop();
      if (tokens_[place] == gone || rank_at(place) != rank) continue;  // an earlier merge took a token of this pair
      const std::uint32_t right = after_[place];
      tokens_[place] = static_cast<detail::TokenId>(merges_[rank].result);
      tokens_[right] = gone;
      after_[place] = after_[right];
      if (after_[place] != nowhere) before_[after_[place]] = place;
      look_at(place);
      if (before_[place] != nowhere) look_at(before_[place]);
    }
  }
  void queue_found() {
    for (const Candidate c : found_) queue_.push(c);
    found_.clear();
  }

  static constexpr detail::TokenId gone = nowhere;
  const detail::PairRanks& ranks_;
  const std::vector<BytePairTokenizer::Merge>& merges_;
  std::vector<detail::TokenId> tokens_;        // the token at each place; `gone` if merged into one further left
  std::vector<std::uint32_t> before_, after_;  // places of the neighbours
  std::vector<Candidate> found_;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue_;
};

}  // namespace

BytePairTokenizer::BytePairTokenizer(std::vector<std::string> ordinary, std::vector<Merge> merges,
                                     std::vector<SpecialToken> specials)
    : Tokenizer(std::move(ordinary), std::move(specials)), merges_(std::move(merges)) {
  for (Index id = 0; id < vocab_size(); ++id)
    if (token(id).size() == 1 && special(token(id)) != id)
      bytes_[static_cast<unsigned char>(token(id)[0])] = static_cast<detail::TokenId>(id);
  for (const Merge& m : merges_) ranks_.emplace(std::pair(m.left, m.right), static_cast<std::uint32_t>(ranks_.size()));
}

void BytePairTokenizer::encode_plain(std::string_view text, std::size_t, std::vector<Index>& ids) const {
  PieceMerger merger(ranks_, merges_);
  std::vector<detail::TokenId> piece;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = piece_end(text, at);
    check_in("encode", next - at < nowhere, "a word of ", next - at, " bytes must have fewer than ", nowhere);
    piece.clear();
    for (; at < next; ++at) piece.push_back(bytes_[static_cast<unsigned char>(text[at])]);
    merger.merge(piece, ids);
  }
}

}  // namespace mote
