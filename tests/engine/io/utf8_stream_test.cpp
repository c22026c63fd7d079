// Utf8Stream: whole characters only, however the bytes come.
#include "engine/io/text/utf8_stream.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/io/files/file.h"
#include "engine/io/text/json.h"
#include "engine/io/text/utf8.h"
#include "nn/fields.h"
#include "tests/random_text.h"
#include "tests/tools.h"

namespace mote::test::utf8_stream_test {
namespace {

const std::string lost = "\xef\xbf\xbd";

std::string losts(int n) {
  std::string text;
  for (int i = 0; i < n; ++i) text += lost;
  return text;
}

TEST_CASE("utf8: a zero byte is a character, half a character is none") {
  using Found = std::pair<std::size_t, std::optional<unsigned>>;
  const std::string text("\0\xc3\xa9\xc3", 4);
  CHECK(detail::character_at(text, 0) == Found{1, 0});
  CHECK(detail::character_at(text, 1) == Found{2, 0xe9});
  CHECK(detail::character_at(text, 2) == Found{1, {}});
  CHECK(detail::character_at(text, 3) == Found{1, {}});
  CHECK(detail::character_at(text, 4) == Found{1, {}});
  CHECK((detail::is_utf8("") && detail::is_utf8(text.substr(0, 3)) && !detail::is_utf8(text)));
  for (const unsigned code : {0x0u, 0x1fu, 0x7fu, 0x9fu, 0xfffeu, 0xffffu}) CHECK(detail::is_control(code));
  for (const unsigned code : {0x20u, 0x7eu, 0xa0u, 0xfffdu, 0x10000u}) CHECK(!detail::is_control(code));
}

TEST_CASE("readable text: no control character, no mark that turns the direction of writing") {
  CHECK(readable_text("\x1b[31m\a\r\n\t\x7f") == "␛[31m␇␍\n\t␡");
  CHECK(readable_text(std::string("\0\n", 2), "") == "␀␊");
  CHECK(readable_text("a\u009b1mb") == "a" + lost + "1mb");
  CHECK(readable_text("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069") == losts(9));
  CHECK(readable_text("\u2029\u202f\u2065\u206a\u00a0\ufffd") == "\u2029\u202f\u2065\u206a\u00a0\ufffd");
  CHECK(readable_text("\xef\xbf\xbe\xef\xbf\xbf\x9b") == losts(3));
  CHECK(markup_text("<a href=\"&'\u202e\n\">") == "&lt;a href=&quot;&amp;&#39;" + lost + "␊&quot;&gt;");
}

TEST_CASE("errors: what a file or an option holds reaches no terminal raw, whatever sentence quotes it") {
  const std::string hostile = "a\x1b[31m\nb\a", shown = "a␛[31m␊b␇";
  const auto error = [](auto f) { return test::error_of([&] { f(); }); };
  CHECK(error([&] { check(false, "there is no '", hostile, "'"); }) == "there is no '" + shown + "'");
  Index index = 0;
  CHECK(error([&] { detail::read_field("seed", hostile, index); }) == "seed: '" + shown + "' is not a whole number");
  CHECK(error([&] {
          JsonPlace(parse_json("{\""
                               "a\u009b"
                               "\":1}"),
                    "config.json")
              .at("a\u009b")
              .as_string();
        }).find("\u009b") == std::string::npos);
  CHECK(error([&] { FileReader{hostile}; }) == "cannot read '" + shown + "': No such file or directory");
}

TEST_CASE("Utf8Stream: a character is held back until it is whole") {
  Utf8Stream stream;
  CHECK(stream.add("a\xc3") == "a");
  CHECK(stream.add("\xa9"
                   "b\xf0") ==
        "\xc3\xa9"
        "b");
  CHECK(stream.add("\x9f\x98") == "");
  CHECK(stream.add("\x80") == "😀");
  CHECK(stream.finish() == "");
  CHECK(stream.add("x\xe4\xbd") == "x");
  CHECK(stream.finish() == lost);
  CHECK(stream.add("\xbd") == lost);
  CHECK(stream.finish() == "");
}

TEST_CASE("Utf8Stream: U+FFFD for each maximal part, as in Unicode's own examples") {
  CHECK(valid_utf8("\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41") == losts(8) + "A");
  CHECK(valid_utf8("\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41") == losts(8) + "A");
  CHECK(valid_utf8("\xf4\x91\x92\x93\xff\x41\x80\xbf\x42") == losts(5) + "A" + losts(2) + "B");
  CHECK(valid_utf8("\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41") == losts(4) + "A");
  CHECK(valid_utf8("\xef\xbb\xbf") == "\ufeff");
  CHECK(valid_utf8(std::string("a\0b", 3)) == std::string("a\0b", 3));
  CHECK(valid_utf8("") == "");
}

TEST_CASE("Utf8Stream: the same text whatever the pieces, valid at all times") {
  Dice dice(2);
  for (int i = 0; i < 2000; ++i) {
    const std::string bytes = i % 2 ? random_bytes(dice, dice.below(20)) : random_text(dice, dice.below(20), false);
    Utf8Stream stream;
    std::string shown;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t n = 1 + dice.below(3);
      shown += stream.add(bytes.substr(at, n));
      for (const SlowCharacter& c : slow_characters(shown)) REQUIRE(c.code >= 0);
      at += n;
    }
    shown += stream.finish();
    REQUIRE(shown == valid_utf8(bytes));
    const std::vector<SlowCharacter> parts = slow_characters(bytes);
    if (std::all_of(parts.begin(), parts.end(), [](const SlowCharacter& c) { return c.code >= 0; }))
      REQUIRE(shown == bytes);
  }
}

}  // namespace
}  // namespace mote::test::utf8_stream_test
