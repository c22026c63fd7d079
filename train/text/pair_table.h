// PairTable, numbers for pairs of ids: the first pair gets 0, the next new one 1.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace mote::detail {

using TokenId = std::uint32_t;

/// An open hash table. Its numbers depend only on the order in which pairs came.
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

}  // namespace mote::detail
