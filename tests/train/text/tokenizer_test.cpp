// Every tokenizer: there and back, special tokens, files; characters and bytes by hand.
#include "train/text/tokenizer.h"

#include <climits>

#include "tests/random_text.h"
#include "tests/sentences.h"
#include "tests/tools.h"
#include "train/text/characters.h"

namespace mote::test::tokenizer_test {
namespace {

using Ids = std::vector<Index>;
const std::string special = end_of_text;

/// Tokenizers that know any bytes.
std::vector<std::unique_ptr<Tokenizer>> any_bytes() {
  Dice dice(3);
  const std::string text = random_text(dice, 5000, false);
  std::vector<std::unique_ptr<Tokenizer>> all;
  all.push_back(train_tokenizer(TokenizerKind::byte, ""));
  all.push_back(train_tokenizer(TokenizerKind::byte, "", 0, {special}));
  all.push_back(train_tokenizer(TokenizerKind::byte_pair, text, 256));
  all.push_back(train_tokenizer(TokenizerKind::byte_pair, text, 600, {special, "<|pad|>"}));
  return all;
}

TEST_CASE("tokenizer: decode undoes encode, for any bytes") {
  for (const auto& tokenizer : any_bytes()) {
    const auto there_and_back = [&](const std::string& x) {
      return tokenizer->decode(tokenizer->encode(x, SpecialText::plain)) == x;
    };
    CHECK(tokenizer->encode("").empty());
    CHECK(tokenizer->decode({}) == "");
    std::string pair(2, '\0'), all_pairs;
    for (int a = 0; a < 256; ++a)
      for (int b = 0; b < 256; ++b) {
        pair[0] = static_cast<char>(a);
        pair[1] = static_cast<char>(b);
        all_pairs += pair;
        REQUIRE(there_and_back(pair));
      }
    for (int a = 0; a < 256; ++a) REQUIRE(there_and_back(std::string(1, static_cast<char>(a))));
    CHECK(there_and_back(all_pairs));
    Dice dice(4);
    for (int i = 0; i < 1000; ++i) {
      REQUIRE(there_and_back(random_bytes(dice, dice.below(40))));
      REQUIRE(there_and_back(random_text(dice, dice.below(20))));
      REQUIRE(there_and_back(random_text(dice, dice.below(20), false)));
    }
  }
}

TEST_CASE("tokenizer: a million random byte strings come back" * doctest::skip()) {  // the slow test runs it
  const auto all = any_bytes();
  Dice dice(5);
  for (std::size_t i = 0; i < 1'000'000; ++i) {
    const std::string x = i % 2 != 0 ? random_bytes(dice, dice.below(24)) : random_text(dice, dice.below(8), false);
    const Tokenizer& t = *all[i % all.size()];
    REQUIRE(t.decode(t.encode(x, SpecialText::plain)) == x);
  }
}

TEST_CASE("tokenizer: characters have ids in the order of their codes") {
  const auto t = train_tokenizer(TokenizerKind::character, "b\r\na é\ufeff😀a" + std::string(1, '\0'));
  CHECK(t->kind() == TokenizerKind::character);
  CHECK(t->vocab_size() == 9);
  CHECK(t->encode("\r\nab é") == Ids{2, 1, 4, 5, 3, 6});
  CHECK(t->encode("\ufeff😀") == Ids{7, 8});
  CHECK(t->encode(std::string(1, '\0')) == Ids{0});
  CHECK(t->token(8) == "😀");
  CHECK(t->decode(Ids{4, 6, 2, 1}) == "aé\r\n");
  Dice dice(6);
  const std::string text = random_text(dice, 3000);
  const auto large = train_tokenizer(TokenizerKind::character, text);
  CHECK(large->decode(large->encode(text)) == text);
  const std::vector<SlowCharacter> characters = slow_characters(text);
  CHECK(large->encode(text).size() == characters.size());
}

TEST_CASE("tokenizer: a character that is not in the vocabulary is named") {
  const auto t = train_tokenizer(TokenizerKind::character, "abc");
  REFUSES(t->encode("ab\u20acc"));
  REFUSES(t->encode("a\n"));
  REFUSES(t->encode("ab\xff"));
  REFUSES(train_tokenizer(TokenizerKind::character, "\xc3"));
}

TEST_CASE("tokenizer: a byte is its own id") {
  const auto t = train_tokenizer(TokenizerKind::byte, "", 0, {special});
  CHECK(t->vocab_size() == 257);
  CHECK(t->encode(std::string("a\0\xff", 3)) == Ids{97, 0, 255});
  CHECK(t->special(special) == 256);
}

TEST_CASE("tokenizer: ids outside the vocabulary") {
  for (const auto& t : any_bytes())
    for (const Index id : {Index(-1), t->vocab_size(), Index(INT_MAX), Index(LLONG_MIN)}) {
      const std::string what = "decode: id " + std::to_string(id) + " must be 0 to " +
                               std::to_string(t->vocab_size() - 1) + ", an id of the vocabulary";
      CHECK(error_of([&] { t->decode(Ids{0, id}); }) == what);
      CHECK(error_of([&] { t->token(id); }) == what);
    }
}

TEST_CASE("tokenizer: a byte that is also spelt as a special token stays a byte in plain text") {
  const auto tokenizer = train_tokenizer(TokenizerKind::byte_pair, "aaaa", 257, {"z"});
  CHECK(tokenizer->encode("az", SpecialText::plain) == std::vector<Index>{97, 122});
  CHECK(tokenizer->encode("az", SpecialText::allow) == std::vector<Index>{97, 256});
}

TEST_CASE("tokenizer: special tokens are refused in text unless allowed") {
  for (const TokenizerKind kind : {TokenizerKind::character, TokenizerKind::byte, TokenizerKind::byte_pair}) {
    const auto t = train_tokenizer(kind, "a <|endoftext|>pad b", 512, {special, "<|end", "<|pad|>"});
    const Index eot = t->vocab_size() - 3;
    CHECK(t->special(special) == eot);
    CHECK(t->special("<|pad|>") == eot + 2);
    CHECK(t->special("b") == -1);
    const std::string text = "a" + special + "<|pad|> <|endo b";
    REFUSES(t->encode(text));
    const Ids allowed = t->encode(text, SpecialText::allow);
    CHECK(t->decode(allowed) == text);
    const Ids first{t->encode("a")[0], eot, eot + 2};  // the longest that begins there: not <|end
    CHECK(Ids(allowed.begin(), allowed.begin() + 3) == first);
    CHECK(std::count(allowed.begin(), allowed.end(), eot + 1) == 1);
    const auto other = train_tokenizer(kind, "a", 512, {"<|end", special});  // whichever was named first
    CHECK(Ids(other->encode(special, SpecialText::allow)) == Ids{other->special(special)});
    const Ids plain = t->encode(text, SpecialText::plain);
    CHECK(t->decode(plain) == text);
    CHECK(*std::max_element(plain.begin(), plain.end()) < eot);
    CHECK(t->encode("a <| b").size() >= 4);
  }
}

TEST_CASE("tokenizer: its JSON gives the same tokenizer, and the same JSON again") {
  Dice dice(7);
  const std::string text = random_text(dice, 2000);
  for (const TokenizerKind kind : {TokenizerKind::character, TokenizerKind::byte, TokenizerKind::byte_pair})
    for (const Strings& specials : {Strings{}, Strings{special, "<|\u00e9|>"}}) {
      const auto t = train_tokenizer(kind, text, 700, specials);
      const auto back = tokenizer_from(t->json_text());
      CHECK(back->kind() == kind);
      CHECK(back->json_text() == t->json_text());
      CHECK(back->vocab_size() == t->vocab_size());
      CHECK(back->encode(text) == t->encode(text));
      for (Index id = 0; id < t->vocab_size(); ++id) CHECK(back->token(id) == t->token(id));
      for (const std::string& s : specials) CHECK(back->special(s) == t->special(s));
    }
}

TEST_CASE("tokenizer: JSON that is none is refused in one sentence") {
  const auto error = [](const std::string& json) { return error_of([&] { tokenizer_from(json, "t.json"); }); };
  CHECK_SENTENCE(error("[]"));
  CHECK_SENTENCE(error("{}"));
  CHECK_SENTENCE(error(R"({"tokenizer":"word"})"));
  CHECK_SENTENCE(error(R"({"tokenizer":"byte"})"));
  CHECK_SENTENCE(error(R"({"tokenizer":"byte","special":[],"tokens":[]})"));
  CHECK_SENTENCE(error(R"({"tokenizer":"byte","special":[{"id":256}]})"));
  CHECK_SENTENCE(error(R"({"tokenizer":"byte","special":[{"id":255,"text":"x"}]})"));
  CHECK_SENTENCE(error(R"({"tokenizer":"byte","special":[{"id":258,"text":"x"}]})"));
  CHECK_SENTENCE(error(R"({"tokenizer":"byte","special":[{"id":256,"text":""}]})"));
  CHECK_SENTENCE(error(R"({"tokenizer":"byte","special":[{"id":256,"text":"x"},{"id":257,"text":"x"}]})"));
  CHECK_SENTENCE(error(R"({"tokenizer":"byte","special":[{"id":256,"text":"x"},{"id":256,"text":"y"}]})"));
  CHECK_SENTENCE(error(R"({"tokenizer":"char","special":[],"tokens":["a","bc"]})"));
  CHECK_SENTENCE(error(R"({"tokenizer":"char","special":[],"tokens":["a","b","a"]})"));
  CHECK_SENTENCE(error(R"({"tokenizer":"bpe","special":[],"tokens":[],"merges":[]})"));
  const auto t = train_tokenizer(TokenizerKind::byte_pair, "aaaa aaab", 300);
  const std::string whole = t->json_text();
  CHECK(tokenizer_from(whole)->json_text() == whole);
  for (std::size_t n = 0; n < whole.size(); n += 7) CHECK(error(whole.substr(0, n)) != "(no error)");
}

}  // namespace
}  // namespace mote::test::tokenizer_test
