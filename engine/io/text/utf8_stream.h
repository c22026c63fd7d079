// Text that can be shown: of bytes that come token by token, of any bytes, and as markup.
#pragma once

#include <string>
#include <string_view>

namespace mote {

/// A token may be half a character: what is added is held back until its character is whole. Bytes that cannot become
/// one are shown as U+FFFD, one for each longest beginning of a character, as Unicode recommends and browsers do.
class Utf8Stream {
 public:
  /// What can be shown now, valid UTF-8.
  std::string add(std::string_view bytes);
  /// The rest: U+FFFD if the last character never became whole. The stream is as new then.
  std::string finish();

 private:
  std::string held_;  // the beginning of a character, three bytes at most
};

/// All of a text that may hold anything, as valid UTF-8.
std::string valid_utf8(std::string_view bytes);

/// The same without control characters but those in `kept`, so that what a model wrote cannot move a terminal's cursor.
/// Those of one byte become pictures (U+2400 for U+0000). Those of two bytes, marks that turn the direction of writing,
/// U+FFFE and U+FFFF become U+FFFD.
std::string readable_text(std::string_view text, std::string_view kept = "\n\t");

/// The same as it may stand in HTML and XML, between tags and in attributes.
std::string markup_text(std::string_view text, std::string_view kept = "");

}  // namespace mote
