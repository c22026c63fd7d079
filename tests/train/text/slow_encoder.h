// The byte-pair encoder and its training once more, as their definitions read and without any speed.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/random_text.h"
#include "train/text/pieces.h"

namespace mote::test {

/// GPT-2's pattern, alternative by alternative, each as greedy as a regex is.
inline Strings slow_pieces(const std::string& text) {
  const std::vector<SlowCharacter> all = slow_characters(text);
  const auto is = [&](std::size_t i, CharacterClass kind) {
    return i < all.size() &&
           (all[i].code < 0 ? CharacterClass::other : class_of(static_cast<unsigned>(all[i].code))) == kind;
  };
  const auto run = [&](std::size_t i, CharacterClass kind) {
    while (is(i, kind)) ++i;
    return i;
  };
  Strings pieces;
  for (std::size_t at = 0; at < all.size();) {
    std::size_t last = at;
    for (const std::string& ending : Strings{"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {  // 's|'t|...
      std::size_t n = 0;
      while (n < ending.size() && at + n < all.size() && all[at + n].bytes == ending.substr(n, 1)) ++n;
      if (last == at && n == ending.size()) last = at + n;
    }
    for (const CharacterClass kind : {CharacterClass::letter, CharacterClass::number, CharacterClass::other}) {
      if (last != at) break;
      const std::size_t from = all[at].bytes == " " ? at + 1 : at;  // ` ?` takes the space if the rest can follow
      if (is(from, kind)) last = run(from, kind);
    }
    if (last == at) {  // \s+(?!\S), else \s+
      const std::size_t space_end = run(at, CharacterClass::space);
      last = space_end == all.size() || space_end == at + 1 ? space_end : space_end - 1;
    }
    pieces.emplace_back();
    for (; at < last; ++at) pieces.back() += all[at].bytes;
  }
  return pieces;
}

using Merges = std::vector<std::pair<std::string, std::string>>;

/// The tokens of a text, as bytes: in each piece the pair that comes first in the list, everywhere; again, until there
/// is none.
inline Strings slow_tokens(const std::string& text, const Merges& merges) {
  Strings tokens;
  for (const std::string& piece : slow_pieces(text)) {
    Strings parts;
    for (const char c : piece) parts.emplace_back(1, c);
    for (;;) {
      std::size_t lowest = merges.size();
      for (std::size_t i = 0; i + 1 < parts.size(); ++i)
        for (std::size_t rank = 0; rank < lowest; ++rank)
          if (merges[rank].first == parts[i] && merges[rank].second == parts[i + 1]) lowest = rank;
      if (lowest == merges.size()) break;
      Strings merged;
      for (std::size_t i = 0; i < parts.size(); ++i)
        if (i + 1 < parts.size() && merges[lowest].first == parts[i] && merges[lowest].second == parts[i + 1]) {
          merged.push_back(parts[i] + parts[i + 1]);
          ++i;
        } else {
          merged.push_back(parts[i]);
        }
      parts = merged;
    }
    tokens.insert(tokens.end(), parts.begin(), parts.end());
  }
  return tokens;
}

/// The merges that training finds: the most frequent pair, of several the one whose tokens came first; while one occurs
/// twice.
inline Merges slow_training(const std::string& text, std::size_t count) {
  std::vector<Strings> pieces;
  for (const std::string& piece : slow_pieces(text)) {
    pieces.emplace_back();
    for (const char c : piece) pieces.back().emplace_back(1, c);
  }
  std::map<std::string, int> id;  // of a token: bytes, then products in their order
  for (int b = 0; b < 256; ++b) id[std::string(1, static_cast<char>(b))] = b;
  Merges merges;
  while (merges.size() < count) {
    std::map<std::pair<int, int>, int> counts;
    for (const Strings& piece : pieces)
      for (std::size_t i = 0; i + 1 < piece.size(); ++i) ++counts[{id[piece[i]], id[piece[i + 1]]}];
    std::pair<int, int> best;
    int most = 1;
    for (const auto& [pair, times] : counts)
      if (times > most) {
        best = pair;
        most = times;
      }
    if (most < 2) break;
    std::string left, right;
    for (const auto& [token, number] : id) {
      if (number == best.first) left = token;
      if (number == best.second) right = token;
    }
    merges.emplace_back(left, right);
    const int next = static_cast<int>(id.size());
    id[left + right] = next;
    for (Strings& piece : pieces)
      for (std::size_t i = 0; i + 1 < piece.size(); ++i)
        if (piece[i] == left && piece[i + 1] == right) {
          piece[i] += right;
          piece.erase(piece.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        }
  }
  return merges;
}

}  // namespace mote::test
