// Whether a text is well-formed XML or a page of HTML as mote writes it: a strict little parser.
#pragma once

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

namespace mote::test {

/// The first mistake of a document, "" if there is none: tags that do not match, attributes that are not quoted, a bare
/// < or &, a control character. `html` knows elements without an end and takes the content of script and style as it
/// is.
inline std::string mistake_in(const std::string& text, bool html = false) {
  static const std::set<std::string> empty{"meta", "input", "br", "link", "img"};
  static const std::set<std::string> entities{"amp", "lt", "gt", "quot", "apos", "#39", "nbsp"};
  std::vector<std::string> open;
  const auto near = [&](std::size_t at, const std::string& what) { return what + " at '" + text.substr(at, 40) + "'"; };
  const auto entity = [&](std::size_t at) {
    const std::size_t end = text.find(';', at);
    return end != std::string::npos && end - at < 8 && entities.contains(text.substr(at + 1, end - at - 1));
  };
  std::size_t i = html && text.starts_with("<!doctype html>") ? 15 : 0;
  while (i < text.size()) {
    const char c = text[i];
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') return near(i, "a control character");
    if (c == '&' && !entity(i)) return near(i, "a bare &");
    if (c == '>') return near(i, "a bare >");
    if (c != '<') {
      ++i;
      continue;
    }
    const bool closes = text.compare(i, 2, "</") == 0;
    std::size_t at = i + (closes ? 2 : 1);
    std::string name;
    while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0)) name += text[at++];
    if (name.empty()) return near(i, "a bare <");
    std::set<std::string> attributes;
    while (at < text.size() && text[at] != '>' && text[at] != '/') {
      if (text[at] == ' ' || text[at] == '\n') {
        ++at;
        continue;
      }
      std::string attribute;
      while (at < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '-' || text[at] == ':'))
        attribute += text[at++];
      if (attribute.empty() || !attributes.insert(attribute).second) return near(i, "attribute '" + attribute + "'");
      if (html && text[at] != '=') continue;  // <details open>
      if (text.compare(at, 2, "=\"") != 0) return near(i, "an attribute without quotes");
      for (at += 2; at < text.size() && text[at] != '"'; ++at)
        if (text[at] == '<' || (text[at] == '&' && !entity(at))) return near(at, "a bare < or & in an attribute");
      ++at;
    }
    const bool alone = at < text.size() && text[at] == '/';
    at += alone;
    if (at >= text.size() || text[at] != '>') return near(i, "a tag without an end");
    ++at;
    if (closes) {
      if (open.empty() || open.back() != name) return near(i, "an end of nothing");
      open.pop_back();
    } else if (!alone && !(html && empty.contains(name))) {
      open.push_back(name);
      if (html && (name == "script" || name == "style")) {
        at = text.find("</" + name, at);  // its content is no markup, and ends at the first of these
        if (at == std::string::npos) return near(i, "no end");
      }
    }
    i = at;
  }
  return open.empty() ? "" : "'" + open.back() + "' has no end";
}

inline void check_well_formed(const std::string& document, bool html = false) {
  CHECK(mistake_in(document, html) == "");
  CHECK(document.ends_with(html ? "</html>\n" : "</svg>\n"));
}

}  // namespace mote::test
