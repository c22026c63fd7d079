// makemore's names: their letters as ids, and every letter with the letters before it.
#pragma once

#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "examples/lectures/lecture.h"
#include "examples/lectures/python.h"

namespace mote {

/// The id of a character: 0 for '.', 1 to 26 for the letters.
inline Index id_of(char c) { return c == '.' ? 0 : c - 'a' + 1; }
inline char letter(Index id) { return id == 0 ? '.' : static_cast<char>('a' + id - 1); }

inline std::vector<std::string> words_of(const std::string& text) {
  std::istringstream file(text);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word);) words.push_back(word);
  return words;
}

/// The letters y [N] of all words, each with the `block` letters before it, x [N, block]. '.' marks the end of a word.
/// If fewer than `block` letters are before a letter, its context begins with '.' instead.
struct Contexts {
  IntArray x, y;

  Contexts(std::span<const std::string> words, Index block) {
    std::vector<Index> before, next;
    for (const std::string& word : words) {
      std::vector<Index> context(static_cast<std::size_t>(block), 0);
      for (const char c : word + ".") {
        before.insert(before.end(), context.begin(), context.end());
        next.push_back(id_of(c));
        context.erase(context.begin());
        context.push_back(id_of(c));
      }
    }
    x = IntArray({std::ssize(next), block}, before);
    y = IntArray({std::ssize(next)}, next);
  }
};

/// The lectures' split of the names, after random.seed(42) has shuffled them: 80 % to train on, 10 % to tune on, 10 %
/// to test on.
struct SplitNames {
  Contexts train, dev, test;

  SplitNames(const std::vector<std::string>& shuffled, Index block)
      : train(part(shuffled, 0, 0.8), block),
        dev(part(shuffled, 0.8, 0.9), block),
        test(part(shuffled, 0.9, 1), block) {}

 private:
  static std::span<const std::string> part(std::span<const std::string> words, double from, double to) {
    const auto at = [&](double share) { return static_cast<std::size_t>(share * static_cast<double>(words.size())); };
    return words.subspan(at(from), at(to) - at(from));
  }
};

/// Draws a new name, letter by letter. logits(context) must return the logits of the letter that follows a context [1,
/// block].
template <class Logits>
std::string new_name(Index block, const Generator& random, const Logits& logits) {
  const NoGrad no_grad;
  std::vector<Index> context(static_cast<std::size_t>(block), 0);
  std::string name;
  do {
    const Tensor probs = softmax(logits(IntArray({1, block}, context)), 1);
    context.erase(context.begin());
    context.push_back(multinomial(probs, 1, random).item());
    name += letter(context.back());
  } while (context.back() != 0);
  return name;
}

/// The line that the lectures print for a step, such as "  10000/ 200000: 2.0322".
inline std::string progress(Index step, const Tensor& loss) {
  const std::string text = std::to_string(step);
  return std::string(7 - text.size(), ' ') + text + "/ 200000: " + fixed_text(static_cast<double>(loss.item()), 4);
}

}  // namespace mote
