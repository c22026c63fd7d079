// The parts that all tokenizers share: special tokens, and decoding.
#include "train/text/tokenizer.h"

#include <algorithm>

#include "engine/io/text/json.h"
#include "engine/io/text/utf8.h"

namespace mote {
Tokenizer::Tokenizer(std::vector<std::string> ordinary, std::vector<SpecialToken> specials)
    : specials_(std::move(specials)) {
  check_in("tokenizer", specials_.size() <= 1000, "at most 1000 special tokens are possible, not ", specials_.size());
  const auto before = [](const SpecialToken& a, const SpecialToken& b) { return a.id < b.id; };
  std::sort(specials_.begin(), specials_.end(), before);
  tokens_ = std::move(ordinary);
  for (const SpecialToken& s : specials_) {
    check_in("tokenizer", !s.text.empty() && detail::is_utf8(s.text),
             "the spelling of a special token must be UTF-8, and not empty");
    check_in("tokenizer", s.id >= 0 && s.id <= vocab_size(), "the id ", s.id, " of '", s.text, "' must be 0 to ",
             vocab_size(), ": no id may be left out");
    const auto same = [&](const SpecialToken& other) { return s.text == other.text; };
    check_in("tokenizer", std::count_if(specials_.begin(), specials_.end(), same) == 1,
             "there are two special tokens '", s.text, "'");
    tokens_.insert(tokens_.begin() + s.id, s.text);
  }
  for (std::size_t i = 1; i < specials_.size(); ++i)
    check_in("tokenizer", specials_[i].id > specials_[i - 1].id, "'", specials_[i - 1].text, "' and '",
             specials_[i].text, "' have the same id ", specials_[i].id);
}

std::vector<std::string> Tokenizer::ordinary() const {
  std::vector<std::string> tokens;
  for (Index id = 0; id < vocab_size(); ++id)
    if (special(token(id)) != id) tokens.push_back(token(id));
  return tokens;
}

std::vector<Index> Tokenizer::encode(std::string_view text, SpecialText special) const {
  std::vector<Index> ids;
  std::vector<std::size_t> next;  // where each special token stands next, at or after `from`
  if (special != SpecialText::plain)
    for (const SpecialToken& s : specials_) next.push_back(text.find(s.text));
  for (std::size_t from = 0;;) {
    const SpecialToken* found = nullptr;  // the first special token, or the longest of several at the same place
    std::size_t at = text.npos;
    for (std::size_t i = 0; i < next.size(); ++i) {
      const SpecialToken& s = specials_[i];
      if (next[i] < from) next[i] = text.find(s.text, from);
      if (next[i] < at || (found && next[i] == at && s.text.size() > found->text.size())) {
        found = &s;
        at = next[i];
      }
    }
    check_in("encode", !found || special == SpecialText::allow, "the text has the special token '",
             found ? found->text : "", "' at byte ", at,
             ": pass SpecialText::allow for its id, or SpecialText::plain for the ids of its letters");
    encode_plain(text.substr(from, found ? at - from : at), from, ids);
    if (!found) return ids;
    ids.push_back(found->id);
    from = at + found->text.size();
  }
}

const std::string& Tokenizer::token(Index id) const {
  check_in("decode", id >= 0 && id < vocab_size(), "id ", id, " must be 0 to ", vocab_size() - 1,
           ", an id of the vocabulary");
  return tokens_[static_cast<std::size_t>(id)];
}

std::string Tokenizer::decode(std::span<const Index> ids) const {
  std::string text;
  for (const Index id : ids) text += token(id);
  return text;
}

Index Tokenizer::special(std::string_view text) const {
  for (const SpecialToken& s : specials_)
    if (s.text == text) return s.id;
  return -1;
}

std::string Tokenizer::json_text() const {
  Json special = Json::array();
  for (const SpecialToken& s : specials_) special.push_back(Json::object({{"id", s.id}, {"text", s.text}}));
  Json object = Json::object({{"tokenizer", text_of(kind())}, {"special", std::move(special)}});
  describe(object);
  return text_of(object);
}

}  // namespace mote
