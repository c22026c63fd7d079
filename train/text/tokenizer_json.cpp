// Reads Hugging Face's tokenizer.json with byte-level byte pairs, and refuses all else.
#include "engine/io/files/file.h"
#include "engine/io/text/json.h"
#include "train/text/byte_pair.h"

namespace mote {
namespace {

/// A member of an object, or nullptr if the member is missing or null.
const Json* given(const JsonPlace& object, const char* name) {
  const Json* const value = object.find(name);
  return value && !value->is(Json::Kind::null) ? value : nullptr;
}

/// Checks that the value of a member is one of `values`. A member that is missing or null is accepted. Errors: another
/// value.
void only(const JsonPlace& object, const char* name, std::initializer_list<Json> values) {
  const Json* const value = given(object, name);
  if (!value || std::find(values.begin(), values.end(), *value) != values.end()) return;
  object.at(name).fail("must be " + text_of(*values.begin()) + ": mote has no other tokenizer of this form");
}

/// Checks the names of an object's members. Errors: a name that is not in `known`.
void no_others(const JsonPlace& object, std::initializer_list<std::string_view> known) {
  for (const JsonMember& m : object.members())
    if (std::find(known.begin(), known.end(), m.name) == known.end())
      object.at(m).fail("is a member that mote does not know");
}

/// Checks that a part of the tokenizer is ByteLevel. If `cuts` is true, the part cuts a text into pieces, and must do
/// so without a prefix space and by GPT-2's pattern. Errors: another type or other settings.
void byte_level(const JsonPlace& root, const char* name, bool cuts) {
  const JsonPlace part = root.at(name);
  only(part, "type", {"ByteLevel"});
  no_others(part, {"type", "add_prefix_space", "trim_offsets", "use_regex"});
  if (!cuts) return;  // the settings of a part that does not cut only concern offsets into the text
  only(part, "add_prefix_space", {false});
  only(part, "use_regex", {true});
}

void check_model(const JsonPlace& model) {
  only(model, "type", {"BPE"});
  no_others(model, {"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk",
                    "byte_fallback", "ignore_merges", "vocab", "merges"});
  only(model, "dropout", {nullptr});
  only(model, "continuing_subword_prefix", {""});
  only(model, "end_of_word_suffix", {""});
  only(model, "byte_fallback", {false});
  only(model, "ignore_merges", {false});
}

/// The merges of the file, each as "left right". In the file, a merge is either one such text or a list of two texts.
std::vector<std::string> merges_of(const JsonPlace& list) {
  std::vector<std::string> merges;
  for (std::size_t i = 0; i < list.items().size(); ++i) {
    const JsonPlace merge = list.at(i);
    if (merge.value().is(Json::Kind::string)) {
      merges.push_back(merge.as_string());
      continue;
    }
    if (merge.items().size() != 2) merge.fail("must be a pair of tokens");
    merges.push_back(merge.at(0).as_string() + " " + merge.at(1).as_string());
  }
  return merges;
}

}  // namespace

std::unique_ptr<Tokenizer> load_huggingface_tokenizer(const std::string& path) {
  const Json document = parse_json(read_file(path, detail::longest_vocabulary), path);
  const JsonPlace root(document, path);
  no_others(root, {"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor",
                   "decoder", "model"});
  for (const char* const nothing : {"truncation", "padding", "normalizer"}) only(root, nothing, {nullptr});
  byte_level(root, "pre_tokenizer", true);
  byte_level(root, "decoder", false);
  if (given(root, "post_processor")) byte_level(root, "post_processor", false);
  const JsonPlace model = root.at("model");
  check_model(model);

  detail::VocabularyFile vocabulary = detail::read_vocabulary(model.at("vocab"), path);
  if (given(root, "added_tokens")) {
    const JsonPlace added = root.at("added_tokens");
    for (std::size_t i = 0; i < added.items().size(); ++i) {
      const JsonPlace token = added.at(i);
      no_others(token, {"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
      for (const char* const no : {"single_word", "lstrip", "rstrip"}) only(token, no, {false});
      only(token, "special", {true});
      detail::add_special(vocabulary, token.at("content").as_string(), token.at("id").as_integer());
    }
  }
  const auto place = [&](std::size_t n) { return path + ": model.merges[" + std::to_string(n) + "]"; };
  return detail::byte_pair_from(vocabulary, merges_of(model.at("merges")), place);
}

}  // namespace mote
