// Tokenizers by kind: trained, read from JSON, written for others.
#include "engine/io/files/file.h"
#include "engine/io/files/torch_file.h"
#include "engine/io/text/json.h"
#include "train/text/byte_pair.h"
#include "train/text/characters.h"

namespace mote {
namespace {

std::vector<std::string> strings_of(const JsonPlace& array) {
  std::vector<std::string> list;
  for (std::size_t i = 0; i < array.items().size(); ++i) list.push_back(array.at(i).as_string());
  return list;
}

/// Errors: a member besides these.
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
  throw Error("unknown tokenizer");
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

void save_vocabulary(const Tokenizer& tokenizer, const std::string& folder) {
  const Index V = tokenizer.vocab_size();
  if (tokenizer.kind() == TokenizerKind::character) {
    TorchDict stoi, itos;
    for (Index id = 0; id < V; ++id) {
      const std::string& token = tokenizer.token(id);
      itos.items.push_back({id, {token}});
      if (const Index special = tokenizer.special(token); special < 0 || special == id)  // of two, the special one
        stoi.items.push_back({token, {id}});
    }
    write_file(folder + "/meta.pkl",
               detail::pickled({TorchDict{{{"vocab_size", {V}}, {"stoi", {stoi}}, {"itos", {itos}}}}}));
  }
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
