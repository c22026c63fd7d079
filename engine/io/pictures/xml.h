// UTF-8 text as it may stand in XML, for the writers of SVG.
#pragma once

#include <cstddef>
#include <string>

#include "engine/io/text/utf8.h"

namespace mote::detail {

/// That character escaped for XML, a newline or tab as \n or \t. Invalid UTF-8, and characters not allowed in XML,
/// become '?'.
std::string xml_character(const std::string& text, std::size_t i);

/// All characters of a text.
std::string xml_text(const std::string& text);

}  // namespace mote::detail
