// The text task: predict the next token of any file. TextData is the text as tokens, nine tenths to train on and one
// tenth held out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "train/tasks/task.h"
#include "train/text/tokenizer.h"

namespace mote {

/// The settings of a TextTask.
struct TextOptions {
  std::string text = {};           ///< a file, or nanoGPT's folder with train.bin; empty: a text that mote makes
  std::string val = {};            ///< a file that is held out; empty: a tenth of the text
  std::string tokenizer = "char";  ///< a TokenizerKind, or a path for load_tokenizer()
  std::optional<Index> vocab_size = {};
  bool lines = false;
  std::string separator = {};  ///< between documents of several lines; \n is a newline, \t a tab
  Index block_size = 64;
  template <class V>
  void visit(V& v) {
    v("text", text,
      "the text to learn: a file of any bytes, or nanoGPT's folder with train.bin; without it mote makes a text",
      {.may_change = true});
    v("val", val, "a text for the evaluation; without it a tenth of the text is held out", {.may_change = true});
    v("tokenizer", tokenizer,
      "char, byte, bpe (byte-pair encoding), or the path of a vocabulary: a run, or a folder or file of Hugging Face's "
      "or nanoGPT's");
    v("vocab_size", vocab_size,
      "with bpe, the most tokens; default: 512. With a given vocabulary, the rows of the model's embedding");
    v("lines", lines, "every line is a document of its own");
    v("separator", separator, "the text between two documents of several lines, such as <|endoftext|>");
    v("block_size", block_size, "the longest context, in tokens");
  }
  bool documents() const { return lines || !separator.empty(); }
  /// The kind that `tokenizer` names, or nothing if `tokenizer` is a path.
  std::optional<TokenizerKind> kind() const;
};

/// The tokens of one split, as one sequence or as documents. Each document begins and ends with a separator token.
struct TextPart {
  std::vector<std::uint32_t> ids;
  std::vector<std::size_t> starts;  ///< where each document begins, and where the last one ends; empty: no documents
  Index bytes = 0;                  ///< bytes of the predicted tokens, which are all but the first (of each document)
  Index predicted() const {
    return static_cast<Index>(ids.size()) - (starts.empty() ? 1 : static_cast<Index>(starts.size()) - 1);
  }
};

/// The size and checksum of a text, by which a resumed run recognizes the text. With --val, also those of the held-out
/// text.
struct TextIdentity {
  Index bytes = 0, val_bytes = 0;
  std::uint32_t crc = 0, val_crc = 0;
  friend bool operator==(const TextIdentity&, const TextIdentity&) = default;
};

/// A text as tokens to train on and tokens that are held out. If the option `val` gives a held-out text, all of `text`
/// is to train on. Otherwise the last tenth of the text is held out, as in nanoGPT. A tenth is counted in characters,
/// or in bytes if the text is not UTF-8. If the text consists of documents, one document in ten is held out, selected
/// by its hash, so that no document is in both splits. A byte-pair tokenizer is trained on the tokens to train on, a
/// character tokenizer on the whole text.
struct TextData {
  TextPart train, held_out;
  TextIdentity identity;
  Index documents = 0;
  /// The entropy of the grammar per byte of a text that mote made, in nats.
  std::optional<double> entropy = {};

  const TextPart& part(Split split) const { return split == Split::train ? train : held_out; }
  /// The mean loss of a bigram model on the held-out tokens. The model counts pairs of training tokens. Each count
  /// starts at one. nullopt if the vocabulary is too large for the table of counts.
  std::optional<double> bigram_loss(Integer vocab_size) const;
};

/// Reads, splits and encodes a text. Trains or loads the tokenizer if `tokenizer` is null. Errors: a file that cannot
/// be read, is empty, is larger than 100 MB, or is too short for a block; with char, a file that is not UTF-8 (the
/// error says how to convert it); documents that are all alike; a special token in a text; tokens that the vocabulary
/// does not have; another text than `expected`.
TextData read_text(const TextOptions& options, std::unique_ptr<Tokenizer>& tokenizer,
                   const std::optional<TextIdentity>& expected = {});

/// A text that mote makes, with its probability.
struct SyntheticText {
  std::string text;
  double nats;  ///< -ln of the probability of this text, which is the total loss of the best possible model
};

/// A text of at least `bytes` bytes from a small grammar, always the same text. The sentences are about animals. Some
/// sentences ask and answer, and some count. A model that attends to earlier words can predict the repeated words
/// without loss.
SyntheticText synthetic_text(Integer bytes);

/// The task of predicting the next token of a text. An example is a window of block_size tokens from anywhere in the
/// text. If the text has documents, an example is a whole document, or a window of a long one. Line endings and a byte
/// order mark are text like any other, except for the line endings between documents. ids and targets are [B, T], with
/// T at most block_size. Answers are not graded. A question is a single token with which a text begins, which is a
/// line ending or the separator token. Errors: those of read_text().
class TextTask : public Task {
 public:
  using Options = TextOptions;
  const Options options;

  /// Without a `state`, the text is read now. With the `state` of a checkpoint, the text is read when it is first
  /// needed, and it must still be the same text.
  explicit TextTask(const Options& options = {}, const std::string& state = {});

  std::string description() const override;
  /// The number of tokens, or options.vocab_size if the tokenizer was loaded and has fewer tokens.
  Index vocab_size() const override;
  Index block_size() const override { return options.block_size; }
  Recipe recipe() const override { return recipe_of(options); }
  /// nanoGPT's recipe for a CPU, with an average of the weights (EMA). Lines, which are short documents, come in
  /// larger batches. No text is read for the recipe.
  static Recipe recipe_of(const Options& options);
  Outcome outcome() const override;
  bool graded() const override { return false; }

  Batch batch(Index size, Split split, const Generator& random) const override;
  /// Batches in which every held-out token is a target once, except the first token (of each document). Empty if there
  /// are more than a million targets.
  std::vector<Batch> held_out(Index size) const override;
  /// Prompts [count, 1], and answers [count, block_size], which are passages of the text. If a document is shorter,
  /// its last token is repeated.
  Questions questions(Index count, Split split, const Generator& random) const override;
  /// The tokenizer and the identity of the text, as JSON.
  std::string state() const override;

  const Tokenizer* tokenizer() const override { return tokenizer_.get(); }
  /// The text as tokens, which is read when it is first needed.
  const TextData& data() const;
  std::string loss_note(double loss) const override;
  /// The bytes of a token. A backslash and bytes that are not visible are escaped, as in \\, \n and \x80.
  std::string word(Index id) const override;
  /// Ids as text, with U+FFFD for bytes that are not UTF-8. A \n separates documents. CRLF and CR become \n, too.
  std::string text(std::span<const Index> ids) const override;
  /// The ids of a text. If the data have documents, the separator token comes first. Errors: a special token in the
  /// text; those of the tokenizer.
  std::vector<Index> ids(const std::string& text) const override;

 private:
  /// At most block_size + 1 tokens, from a random place of the text or of a random document.
  std::vector<Index> window(const TextPart& part, const Generator& random) const;

  std::unique_ptr<Tokenizer> tokenizer_;
  TextIdentity identity_;
  /// The bytes of a token. An id of the model that no token has gives a byte that is not UTF-8.
  std::string bytes_of(Index id) const { return id < tokenizer_->vocab_size() ? tokenizer_->token(id) : "\xff"; }
  mutable std::unique_ptr<const TextData> data_;
};

}  // namespace mote
