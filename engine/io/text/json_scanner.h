// The tokens of a JSON text, and the place of an error in it.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/check.h"
#include "engine/io/text/utf8.h"

namespace mote::detail {

/// A text, and the byte at which a parser stands.
class JsonScanner {
 protected:
  JsonScanner(std::string_view text, std::string_view what) : text_(text), what_(what) {}

  [[noreturn]] void fail(const std::string& rule) const { fail(rule, at_); }
  [[noreturn]] void fail(const std::string& rule, std::size_t at) const {
    std::size_t line = 1, column = 1;
    for (std::size_t i = 0; i < at; ++i)
      if (text_[i] == '\n') {
        ++line;
        column = 1;
      } else if ((static_cast<unsigned char>(text_[i]) & 0xc0u) != 0x80u) {
        ++column;
      }
    throw Error(std::string(what_) + ": line " + std::to_string(line) + ", column " + std::to_string(column) +
                " (byte " + std::to_string(at) + "): " + rule);
  }

  /// What stands at the current byte, for an error.
  std::string here() const {
    if (at_ == text_.size()) return "the end of the text";
    const auto byte = static_cast<unsigned char>(text_[at_]);
    if (byte > 0x20 && byte < 0x7f) return {'\'', text_[at_], '\''};
    const auto [length, code] = character_at(text_, at_);
    if (code >= 0xa0) return std::string(1, '\'').append(text_.substr(at_, length)) + '\'';
    return std::string("byte 0x") + hex[byte >> 4] + hex[byte & 15u];
  }

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
      ++at_;
  }

  bool literal(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  std::string string() {
    const std::size_t start = at_++;
    std::string read;
    for (;;) {
      const std::size_t run = at_;
      while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\') {
        const auto byte = static_cast<unsigned char>(text_[at_]);
        if (byte < 0x20) fail("a control character in a string must be escaped, unlike " + here());
        const auto [length, whole] = byte < 0x80 ? Utf8Beginning{1, true} : utf8_beginning(text_, at_);
        if (!whole) fail("the text is not UTF-8");
        at_ += length;
      }
      read.append(text_.substr(run, at_ - run));
      if (at_ == text_.size()) fail("this string has no end", start);
      if (take('"')) return read;
      escape(read);
    }
  }

  /// Appends what the escape at the current byte stands for.
  void escape(std::string& to) {
    static constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    const std::size_t start = at_++;
    const std::size_t which = at_ < text_.size() ? letters.find(text_[at_]) : std::string_view::npos;
    if (which != std::string_view::npos) {
      ++at_;
      to += meanings[which];
      return;
    }
    unsigned code = code_unit(start);
    if (code >= 0xdc00 && code <= 0xdfff) fail("the second half of a surrogate pair has no first", start);
    if (code >= 0xd800 && code <= 0xdbff) {
      const unsigned low = text_.substr(at_, 2) == "\\u" ? (++at_, code_unit(at_ - 1)) : 0;
      if (low < 0xdc00 || low > 0xdfff) fail("the first half of a surrogate pair has no second", start);
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    to += utf8_text(code);
  }

  /// The 16 bits of an escape that starts with its '\' at `start`, from its 'u' on.
  unsigned code_unit(std::size_t start) {
    if (!take('u')) fail("a backslash must be followed by one of \"\\/bfnrtu, not " + here(), start);
    unsigned code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = peek();
      const bool lower = c >= 'a' && c <= 'f', upper = c >= 'A' && c <= 'F';
      if (!is_digit(c) && !lower && !upper) fail("\\u must be followed by four hexadecimal digits", start);
      code = code * 16 + static_cast<unsigned>(lower ? c - 'a' + 10 : upper ? c - 'A' + 10 : c - '0');
    }
    return code;
  }

  void digits(const char* after) {
    if (!is_digit(peek())) fail(std::string("a digit must follow ") + after + ", not " + here());
    while (is_digit(peek())) ++at_;
  }

  std::string_view text_, what_;
  std::size_t at_ = 0;

 private:
  static constexpr const char* hex = "0123456789abcdef";
};

}  // namespace mote::detail
