// Trains tokenizers of every kind, reads them from JSON and from the files of other programs, and writes such files.
#include <map>

#include "engine/io/files/file.h"
#include "engine/io/files/torch_file.h"
#include "engine/io/text/json.h"
#include "engine/io/text/utf8.h"
#include "engine/io/text/utf8_stream.h"
#include "train/run/run_folder.h"
#include "train/run/settings.h"
#include "train/text/byte_pair.h"
#include "train/text/characters.h"

namespace mote {
namespace {

std::vector<std::string> strings_of(const JsonPlace& array) {
  std::vector<std::string> list;
  for (std::size_t i = 0; i < array.items().size(); ++i) list.push_back(array.at(i).as_string());
  return list;
}

/// Checks the names of an object's members. Errors: a name that is not in `known`.
void check_members(const JsonPlace& object, std::span<const std::string_view> known) {
  for (const JsonMember& m : object.members())
    if (std::find(known.begin(), known.end(), m.name) == known.end())
      object.fail("has an unknown member '" + m.name + "'");
}

std::vector<SpecialToken> specials_in(const JsonPlace& array) {
  constexpr std::array<std::string_view, 2> known{"id", "text"};
  std::vector<SpecialToken> specials;
  for (std::size_t i = 0; i < array.items().size(); ++i) {
    check_members(array.at(i), known);
    specials.push_back({array.at(i).at("id").as_integer(), array.at(i).at("text").as_string()});
  }
  return specials;
}

}  // namespace

std::unique_ptr<Tokenizer> train_tokenizer(TokenizerKind kind, std::string_view text, Integer vocab_size,
                                           const std::vector<std::string>& specials) {
  switch (kind) {
    case TokenizerKind::character:
      return train_characters(text, specials);
    case TokenizerKind::byte:
      return std::make_unique<ByteTokenizer>(detail::specials_from(256, specials));
    case TokenizerKind::byte_pair:
      return train_byte_pair(text, vocab_size, specials);
  }
  throw Error("train_tokenizer: kind " + std::to_string(static_cast<int>(kind)) + " is none of " +
              all_names(words(kind)));
}

std::unique_ptr<Tokenizer> tokenizer_from(std::string_view json, std::string_view what) {
  constexpr std::array<std::string_view, 4> known{"tokenizer", "special", "tokens", "merges"};
  const Json document = parse_json(json, what);
  const JsonPlace root(document, what);
  return detail::named(std::string(what), [&]() -> std::unique_ptr<Tokenizer> {
    const auto kind = from_text<TokenizerKind>("the tokenizer", root.at("tokenizer").as_string());
    const auto specials = [&](std::size_t members) {
      check_members(root, std::span(known).first(members));
      return specials_in(root.at("special"));
    };
    switch (kind) {
      case TokenizerKind::character: {
        std::vector<SpecialToken> special = specials(3);
        return std::make_unique<CharacterTokenizer>(strings_of(root.at("tokens")), std::move(special));
      }
      case TokenizerKind::byte:
        return std::make_unique<ByteTokenizer>(specials(2));
      case TokenizerKind::byte_pair: {
        std::vector<SpecialToken> special = specials(4);
        const std::vector<std::string> tokens = strings_of(root.at("tokens"));
        const auto place = [](std::size_t n) { return "merges[" + std::to_string(n) + "]"; };
        return detail::byte_pair_from(tokens, "tokens", strings_of(root.at("merges")), place, std::move(special));
      }
    }
    throw Error("unknown tokenizer");
  });
}

std::unique_ptr<Tokenizer> load_nanogpt_tokenizer(const std::string& path) {
  const TorchValue meta = detail::unpickled(path, read_file(path, detail::longest_vocabulary));
  const auto* const all = std::get_if<TorchDict>(&meta.value);
  const TorchValue* const own = all ? all->find(std::string("mote")) : nullptr;
  if (const auto* const json = own ? std::get_if<std::string>(&own->value) : nullptr)
    return tokenizer_from(*json, path);
  const TorchValue* const entry = all ? all->find(std::string("itos")) : nullptr;
  const auto* const itos = entry ? std::get_if<TorchDict>(&entry->value) : nullptr;
  check(itos, path, " has no dict 'itos', which nanoGPT's meta.pkl of characters needs");

  std::map<Index, std::string> by_id;
  for (const TorchItem& item : itos->items) {
    const auto* const id = std::get_if<Index>(&item.key);
    const auto* const text = std::get_if<std::string>(&item.value.value);
    check(id && text, path, ": itos must map ints to texts");
    by_id[*id] = *text;
  }
  std::vector<std::string> characters;
  std::vector<SpecialToken> specials;
  Index next = 0;
  for (const auto& [id, text] : by_id) {
    check(id == next, path, ": itos has no entry ", next, ", but its ids must be 0, 1, 2 and so on");
    ++next;
    const auto [length, code] = detail::character_at(text, 0);
    if (code && length == text.size())
      characters.push_back(text);
    else
      specials.push_back({id, text});
  }
  return detail::named(path, [&] { return std::make_unique<CharacterTokenizer>(characters, std::move(specials)); });
}

std::unique_ptr<Tokenizer> load_tokenizer(const std::string& path) {
  const std::string checkpoint = is_folder(path) ? newest_checkpoint(path) : path.ends_with(".safetensors") ? path : "";
  if (!checkpoint.empty()) {
    const std::string state = saved_state(SafetensorsFile(checkpoint));
    if (state.empty()) return nullptr;
    const Json document = parse_json(state, checkpoint);
    return tokenizer_from(JsonPlace(document, checkpoint).at("tokenizer").as_string(), checkpoint);
  }
  if (!is_folder(path)) return path.ends_with(".pkl") ? load_nanogpt_tokenizer(path) : load_huggingface_tokenizer(path);

  const auto inside = [&](const char* name) { return path + "/" + name; };
  if (file_exists(inside("tokenizer.json"))) return load_huggingface_tokenizer(inside("tokenizer.json"));
  if (file_exists(inside("vocab.json")) && file_exists(inside("merges.txt")))
    return load_gpt2_tokenizer(inside("vocab.json"), inside("merges.txt"));
  if (file_exists(inside("meta.pkl"))) return load_nanogpt_tokenizer(inside("meta.pkl"));
  return nullptr;
}

void save_vocabulary(const Tokenizer& tokenizer, const std::string& folder) {
  const Index V = tokenizer.vocab_size();
  TorchDict stoi, itos;
  for (Index id = 0; id < V; ++id) {
    const std::string& token = tokenizer.token(id);
    itos.items.push_back({id, {valid_utf8(token)}});
    // stoi gets special tokens and tokens of one character. If two tokens have the same text, it gets the special one.
    const Index special = tokenizer.special(token);
    const auto [length, code] = detail::character_at(token, 0);
    const bool found = special == id || (special < 0 && code && length == token.size());
    if (found) stoi.items.push_back({token, {id}});
  }
  TorchDict meta{{{"vocab_size", {V}}, {"stoi", {stoi}}, {"itos", {itos}}}};
  // itos cannot express bytes and byte pairs, so "mote" has the whole tokenizer for load_nanogpt_tokenizer().
  if (tokenizer.kind() != TokenizerKind::character) meta.items.push_back({"mote", {tokenizer.json_text()}});
  write_file(folder + "/meta.pkl", detail::pickled({meta}));

  if (tokenizer.kind() == TokenizerKind::byte_pair) {
    const Json all = parse_json(tokenizer.json_text(), "tokenizer");
    Json ids = Json::object();
    std::string merges = "#version: 0.2\n";
    for (Index id = 0; id < V; ++id) {
      const std::string& token = tokenizer.token(id);
      ids.add(tokenizer.special(token) == id ? token : detail::visible_bytes(token), id);
    }
    for (const std::string& merge : strings_of(JsonPlace(all, "tokenizer").at("merges"))) merges += merge + "\n";
    write_file(folder + "/vocab.json", text_of(ids));
    write_file(folder + "/merges.txt", merges);
  }
}

}  // namespace mote
