// Byte pairs in files: GPT-2's characters for bytes, the checks of a vocabulary and its merges, and GPT-2's two files.
#include <algorithm>
#include <map>
#include <set>

#include "engine/io/files/file.h"
#include "engine/io/text/json.h"
#include "engine/io/text/utf8.h"
#include "train/text/byte_pair.h"
#include "train/text/pieces.h"

namespace mote {
namespace {

constexpr Index most_tokens = 10'000'000;

/// The code of the visible character for each byte. Most printable bytes have their own code. The others have the
/// codes from U+0100 on.
constexpr std::array<unsigned, 256> visible_codes = [] {
  std::array<unsigned, 256> codes{};
  unsigned next = 0x100;
  for (unsigned b = 0; b < 256; ++b) {
    const bool itself = (b >= 33 && b <= 126) || (b >= 161 && b != 173);
    codes[b] = itself ? b : next++;
  }
  return codes;
}();

/// The bytes that visible characters stand for, or "", which is no token, if one of the characters stands for no byte.
std::string bytes_of(std::string_view visible) {
  std::string bytes;
  for (std::size_t at = 0; at < visible.size();) {
    const auto [length, code] = detail::character_at(visible, at);
    const auto found = std::find(visible_codes.begin(), visible_codes.end(), code);
    if (found == visible_codes.end()) return "";
    bytes += static_cast<char>(found - visible_codes.begin());
    at += length;
  }
  return bytes;
}

/// A spelling in quotes, for an error. A long spelling is cut.
std::string in_quotes(std::string_view spelling) {
  std::size_t shown = std::min<std::size_t>(spelling.size(), 60);
  while (shown > 0 && shown < spelling.size() && (static_cast<unsigned char>(spelling[shown]) & 0xc0u) == 0x80u)
    --shown;
  return std::string(1, '\'').append(spelling.substr(0, shown)).append(shown < spelling.size() ? "...'" : "'");
}

using Ids = std::map<std::string, Index, std::less<>>;  // of ordinary tokens, by their visible spelling

[[noreturn]] void refuse(const std::string& where, std::string_view spelling, const std::string& why) {
  throw Error(where + ": " + in_quotes(spelling) + why);
}

/// Reads the merge in a line. Errors: those of byte_pair_from().
BytePairTokenizer::Merge merge_of(std::string_view line, const Ids& ids, const std::string& place) {
  const std::size_t space = std::min(line.find(' '), line.size());
  const std::string_view left = line.substr(0, space), right = line.substr(std::min(space + 1, line.size()));
  if (left.empty() || right.empty() || right.find(' ') != std::string_view::npos)
    refuse(place, line, " must be two tokens with a space between them");
  const auto id = [&](std::string_view spelling, const char* what) {
    const auto found = ids.find(spelling);
    if (found == ids.end()) refuse(place, spelling, what);
    return found->second;
  };
  const Index left_id = id(left, " is not in the vocabulary"), right_id = id(right, " is not in the vocabulary");
  return {left_id, right_id, id(std::string(left).append(right), ", which the merge makes, is not in the vocabulary")};
}

}  // namespace

std::string detail::visible_bytes(std::string_view bytes) {
  std::string visible;
  for (const char c : bytes) visible += utf8_text(visible_codes[static_cast<unsigned char>(c)]);
  return visible;
}

std::unique_ptr<Tokenizer> detail::byte_pair_from(const std::vector<std::string>& tokens,
                                                  const std::string& tokens_name,
                                                  const std::vector<std::string>& merges, const PlaceOf& merge_place,
                                                  std::vector<SpecialToken> specials) {
  std::vector<bool> taken(tokens.size() + specials.size(), false), made = taken;  // by id
  for (const SpecialToken& s : specials)
    if (s.id >= 0 && s.id < static_cast<Index>(taken.size())) taken[static_cast<std::size_t>(s.id)] = true;
  std::vector<std::string> bytes;
  Ids ids;
  std::vector<std::size_t> own_ids;  // the ids that special tokens leave free
  for (std::size_t id = 0; own_ids.size() < tokens.size(); ++id)
    if (!taken[id]) own_ids.push_back(id);
  for (std::size_t n = 0; n < tokens.size(); ++n) {
    bytes.push_back(bytes_of(tokens[n]));
    if (bytes.back().empty()) refuse(tokens_name, tokens[n], " has a character that stands for no byte");
    if (!ids.emplace(tokens[n], static_cast<Index>(own_ids[n])).second)
      refuse(tokens_name, tokens[n], " is listed twice");
  }
  for (int b = 0; b < 256; ++b)
    if (const std::string byte = visible_bytes(std::string(1, static_cast<char>(b))); !ids.contains(byte))
      throw Error(tokens_name + ": the token " + in_quotes(byte) + " is missing, which stands for byte " +
                  std::to_string(b) + ": byte pairs need a token for each of the 256 bytes");
  std::vector<BytePairTokenizer::Merge> list;
  std::map<std::pair<Index, Index>, std::size_t> seen;
  for (std::size_t n = 0; n < merges.size(); ++n) {
    list.push_back(merge_of(merges[n], ids, merge_place(n)));
    const auto [first, is_new] = seen.emplace(std::pair(list.back().left, list.back().right), n);
    if (!is_new) refuse(merge_place(n), merges[n], " repeats " + merge_place(first->second));
    made[static_cast<std::size_t>(list.back().result)] = true;
  }
  for (std::size_t n = 0; n < tokens.size(); ++n)
    if (bytes[n].size() > 1 && !made[own_ids[n]])
      refuse(tokens_name, tokens[n], " is neither a byte nor the product of a merge");
  return std::make_unique<BytePairTokenizer>(std::move(bytes), std::move(list), std::move(specials));
}

void BytePairTokenizer::describe(Json& object) const {
  Json tokens = Json::array(), merges = Json::array();
  for (const std::string& bytes : ordinary()) tokens.push_back(detail::visible_bytes(bytes));
  for (const Merge& m : merges_)
    merges.push_back(detail::visible_bytes(token(m.left)) + " " + detail::visible_bytes(token(m.right)));
  object.add("tokens", std::move(tokens)).add("merges", std::move(merges));
}

detail::VocabularyFile detail::read_vocabulary(const JsonPlace& entries, const std::string& name) {
  VocabularyFile all{name, {}, {}};
  for (const JsonMember& m : entries.members()) {
    const Index id = entries.at(m).as_integer();
    check(id >= 0 && id < most_tokens, name, ": the id ", id, " of ", in_quotes(m.name), " must be 0 to ",
          most_tokens - 1);
    const auto [there, is_new] = all.by_id.emplace(id, m.name);
    check(is_new, name, ": ", in_quotes(there->second), " and ", in_quotes(m.name), " have the same id ", id);
  }
  return all;
}

void detail::add_special(VocabularyFile& to, const std::string& spelling, Index id) {
  check(id >= 0 && id < most_tokens, to.name, ": the id ", id, " of ", in_quotes(spelling), " must be 0 to ",
        most_tokens - 1);
  const auto [there, is_new] = to.by_id.emplace(id, spelling);
  check(is_new || there->second == spelling, to.name, ": ", in_quotes(there->second), " and ", in_quotes(spelling),
        " have the same id ", id);
  to.specials.insert(id);
}

std::unique_ptr<Tokenizer> detail::byte_pair_from(const VocabularyFile& vocabulary,
                                                  const std::vector<std::string>& merges, const PlaceOf& merge_place) {
  std::set<std::string, std::less<>> products;
  for (const std::string& merge : merges)
    if (const std::size_t space = merge.find(' '); space != merge.npos)
      products.insert(merge.substr(0, space) + merge.substr(space + 1));

  std::vector<std::string> tokens;
  std::vector<SpecialToken> specials;
  Index next = 0;
  for (const auto& [id, spelling] : vocabulary.by_id) {
    for (; next < id; ++next) {
      check(specials.size() <= 1000, vocabulary.name, " leaves out too many ids, ", next,
            " among them: those left out and special tokens may be 1000 in all");
      specials.push_back({next, "<|no token " + std::to_string(next) + "|>"});
    }
    ++next;
    const bool marked = spelling.starts_with("<|") && spelling.ends_with("|>") && spelling.size() >= 4;
    const bool made = bytes_of(spelling).size() == 1 || products.contains(spelling);
    if (vocabulary.specials.contains(id) || marked || !made)
      specials.push_back({id, spelling});
    else
      tokens.push_back(spelling);
  }
  return byte_pair_from(tokens, vocabulary.name, merges, merge_place, std::move(specials));
}

std::unique_ptr<Tokenizer> detail::gpt2_tokenizer_from(std::string_view vocabulary, const std::string& vocabulary_name,
                                                       std::string_view merge_list, const std::string& merges_name,
                                                       std::string_view added, const std::string& added_name,
                                                       const std::vector<std::string>& specials) {
  const Json document = parse_json(vocabulary, vocabulary_name);
  VocabularyFile all = read_vocabulary(JsonPlace(document, vocabulary_name), vocabulary_name);
  if (!added.empty()) {
    const Json more = parse_json(added, added_name);
    for (const auto& [id, spelling] : read_vocabulary(JsonPlace(more, added_name), added_name).by_id)
      add_special(all, spelling, id);
  }
  for (const std::string& spelling : specials)
    add_special(all, spelling, all.by_id.empty() ? 0 : all.by_id.rbegin()->first + 1);

  const std::vector<std::string_view> lines = lines_of(merge_list);
  const std::size_t first = !lines.empty() && lines[0].starts_with("#version") ? 1 : 0;
  const std::vector<std::string> merges(lines.begin() + static_cast<std::ptrdiff_t>(first), lines.end());
  const auto line = [&](std::size_t n) { return merges_name + ": line " + std::to_string(first + n + 1); };
  check(!merges.empty(), merges_name, " must have at least one merge");
  return byte_pair_from(all, merges, line);
}

std::unique_ptr<Tokenizer> load_gpt2_tokenizer(const std::string& vocab_json, const std::string& merges_txt,
                                               const std::vector<std::string>& specials) {
  const std::string vocabulary = read_file(vocab_json, detail::longest_vocabulary);
  const std::string merges = read_file(merges_txt, detail::longest_vocabulary);
  const std::string beside = detail::split_path(vocab_json).first + "/added_tokens.json";
  const std::string added = file_exists(beside) ? read_file(beside, detail::longest_vocabulary) : "";
  return detail::gpt2_tokenizer_from(vocabulary, vocab_json, merges, merges_txt, added, beside, specials);
}

}  // namespace mote
