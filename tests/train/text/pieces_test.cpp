// Pieces: GPT-2's vectors, the tables' sizes, random texts against the pattern read alternative by alternative.
#include "train/text/pieces.h"

#include <doctest/doctest.h>

#include "engine/base/real.h"
#include "tests/train/text/slow_encoder.h"

namespace mote::test::pieces_test {
namespace {

Strings pieces(const std::string& text) {
  Strings found;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = piece_end(text, at);
    REQUIRE(next > at);
    found.push_back(text.substr(at, next - at));
    at = next;
  }
  return found;
}

TEST_CASE("pieces: GPT-2's pattern, case by case") {
  const std::vector<std::pair<std::string, Strings>> vectors{
      {"don't", {"don", "'t"}},           {"DON'T", {"DON", "'", "T"}},       {"''s", {"''", "s"}},
      {"it'll've", {"it", "'ll", "'ve"}}, {"a   b", {"a", "  ", " b"}},       {"a\n\nb", {"a", "\n", "\n", "b"}},
      {"a \n b", {"a", " \n", " b"}},     {"a\r\n", {"a", "\r\n"}},           {"abc123", {"abc", "123"}},
      {"\u00bdx", {"\u00bd", "x"}},       {"e\u0301a", {"e", "\u0301", "a"}}, {"你好12", {"你好", "12"}},
      {"👍🏽", {"👍🏽"}},         {"\u0085x", {"\u0085", "x"}},       {"\u21679", {"\u21679"}},
      {"_a_", {"_", "a", "_"}},
  };
  for (const auto& [text, expected] : vectors) {
    CHECK(pieces(text) == expected);
    CHECK(slow_pieces(text) == expected);
  }
}

TEST_CASE("pieces: the classes are those of Unicode 14") {
  Index letters = 0, numbers = 0, spaces = 0;
  for (unsigned code = 0; code <= 0x10ffff; ++code) {
    const CharacterClass kind = class_of(code);
    letters += kind == CharacterClass::letter;
    numbers += kind == CharacterClass::number;
    spaces += kind == CharacterClass::space;
  }
  CHECK(letters == 131'756);
  CHECK(numbers == 1'791);
  CHECK(spaces == 25);
  for (const unsigned code : {0x41u, 0x7au, 0xaau, 0xe9u, 0x3a9u, 0x4e00u, 0x9fffu, 0x2b738u, 0x3134au})
    CHECK(class_of(code) == CharacterClass::letter);
  for (const unsigned code : {0x30u, 0xb2u, 0xbdu, 0x663u, 0x2167u, 0x3007u, 0x1fbf9u})
    CHECK(class_of(code) == CharacterClass::number);
  for (const unsigned code :
       {0x9u, 0xdu, 0x20u, 0x85u, 0xa0u, 0x1680u, 0x2000u, 0x200au, 0x2028u, 0x2029u, 0x202fu, 0x205fu, 0x3000u})
    CHECK(class_of(code) == CharacterClass::space);
  for (const unsigned code :
       {0x0u, 0x1cu, 0x1fu, 0x40u, 0x5bu, 0x301u, 0x180eu, 0x200bu, 0x200du, 0xfeffu, 0x1f600u, 0x2b739u, 0x110000u})
    CHECK(class_of(code) == CharacterClass::other);
}

TEST_CASE("pieces: random texts, whole and broken") {
  Dice dice(1);
  for (int i = 0; i < 3000; ++i) {
    const std::string text =
        i % 3 == 0 ? random_bytes(dice, dice.below(30)) : random_text(dice, dice.below(30), i % 3 == 1);
    CAPTURE(text);
    REQUIRE(pieces(text) == slow_pieces(text));
  }
}

}  // namespace
}  // namespace mote::test::pieces_test
