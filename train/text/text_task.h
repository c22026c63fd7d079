// The text task: predict the next token of any file. TextData is the text as tokens: nine tenths to train on, the rest
// held out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "train/tasks/task.h"
#include "train/text/tokenizer.h"

namespace mote {

struct TextOptions {
  std::string text = {};           ///< its path, or a folder with nanoGPT's train.bin and val.bin; empty: mote's own
  std::string val = {};            ///< the path of what is held out; empty: a tenth of the text
  std::string tokenizer = "char";  ///< a TokenizerKind, or the path of a tokenizer that is there (load_tokenizer)
  std::optional<Index> vocab_size = {};
  bool lines = false;
  std::string separator = {};  ///< between documents of several lines; \n and \t stand for those characters
  Index block_size = 64;
  template <class V>
  void visit(V& v) {
    v("text", text,
      "a file to learn, any bytes, or nanoGPT's folder with train.bin; not given: a text that mote makes itself",
      {.may_change = true});
    v("val", val, "a file to hold out; not given: a tenth of the text", {.may_change = true});
    v("tokenizer", tokenizer,
      "what a token is: char, byte, bpe (bytes that often come together), or the path of a vocabulary: a run, a folder "
      "or file of Hugging Face's or nanoGPT's");
    v("vocab_size", vocab_size, "with bpe, tokens at most; default: 512. Of a given vocabulary, rows of the model");
    v("lines", lines, "every line is a document of its own");
    v("separator", separator, "what stands between documents of several lines, such as <|endoftext|>");
    v("block_size", block_size, "the longest context, in tokens");
  }
  bool documents() const { return lines || !separator.empty(); }
  /// The kind that `tokenizer` names; nothing: it is a path.
  std::optional<TokenizerKind> kind() const;
};

/// Tokens of one split: one behind the other, or documents, each between two tokens that separate documents.
struct TextPart {
  std::vector<std::uint32_t> ids;
  std::vector<std::size_t> starts;  ///< of the documents, and the end of the last; none: the text is one
  Index bytes = 0;                  ///< of text that is predicted: all but the first token, of every document
  Index predicted() const {
    return static_cast<Index>(ids.size()) - (starts.empty() ? 1 : static_cast<Index>(starts.size()) - 1);
  }
};

/// Which text it is. With --val, also which text is held out.
struct TextIdentity {
  Index bytes = 0, val_bytes = 0;
  std::uint32_t crc = 0, val_crc = 0;
  friend bool operator==(const TextIdentity&, const TextIdentity&) = default;
};

/// What is held out is a text of its own, if there is one. Otherwise a text is split as nanoGPT does it: the last tenth
/// of its characters is held out (of its bytes, if it is no UTF-8). Of documents one in ten is, selected by its hash,
/// so that none is in both splits. A byte-pair tokenizer is trained on what is not held out, one of characters on all.
struct TextData {
  TextPart train, held_out;
  TextIdentity identity;
  Index documents = 0;
  /// The grammar's entropy per byte of a text that mote made, in nats.
  std::optional<double> entropy = {};

  const TextPart& part(Split split) const { return split == Split::train ? train : held_out; }
  /// The mean loss of a bigram model on the held-out tokens. The model counts pairs of training tokens. Each count
  /// starts at one. Nothing if the vocabulary is too large for the table of counts.
  std::optional<double> bigram_loss(Integer vocab_size) const;
};

/// Reads, splits and encodes the text; makes the tokenizer unless there is one. Errors, one sentence each: a file that
/// cannot be read, is empty, larger than 100 MB, or too short for a block. With char, a file that is no UTF-8, and what
/// converts it. Documents that are all alike. A special token in a text. Tokens that the vocabulary does not have.
/// Another text than the one `expected`.
TextData read_text(const TextOptions& options, std::unique_ptr<Tokenizer>& tokenizer,
                   const std::optional<TextIdentity>& expected = {});

struct SyntheticText {
  std::string text;
  double nats;  ///< -ln of the probability that the grammar makes this text: what the best model would need for it
};

/// Of a small grammar: sentences about animals, always the same ones, until there are `bytes` of them or some more.
/// Some ask and answer, and some count: what they repeat costs nothing to a model that looks back.
SyntheticText synthetic_text(Integer bytes);

/// Windows of block_size tokens, each from anywhere in the text; or whole documents, of long ones a window. Line ends
/// and a byte order mark are text as anything else is, but for the line ends between documents. ids and targets [B, T],
/// T at most block_size. No answer is right: a question is only a beginning, a line end or the token between documents.
/// Errors: those of read_text().
class TextTask : public Task {
 public:
  using Options = TextOptions;
  const Options options;

  /// Without a state the text is read now. From a state, only when it is needed, and must be the same text still.
  explicit TextTask(const Options& options = {}, const std::string& state = {});

  std::string description() const override;
  /// Of a given vocabulary at least options.vocab_size.
  Index vocab_size() const override;
  Index block_size() const override { return options.block_size; }
  Recipe recipe() const override { return recipe_of(options); }
  /// nanoGPT's for a CPU, and an average of the weights; documents, which are short, come in larger batches. No text is
  /// read for it.
  static Recipe recipe_of(const Options& options);
  Outcome outcome() const override;
  bool graded() const override { return false; }

  Batch batch(Index size, Split split, const Generator& random) const override;
  /// Every held-out token, once, but for the first of a document; nothing of more than a million.
  std::vector<Batch> held_out(Index size) const override;
  /// Prompts [count, 1], answers [count, block_size]: what once followed; after a document's end, its last token again.
  Questions questions(Index count, Split split, const Generator& random) const override;
  /// The tokenizer, and which text it is, as JSON.
  std::string state() const override;

  const Tokenizer* tokenizer() const override { return tokenizer_.get(); }
  /// What is read when it is first needed.
  const TextData& data() const;
  std::string loss_note(double loss) const override;
  /// The token's bytes; what would not show, and a backslash, as \n or \x80.
  std::string word(Index id) const override;
  /// The text, with U+FFFD for what is no UTF-8; documents are separated by line ends, which CRLF and CR are, too.
  std::string text(std::span<const Index> ids) const override;
  /// Of a text; where it has documents, of the beginning of one. Errors: a special token in it; those of the tokenizer.
  std::vector<Index> ids(const std::string& text) const override;

 private:
  /// T + 1 tokens at most, from a random place.
  std::vector<Index> window(const TextPart& part, const Generator& random) const;

  std::unique_ptr<Tokenizer> tokenizer_;
  TextIdentity identity_;
  /// The token's bytes; of a row of the model that no token has, a byte that is no UTF-8.
  std::string bytes_of(Index id) const { return id < tokenizer_->vocab_size() ? tokenizer_->token(id) : "\xff"; }
  mutable std::unique_ptr<const TextData> data_;
};

}  // namespace mote
