// A text with a vocabulary, a validation file or separators of its own; nanoGPT's tokens; tokenizer.json.
#include "engine/io/files/file.h"
#include "engine/io/files/torch_file.h"
#include "engine/io/text/json.h"
#include "models/models.h"
#include "tests/temp_folder.h"
#include "tests/tools.h"
#include "train/run/run.h"
#include "train/tasks/list.h"
#include "train/text/byte_pair.h"
#include "train/text/text_task.h"

namespace mote::test::given_vocabulary_test {
namespace {

using Ids = std::vector<Index>;

/// A folder with a text of two letters, and the options that read it.
struct Place {
  TempFolder folder;
  std::string text = folder.path("text");
  Place() { put_file(text, repeated("ab ba ", 20)); }
  static std::string repeated(const std::string& part, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += part;
    return all;
  }
  TextOptions options(const std::string& tokenizer = "char") const {
    TextOptions o;
    o.text = text;
    o.tokenizer = tokenizer;
    o.block_size = 4;
    return o;
  }
  /// Without the folder's path.
  std::string error(const TextOptions& o, const std::string& state = {}) const {
    std::string said = error_of([&] { static_cast<void>(TextTask(o, state).data()); });
    for (std::size_t at; (at = said.find(folder.path() + "/")) != std::string::npos;)
      said.erase(at, folder.path().size() + 1);
    return said;
  }
};

std::string decoded(const TextTask& task, const TextPart& part) {
  std::string text;
  for (const std::uint32_t id : part.ids) text += task.tokenizer()->token(id);
  return text;
}

/// meta.pkl of these characters, in this order.
void put_meta(const std::string& path, const std::vector<std::string>& characters) {
  TorchDict itos;
  for (const std::string& c : characters) itos.items.push_back({std::ssize(itos.items), {c}});
  put_file(path, detail::pickled({TorchDict{{{"itos", {itos}}}}}));
}

TEST_CASE("text task: a validation file is what is held out, and the whole text is trained on") {
  const Place place;
  TextOptions o = place.options();
  o.val = place.folder.path("val");
  put_file(o.val, "abc abc abc");
  const TextTask task(o);
  CHECK(decoded(task, task.data().train) == get_file(place.text));
  CHECK(decoded(task, task.data().held_out) == "abc abc abc");
  CHECK(task.vocab_size() == 4);  // c is in the validation file alone
  CHECK(task.description().find(o.val + " held out") != std::string::npos);
  const std::string state = task.state();
  CHECK(TextTask(o, state).state() == state);
  put_file(o.val, "abc abc abd");
  CHECK(place.error(o, state) == "val is not the text that was held out when the run began");
  TextOptions without = o;
  without.val.clear();
  CHECK(place.error(without, state) == "val is not the text that was held out when the run began");
  put_file(o.val, "");
  CHECK(place.error(o) == "val is empty");
  put_file(o.val, "caf\xe9");
  CHECK(place.error(o).starts_with("val is no UTF-8 at byte 3"));

  put_file(o.val, "one\ntwo\n");
  o.lines = true;
  put_file(o.text, "x\ny\nz\n");
  const TextTask lines(o);
  CHECK(lines.data().train.starts.size() == 4);
  CHECK(lines.data().held_out.starts.size() == 3);
  put_file(o.val, "\n\n");
  CHECK(place.error(o) == "val has no document");
}

TEST_CASE("text task: documents of several lines, between separators") {
  const Place place;
  TextOptions o = place.options();
  o.separator = end_of_text;
  std::string text;
  for (const char* const name : {"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"})
    text += "\nThe story of\n" + std::string(name) + "\n" + end_of_text;
  put_file(place.text, text);
  const TextTask task(o);
  CHECK(task.data().documents == 10);
  const std::string all = decoded(task, task.data().train) + decoded(task, task.data().held_out);
  CHECK(all.find(std::string(end_of_text) + "The story of\none" + end_of_text) != std::string::npos);
  CHECK(task.ids("") == Ids{task.tokenizer()->special(end_of_text)});
  CHECK(task.vocab_size() == task.tokenizer()->vocab_size());

  put_file(place.text, "a\nb\n\n\nc\nd\n\n\ne");
  o.separator = "\\n\\n";
  const TextTask gaps(o);
  CHECK(gaps.data().documents == 3);
  o.lines = true;
  CHECK(place.error(o).find("give one of them") != std::string::npos);
  o.lines = false;
  put_file(place.text, "a\nb");
  CHECK(place.error(o) == "text has 1 document: at least 2 different ones are needed, to hold one out");
}

TEST_CASE("text task: a given vocabulary keeps its ids, whatever the text has") {
  const Place place;
  put_meta(place.folder.path("meta.pkl"), {"b", "a", " ", "\u00e9"});
  TextOptions o = place.options(place.folder.path("meta.pkl"));
  const TextTask task(o);
  CHECK(task.vocab_size() == 4);
  CHECK(task.ids("ab \u00e9") == Ids{1, 0, 2, 3});
  CHECK(decoded(task, task.data().train) + decoded(task, task.data().held_out) == get_file(place.text));
  CHECK(TextTask(o, task.state()).ids("ab") == Ids{1, 0});

  // Rows of the model that no token has, as nanoGPT's 50304 for GPT-2's 50257.
  o.vocab_size = 64;
  const TextTask wide(o);
  CHECK(wide.vocab_size() == 64);
  CHECK(wide.text(Ids{1, 63}) == "a\ufffd");
  CHECK(wide.word(63) == "\\xff");
  o.vocab_size = 3;
  CHECK(place.error(o) == "vocab_size 3 must be at least 4, the number of tokens of meta.pkl");
  o.vocab_size.reset();

  put_file(place.text, Place::repeated("abc", 20));
  CHECK(place.error(o) ==
        "text: encode: 'c' (U+0063) at byte 2 is not among the 4 characters of the vocabulary: the tokenizers bpe and "
        "byte take any text");
  o.lines = true;
  CHECK(place.error(o) == "meta.pkl has no token <|endoftext|>, which stands between documents");
  put_meta(place.folder.path("meta.pkl"), {"a", "b", "c", end_of_text});
  put_file(place.text, "ab\nabc\nb\n");
  CHECK(place.error(o) == "(no error)");
  o.lines = false;
  put_file(place.text, std::string("abc") + end_of_text + "abc");
  CHECK(place.error(o) ==
        "text has the special token <|endoftext|> at byte 3: --separator \"<|endoftext|>\" takes what "
        "stands between them as documents");
  std::filesystem::create_directory(place.folder.path("empty"));
  CHECK(
      place.error(place.options(place.folder.path("empty"))).starts_with("empty has no vocabulary: no tokenizer.json"));
  put_file(place.folder.path("meta.pkl"), detail::pickled({TorchDict{}}));
  CHECK(place.error(o) == "meta.pkl has no dict 'itos', which nanoGPT's meta.pkl of characters needs");
}

TEST_CASE("text task: the vocabulary of a run, from its folder or a checkpoint") {
  const Place place;
  TextOptions o = place.options("bpe");
  o.vocab_size = 260;
  const OwnedTask task = make_task("text", {{"text", place.text}, {"tokenizer", "bpe"}, {"vocab_size", "258"}});
  GPTConfig c = GPTConfig().resized(1, 1, 4);
  c.vocab_size = task->vocab_size();
  c.block_size = task->block_size();
  GPT model(c, Generator(1));
  Run run(*task, subject_of(model), {.max_iters = 1, .batch_size = 1}, {.folder = place.folder.path("run")});
  run.train([](const RunEvent&) {});

  put_file(place.text, Place::repeated("other words ", 20));
  for (const std::string& path : {place.folder.path("run"), newest_checkpoint(place.folder.path("run"))}) {
    const TextTask other(place.options(path));
    CHECK(other.tokenizer()->json_text() == task->tokenizer()->json_text());
    CHECK(other.text(other.ids("other words")) == "other words");
  }
}

TEST_CASE("text task: nanoGPT's folder of tokens") {
  const Place place;
  const std::string data = place.folder.path("data");
  std::filesystem::create_directory(data);
  const auto put_tokens = [&](const std::string& name, const Ids& ids) {
    std::string bytes;
    for (const Index id : ids) bytes += {static_cast<char>(id & 255), static_cast<char>(id >> 8)};
    put_file(data + "/" + name, bytes);
  };
  TextOptions o = place.options();
  o.text = data;
  CHECK(place.error(o) == "data is a folder without train.bin and val.bin: give the text's file");
  put_tokens("train.bin", {0, 1, 2, 0, 1, 2});
  put_tokens("val.bin", {2, 1, 0});
  CHECK(place.error(o) == "data has no meta.pkl: --tokenizer FOLDER names its vocabulary, such as GPT-2's");
  put_meta(data + "/meta.pkl", {"x", "y", "\u00e9"});
  const TextTask task(o);
  CHECK(decoded(task, task.data().train) == "xy\u00e9xy\u00e9");
  CHECK(decoded(task, task.data().held_out) == "\u00e9yx");
  CHECK(task.data().held_out.bytes == 2);
  CHECK(task.description().find("val.bin held out") != std::string::npos);
  CHECK(TextTask(o, task.state()).data().train.ids == task.data().train.ids);

  put_tokens("val.bin", {2, 1, 1});
  CHECK(place.error(o, task.state()) == "data does not have the tokens that the run began with");
  put_tokens("val.bin", {2, 3});
  CHECK(place.error(o) == "data/val.bin: token 1 is 3, but the ids of the vocabulary are 0 to 2");
  o.tokenizer = data + "/meta.pkl";
  o.vocab_size = 8;
  CHECK(place.error(o) == "(no error)");
  put_file(data + "/val.bin", "abc");
  CHECK(place.error(o) == "data/val.bin has 3 bytes, but must have two for each token, and at least one token");
  o.tokenizer = "char";
  o.vocab_size.reset();
  o.lines = true;
  CHECK(place.error(o).find("no documents: leave out val, lines and separator") != std::string::npos);
  o.lines = false;
  o.tokenizer = "bpe";
  CHECK(place.error(o).find("bpe is made from a text") != std::string::npos);
}

/// tokenizer.json of all bytes, "ab", "\u0120ab" and a special token, in one of its two forms of merges.
std::string huggingface_json(bool pairs) {
  Json vocab = Json::object();
  for (int b = 0; b < 256; ++b) vocab.add(detail::visible_bytes(std::string(1, static_cast<char>(b))), b);
  vocab.add("ab", 256).add("\u0120ab", 257);
  const auto merge = [&](const char* left, const char* right) {
    return pairs ? Json::array({left, right}) : Json(std::string(left) + " " + right);
  };
  const Json level =
      Json::object({{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}});
  const Json added = Json::object({{"id", 258},
                                   {"content", end_of_text},
                                   {"single_word", false},
                                   {"lstrip", false},
                                   {"rstrip", false},
                                   {"normalized", false},
                                   {"special", true}});
  const Json model = Json::object({{"type", "BPE"},
                                   {"dropout", nullptr},
                                   {"unk_token", nullptr},
                                   {"continuing_subword_prefix", ""},
                                   {"end_of_word_suffix", ""},
                                   {"fuse_unk", false},
                                   {"vocab", vocab},
                                   {"merges", Json::array({merge("a", "b"), merge("\u0120", "ab")})}});
  return text_of(Json::object({{"version", "1.0"},
                               {"truncation", nullptr},
                               {"padding", nullptr},
                               {"added_tokens", Json::array({added})},
                               {"normalizer", nullptr},
                               {"pre_tokenizer", level},
                               {"post_processor", level},
                               {"decoder", level},
                               {"model", model}}));
}

TEST_CASE("tokenizer.json: byte-level pairs, as GPT-2's two files; whatever else it asks for is refused by name") {
  const TempFolder folder;
  const std::string path = folder.path("tokenizer.json");
  const auto load = [&](const std::string& json) {
    put_file(path, json);
    return load_tokenizer(folder.path());
  };
  for (const bool pairs : {false, true}) {
    const auto t = load(huggingface_json(pairs));
    CHECK(t->vocab_size() == 259);
    CHECK(t->encode("ab ab  ab") == Ids{256, 257, 32, 257});
    CHECK(t->encode("ab<|endoftext|>", SpecialText::allow) == Ids{256, 258});
    CHECK(t->decode(Ids{257, 258}) == " ab<|endoftext|>");
    CHECK(tokenizer_from(t->json_text())->json_text() == t->json_text());
  }

  // Each member, changed: whose name the error must have.
  const std::string json = huggingface_json(false);
  const auto refused = [&](const std::string& from, const std::string& to, const std::string& name) {
    std::string changed = json;
    const std::size_t at = changed.find(from);
    REQUIRE(at != std::string::npos);
    changed.replace(at, from.size(), to);
    const std::string said = error_of([&] { load(changed); });
    CHECK_MESSAGE(said.find(name) != std::string::npos, said);
    CHECK_MESSAGE(said.starts_with(path + ": "), said);
  };
  refused("\"truncation\":null", "\"truncation\":{\"max_length\":8}", "truncation");
  refused("\"padding\":null", "\"padding\":{}", "padding");
  refused("\"normalizer\":null", "\"normalizer\":{\"type\":\"NFC\"}", "normalizer");
  refused("\"pre_tokenizer\":{\"type\":\"ByteLevel\"", "\"pre_tokenizer\":{\"type\":\"Split\"", "pre_tokenizer.type");
  refused("\"add_prefix_space\":false", "\"add_prefix_space\":true", "pre_tokenizer.add_prefix_space");
  refused("\"use_regex\":true", "\"use_regex\":false", "pre_tokenizer.use_regex");
  refused("\"post_processor\":{\"type\":\"ByteLevel\"", "\"post_processor\":{\"type\":\"TemplateProcessing\"",
          "post_processor.type");
  refused("\"decoder\":{\"type\":\"ByteLevel\"", "\"decoder\":{\"type\":\"Metaspace\"", "decoder.type");
  refused("\"type\":\"BPE\"", "\"type\":\"WordPiece\"", "model.type");
  refused("\"dropout\":null", "\"dropout\":0.1", "model.dropout");
  refused("\"end_of_word_suffix\":\"\"", "\"end_of_word_suffix\":\"</w>\"", "model.end_of_word_suffix");
  refused("\"fuse_unk\":false", "\"byte_fallback\":true", "model.byte_fallback");
  refused("\"fuse_unk\":false", "\"ignore_merges\":true", "model.ignore_merges");
  refused("\"fuse_unk\":false", "\"new_thing\":true", "model.new_thing");
  refused("\"lstrip\":false", "\"lstrip\":true", "added_tokens[0].lstrip");
  refused("\"special\":true", "\"special\":false", "added_tokens[0].special");
  refused("\"a b\"", "\"a\"", "model.merges[0]");
  refused("\"version\":\"1.0\"", "\"Version\":\"1.0\"", "Version");
}

}  // namespace
}  // namespace mote::test::given_vocabulary_test
