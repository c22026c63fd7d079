// Byte-pair tokenizers: minbpe's first one, which does not cut a text into pieces before it merges, and GPT-2's with
// two more special tokens.
#include <map>

#include "examples/lectures/lecture.h"
#include "examples/lectures/python.h"
#include "train/text/tokenizer.h"

using namespace mote;

namespace {

/// minbpe's BasicTokenizer. In each step the most frequent pair becomes a token. If several pairs are equally
/// frequent, the one that stands first in the text is taken. mote's own train_tokenizer() first cuts a text into
/// pieces. Of equally frequent pairs, it takes the one with the lowest ids.
class BasicTokenizer {
 public:
  void train(const std::string& text, Index vocab_size) {
    std::vector<Index> ids = bytes_of(text);
    for (Index id = 256; id < vocab_size; ++id) {
      const Pair pair = most_frequent(ids);
      ids = merged(ids, pair, id);
      merges_.push_back(pair);
    }
  }
  std::vector<Index> encode(const std::string& text) const {
    std::vector<Index> ids = bytes_of(text);
    for (std::size_t i = 0; i < merges_.size(); ++i) ids = merged(ids, merges_[i], 256 + static_cast<Index>(i));
    return ids;
  }
  std::string decode(const std::vector<Index>& ids) const {
    std::string text;
    for (const Index id : ids) {
      if (id < 256) {
        text += static_cast<char>(id);
      } else {
        const auto [left, right] = merges_[static_cast<std::size_t>(id - 256)];
        text += decode({left, right});
      }
    }
    return text;
  }

 private:
  using Pair = std::pair<Index, Index>;

  static std::vector<Index> bytes_of(const std::string& text) {
    std::vector<Index> ids;
    for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
    return ids;
  }
  static Pair most_frequent(const std::vector<Index>& ids) {
    check(ids.size() >= 2, "the text has no pair left");
    std::map<Pair, Index> counts;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) ++counts[{ids[i], ids[i + 1]}];
    Pair best{ids[0], ids[1]};
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      const Pair pair{ids[i], ids[i + 1]};
      if (counts[pair] > counts[best]) best = pair;
    }
    return best;
  }
  static std::vector<Index> merged(const std::vector<Index>& ids, Pair pair, Index result) {
    std::vector<Index> out;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const bool found = i + 1 < ids.size() && Pair{ids[i], ids[i + 1]} == pair;
      out.push_back(found ? result : ids[i]);
      if (found) ++i;
    }
    return out;
  }

  std::vector<Pair> merges_;  // by id, from 256 on
};

void minbpe(Lines& line) {
  const std::string text = "aaabdaaabac";
  BasicTokenizer tokenizer;
  tokenizer.train(text, 256 + 3);
  line(list_text(tokenizer.encode(text)));
  line(tokenizer.decode({258, 100, 258, 97, 99}));
}

void with_tokens_of_ones_own(const std::string& folder, Lines& line) {
  const auto print = [&](const Tokenizer& tokenizer, const std::string& text) {
    const std::vector<Index> ids = tokenizer.encode(text, SpecialText::allow);
    line(list_text(ids));
    for (const Index id : ids) line(std::to_string(id) + " -> " + tokenizer.token(id));
  };
  const std::string vocabulary = folder + "/gpt2-vocab.json", merges = folder + "/gpt2-merges.txt";
  print(*load_gpt2_tokenizer(vocabulary, merges), "Hello, MyNewToken_1 is a new token. <|endoftext|>");
  print(*load_gpt2_tokenizer(vocabulary, merges, {"MyNewToken_1", "MyNewToken_2"}),
        "Sample text with MyNewToken_1 and MyNewToken_2. <|endoftext|>");
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    std::string folder;
    read_data_words(argc, argv, "FOLDER: with gpt2-vocab.json and gpt2-merges.txt", folder);
    Lines line("tokenizers");
    minbpe(line);
    with_tokens_of_ones_own(folder, line);
    return line.summary();
  });
}
