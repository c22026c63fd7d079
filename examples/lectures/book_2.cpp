// Chapter 2 of "Build a Large Language Model (From Scratch)": a story as words, as ids, as GPT-2's byte pairs, as
// pieces to train on, and as embeddings.
#include <map>
#include <set>

#include "examples/lectures/book.h"
#include "examples/lectures/python.h"

using namespace mote;
namespace book = mote::tutorials::book;

namespace {

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

/// Python's re.split() with the separators kept. separator(text) returns the length of the separator that a text
/// begins with, or 0.
template <class Separator>
std::vector<std::string> split(std::string_view text, const Separator& separator) {
  std::vector<std::string> parts{""};
  while (!text.empty()) {
    const std::size_t length = separator(text);
    if (length > 0) {
      parts.emplace_back(text.substr(0, length));
      parts.emplace_back();
    } else {
      parts.back() += text[0];
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return parts;
}

/// Returns the parts of a text without those that are empty or only white space.
std::vector<std::string> stripped(std::vector<std::string> parts) {
  std::erase_if(parts, [](const std::string& part) { return std::all_of(part.begin(), part.end(), is_space); });
  return parts;
}

/// The words and the punctuation marks of a text. "--" is one mark.
std::vector<std::string> words_of(std::string_view text) {
  return stripped(split(text, [](std::string_view rest) -> std::size_t {
    if (rest.starts_with("--")) return 2;
    return std::string_view(",.:;?_!\"()'").find(rest[0]) != std::string_view::npos || is_space(rest[0]) ? 1 : 0;
  }));
}

/// The book's SimpleTokenizerV1 and SimpleTokenizerV2. Version 2 has a token for unknown words.
struct SimpleTokenizer {
  std::vector<std::string> words;
  std::map<std::string, Index> ids;
  bool second;

  SimpleTokenizer(std::vector<std::string> vocabulary, bool version_2)
      : words(std::move(vocabulary)), second(version_2) {
    for (const std::string& word : words) ids.emplace(word, std::ssize(ids));
  }
  std::vector<Index> encode(std::string_view text) const {
    std::vector<Index> out;
    for (const std::string& word : words_of(text)) {
      const auto found = ids.find(word);
      check(found != ids.end() || second, "no such word: ", word);
      out.push_back(found == ids.end() ? ids.at("<|unk|>") : found->second);
    }
    return out;
  }
  /// The text of ids, with spaces between words but not before punctuation marks.
  std::string decode(const std::vector<Index>& text) const {
    const std::string_view signs = second ? ",.:;?!\"()'" : ",.?!\"()'";
    std::string out;
    for (const Index id : text) {
      const std::string& word = words[static_cast<std::size_t>(id)];
      if (!out.empty() && signs.find(word[0]) == signs.npos) out += ' ';
      out += word;
    }
    return out;
  }
};

void words(const book::Story& story, Lines& line) {
  line("Total number of character: " + std::to_string(story.text.size()));
  line(story.text.substr(0, 99));

  const auto space = [](std::string_view rest) -> std::size_t { return is_space(rest[0]) ? 1 : 0; };
  const auto sign_or_space = [](std::string_view rest) -> std::size_t {
    return rest[0] == ',' || rest[0] == '.' || is_space(rest[0]) ? 1 : 0;
  };
  const std::string test = "Hello, world. This, is a test.";
  line(list_text(split(test, space)));
  line(list_text(split(test, sign_or_space)));
  line(list_text(stripped(split(test, sign_or_space))));
  line(list_text(words_of("Hello, world. Is this-- a test?")));

  const std::vector<std::string> all = words_of(story.text);
  line(list_text(std::vector<std::string>(all.begin(), all.begin() + 30)));
  line(std::to_string(all.size()));

  const std::set<std::string> different(all.begin(), all.end());
  std::vector<std::string> vocabulary(different.begin(), different.end());
  line(std::to_string(vocabulary.size()));
  const auto entry = [&](std::size_t i) { line("(" + quoted(vocabulary[i]) + ", " + std::to_string(i) + ")"); };
  for (std::size_t i = 0; i <= 50; ++i) entry(i);

  const SimpleTokenizer first(vocabulary, false);
  const std::vector<Index> ids = first.encode(
      "\"It's the last he painted, you know,\" \n"
      "           Mrs. Gisburn said with pardonable pride.");
  line(list_text(ids));
  line(quoted(first.decode(ids)));

  vocabulary.insert(vocabulary.end(), {"<|endoftext|>", "<|unk|>"});
  line(std::to_string(vocabulary.size()));
  for (std::size_t i = vocabulary.size() - 5; i < vocabulary.size(); ++i) entry(i);
  const SimpleTokenizer second(vocabulary, true);
  const std::string text = "Hello, do you like tea? <|endoftext|> In the sunlit terraces of the palace.";
  line(text);
  line(list_text(second.encode(text)));
  line(quoted(second.decode(second.encode(text))));
}

void byte_pairs(const book::Story& story, Lines& line) {
  const std::vector<Index> integers =
      story.encode("Hello, do you like tea? <|endoftext|> In the sunlit terracesof someunknownPlace.");
  line(list_text(integers));
  line(story.decode(integers));

  const std::vector<Index> all = story.encode(story.text);
  line(std::to_string(all.size()));
  const std::vector<Index> sample(all.begin() + 50, all.begin() + 55);
  const auto part = [&](Index from, Index to) {
    return std::vector<Index>(sample.begin() + from, sample.begin() + to);
  };
  line("x: " + list_text(part(0, 4)));
  line("y:      " + list_text(part(1, 5)));
  for (Index i = 1; i <= 4; ++i) line(list_text(part(0, i)) + " ----> " + std::to_string(sample[std::size_t(i)]));
  for (Index i = 1; i <= 4; ++i) line(story.decode(part(0, i)) + " ----> " + story.decode(part(i, i + 1)));
}

void batches(const book::Story& story, Lines& line) {
  const std::vector<Index> tokens = story.encode(story.text);
  const Generator random(123);
  const book::Pieces overlapping(tokens, 4, 1);
  DataLoader::Iterator next = DataLoader(overlapping.size(), {.batch_size = 1}, random).begin();
  for (int i = 0; i < 2; ++i) {
    line("[" + to_text(take_rows(overlapping.inputs, *next)) + ", " + to_text(take_rows(overlapping.targets, *next)) +
         "]");
    ++next;
  }

  const book::Pieces apart(tokens, 4, 4);
  const std::vector<Index> rows = *DataLoader(apart.size(), {.batch_size = 8}, random).begin();
  const IntArray inputs = take_rows(apart.inputs, rows);
  line.text("Inputs:\n " + to_text(inputs));
  line.text("Targets:\n " + to_text(take_rows(apart.targets, rows)));

  const Embedding embedding_layer(6, 3, Generator(123));
  line.text(to_text(embedding_layer.weight));
  line.text(plain(embedding_layer(ints({3}))));
  line.text(plain(embedding_layer(ints({2, 3, 5, 1}))));

  const Embedding token_embedding_layer(50'257, 256, random), pos_embedding_layer(4, 256, random);
  line.text("Token IDs:\n " + to_text(inputs) + "\nInputs shape:\n " + size_text(inputs.shape()));
  const Tensor token_embeddings = token_embedding_layer(inputs), pos_embeddings = pos_embedding_layer(int_arange(4));
  line(size_text(token_embeddings.shape()));
  line(size_text(pos_embeddings.shape()));
  line(size_text((token_embeddings + pos_embeddings).shape()));
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    std::string folder;
    read_data_words(argc, argv, "FOLDER: with the-verdict.txt, gpt2-vocab.json and gpt2-merges.txt", folder);
    const book::Story story(folder);
    Lines line("book_2");
    words(story, line);
    byte_pairs(story, line);
    batches(story, line);
    return line.summary();
  });
}
