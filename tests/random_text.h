// Random texts, and their characters by the slowest decoder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mote::test {

using Strings = std::vector<std::string>;

/// The characters of a text; a byte that belongs to none is one of its own, with code -1.
struct SlowCharacter {
  std::string bytes;
  long code;
};
inline std::vector<SlowCharacter> slow_characters(const std::string& text) {
  std::vector<SlowCharacter> found;
  for (std::size_t i = 0; i < text.size();) {
    const auto b = [&](std::size_t k) {
      return i + k < text.size() ? long(static_cast<unsigned char>(text[i + k])) : 0;
    };
    const auto tail = [&](std::size_t k) { return b(k) >= 0x80 && b(k) <= 0xbf; };
    long code = -1;
    std::size_t n = 1;
    if (b(0) < 0x80) {
      code = b(0);
    } else if (b(0) >= 0xc0 && b(0) < 0xe0 && tail(1)) {
      code = (b(0) - 0xc0) * 64 + b(1) - 0x80;
      n = 2;
      if (code < 0x80) code = -1;
    } else if (b(0) >= 0xe0 && b(0) < 0xf0 && tail(1) && tail(2)) {
      code = (b(0) - 0xe0) * 4096 + (b(1) - 0x80) * 64 + b(2) - 0x80;
      n = 3;
      if (code < 0x800 || (code >= 0xd800 && code < 0xe000)) code = -1;
    } else if (b(0) >= 0xf0 && b(0) < 0xf8 && tail(1) && tail(2) && tail(3)) {
      code = (b(0) - 0xf0) * 262144 + (b(1) - 0x80) * 4096 + (b(2) - 0x80) * 64 + b(3) - 0x80;
      n = 4;
      if (code < 0x10000 || code > 0x10ffff) code = -1;
    }
    if (code < 0) n = 1;
    found.push_back({text.substr(i, n), code});
    i += n;
  }
  return found;
}

/// Numbers that depend on the seed alone.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  std::size_t below(std::size_t n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>((state_ >> 33) % n);
  }

 private:
  std::uint64_t state_;
};

inline std::string random_bytes(Dice& dice, std::size_t length) {
  std::string bytes;
  while (bytes.size() < length) bytes += static_cast<char>(dice.below(256));
  return bytes;
}

/// A text of what tokenizers trip over: few letters, contractions, white space of all kinds, several scripts, marks,
/// emoji, and, if asked for, what is no UTF-8.
inline std::string random_text(Dice& dice, std::size_t parts, bool valid = true) {
  static const Strings some{"a",        "a",
                            "b",        "ab",
                            "the",      "er",
                            "A",        " ",
                            " ",        "  ",
                            "\n",       "\t",
                            "\r\n",     "'",
                            "'s",       "'ll",
                            "'D",       "1",
                            "23",       "_",
                            ".",        "!?",
                            "é",        "ß",
                            "Ω",        "я",
                            "你",       "好",
                            "ก",        "\u0301",
                            "\u00a0",   "\u2028",
                            "\u3000",   "\u0085",
                            "\x1c",     "½",
                            "²",        "Ⅷ",
                            "٣",        "😀",
                            "👍🏽", "\u200d",
                            "\ufeff",   "𝒳",
                            "🄰",        std::string(1, '\0')};
  static const Strings broken{"\xc3",     "\xe4\xbd",     "\xf0\x9f\x98",     "\x80",
                              "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff"};
  std::string text;
  for (std::size_t i = 0; i < parts; ++i)
    text += !valid && dice.below(8) == 0 ? broken[dice.below(broken.size())] : some[dice.below(some.size())];
  return text;
}

}  // namespace mote::test
