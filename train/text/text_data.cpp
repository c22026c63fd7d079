// Reads a text: the split, the tokenizer and the tokens. Also the bigram model, with which losses are compared.
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

/// Encodes documents. The separator token at the end of each document counts as one byte, because it stands for a line
/// ending.
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

/// Reads the text at `path`. If `path` is empty, makes a text from the grammar and sets `entropy`. Errors: the file is
/// empty.
std::string text_of_file(const std::string& path, std::optional<double>& entropy) {
  if (path.empty()) {
    SyntheticText made = synthetic_text(made_bytes);
    entropy = made.nats / static_cast<double>(made.text.size());
    return std::move(made.text);
  }
  std::string text = read_file(path, largest_text);
  check(!text.empty(), path, " is empty");
  check_no_pointer(path, text);
  return text;
}

/// A separator as given by --separator, in which \n is replaced by a newline and \t by a tab.
std::string unescaped(std::string text) {
  for (const auto& [written, meant] : {std::pair("\\n", "\n"), std::pair("\\t", "\t")})
    for (std::size_t at = 0; (at = text.find(written, at)) != text.npos; ++at) text.replace(at, 2, meant);
  return text;
}

/// The documents of a text that are not empty. A document is a line, or the text between two separators without the
/// line endings around it.
std::vector<std::string_view> documents_of(std::string_view text, const TextOptions& o) {
  std::vector<std::string_view> all = o.lines ? lines_of(text) : std::vector<std::string_view>();
  const std::string separator = unescaped(o.separator);
  for (std::size_t from = 0; !o.lines && from <= text.size();) {
    const std::size_t end = std::min(text.find(separator, from), text.size());
    std::string_view document = text.substr(from, end - from);
    document.remove_prefix(std::min(document.find_first_not_of("\r\n"), document.size()));
    document.remove_suffix(document.size() - 1 - std::min(document.find_last_not_of("\r\n"), document.size() - 1));
    all.push_back(document);
    from = end + separator.size();
  }
  std::erase_if(all, [](std::string_view document) { return document.empty(); });
  return all;
}

/// Checks that no document contains the separator token. Errors: a document contains it.
void check_documents(const std::vector<std::string_view>& documents, const std::string& text, const std::string& name) {
  for (const std::string_view document : documents)
    if (document.find(end_of_text) != document.npos)
      throw Error(name + ": line " + std::to_string(1 + std::count(text.c_str(), document.data(), '\n')) + " has " +
                  end_of_text + ", the token between documents: no document may contain it");
}

/// Holds out one document in ten, selected by its hash. If this leaves a split empty, as it may with few documents,
/// the documents with the lowest hashes are held out instead: a tenth of the different documents, at least one.
/// Errors: all documents are alike.
void split_documents(const std::vector<std::string_view>& all, const std::string& text, const std::string& name,
                     const TextOptions& o, std::vector<std::string_view>& train,
                     std::vector<std::string_view>& held_out) {
  for (const std::string_view document : all) (is_held_out(document) ? held_out : train).push_back(document);
  if (!train.empty() && !held_out.empty()) return;

  std::map<std::uint64_t, std::string_view> by_hash;
  for (const std::string_view document : all) by_hash.emplace(hash_of(document), document);
  const std::string what = o.lines ? " line" : " document";
  const bool carriage_returns = o.lines && all.size() == 1 && text.find('\r') != text.npos;
  check(by_hash.size() >= 2, name, " has ", all.size(), what, all.size() == 1 ? "" : "s",
        by_hash.size() < 2 && all.size() > 1 ? ", all alike" : "",
        ": at least 2 different ones are needed, to hold one out",
        carriage_returns ? "; its lines end with CR: tr '\\r' '\\n' < " + name + " > new.txt converts it" : "");
  auto border = by_hash.begin();
  std::advance(border, std::max<std::size_t>(1, by_hash.size() / 10));
  train.clear();
  held_out.clear();
  for (const std::string_view document : all)
    (hash_of(document) < border->first ? held_out : train).push_back(document);
}

/// Says why a text cannot be learned as the characters of UTF-8, and how to convert the text. Returns "" if the text
/// can be learned.
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

/// Loads the tokenizer from the path in the option `tokenizer`. Errors: the path has no tokenizer; the tokenizer has
/// more tokens than vocab_size, or no separator token for documents.
std::unique_ptr<Tokenizer> given_tokenizer(const TextOptions& o) {
  check_in("text", file_exists(o.tokenizer), "tokenizer '", o.tokenizer, "' is none of ",
           all_names(words(TokenizerKind()), ", "), ", and no file or folder");
  std::unique_ptr<Tokenizer> given = load_tokenizer(o.tokenizer);
  check(given != nullptr, o.tokenizer, " has no vocabulary: no tokenizer.json, no vocab.json with merges.txt, no ",
        "meta.pkl, and it is no run on a text");
  check(!o.vocab_size || *o.vocab_size >= given->vocab_size(), "vocab_size ", o.vocab_size.value_or(0),
        " must be at least ", given->vocab_size(), ", the number of tokens of ", o.tokenizer);
  check(!o.documents() || given->special(end_of_text) >= 0, o.tokenizer, " has no token ", end_of_text,
        ", which stands between documents");
  return given;
}

TextIdentity identity_of(const std::string& text, const std::string& val) {
  TextIdentity identity{.bytes = static_cast<Index>(text.size()), .crc = crc32(text.data(), text.size())};
  if (!val.empty()) {
    identity.val_bytes = static_cast<Index>(val.size());
    identity.val_crc = crc32(val.data(), val.size());
  }
  return identity;
}

/// The tokens of nanoGPT's train.bin or val.bin, each in two bytes, the lower byte first.
TextPart part_of_tokens(const std::string& bytes, const std::string& name, const Tokenizer& tokenizer, Index rows) {
  check(bytes.size() % 2 == 0 && !bytes.empty(), name, " has ", bytes.size(),
        " bytes, but must have two for each token, and at least one token");
  TextPart part;
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    const auto id = static_cast<std::uint32_t>(little_endian(std::string_view(bytes).substr(i, 2)));
    check(id < static_cast<std::uint32_t>(rows), name, ": token ", i / 2, " is ", id,
          ", but the ids of the vocabulary are 0 to ", rows - 1);
    part.ids.push_back(id);
    const bool known = id < static_cast<std::uint32_t>(tokenizer.vocab_size());
    if (i > 0 && known) part.bytes += static_cast<Index>(tokenizer.token(id).size());
  }
  return part;
}

/// Reads nanoGPT's folder, which has train.bin, val.bin and, unless a tokenizer is given, meta.pkl.
TextData read_tokens(const TextOptions& o, std::unique_ptr<Tokenizer>& tokenizer,
                     const std::optional<TextIdentity>& expected) {
  check_in("text", o.val.empty() && !o.documents(),
           "a folder of tokens has its own val.bin and no documents: ", "leave out val, lines and separator");
  const std::string train = o.text + "/train.bin", val = o.text + "/val.bin";
  check(file_exists(train) && file_exists(val), o.text, " is a folder without train.bin and val.bin: give the text's ",
        "file");
  check_in("text", tokenizer || o.tokenizer == "char", "the tokenizer ", o.tokenizer,
           " is made from a text, but a folder of tokens has none: leave it out if there is a meta.pkl, or name the ",
           "folder of a vocabulary");
  const std::string meta = o.text + "/meta.pkl";
  check(tokenizer || file_exists(meta), o.text, " has no meta.pkl: --tokenizer FOLDER names its vocabulary, such as ",
        "GPT-2's");
  if (!tokenizer) tokenizer = load_nanogpt_tokenizer(meta);

  const std::string bytes = read_file(train, largest_text), held_out = read_file(val, largest_text);
  TextData data;
  data.identity = identity_of(bytes, held_out);
  check(!expected || data.identity == *expected, o.text, " does not have the tokens that the run began with");
  const Index rows = std::max(tokenizer->vocab_size(), o.kind() ? 0 : o.vocab_size.value_or(0));
  data.train = part_of_tokens(bytes, train, *tokenizer, rows);
  data.held_out = part_of_tokens(held_out, val, *tokenizer, rows);
  return data;
}

/// Reads a text, and also the held-out text if there is a file for it.
TextData read_words(const TextOptions& o, std::unique_ptr<Tokenizer>& tokenizer,
                    const std::optional<TextIdentity>& expected) {
  TextData data;
  const std::string name = o.text.empty() ? "the text" : o.text, text = text_of_file(o.text, data.entropy);
  std::optional<double> unknown;
  const std::string val = o.val.empty() ? "" : text_of_file(o.val, unknown);
  data.identity = identity_of(text, val);
  const bool same_text = !expected || (expected->bytes == data.identity.bytes && expected->crc == data.identity.crc);
  check(same_text, name, " is not the text that the run began with");
  check(!expected || *expected == data.identity, o.val.empty() ? "val" : o.val,
        " is not the text that was held out when the run began");

  const bool characters =
      tokenizer ? tokenizer->kind() == TokenizerKind::character : o.kind() == TokenizerKind::character;
  for (const auto& [bytes, path] : {std::pair(&text, name), std::pair(&val, o.val)})
    if (const std::string problem = characters ? encoding_problem(*bytes, path) : ""; !problem.empty())
      throw Error(problem);

  std::vector<std::string_view> train, held_out;
  if (o.documents()) {
    const std::vector<std::string_view> all = documents_of(text, o);
    check_documents(all, text, name);
    if (val.empty()) {
      split_documents(all, text, name, o, train, held_out);
    } else {
      train = all;
      held_out = documents_of(val, o);
      check_documents(held_out, val, o.val);
      check(!train.empty() && !held_out.empty(), train.empty() ? name : o.val, " has no document");
    }
    data.documents = static_cast<Index>(train.size() + held_out.size());
  } else {
    const std::size_t split = val.empty() ? split_point(text) : text.size();
    train = {std::string_view(text).substr(0, split)};
    held_out = {val.empty() ? std::string_view(text).substr(split) : std::string_view(val)};
  }

  std::string to_learn;
  const std::string end = o.documents() && !characters ? "\n" : "";
  for (const std::string_view part : train) to_learn.append(part).append(end);
  for (const std::string_view part : held_out) to_learn.append(characters ? part : "");

  if (tokenizer && !o.documents())
    for (const SpecialToken& s : tokenizer->specials())
      if (const std::size_t at = text.find(s.text); at != text.npos)
        throw Error(name + " has the special token " + s.text + " at byte " + std::to_string(at) + ": --separator \"" +
                    s.text + "\" takes what stands between them as documents");
  const std::vector<std::string> specials =
      o.documents() ? std::vector<std::string>{end_of_text} : std::vector<std::string>();
  detail::named(name, [&] {
    if (!tokenizer) tokenizer = train_tokenizer(*o.kind(), to_learn, o.vocab_size.value_or(512), specials);
    data.train = o.documents() ? part_of(train, *tokenizer) : part_of(train[0], *tokenizer);
  });
  detail::named(val.empty() ? name : o.val, [&] {
    data.held_out = o.documents() ? part_of(held_out, *tokenizer) : part_of(held_out[0], *tokenizer);
  });
  return data;
}

}  // namespace

std::optional<double> TextData::bigram_loss(Integer vocab_size) const {
  if (vocab_size > 2048) return {};
  const auto V = static_cast<std::size_t>(vocab_size);
  std::vector<std::uint32_t> pairs(V * V, 0), firsts(V, 0);
  const auto each_pair = [](const TextPart& part, const auto& see) {
    const bool separated = !part.starts.empty();  // the two separators between documents are not counted as a pair
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
  const std::optional<TokenizerKind> kind = o.kind();
  check_in("text", !o.vocab_size || !kind || *kind == TokenizerKind::byte_pair, "vocab_size ", o.vocab_size.value_or(0),
           " is for the tokenizer bpe: that of ", o.tokenizer, " follows from the text");
  check_in("text", o.block_size >= 1 && o.block_size <= 1'000'000, "block_size ", o.block_size,
           " must be 1 to 1000000");
  check_in("text", !o.lines || o.separator.empty(), "lines are documents of one line, and separator is for documents ",
           "of several: give one of them");
  if (!tokenizer && !kind) tokenizer = given_tokenizer(o);
  TextData data = is_folder(o.text) ? read_tokens(o, tokenizer, expected) : read_words(o, tokenizer, expected);
  if (o.documents()) return data;

  const std::string name = o.text.empty() ? "the text" : o.text;
  check(static_cast<Index>(data.train.ids.size()) > o.block_size && data.held_out.ids.size() >= 2, name, " has ",
        data.train.ids.size(), " tokens to train on and ", data.held_out.ids.size(), " to hold out, but block_size ",
        o.block_size, " needs at least ", o.block_size + 1, " and 2: a smaller block_size may do");
  return data;
}

}  // namespace mote
