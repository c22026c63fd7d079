// The text task: what it reads, splits and draws; documents; a text of its own; what it refuses; its state.
#include "train/text/text_task.h"

#include <map>
#include <set>

#include "engine/base/math.h"
#include "tests/random_text.h"
#include "tests/sentences.h"
#include "tests/temp_folder.h"
#include "tests/tools.h"
#include "train/tasks/list.h"

namespace mote::test::text_task_test {
namespace {

using Ids = std::vector<Index>;

/// As a reader sees it: CRLF is a line end.
std::string without_returns(std::string text) {
  std::erase(text, '\r');
  return text;
}

/// A file and the task that reads it.
struct File {
  TempFolder folder;
  std::string path = folder.path("text");
  explicit File(const std::string& content) { put_file(path, content); }
  TextOptions options(TokenizerKind kind = TokenizerKind::character, Index block = 8, bool lines = false) const {
    TextOptions o;
    o.text = path;
    o.tokenizer = text_of(kind);
    o.block_size = block;
    o.lines = lines;
    return o;
  }
  std::string error(const TextOptions& o) const {
    std::string text = error_of([&] { TextTask{o}; });
    for (std::size_t at; (at = text.find(path)) != std::string::npos;) text.replace(at, path.size(), "FILE");
    return text;
  }
};

/// n different characters in a row, so that a window tells where it is from.
std::string counting(int n) {
  std::string text;
  for (int i = 0; i < n; ++i) {
    text += "\u4e00"[0];
    text += static_cast<char>(0xb8 + i / 64);
    text += static_cast<char>(0x80 + i % 64);
  }
  return text;
}

/// The targets that count, of all batches in order, each of which must be the next id of its row or end the row.
Ids targets_of(const std::vector<Batch>& batches) {
  Ids all;
  for (const Batch& b : batches)
    for (Index n = 0; n < b.ids.shape()[0]; ++n) {
      const Ids ids = row_of(b.ids, n), targets = row_of(b.targets, n);
      for (std::size_t t = 0; t < targets.size() && targets[t] >= 0; ++t) {
        if (t + 1 < ids.size() && t + 1 < targets.size() && targets[t + 1] >= 0) REQUIRE(targets[t] == ids[t + 1]);
        all.push_back(targets[t]);
      }
    }
  return all;
}

TEST_CASE("text task: nine tenths of the characters, whatever their bytes; documents' bytes and pairs of tokens") {
  const File mixed(counting(100) + std::string(100, 'a'));  // 200 characters in 400 bytes
  std::unique_ptr<Tokenizer> of_mixed;
  const TextData parts = read_text(mixed.options(), of_mixed);
  CHECK((parts.train.ids.size() == 180 && parts.held_out.ids.size() == 20));
  CHECK((parts.train.bytes == 3 * 100 + 80 - 3 && parts.held_out.bytes == 19));  // without the first token's

  std::string text;
  for (int i = 0; i < 300; ++i) text += std::to_string(i * i) + "\n";
  const File lines(text);
  std::unique_ptr<Tokenizer> tokenizer;
  const TextData data = read_text(lines.options(TokenizerKind::character, 8, true), tokenizer);
  CHECK(data.train.bytes + data.held_out.bytes == static_cast<Index>(text.size()));
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> pairs;
  std::map<std::uint32_t, double> firsts;
  const auto each_pair = [](const TextPart& part, const auto& see) {
    for (std::size_t k = 0; k + 1 < part.starts.size(); ++k)
      for (std::size_t i = part.starts[k] + 1; i < part.starts[k + 1]; ++i) see(part.ids[i - 1], part.ids[i]);
  };
  each_pair(data.train, [&](std::uint32_t a, std::uint32_t b) { pairs[{a, b}] += 1, firsts[a] += 1; });
  double sum = 0, count = 0;
  each_pair(data.held_out, [&](std::uint32_t a, std::uint32_t b) {
    sum -= std::log((pairs[{a, b}] + 1) / (firsts[a] + static_cast<double>(tokenizer->vocab_size())));
    count += 1;
  });
  REQUIRE(count > 30);
  CHECK(data.bigram_loss(tokenizer->vocab_size()).value() == doctest::Approx(sum / count).epsilon(1e-9));
}

TEST_CASE("text task: the last tenth of the characters is held out, and every window occurs") {
  const File file(counting(200));
  const TextTask task(file.options());
  CHECK(task.vocab_size() == 200);
  CHECK(task.block_size() == 8);
  for (const Split split : {Split::train, Split::validation}) {
    const Index begin = split == Split::train ? 0 : 180, end = split == Split::train ? 180 : 200;
    const Batch b = task.batch(3000, split, Generator(1));
    CHECK(b.ids.shape() == Shape({3000, 8}));
    std::set<Index> starts;
    for (Index n = 0; n < 3000; ++n) {
      const Ids ids = row_of(b.ids, n), targets = row_of(b.targets, n);
      starts.insert(ids[0]);
      for (Index t = 0; t < 8; ++t) {
        REQUIRE(ids[static_cast<std::size_t>(t)] == ids[0] + t);
        REQUIRE(targets[static_cast<std::size_t>(t)] == ids[0] + t + 1);
      }
    }
    CHECK(*starts.begin() == begin);
    CHECK(*starts.rbegin() == end - 9);  // the last window ends with the last target
    CHECK(static_cast<Index>(starts.size()) == end - begin - 8);
  }
  Ids rest;  // of what is held out, each once
  for (Index id = 181; id < 200; ++id) rest.push_back(id);
  for (const Index size : {1, 2, 100}) {
    CHECK(targets_of(task.held_out(size)) == rest);
    CHECK(task.held_out(size)[0].ids.shape() == Shape({std::min<Index>(size, 3), 8}));
  }
  const File large(std::string(11'000'000, 'x'));
  CHECK(TextTask(large.options(TokenizerKind::byte)).held_out(4).empty());
  const Generator a(1), b(1);
  CHECK(equal(task.batch(5, Split::train, a).ids, task.batch(5, Split::train, b).ids));
  CHECK_FALSE(equal(task.batch(5, Split::train, a).ids, task.batch(5, Split::train, Generator(1)).ids));
  CHECK(task.batch(0, Split::train, a).ids.numel() == 0);
}

TEST_CASE("text task: all bytes of a file are its text") {
  const std::string text = "\ufeffDon't\r\nstop 👍🏽\r\n";
  std::string whole;
  for (int i = 0; i < 20; ++i) whole += text;
  const File file(whole);
  for (const TokenizerKind kind : {TokenizerKind::character, TokenizerKind::byte, TokenizerKind::byte_pair}) {
    const TextTask task(file.options(kind));
    const TextData data = [&] {
      std::unique_ptr<Tokenizer> tokenizer;
      return read_text(file.options(kind), tokenizer);
    }();
    Ids all(data.train.ids.begin(), data.train.ids.end());
    all.insert(all.end(), data.held_out.ids.begin(), data.held_out.ids.end());
    CHECK(task.text(all) == without_returns(whole));
    CHECK(task.text(task.ids(text)) == without_returns(text));
    CHECK(task.tokenizer()->decode(all) == whole);
    // The same characters are held out whatever the tokens are.
    const Ids last(data.held_out.ids.begin(), data.held_out.ids.end());
    CHECK(task.tokenizer()->decode(last) == whole.substr(whole.size() - 2 * text.size()));
    CHECK(data.held_out.bytes == static_cast<Index>(2 * text.size() - task.tokenizer()->token(last[0]).size()));
  }
}

TEST_CASE("text task: a binary file trains with byte and bpe") {
  Dice dice(13);
  const std::string bytes = random_bytes(dice, 5000);
  const File file(bytes);
  for (const TokenizerKind kind : {TokenizerKind::byte, TokenizerKind::byte_pair}) {
    const TextTask task(file.options(kind));
    CHECK(task.vocab_size() == (kind == TokenizerKind::byte ? 256 : 329));
    const Batch b = task.batch(50, Split::train, Generator(1));
    for (Index n = 0; n < 50; ++n) CHECK(bytes.find(task.tokenizer()->decode(row_of(b.ids, n))) != std::string::npos);
  }
  CHECK(file.error(file.options()).starts_with("FILE is no UTF-8 at byte "));
  CHECK(file.error(file.options()).ends_with("; the tokenizers bpe and byte take any bytes"));
}

TEST_CASE("text task: with lines each document lies between two separators, in one split") {
  std::string names;
  std::set<std::string> all;
  for (int i = 0; i < 300; ++i) {
    std::string name = std::string(1, static_cast<char>('a' + i % 26)) + static_cast<char>('a' + i / 26) + "xyz";
    name.resize(static_cast<std::size_t>(2 + i % 4));
    all.insert(name);
    names += name + (i % 2 ? "\r\n" : "\n") + (i % 50 == 0 ? "\n" : "");
  }
  names += "a rather long line of more than eight";  // without an end
  const File file(names);
  for (const TokenizerKind kind : {TokenizerKind::character, TokenizerKind::byte, TokenizerKind::byte_pair}) {
    const TextTask task(file.options(kind, 8, true));
    const Index separator = task.tokenizer()->special(end_of_text);
    CHECK(separator == task.vocab_size() - 1);
    if (kind == TokenizerKind::character) CHECK(task.vocab_size() == 27 + 1);  // a-z, a space, the separator
    std::set<std::string> seen[2];
    bool long_one = false;
    for (const Split split : {Split::train, Split::validation}) {
      const Batch b = task.batch(4000, split, Generator(2));
      const Index T = b.ids.shape()[1];
      CHECK(T <= 8);
      for (Index n = 0; n < 4000; ++n) {
        const Ids ids = row_of(b.ids, n), targets = row_of(b.targets, n);
        std::size_t counted = 0;
        while (counted < targets.size() && targets[counted] >= 0) ++counted;
        REQUIRE(counted >= 1);
        for (std::size_t t = 0; t + 1 < counted; ++t) REQUIRE(targets[t] == ids[t + 1]);
        for (std::size_t t = counted; t < targets.size(); ++t) REQUIRE(targets[t] == -1);
        if (ids[0] != separator || targets[counted - 1] != separator) {
          long_one = true;  // a window of the one that is longer than the block
          continue;
        }
        const std::string name = task.tokenizer()->decode(std::span(ids).subspan(1, counted - 1));
        REQUIRE(all.contains(name));
        seen[split == Split::validation].insert(name);
      }
    }
    std::set<std::string> whole;
    std::string shown = task.text(targets_of(task.held_out(7)));
    for (std::size_t at = 0, line_end; (line_end = shown.find('\n', at)) != std::string::npos; at = line_end + 1)
      if (line_end - at < 6) whole.insert(shown.substr(at, line_end - at));
    CHECK(whole == seen[1]);
    CHECK(seen[0].size() + seen[1].size() == all.size());
    for (const std::string& name : seen[1]) CHECK(!seen[0].contains(name));
    CHECK(seen[1].size() > 10);
    CHECK(seen[1].size() < 60);
    if (kind != TokenizerKind::byte_pair) CHECK(long_one);
    CHECK(task.ids("ab").front() == separator);
    CHECK(task.text(task.ids("ab")) == "ab");
    const Ids two{separator, task.ids("ab")[1], separator, task.ids("a")[1], separator};
    CHECK(task.text(two) == task.tokenizer()->token(two[1]) + "\na\n");
  }
}

TEST_CASE("text task: questions are beginnings, with what once followed") {
  const File file(counting(200));
  const TextTask task(file.options());
  CHECK(!task.graded());
  const Questions q = task.questions(7, Split::validation, Generator(1));
  CHECK(q.prompts.shape() == Shape({7, 1}));
  CHECK(q.answers.shape() == Shape({7, 8}));
  CHECK(task.questions(0, Split::validation, Generator(1)).prompts.shape() == Shape({0, 1}));
  const File with_lines("ab\ncd\n" + std::string(100, 'e'));
  CHECK(TextTask(with_lines.options())
            .word(TextTask(with_lines.options()).questions(1, Split::train, Generator(1)).prompts.at({0, 0})) == "\\n");
}

TEST_CASE("text task: with lines a carriage return inside a line is a character of it") {
  std::string lines;
  for (int i = 0; i < 100; ++i) lines += "n" + std::to_string(i) + "\r\n";
  const auto size = [](const std::string& text) {
    const File file(text);
    return TextTask(file.options(TokenizerKind::character, 8, true)).vocab_size();
  };
  const Index plain = size(lines);
  CHECK(plain == 12);  // n, ten digits, the separator
  for (const char* const more : {"1\r2\n", "1\r\r\n", "\r1"}) CHECK(size(lines + more) == plain + 1);
}

TEST_CASE("text task: tokens as words") {
  const File file(std::string("a\\b\n\t\x7f é\0", 10) + std::string(200, 'x'));
  const TextTask task(file.options());
  std::set<std::string> words;
  for (Index id = 0; id < task.vocab_size(); ++id) words.insert(task.word(id));
  CHECK(words == std::set<std::string>{"a", "\\\\", "b", "\\n", "\\x09", "\\x7f", " ", "é", "\\x00", "x"});
  const TextTask bytes(file.options(TokenizerKind::byte));
  CHECK(bytes.word(0xc3) == "\\xc3");
  CHECK(bytes.text(bytes.ids("é")) == "é");
  CHECK(bytes.text(Ids{0xc3, 0x41}) == "\ufffdA");
}

TEST_CASE("text task: what is refused, in one sentence") {
  const File file(std::string(100, 'a') + std::string(10, 'b'));
  const auto with = [&](const std::string& content, TextOptions o) {
    put_file(file.path, content);
    return file.error(o);
  };
  CHECK(with("", file.options()) == "FILE is empty");
  CHECK(with("a", file.options()) ==
        "FILE has 0 tokens to train on and 1 to hold out, but block_size 8 needs at least 9 and 2: a smaller "
        "block_size may do");
  CHECK(with("abcdefghij", file.options()).starts_with("FILE has 9 tokens to train on and 1 to hold out"));
  CHECK(with("abcdefghijk", file.options()) == "(no error)");  // a block and one more
  CHECK(with("abcdefghijk", file.options(TokenizerKind::character, 9)).starts_with("FILE has 9 tokens to train on"));
  CHECK(with("ab", file.options(TokenizerKind::character, 0)) == "text: block_size 0 must be 1 to 1000000");
  TextOptions sized = file.options();
  sized.vocab_size = 300;
  CHECK(with("ab", sized) == "text: vocab_size 300 is for the tokenizer bpe: that of char follows from the text");
  sized.tokenizer = "bpe";
  sized.vocab_size = 200;
  CHECK(with("ab", sized) == "FILE: train_tokenizer: vocab_size 200 must be 256 (all bytes) to 1000000");
  CHECK(with("one line", file.options(TokenizerKind::character, 8, true)) ==
        "FILE has 1 line: at least 2 different ones are needed, to hold one out");
  CHECK(with("\n\r\n\n", file.options(TokenizerKind::character, 8, true)) ==
        "FILE has 0 lines: at least 2 different ones are needed, to hold one out");
  std::string lines;
  for (int i = 0; i < 100; ++i) lines += "line " + std::to_string(i) + "\n";
  CHECK(with(lines, file.options(TokenizerKind::character, 8, true)) == "(no error)");
  CHECK(with(lines + "a <|endoftext|>\n", file.options(TokenizerKind::character, 8, true)) ==
        "FILE: line 101 has <|endoftext|>, the token between documents: no document may contain it");
  for (const bool as_lines : {false, true})
    CHECK(with(lines + "caf\xe9 noir\n" + lines, file.options(TokenizerKind::character, 8, as_lines)) ==
          "FILE is no UTF-8 at byte 793, and looks like Latin-1: iconv -f ISO-8859-1 -t UTF-8 FILE > new.txt converts "
          "it; "
          "the tokenizers bpe and byte take any bytes");
  const auto utf16 = [](const std::string& text, bool big) {
    std::string wide;
    for (const char c : text) wide += big ? std::string(1, '\0') + c : std::string(1, c) + '\0';
    return wide;
  };
  const std::string converts = " -t UTF-8 FILE > new.txt converts it";
  CHECK(with("\xff\xfe" + utf16(lines, false), file.options()) == "FILE is UTF-16: iconv -f UTF-16" + converts);
  CHECK(with("\xfe\xff" + utf16(lines, true), file.options()) == "FILE is UTF-16: iconv -f UTF-16" + converts);
  CHECK(with(utf16(lines, false), file.options()) ==
        "FILE is UTF-16 without a byte order mark: iconv -f UTF-16LE" + converts);
  CHECK(with(utf16(lines, true), file.options()) ==
        "FILE is UTF-16 without a byte order mark: iconv -f UTF-16BE" + converts);
  CHECK(with(lines + "\x93quoted\x94", file.options()).find(": iconv -f WINDOWS-1252 -t") != std::string::npos);
  CHECK(with("\xf0\xf2\xe9\xf7\xe5\xf4 \xed\xe9\xf2", file.options()).find(" older encoding, such as KOI8-R") !=
        std::string::npos);
  CHECK(with("alike\nalike\n", file.options(TokenizerKind::character, 8, true)) ==
        "FILE has 2 lines, all alike: at least 2 different ones are needed, to hold one out");
  CHECK(with("one\rtwo\rthree", file.options(TokenizerKind::character, 8, true)) ==
        "FILE has 1 line: at least 2 different ones are needed, to hold one out; its lines end with CR: tr '\\r' '\\n' "
        "< FILE > new.txt converts it");
  CHECK(with(lines + "a <|endoftext|>\n", file.options()) == "(no error)");  // without lines it is text as any other
  TextOptions nowhere;
  nowhere.text = file.folder.path("none");
  REFUSES(TextTask{nowhere});
  nowhere.text = file.folder.path();
  CHECK(error_of([&] { TextTask{nowhere}; }) ==
        file.folder.path() + " is a folder without train.bin and val.bin: give the text's file");
  nowhere.text = file.path;
  nowhere.tokenizer = "words";
  REFUSES(TextTask{nowhere});
  std::filesystem::resize_file(file.path, 1'000'000'000);  // sparse
  CHECK(file.error(file.options()).find("100000000") != std::string::npos);
}

TEST_CASE("text task: of few lines at least one is held out, and the description says how many; CRLF is a line end") {
  const File file("anna\nbert\ncarl\ndora\nemil\nfritz\ngerd\nhans\nida\njule\n");
  for (Index lines = 2; lines <= 10; ++lines) {
    std::string some = "anna\nbert\ncarl\ndora\nemil\nfritz\ngerd\nhans\nida\njule\n";
    std::size_t end = 0;
    for (Index n = 0; n < lines; ++n) end = some.find('\n', end) + 1;
    put_file(file.path, some.substr(0, end));
    const TextTask task(file.options(TokenizerKind::character, 8, true));
    const Index held_out = std::ssize(task.data().held_out.starts) - 1;
    CHECK(held_out >= 1);
    CHECK(std::ssize(task.data().train.starts) - 1 == lines - held_out);
    CHECK(task.description().find(std::to_string(held_out) + " of its " + std::to_string(lines) +
                                  " documents held out") != std::string::npos);
  }
  put_file(file.path, "one\r\ntwo\rthree\n" + std::string(100, 'x'));
  const TextTask windows(file.options());
  CHECK(windows.text(windows.ids("one\r\ntwo\rx\r")) == "one\ntwo\nx\n");
}

TEST_CASE("text task: its state brings it back without the file, and refuses another text") {
  const File file("The quick brown fox jumps over the lazy dog. " + std::string(200, 'x'));
  for (const TokenizerKind kind : {TokenizerKind::character, TokenizerKind::byte, TokenizerKind::byte_pair}) {
    const TextTask task(file.options(kind));
    const std::string state = task.state();
    const std::unique_ptr<Task> again =
        make_task("text", {{"text", file.path}, {"tokenizer", text_of(kind)}, {"block_size", "8"}}, state);
    CHECK(again->state() == state);
    CHECK(equal(again->batch(9, Split::train, Generator(1)).ids, task.batch(9, Split::train, Generator(1)).ids));
    const std::string content = get_file(file.path);
    put_file(file.path, content + "!");
    const TextTask later(file.options(kind), state);
    CHECK(later.vocab_size() == task.vocab_size());
    CHECK(later.text(later.ids("The lazy fox")) == "The lazy fox");
    CHECK(error_of([&] { later.batch(1, Split::train, Generator(1)); }) ==
          file.path + " is not the text that the run began with");
    std::filesystem::remove(file.path);
    CHECK(TextTask(file.options(kind), state).ids("lazy") == task.ids("lazy"));
    CHECK(error_of([&] { later.batch(1, Split::train, Generator(1)); }).find(file.path) != std::string::npos);
    put_file(file.path, content);
    REFUSES(TextTask(file.options(kind), state + "x"));
    const TokenizerKind other = kind == TokenizerKind::byte ? TokenizerKind::character : TokenizerKind::byte;
    REFUSES(TextTask(file.options(other), state));
  }
}

TEST_CASE("text task: the bigram model, by hand, and bits per byte") {
  const File file(
      "ababababab"
      "ababababbb"
      "ab");  // 22 characters: 19 to train on, "bab" held out
  const TextTask task(file.options());
  std::unique_ptr<Tokenizer> tokenizer;
  const TextData data = read_text(file.options(), tokenizer);
  CHECK(data.train.ids.size() == 19);
  // a: 9 times before b; b: 8 times before a, once before b (of the last "bb", one b is held out).
  const double loss = (-std::log(9.0 / 11) - std::log(10.0 / 11)) / 2;
  CHECK(*data.bigram_loss(2) == doctest::Approx(loss));
  CHECK(!data.bigram_loss(5000));
  CHECK(task.loss_note(std::log(2.0)) == " (1.000 bits per byte)");
  const File wide(counting(200));  // three bytes each
  CHECK(TextTask(wide.options()).loss_note(3 * std::log(2.0)) == " (1.000 bits per byte)");
}

TEST_CASE("text task: the text that mote makes is always the same, and its probability is what the grammar says") {
  const SyntheticText text = synthetic_text(300'000), shorter = synthetic_text(1000);
  CHECK(text.text.size() >= 300'000);
  CHECK(text.text.size() < 300'200);
  CHECK(text.text.starts_with(shorter.text));
  CHECK(shorter.nats < text.nats);
  std::set<char> characters(text.text.begin(), text.text.end());
  const TextTask task;
  CHECK(task.vocab_size() == static_cast<Index>(characters.size()));
  CHECK(task.description().find("bits per byte") != std::string::npos);
  CHECK(task.batch(2, Split::validation, Generator(1)).ids.shape() == Shape({2, 64}));
  CHECK(task.description() ==
        "a text of mote's own, 300017 bytes, 31 tokens (char), the last tenth held out; a bigram model's loss there is "
        "1.6170 (2.333 bits per byte); the least possible is 0.358 bits per byte");
}

}  // namespace
}  // namespace mote::test::text_task_test
