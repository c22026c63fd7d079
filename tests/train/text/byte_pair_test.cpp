// Byte pairs: encoding and training against the slow definitions, the order of merges, long and empty texts.
#include "train/text/byte_pair.h"

#include "tests/sentences.h"
#include "tests/tools.h"
#include "tests/train/text/slow_encoder.h"

namespace mote::test::byte_pair_test {
namespace {

/// A tokenizer of all bytes and these merges.
std::unique_ptr<Tokenizer> with_merges(const Merges& merges) {
  Strings tokens;
  std::vector<BytePairTokenizer::Merge> list;
  for (int b = 0; b < 256; ++b) tokens.emplace_back(1, static_cast<char>(b));
  for (const auto& [left, right] : merges)
    if (std::find(tokens.begin(), tokens.end(), left + right) == tokens.end()) tokens.push_back(left + right);
  const auto id = [&](const std::string& token) {
    return std::find(tokens.begin(), tokens.end(), token) - tokens.begin();
  };
  for (const auto& [left, right] : merges) list.push_back({id(left), id(right), id(left + right)});
  return std::make_unique<BytePairTokenizer>(tokens, list, std::vector<SpecialToken>());
}

Strings tokens_of(const Tokenizer& tokenizer, const std::string& text) {
  Strings tokens;
  for (const Index id : tokenizer.encode(text)) tokens.push_back(tokenizer.token(id));
  return tokens;
}

TEST_CASE("byte pairs: the lowest rank first, its pairs from left to right, then again") {
  const std::pair<std::string, std::string> a_a{"a", "a"}, aa_aa{"aa", "aa"}, aa_a{"aa", "a"}, a_aa{"a", "aa"};
  const auto tokens = [](const Merges& merges, const std::string& text) {
    return tokens_of(*with_merges(merges), text);
  };
  CHECK(tokens({a_a}, "aaa") == Strings{"aa", "a"});
  CHECK(tokens({a_a, aa_aa}, "aaaa") == Strings{"aaaa"});
  CHECK(tokens({a_a, aa_a}, "aaa") == Strings{"aaa"});
  CHECK(tokens({a_a, aa_a, aa_aa}, "aaaaa") == Strings{"aa", "aaa"});
  // Every (a, a) is merged before the pairs that come of it, even if their rank is lower.
  CHECK(tokens({aa_a, a_a}, "aaaa") == Strings{"aa", "aa"});
  CHECK(tokens({aa_aa, aa_a, a_a}, "aaaaaaa") == Strings{"aaaa", "aaa"});
  // Two ways to one token.
  CHECK(tokens({{"a", "b"}, {"b", "c"}, {"ab", "c"}, {"a", "bc"}}, "abcbc") == Strings{"abc", "bc"});
  CHECK(tokens({{"b", "c"}, {"a", "b"}, {"ab", "c"}, {"a", "bc"}}, "abcab") == Strings{"abc", "ab"});
  Dice dice(8);
  Merges pool{a_a, aa_aa, aa_a, a_aa, {"a", "b"}, {"ab", "a"}, {"b", "ab"}, {"ab", "ab"}, {"b", "b"}, {"aa", "b"}};
  for (int i = 0; i < 500; ++i) {
    Merges merges;
    for (Merges left = pool; !left.empty();) {
      const auto which = left.begin() + static_cast<std::ptrdiff_t>(dice.below(left.size()));
      if (dice.below(3) > 0) merges.push_back(*which);
      left.erase(which);
    }
    for (const auto& [left, right] : Merges(merges))  // parts must be tokens
      for (const std::string& part : {left, right})
        if (part.size() == 2 &&
            std::none_of(merges.begin(), merges.end(), [&](const auto& m) { return m.first + m.second == part; }))
          merges.emplace_back(part.substr(0, 1), part.substr(1));
    const auto tokenizer = with_merges(merges);
    for (int k = 0; k < 10; ++k) {
      std::string text;
      for (std::size_t n = dice.below(14); n > 0; --n) text += "aab"[dice.below(3)];
      CAPTURE(text);
      REQUIRE(tokens_of(*tokenizer, text) == slow_tokens(text, merges));
    }
  }
}

TEST_CASE("byte pairs: training and encoding are those of the definitions, on random texts") {
  Dice dice(9);
  for (int i = 0; i < 12; ++i) {
    const std::string text = i % 4 == 3 ? random_bytes(dice, 600) : random_text(dice, 400, i % 4 != 2);
    const std::size_t count = 10 + 20 * dice.below(5);
    const auto tokenizer = train_tokenizer(TokenizerKind::byte_pair, text, 256 + static_cast<Index>(count));
    const Merges merges = slow_training(text, count);
    REQUIRE(tokenizer->vocab_size() == 256 + static_cast<Index>(merges.size()));
    for (std::size_t n = 0; n < merges.size(); ++n)
      REQUIRE(tokenizer->token(256 + static_cast<Index>(n)) == merges[n].first + merges[n].second);
    CHECK(tokens_of(*tokenizer, text) == slow_tokens(text, merges));
    for (int k = 0; k < 30; ++k) {
      const std::string other =
          k % 3 == 2 ? random_bytes(dice, dice.below(60)) : random_text(dice, dice.below(40), k % 3 == 0);
      CAPTURE(other);
      REQUIRE(tokens_of(*tokenizer, other) == slow_tokens(other, merges));
    }
  }
}

TEST_CASE("byte pairs: where training stops") {
  const auto trained = [](const std::string& text, Index size, const Strings& specials = {}) {
    return train_tokenizer(TokenizerKind::byte_pair, text, size, specials);
  };
  CHECK(trained("", 300)->vocab_size() == 256);
  CHECK(trained("a", 300)->vocab_size() == 256);
  CHECK(trained("abcdef", 300)->vocab_size() == 256);  // every pair occurs once
  CHECK(trained("aaa", 300)->vocab_size() == 257);     // (a, a) twice, then (aa, a) once
  CHECK(trained("abab", 300)->vocab_size() == 257);
  CHECK(trained("ab ab ab", 258)->vocab_size() == 258);
  CHECK(trained("ab ab ab", 300, {end_of_text})->vocab_size() == 259);
  CHECK(trained(std::string(64, 'a'), 300)->vocab_size() == 256 + 5);  // 2, 4, 8, 16, 32 letters
  CHECK(trained("cd ab cd ab", 257)->token(256) == " a");              // as often as the others: the lowest ids
  CHECK(trained("x y", 256)->vocab_size() == 256);
  REFUSES(trained("ab", 255));
  REFUSES(trained("ab", 256, {end_of_text}));
  REFUSES(trained("ab", 1'000'001));
}

TEST_CASE("byte pairs: a million equal letters, and long runs of anything, take no quadratic time") {
  const std::string letters(1'000'000, 'a');
  const auto tokenizer = train_tokenizer(TokenizerKind::byte_pair, letters, 300);
  const std::vector<Index> ids = tokenizer->encode(letters);
  CHECK(ids.size() < 40);  // 2^18 letters at once, and what is left
  CHECK(tokenizer->decode(ids) == letters);
  Dice dice(10);
  const auto mixed = train_tokenizer(TokenizerKind::byte_pair, random_text(dice, 20'000, false), 700);
  for (const std::string unit : {"^", "0", "a", "'s", " ", "\n"})
    for (const std::string& text : {unit, " " + unit}) {
      std::string run = text == unit ? "" : " ";
      for (int i = 0; i < 10'000; ++i) run += unit;
      for (const std::string& whole : {run, run + "\n"}) CHECK(mixed->decode(mixed->encode(whole)) == whole);
    }
  CHECK(mixed->decode(mixed->encode(letters)) == letters);
}

TEST_CASE("byte pairs: ten million letters" * doctest::skip()) {  // the slow test runs it
  Dice dice(11);
  const auto tokenizer = train_tokenizer(TokenizerKind::byte_pair, random_text(dice, 20'000), 700);
  for (const char letter : {'x', 'a'}) {
    const std::string letters(10'000'000, letter);
    CHECK(tokenizer->decode(tokenizer->encode(letters)) == letters);
  }
}

}  // namespace
}  // namespace mote::test::byte_pair_test
