// What parse_json accepts and what it refuses, where errors point, damaged text, limits of time and memory.

#include "engine/io/text/json.h"
#include "tests/sentences.h"
#include "tests/tools.h"

namespace mote::test::json_parse_test {
namespace {

std::string error(std::string_view text) {
  return error_of([&] { parse_json(text); });
}

TEST_CASE("json: what RFC 8259 allows, as it is written back") {
  struct Case {
    std::string text, back;
  };
  const std::vector<Case> cases{
      {"null", "null"},
      {"true", "true"},
      {"false", "false"},
      {" \t\r\n0 \t\r\n", "0"},
      {"[]", "[]"},
      {"{}", "{}"},
      {"\"\"", "\"\""},
      {" [ 1 , [ ] , { } ] ", "[1,[],{}]"},
      {R"({"b":1,"a":{"c":null}})", R"({"b":1,"a":{"c":null}})"},
      {R"({"":0})", R"({"":0})"},
      {R"({"a":[{"a":1},{"a":2}]})", R"({"a":[{"a":1},{"a":2}]})"},
      // numbers
      {"-1", "-1"},
      {"9223372036854775807", "9223372036854775807"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"-0", "-0.0"},
      {"0.1", "0.1"},
      {"-0.25", "-0.25"},
      {"1e2", "100.0"},
      {"1E2", "100.0"},
      {"1e+2", "100.0"},
      {"0e1", "0.0"},
      {"0e-999999", "0.0"},
      {"1.50", "1.5"},
      {"123.456e-7", "1.23456e-05"},
      {"1.7976931348623157e308", "1.7976931348623157e+308"},
      {"5e-324", "4.94066e-324"},
      {"2.2250738585072014e-308", "2.2250738585072014e-308"},
      {"9007199254740993.0", "9007199254740992.0"},
      // strings
      {R"("a b")", R"("a b")"},
      {R"("\"\\\/\b\f\n\r\t")", R"("\"\\/\b\f\n\r\t")"},
      {R"("\u0041")", R"("A")"},
      {R"("\u0000")", R"("\u0000")"},
      {R"("\u001F\u007f")", "\"\\u001f\x7f\""},
      {R"("\u00e9\u00E9")", "\"\xc3\xa9\xc3\xa9\""},
      {R"("\ud83d\ude00")", "\"\xf0\x9f\x98\x80\""},
      {R"("\uD800\uDC00")", "\"\xf0\x90\x80\x80\""},
      {R"("\uDBFF\uDFFF")", "\"\xf4\x8f\xbf\xbf\""},
      {"\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
      {"\"\xef\xbb\xbf\"", "\"\xef\xbb\xbf\""},
      {R"({"\u0061":1})", R"({"a":1})"},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    const Json value = parse_json(c.text);
    CHECK(text_of(value) == c.back);
    CHECK(parse_json(c.back) == value);
    CHECK(text_of(parse_json(c.back)) == c.back);
  }
}

TEST_CASE("json: what it does not allow, and where the error points") {
  struct Case {
    std::string text, error;
  };
  const std::string value_here = "a value must stand here, not ",
                    name_here = "a name in double quotes must stand here, not ",
                    in_array = "after an item of an array ',' or ']' must follow, not ",
                    in_object = "after a member of an object ',' or '}' must follow, not ", unexpected = "unexpected ",
                    no_zero = "a number must not start with a needless 0",
                    ended = ": the document has ended here, and only white space may follow",
                    integers = "an integer must be at least -2^63 and below 2^63",
                    range = "the number is beyond the range of a double", end = "the end of the text",
                    half = "the first half of a surrogate pair has no second",
                    four = "\\u must be followed by four hexadecimal digits",
                    escape = "a backslash must be followed by one of \"\\/bfnrtu, not ",
                    control = "a control character in a string must be escaped, unlike byte 0x",
                    utf8 = "the text is not UTF-8";
  const std::string nul(1, '\0');
  const std::vector<Case> cases{
      {"", "column 1 (byte 0): " + value_here + end},
      {nul, "column 1 (byte 0): " + value_here + "byte 0x00"},
      {"\xef\xbb\xbf{}", "column 1 (byte 0): a byte order mark is not JSON"},
      {"\xff\xfe", "column 1 (byte 0): " + value_here + "byte 0xff"},
      {"{", "column 2 (byte 1): " + name_here + end},
      {"[", "column 2 (byte 1): " + value_here + end},
      {"}", "column 1 (byte 0): " + value_here + "'}'"},
      {"[1", "column 3 (byte 2): " + in_array + end},
      {"[1,]", "column 4 (byte 3): " + value_here + "']'"},
      {"[1,,2]", "column 4 (byte 3): " + value_here + "','"},
      {"[1 2]", "column 4 (byte 3): " + in_array + "'2'"},
      {"[1}", "column 3 (byte 2): " + in_array + "'}'"},
      {R"({"a")", "column 5 (byte 4): after a name ':' must follow, not " + end},
      {R"({"a" 1})", "column 6 (byte 5): after a name ':' must follow, not '1'"},
      {R"({"a":})", "column 6 (byte 5): " + value_here + "'}'"},
      {R"({"a":1)", "column 7 (byte 6): " + in_object + end},
      {R"({"a":1,})", "column 8 (byte 7): " + name_here + "'}'"},
      {R"({"a":1 "b":2})", "column 8 (byte 7): " + in_object + "'\"'"},
      {"{a:1}", "column 2 (byte 1): " + name_here + "'a'"},
      {"{'a':1}", "column 2 (byte 1): " + name_here + "'''"},
      {"'a'", "column 1 (byte 0): " + value_here + "'''"},
      {"{} x", "column 4 (byte 3): " + unexpected + "'x'" + ended},
      {"{}" + nul, "column 3 (byte 2): " + unexpected + "byte 0x00" + ended},
      {"truely", "column 5 (byte 4): " + unexpected + "'l'" + ended},
      {"tru", "column 1 (byte 0): " + value_here + "'t'"},
      {"nan", "column 1 (byte 0): " + value_here + "'n'"},
      {"NaN", "column 1 (byte 0): " + value_here + "'N'"},
      {"-Infinity", "column 2 (byte 1): a digit must follow the sign, not 'I'"},
      {"// c\n1", "column 1 (byte 0): " + value_here + "'/'"},
      {"\v1", "column 1 (byte 0): " + value_here + "byte 0x0b"},
      {"\xc2\xa0[]", "column 1 (byte 0): " + value_here + "'\xc2\xa0'"},
      // numbers
      {"-", "column 2 (byte 1): a digit must follow the sign, not " + end},
      {"+1", "column 1 (byte 0): " + value_here + "'+'"},
      {"- 1", "column 2 (byte 1): a digit must follow the sign, not byte 0x20"},
      {"01", "column 1 (byte 0): " + no_zero},
      {"[1, 012]", "column 5 (byte 4): " + no_zero},
      {".5", "column 1 (byte 0): " + value_here + "'.'"},
      {"1.", "column 3 (byte 2): a digit must follow the point, not " + end},
      {"1e", "column 3 (byte 2): a digit must follow the exponent's letter or sign, not " + end},
      {"1e+", "column 4 (byte 3): a digit must follow the exponent's letter or sign, not " + end},
      {"1e+-1", "column 4 (byte 3): a digit must follow the exponent's letter or sign, not '-'"},
      {"1e1.5", "column 4 (byte 3): " + unexpected + "'.'" + ended},
      {"0x10", "column 2 (byte 1): " + unexpected + "'x'" + ended},
      {"18446744073709551616", "column 1 (byte 0): " + integers},
      {"-9223372036854775809", "column 1 (byte 0): " + integers},
      {"[" + std::string(5000, '9') + "]", "column 2 (byte 1): " + integers},
      {"1e400", "column 1 (byte 0): " + range},
      {"1e99999999999999999999", "column 1 (byte 0): " + range},
      {"1e-400", "column 1 (byte 0): " + range},
      {"1." + std::string(5000, '1'), "column 1 (byte 0): a number must have at most 1024 characters"},
      // strings
      {"\"", "column 1 (byte 0): this string has no end"},
      {"[\"ab", "column 2 (byte 1): this string has no end"},
      {"\"\\", "column 2 (byte 1): " + escape + end},
      {R"("\x41")", "column 2 (byte 1): " + escape + "'x'"},
      {"\"\\\n\"", "column 2 (byte 1): " + escape + "byte 0x0a"},
      {R"("\u12")", "column 2 (byte 1): " + four},
      {R"("\u12G4")", "column 2 (byte 1): " + four},
      {R"("ab\ud800")", "column 4 (byte 3): " + half},
      {R"("\ud800\n")", "column 2 (byte 1): " + half},
      {R"("\ud800\u0041")", "column 2 (byte 1): " + half},
      {R"("\ude00\ud83d")", "column 2 (byte 1): the second half of a surrogate pair has no first"},
      {"\"a\nb\"", "column 3 (byte 2): " + control + "0a"},
      {"\"" + nul + "\"", "column 2 (byte 1): " + control + "00"},
      {"\"\x80\"", "column 2 (byte 1): " + utf8},
      {"\"\xc3(\"", "column 2 (byte 1): " + utf8},
      {"\"\xe2\x82\"", "column 2 (byte 1): " + utf8},
      {"\"\xc0\xaf\"", "column 2 (byte 1): " + utf8},
      {"\"\xed\xa0\x80\"", "column 2 (byte 1): " + utf8},
      {"\"\xf4\x90\x80\x80\"", "column 2 (byte 1): " + utf8},
      // names
      {R"({"a":1,"b":2,"a":3})", "column 14 (byte 13): the name 'a' occurs twice in an object"},
      {R"({"a":1,"\u0061":3})", "column 8 (byte 7): the name 'a' occurs twice in an object"},
      {R"({"":1,"":1})", "column 7 (byte 6): the name '' occurs twice in an object"},
      {R"({"a\u0000b":1})", "column 2 (byte 1): a name must not hold U+0000"},
      {"{\"a\x01\":1}", "column 4 (byte 3): " + control + "01"},
  };
  for (const Case& c : cases) CHECK(error(c.text) == "JSON: line 1, " + c.error);
  CHECK(error_of([] { parse_json("{\n \"\xc3\xa9\": [1,\r\n  \"\xe2\x82\xac\", x]}", "a/config.json"); }) ==
        "a/config.json: line 3, column 8 (byte 23): " + value_here + "'x'");
}

TEST_CASE("json: limits") {
  const auto nested = [](std::size_t n) { return std::string(n, '[') + std::string(n, ']'); };
  CHECK(error(nested(64)) == "(no error)");
  CHECK_SENTENCE(error(nested(65)));
  CHECK_SENTENCE(error(std::string(100'000, '[')));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  CHECK_SENTENCE(error(objects));
  CHECK_SENTENCE(error(std::string(100'000'001, ' ')));
  CHECK_SENTENCE(error(std::string(100'000'000, ' ')));
}

TEST_CASE("json: many names and long ones") {
  std::string text = "{";
  for (int i = 0; i < 20'000; ++i) text += "\"" + std::to_string(i) + "\":" + std::to_string(i) + ",";
  text.back() = '}';
  const Json many = parse_json(text);
  CHECK(JsonPlace(many).members().size() == 20'000);
  CHECK(JsonPlace(many).members()[12'345].name == "12345");
  CHECK(text_of(many) == text);
  text.back() = ',';
  CHECK_SENTENCE(error(text + "\"777\":0}"));

  std::string flood = "{";  // ends at the 128th member, not at the end of the text
  for (int i = 0; i < 20'000; ++i) flood += std::string("\"") + static_cast<char>('a' + i % 26) + "\":0,";
  CHECK_SENTENCE(error(flood));

  const std::string name(1'000'000, 'x');
  CHECK(JsonPlace(parse_json("{\"" + name + "\":1}")).members()[0].name == name);
  const std::string twice = error("{\"" + name + "\":1,\"" + name + "\":2}");
  CHECK(twice.ends_with("the name '" + std::string(80, 'x') + "...' occurs twice in an object"));
  const std::string fits = std::string(79, 'x') + "\xc3\xa9";
  CHECK(
      error("{\"" + fits + "\":1,\"" + fits + "\":2}").ends_with("the name '" + fits + "' occurs twice in an object"));
}

TEST_CASE("json: a text cut anywhere is refused, and one with any bit flipped is refused or writes what it reads") {
  const std::string text =
      "{\"__metadata__\":{\"format\":\"pt\",\"\xc3\xa9\":\"\\ud83d\\ude00\\n\"},\"h.0\":{\"dtype\":\"F32\",\"shape\":"
      "[2,3],\"data_offsets\":[0,24]},\"x\":[true,false,null,-1.5e-3,9223372036854775807,[],{}]}";
  CHECK(error(text) == "(no error)");
  for (std::size_t n = 0; n < text.size(); ++n) CHECK(error(text.substr(0, n)).starts_with("JSON: line 1, column "));
  int accepted = 0;
  for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
    std::string flipped = text;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    const std::string message = error(flipped);
    if (message == "(no error)") {
      const Json value = parse_json(flipped);
      CHECK(parse_json(text_of(value)) == value);
      ++accepted;
    } else {
      CHECK(message.starts_with("JSON: line "));
    }
  }
  CHECK(accepted > 100);
}

TEST_CASE("json: the members of an object one by one") {
  std::string seen;
  const auto see = [&](const std::string& name, const Json& value) { seen += name + "=" + text_of(value) + ";"; };
  parse_json_members(R"( {"a":1, "b":{"a":[{}]},"a":"x"} )", "f", 100, see);
  CHECK(seen == R"(a=1;b={"a":[{}]};a="x";)");
  parse_json_members("{}", "f", 100, see);
  const auto error = [&](const char* text) { return error_of([&] { parse_json_members(text, "f", 100, see); }); };
  CHECK_SENTENCE(error("[]"));
  const auto few = [&](const char* text) { return error_of([&] { parse_json_members(text, "f", 3, see); }); };
  CHECK(few(R"({"a":[1,2],"b":[3,4],"c":[5,6]})") == "(no error)");
  CHECK(few(R"({"a":[1,2],"b":[3,4,5]})") == "f: line 1, column 21 (byte 20): there are more than 3 values");
  CHECK_SENTENCE(error(""));
  CHECK_SENTENCE(error("{}{"));
  CHECK_SENTENCE(error(R"({"a":{"b":1,"b":2}})"));
  CHECK_SENTENCE(error(R"({"a":1)"));
}

}  // namespace
}  // namespace mote::test::json_parse_test
