// Turns bytes, which may come token by token, into text that can be shown in a terminal or in HTML.
#pragma once

#include <string>
#include <string_view>

namespace mote {

/// Turns bytes that come token by token into whole UTF-8 characters. A token may end within a character, so the
/// beginning of a character is held back until the character is whole. Invalid bytes become U+FFFD. A beginning of a
/// character that does not go on becomes one U+FFFD, and so does any other invalid byte, as Unicode recommends and
/// browsers do.
class Utf8Stream {
 public:
  /// Adds bytes and returns the characters that are whole by now, as valid UTF-8.
  std::string add(std::string_view bytes);
  /// Ends the text and returns U+FFFD if the last character never became whole, otherwise "". The stream can then be
  /// used for another text.
  std::string finish();

 private:
  std::string held_;  // the beginning of a character, three bytes at most
};

/// Any bytes as valid UTF-8. Invalid bytes become U+FFFD as in a Utf8Stream.
std::string valid_utf8(std::string_view bytes);

/// Any bytes as valid UTF-8 without control characters, except those in `kept`. So text that a model wrote cannot
/// move a terminal's cursor. Control characters of one byte become pictures, such as U+2400 for U+0000. Control
/// characters of two bytes, marks that change the direction of writing, U+FFFE and U+FFFF become U+FFFD.
std::string readable_text(std::string_view text, std::string_view kept = "\n\t");

/// The same as readable_text, escaped for HTML and XML, both between tags and in attributes.
std::string markup_text(std::string_view text, std::string_view kept = "");

}  // namespace mote
