// A text as ids of its characters, and random pieces of the text, as nanoGPT and "Let's build GPT" train on them.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "examples/lectures/lecture.h"

namespace mote {

/// The different characters of a text, sorted, and the text as ids. The id of a character is its place among the
/// sorted ones.
struct Characters {
  std::string all;
  std::vector<Index> ids, train, val;  // the whole text, its first nine tenths, the rest

  explicit Characters(const std::string& text) {
    const std::set<char> found(text.begin(), text.end());
    all.assign(found.begin(), found.end());
    for (const char c : text) ids.push_back(static_cast<Index>(all.find(c)));
    const auto border = ids.begin() + std::ssize(ids) * 9 / 10;
    train.assign(ids.begin(), border);
    val.assign(border, ids.end());
  }
  std::string decode(const std::vector<Index>& text) const {
    std::string s;
    for (const Index id : text) s += all[static_cast<std::size_t>(id)];
    return s;
  }
};

/// Random pieces of a text. `x` is [batch, length], and `y` has the same pieces, shifted by one character.
struct Pieces {
  IntArray x, y;

  /// Draws the positions at which the pieces begin.
  Pieces(const std::vector<Index>& data, Index batch, Index length, const Generator& random) {
    std::vector<IntArray> inputs, targets;
    for (const Index from : randint(0, std::ssize(data) - length, {batch}, random).to_vector()) {
      const std::span<const Index> piece(data.data() + from, static_cast<std::size_t>(length + 1));
      inputs.emplace_back(Shape{length}, piece.first(static_cast<std::size_t>(length)));
      targets.emplace_back(Shape{length}, piece.last(static_cast<std::size_t>(length)));
    }
    x = stack(inputs);
    y = stack(targets);
  }
};

}  // namespace mote
