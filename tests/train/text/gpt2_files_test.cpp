// GPT-2's vocabulary and merges: a small pair made here, what is refused, and the real ones where they lie.

#include <cstdlib>

#include "engine/io/files/file.h"
#include "nn/torch_state.h"
#include "tests/random_text.h"
#include "tests/sentences.h"
#include "tests/temp_folder.h"
#include "tests/tools.h"
#include "train/text/byte_pair.h"

namespace mote::test::gpt2_files_test {
namespace {

using Ids = std::vector<Index>;

/// The two files of all bytes, the words "ab", "Ġab" and "ĠabĠab", and the special token.
struct Files {
  TempFolder folder;
  Strings tokens, merges{"#version: 0.2", "a b", "\u0120 ab"};
  Files() {
    for (int from_table = 1; from_table >= 0; --from_table)  // in GPT-2's order: visible bytes first
      for (int b = 0; b < 256; ++b) {
        const std::string visible = detail::visible_bytes(std::string(1, static_cast<char>(b)));
        const bool itself = visible.size() == 1 || (b >= 161 && b != 173);
        if (itself == (from_table == 1)) tokens.push_back(visible);
      }
    tokens.insert(tokens.end(), {"ab", "\u0120ab", end_of_text});
  }
  std::string vocabulary() const {
    std::string json = "{";
    for (std::size_t id = 0; id < tokens.size(); ++id)
      json += std::string(id == 0 ? "" : ", ") + '"' + (tokens[id] == "\"" || tokens[id] == "\\" ? "\\" : "") +
              tokens[id] + "\": " + std::to_string(id);
    return json + "}";
  }
  std::string lines(const std::string& line_end = "\n") const {
    std::string text;
    for (const std::string& line : merges) text += line + line_end;
    return text;
  }
  std::unique_ptr<Tokenizer> load(const std::string& vocabulary, const std::string& lines) const {
    put_file(folder.path("vocab.json"), vocabulary);
    put_file(folder.path("merges.txt"), lines);
    return load_gpt2_tokenizer(folder.path("vocab.json"), folder.path("merges.txt"));
  }
  std::unique_ptr<Tokenizer> load() const { return load(vocabulary(), lines()); }
  /// Without the folder, which is another one each time.
  std::string error(const std::string& vocabulary, const std::string& lines) const {
    std::string text = error_of([&] { load(vocabulary, lines); });
    for (std::size_t at; (at = text.find(folder.path() + "/")) != std::string::npos;)
      text.erase(at, folder.path().size() + 1);
    return text;
  }
  std::string error() const { return error(vocabulary(), lines()); }
};

TEST_CASE("GPT-2's files: bytes in its characters and its order") {
  CHECK(detail::visible_bytes(std::string("a \n\0\x7f\xa0\xad\xff", 8)) ==
        "a\u0120\u010a\u0100\u0121\u0142\u0143\u00ff");
  const Files files;
  const auto t = files.load();
  CHECK(t->vocab_size() == 259);
  CHECK(t->encode("!") == Ids{0});
  CHECK(t->encode("a") == Ids{64});
  CHECK(t->encode(std::string(1, '\0')) == Ids{188});
  CHECK(t->encode("\n") == Ids{198});
  CHECK(t->encode("ab ab  ab") == Ids{256, 257, 220, 257});
  CHECK(t->special(end_of_text) == 258);
  CHECK(t->encode("ab<|endoftext|>", SpecialText::allow) == Ids{256, 258});
  CHECK(tokenizer_from(t->json_text())->json_text() == t->json_text());
  CHECK(tokenizer_from(t->json_text())->encode("ab ab  ab") == Ids{256, 257, 220, 257});
}

TEST_CASE("GPT-2's files: escapes in the JSON, Windows line ends, and no version line are accepted") {
  const Files files;
  std::string escaped;
  for (const SlowCharacter& c : slow_characters(files.vocabulary())) {
    char code[8];
    std::snprintf(code, sizeof code, "\\u%04lx", static_cast<unsigned long>(c.code));
    escaped += c.bytes.size() == 1 ? c.bytes : code;
  }
  const std::string expected = files.load()->json_text();
  CHECK(files.load(escaped, files.lines())->json_text() == expected);
  CHECK(files.load(files.vocabulary(), files.lines("\r\n"))->json_text() == expected);
  Files bare;
  bare.merges.erase(bare.merges.begin());
  CHECK(bare.load()->json_text() == expected);
  std::string unended = files.lines();
  unended.pop_back();
  CHECK(files.load(files.vocabulary(), unended)->json_text() == expected);
}

TEST_CASE("GPT-2's files: what makes no tokenizer is refused, with its line or token") {
  const auto with = [](auto change) {
    Files files;
    change(files);
    return files.error();
  };
  const Files good;
  CHECK(good.error() == "(no error)");
  CHECK(with([](Files& f) { f.merges.push_back("ab ab"); }) ==
        "merges.txt: line 4: 'abab', which the merge makes, is not in the vocabulary");
  CHECK(with([](Files& f) { f.merges.push_back("ab xyz"); }) == "merges.txt: line 4: 'xyz' is not in the vocabulary");
  CHECK(with([](Files& f) { f.merges.push_back("a b"); }) == "merges.txt: line 4: 'a b' repeats merges.txt: line 2");
  CHECK(with([](Files& f) { f.merges.push_back("ab"); }) ==
        "merges.txt: line 4: 'ab' must be two tokens with a space between them");
  CHECK(with([](Files& f) { f.merges.push_back("a  b"); }) ==
        "merges.txt: line 4: 'a  b' must be two tokens with a space between them");
  CHECK(with([](Files& f) { f.merges.insert(f.merges.begin() + 1, ""); }) ==
        "merges.txt: line 2: '' must be two tokens with a space between them");
  CHECK(with([](Files& f) { f.merges.push_back(std::string("<|endoftext|> a")); }) ==
        "merges.txt: line 4: '<|endoftext|>' is not in the vocabulary");
  CHECK(with([](Files& f) { f.merges.clear(); }) == "merges.txt must have at least one merge");
  CHECK(with([](Files& f) { f.tokens.push_back("a b"), f.merges.push_back("a b c"); }) ==
        "merges.txt: line 4: 'a b c' must be two tokens with a space between them");
  CHECK(with([](Files& f) { f.tokens[64] = "<|a|>"; }) ==
        "vocab.json: the token 'a' is missing, which stands for byte 97: byte pairs need a token for each of the 256 "
        "bytes");
  CHECK(with([](Files& f) { f.tokens.push_back("<||>"), f.tokens.push_back("<|" + std::string(80, 'x') + "|>"); }) ==
        "(no error)");
  const std::string v = good.vocabulary(), m = good.lines();
  const auto other_id = [&](const std::string& id) { return v.substr(0, v.rfind(' ') + 1) + id + "}"; };
  CHECK(good.error(other_id("-1"), m) == "vocab.json: the id -1 of '<|endoftext|>' must be 0 to 9999999");
  CHECK(
      good.error(other_id("10000000"), m).starts_with("vocab.json: the id 10000000 of '<|endoftext|>' must be 0 to "));
  CHECK(good.error(other_id("9999999"), m) ==
        "vocab.json leaves out too many ids, 1259 among them: those left out and special tokens may be 1000 in all");
  CHECK(good.error(other_id("257"), m) == "vocab.json: '\u0120ab' and '<|endoftext|>' have the same id 257");
  CHECK(good.error(other_id("1.0"), m) ==
        "vocab.json: \"<|endoftext|>\" must be an integer, not a number with a fraction or an exponent");
  CHECK(good.error("{}", m) ==
        "vocab.json: the token 'Ā' is missing, which stands for byte 0: byte pairs need a token for each of the 256 "
        "bytes");
  CHECK(good.error("", m).starts_with("vocab.json: line 1, column 1"));
  REFUSES(load_gpt2_tokenizer("/nowhere/vocab.json", "/nowhere/merges.txt"));
}

TEST_CASE("GPT-2's files: what is neither a byte nor a product is a special token, and so is an id without an entry") {
  Files files;
  files.merges.pop_back();  // the product of none then
  for (const char* const token : {"<s>", "<pad>", "</s>"}) files.tokens.push_back(token);
  std::string gap = files.vocabulary();
  gap.insert(gap.size() - 1, ", \"<mask>\": 265");
  const auto t = files.load(gap, files.lines());
  CHECK(t->vocab_size() == 266);
  CHECK(t->special("\u0120ab") == 257);
  CHECK(t->special("<pad>") == 260);
  CHECK(t->special("<mask>") == 265);
  CHECK(t->special("<|no token 262|>") == 262);
  CHECK(t->encode("ab<s>", SpecialText::allow) == Ids{256, 259});
  CHECK(t->encode("ab ab") == Ids{256, 220, 256});
  CHECK(tokenizer_from(t->json_text())->json_text() == t->json_text());

  // added_tokens.json lies beside them: an entry that is there already, and two new ones.
  put_file(files.folder.path("added_tokens.json"), "{\"<|endoftext|>\": 258, \"[PAD]\": 266}");
  const auto more = files.load(gap, files.lines());
  CHECK(more->special("[PAD]") == 266);

  // Special tokens of one's own follow.
  const std::string vocabulary = files.folder.path("vocab.json"), merges = files.folder.path("merges.txt");
  const auto own = load_gpt2_tokenizer(vocabulary, merges, {"<|a|>", "b c"});
  CHECK(own->vocab_size() == 269);
  CHECK(own->encode("ab<|a|>ab b c", SpecialText::allow) == Ids{256, 267, 256, 220, 268});
  CHECK(own->encode("b c", SpecialText::plain) == more->encode("b c"));
  CHECK(own->decode(std::vector<Index>{267, 268}) == "<|a|>b c");
  CHECK(tokenizer_from(own->json_text())->json_text() == own->json_text());
  REFUSES(load_gpt2_tokenizer(vocabulary, merges, {"[PAD]"}));
  REFUSES(load_gpt2_tokenizer(vocabulary, merges, {"<|a|>", "<|a|>"}));
  REFUSES(load_gpt2_tokenizer(vocabulary, merges, {""}));

  put_file(files.folder.path("added_tokens.json"), "{\"[PAD]\": 258}");
  CHECK(files.error(gap, files.lines()) == "vocab.json: '<|endoftext|>' and '[PAD]' have the same id 258");
}

TEST_CASE("save_vocabulary: byte pairs as GPT-2's files, which are read back; characters as nanoGPT's pickle") {
  const TempFolder folder;
  const std::string text = "low lower lowest \xff\n newer newest";
  const auto pairs = train_tokenizer(TokenizerKind::byte_pair, text, 270, {end_of_text});
  save_vocabulary(*pairs, folder.path());
  const auto back = load_gpt2_tokenizer(folder.path("vocab.json"), folder.path("merges.txt"));
  CHECK(back->json_text() == pairs->json_text());
  const auto bytes = train_tokenizer(TokenizerKind::byte, "", 0, {end_of_text});
  for (const Tokenizer* const each : {bytes.get(), pairs.get()}) {
    save_vocabulary(*each, folder.path());
    CHECK(load_nanogpt_tokenizer(folder.path("meta.pkl"))->json_text() == each->json_text());
  }
  const TorchValue meta = detail::unpickled("meta.pkl", get_file(folder.path("meta.pkl")));
  const auto& words = std::get<TorchDict>(detail::at(meta, "itos").value);
  CHECK(std::get<std::string>(words.find(Index{97})->value) == "a");
  CHECK(std::get<std::string>(words.find(Index{255})->value) == "\ufffd");
  CHECK(std::get<std::string>(words.find(pairs->special(end_of_text))->value) == end_of_text);
  const auto& numbers = std::get<TorchDict>(detail::at(meta, "stoi").value);
  CHECK(std::get<Index>(numbers.find(std::string("a"))->value) == 97);
  CHECK(numbers.find(std::string("low")) == nullptr);  // its sample.py looks up one character after the other

  save_vocabulary(*train_tokenizer(TokenizerKind::character, "\n\u00e9\U0001f600", 0, {}), folder.path());
  const auto text_of = [](const std::string& x) { return "X" + std::string{char(x.size()), 0, 0, 0} + x; };
  const auto number = [](char n) { return "\x8a\x08" + std::string{n, 0, 0, 0, 0, 0, 0, 0}; };
  std::string stoi, itos;
  for (const std::string letter : {"\n", "\u00e9", "\U0001f600"}) {
    const std::string id = number(letter == "\n" ? 0 : letter == "\u00e9" ? 1 : 2);
    stoi += text_of(letter) + id;
    itos += id + text_of(letter);
  }
  CHECK(get_file(folder.path("meta.pkl")) == "\x80\2}(" + text_of("vocab_size") + number(3) + text_of("stoi") + "}(" +
                                                 stoi + "u" + text_of("itos") + "}(" + itos + "uu.");
  // x is both a letter and special.
  save_vocabulary(*train_tokenizer(TokenizerKind::character, "xy", 0, {"x"}), folder.path());
  CHECK(get_file(folder.path("meta.pkl")).find(text_of("y") + number(1) + text_of("x") + number(2)) !=
        std::string::npos);
}

TEST_CASE("GPT-2's files: the real ones, where MOTE_TEST_GPT2 names a folder with them" * doctest::skip()) {
  const char* const folder = std::getenv("MOTE_TEST_GPT2");
  if (!folder) {
    MESSAGE("MOTE_TEST_GPT2 names no folder");  // by which ctest knows
    return;
  }
  const std::string path = folder;
  const auto t = load_gpt2_tokenizer(path + "/vocab.json", path + "/merges.txt");
  CHECK(t->vocab_size() == 50257);
  CHECK(t->special(end_of_text) == 50256);
  CHECK(t->encode("hello world") == Ids{31373, 995});
  CHECK(t->encode("hello <|endoftext|>", SpecialText::allow) == Ids{31373, 220, 50256});
  const std::vector<Ids> zeros{
      {15},          {405},         {830},         {2388},      {20483},           {10535},
      {24598},       {8269},        {10535, 830},  {8269, 405}, {8269, 830},       {8269, 2388},
      {8269, 20483}, {8269, 10535}, {8269, 24598}, {25645},     {8269, 10535, 830}};
  for (std::size_t n = 0; n < zeros.size(); ++n) CHECK(t->encode(std::string(n + 1, '0')) == zeros[n]);
  const auto back = tokenizer_from(t->json_text());
  CHECK(back->json_text() == t->json_text());
  Dice dice(12);
  for (int i = 0; i < 3000; ++i) {
    const std::string x = i % 2 ? random_bytes(dice, dice.below(40)) : random_text(dice, dice.below(40), i % 4 == 0);
    REQUIRE(t->decode(t->encode(x, SpecialText::plain)) == x);
  }
  const std::string letters(1'000'000, 'a');
  CHECK(t->decode(t->encode(letters)) == letters);
}

}  // namespace
}  // namespace mote::test::gpt2_files_test
