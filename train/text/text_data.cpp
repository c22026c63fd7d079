// Reading a text: the split, the tokenizer, the tokens; the bigram model beside which losses are seen.
#include <algorithm>
#include <cctype>
#include <map>

#include "engine/base/math.h"
#include "engine/io/files/crc32.h"
#include "engine/io/files/elements.h"
#include "engine/io/files/file.h"
#include "engine/io/text/utf8.h"
#include "train/text/characters.h"
#include "train/text/pieces.h"
#include "train/text/text_task.h"

namespace mote {
namespace {

constexpr std::uint64_t largest_text = 100'000'000;
constexpr Index made_bytes = 300'000;

/// The byte at which the held-out tenth begins.
std::size_t split_point(std::string_view text) {
  if (!detail::is_utf8(text)) return text.size() * 9 / 10;
  std::size_t characters = 0;
  for (std::size_t at = 0; at < text.size(); ++characters) at += detail::character_at(text, at).first;
  std::size_t at = 0;
  for (std::size_t left = characters * 9 / 10; left > 0; --left) at += detail::character_at(text, at).first;
  return at;
}

std::uint64_t hash_of(std::string_view document) {
  std::vector<Index> bytes;
  for (const char c : document) bytes.push_back(static_cast<unsigned char>(c));
  return example_hash(bytes);
}
bool is_held_out(std::string_view document) { return hash_of(document) % 10 == 0; }

void append(std::vector<std::uint32_t>& to, const std::vector<Index>& ids) {
  for (const Index id : ids) to.push_back(static_cast<std::uint32_t>(id));
}

TextPart part_of(std::string_view text, const Tokenizer& tokenizer) {
  TextPart part;
  append(part.ids, tokenizer.encode(text));
  part.bytes = static_cast<Index>(text.size());
  if (!part.ids.empty()) part.bytes -= static_cast<Index>(tokenizer.token(part.ids[0]).size());
  return part;
}

/// A document's line end is one byte of text, which its last token predicts.
TextPart part_of(const std::vector<std::string_view>& documents, const Tokenizer& tokenizer) {
  TextPart part;
  const auto separator = static_cast<std::uint32_t>(tokenizer.special(end_of_text));
  for (const std::string_view document : documents) {
    part.starts.push_back(part.ids.size());
    part.ids.push_back(separator);
    append(part.ids, tokenizer.encode(document));
    part.ids.push_back(separator);
    part.bytes += static_cast<Index>(document.size()) + 1;
  }
  part.starts.push_back(part.ids.size());
  return part;
}

/// The text at `path`; without one it is made, and its entropy known.
std::string text_of_file(const std::string& path, std::optional<double>& entropy) {
  if (!path.empty()) return read_file(path, largest_text);
  SyntheticText made = synthetic_text(made_bytes);
  entropy = made.nats / static_cast<double>(made.text.size());
  return std::move(made.text);
}

/// Each line of the text that is not empty is a document. Of few lines, none of which has a hash that holds it out,
/// those with the lowest are: a tenth of the different ones, at least one. Errors: a line that has the token between
/// documents; all lines are alike.
void split_documents(const std::string& text, const std::string& name, std::vector<std::string_view>& train,
                     std::vector<std::string_view>& held_out) {
  for (const std::string_view document : lines_of(text)) {
    if (document.empty()) continue;
    if (document.find(end_of_text) != document.npos)
      throw Error(name + ": line " + std::to_string(1 + std::count(text.c_str(), document.data(), '\n')) + " has " +
                  end_of_text + ", the token between documents: with lines no document may have it");
    (is_held_out(document) ? held_out : train).push_back(document);
  }
  if (!train.empty() && !held_out.empty()) return;

  std::vector<std::string_view> all = train.empty() ? held_out : train;
  std::map<std::uint64_t, std::string_view> by_hash;
  for (const std::string_view document : all) by_hash.emplace(hash_of(document), document);
  const bool carriage_returns = all.size() == 1 && text.find('\r') != text.npos;
  check(by_hash.size() >= 2, name, " has ", all.size(), all.size() == 1 ? " line" : " lines",
        by_hash.size() < 2 && all.size() > 1 ? ", all alike" : "", ": some must be held out",
        carriage_returns ? "; its lines end with CR: tr '\\r' '\\n' < " + name + " > new.txt converts it" : "");
  auto border = by_hash.begin();
  std::advance(border, std::max<std::size_t>(1, by_hash.size() / 10));
  train.clear();
  held_out.clear();
  for (const std::string_view document : all)
    (hash_of(document) < border->first ? held_out : train).push_back(document);
}

/// Why a text is no UTF-8 that one would learn letter by letter, and how to convert it; "" if it is.
std::string encoding_problem(const std::string& text, const std::string& name) {
  const std::string begin = text.substr(0, 10'000);
  std::size_t zeros[2] = {0, 0}, high = 0, letters = 0;
  bool windows = false;
  for (std::size_t i = 0; i < begin.size(); ++i) {
    const auto byte = static_cast<unsigned char>(begin[i]);
    zeros[i % 2] += byte == 0;
    high += byte >= 0x80;
    letters += byte >= 0x80 || std::isalpha(byte) != 0;
    windows = windows || (byte >= 0x80 && byte < 0xa0);
  }
  const auto convert = [&](const std::string& what, const std::string& encoding) {
    return name + " is " + what + ": iconv -f " + encoding + " -t UTF-8 " + name + " > new.txt converts it";
  };
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) return convert("UTF-16", "UTF-16");
  if (zeros[1] > begin.size() / 5) return convert("UTF-16 without a byte order mark", "UTF-16LE");
  if (zeros[0] > begin.size() / 5) return convert("UTF-16 without a byte order mark", "UTF-16BE");

  std::size_t at = 0;
  while (at < text.size()) {
    const auto [length, code] = detail::character_at(text, at);
    if (!code) break;
    at += length;
  }
  if (at == text.size()) return "";
  const bool western = high * 10 < letters * 3;
  const std::string looks = !western  ? ", but an older encoding, such as KOI8-R, WINDOWS-1251, SHIFT_JIS or GB18030"
                            : windows ? ", and looks like Windows-1252"
                                      : ", and looks like Latin-1";
  return convert("no UTF-8 at byte " + std::to_string(at) + looks, !western  ? "ENCODING"
                                                                   : windows ? "WINDOWS-1252"
                                                                             : "ISO-8859-1") +
         "; the tokenizers bpe and byte take any bytes";
}

}  // namespace

std::optional<double> TextData::bigram_loss(Integer vocab_size) const {
  if (vocab_size > 2048) return {};
  const auto V = static_cast<std::size_t>(vocab_size);
  std::vector<std::uint32_t> pairs(V * V, 0), firsts(V, 0);
  const auto each_pair = [](const TextPart& part, const auto& see) {
    const bool separated = !part.starts.empty();  // two separators, the first token, stand between them
    for (std::size_t i = 1; i < part.ids.size(); ++i)
      if (!separated || part.ids[i - 1] != part.ids[0] || part.ids[i] != part.ids[0]) see(part.ids[i - 1], part.ids[i]);
  };
  each_pair(train, [&](std::uint32_t a, std::uint32_t b) {
    ++pairs[a * V + b];
    ++firsts[a];
  });
  double sum = 0;
  each_pair(held_out, [&](std::uint32_t a, std::uint32_t b) {
    sum -= math::log((pairs[a * V + b] + 1.0) / (firsts[a] + static_cast<double>(V)));
  });
  return sum / static_cast<double>(held_out.predicted());
}

TextData read_text(const TextOptions& o, std::unique_ptr<Tokenizer>& tokenizer,
                   const std::optional<TextIdentity>& expected) {
  check_in("text", !o.vocab_size || o.tokenizer == TokenizerKind::byte_pair, "vocab_size ", o.vocab_size.value_or(0),
           " is for the tokenizer bpe: that of ", o.tokenizer, " follows from the text");
  check_in("text", o.block_size >= 1 && o.block_size <= 1'000'000, "block_size ", o.block_size,
           " must be 1 to 1000000");
  TextData data;
  const std::string name = o.text.empty() ? "the text" : o.text, text = text_of_file(o.text, data.entropy);
  check(!text.empty(), name, " is empty");
  check_no_pointer(name, text);
  data.identity = {static_cast<Index>(text.size()), crc32(text.data(), text.size())};
  check(!expected || data.identity == *expected, name, " is not the text that the run began with");

  if (o.tokenizer == TokenizerKind::character)
    if (const std::string problem = encoding_problem(text, name); !problem.empty()) throw Error(problem);

  std::vector<std::string_view> train, held_out;
  std::string to_learn;
  if (o.lines) {
    split_documents(text, name, train, held_out);
    data.documents = static_cast<Index>(train.size() + held_out.size());
    const bool characters = o.tokenizer == TokenizerKind::character;  // all of them, and the separator is none
    if (characters) detail::named(name, [&] { detail::check_characters(text); });
    for (const std::string_view document : train) to_learn.append(document).append(characters ? "" : "\n");
    for (const std::string_view document : held_out) to_learn.append(characters ? document : "");
  } else {
    const std::size_t split = split_point(text);
    train = {std::string_view(text).substr(0, split)};
    held_out = {std::string_view(text).substr(split)};
    to_learn = o.tokenizer == TokenizerKind::character ? std::string_view(text) : train[0];
  }
  const std::vector<std::string> specials =
      o.lines ? std::vector<std::string>{end_of_text} : std::vector<std::string>();
  detail::named(name, [&] {
    if (!tokenizer) tokenizer = train_tokenizer(o.tokenizer, to_learn, o.vocab_size.value_or(512), specials);
    data.train = o.lines ? part_of(train, *tokenizer) : part_of(train[0], *tokenizer);
    data.held_out = o.lines ? part_of(held_out, *tokenizer) : part_of(held_out[0], *tokenizer);
  });
  if (o.lines) return data;
  check(static_cast<Index>(data.train.ids.size()) > o.block_size && data.held_out.ids.size() >= 2, name, " has ",
        data.train.ids.size(), " tokens to train on and ", data.held_out.ids.size(), " to hold out, and a block of ",
        o.block_size, " needs ", o.block_size + 1, " and 2: a smaller block_size may do");
  return data;
}

}  // namespace mote
