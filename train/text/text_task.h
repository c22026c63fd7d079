// The text task: predict the next token of any file.
#pragma once

#include <memory>

#include "train/text/text_data.h"

namespace mote {

/// Windows of block_size tokens, each from anywhere in the text; with `lines` whole documents, of long ones a window.
/// Line ends and a byte order mark are text as anything else is, but for the line ends between documents. ids and
/// targets [B, T], T at most block_size. No answer is right: a question is only a beginning, a line end or the token
/// between documents. Errors: those of read_text().
class TextTask final : public Task {
 public:
  using Options = TextOptions;
  const Options options;

  /// Without a state the text is read now. From a state, only when it is needed, and must be the same text still.
  explicit TextTask(const Options& options = {}, const std::string& state = {});

  std::string description() const override;
  Index vocab_size() const override { return tokenizer_->vocab_size(); }
  Index block_size() const override { return options.block_size; }
  /// nanoGPT's for a CPU, and an average of the weights; documents, which are short, come in larger batches.
  Recipe recipe() const override;
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
  std::string loss_note(double loss) const override;
  /// The token's bytes; what would not show, and a backslash, as \n or \x80.
  std::string word(Index id) const override;
  /// The text, with U+FFFD for what is no UTF-8; documents are separated by line ends.
  std::string text(std::span<const Index> ids) const override;
  /// Of a text; with `lines`, of the beginning of a document. Errors: a special token in it; those of the tokenizer.
  std::vector<Index> ids(const std::string& text) const override;

 private:
  const TextData& data() const;
  /// T + 1 tokens at most, from a random place.
  std::vector<Index> window(const TextPart& part, const Generator& random) const;

  std::unique_ptr<Tokenizer> tokenizer_;
  TextIdentity identity_;
  mutable std::unique_ptr<const TextData> data_;
};

}  // namespace mote
