// TextData, a text as tokens: nine tenths to train on, the rest held out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "train/tasks/task.h"
#include "train/text/tokenizer.h"

namespace mote {

struct TextOptions {
  std::string text;  ///< its path; empty: one that mote makes itself
  TokenizerKind tokenizer = TokenizerKind::character;
  std::optional<Index> vocab_size = {};
  bool lines = false;
  Index block_size = 64;
  template <class V>
  void visit(V& v) {
    v("text", text, "a file to learn, any bytes; not given: a text that mote makes itself", {.may_change = true});
    v("tokenizer", tokenizer, "what a token is: a character, a byte, or bytes that often come together");
    v("vocab_size", vocab_size, "with bpe, tokens at most; default: 512");
    v("lines", lines, "every line is a document of its own");
    v("block_size", block_size, "the longest context, in tokens");
  }
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

/// Which text it is.
struct TextIdentity {
  Index bytes = 0;
  std::uint32_t crc = 0;
  friend bool operator==(const TextIdentity&, const TextIdentity&) = default;
};

/// A text is split as nanoGPT does it, the last tenth of its characters (of its bytes, if it is no UTF-8) being held
/// out; of documents every tenth is, selected by its hash, so that none is in both splits. A byte-pair tokenizer is
/// trained on what is not held out, one of characters on all.
struct TextData {
  TextPart train, held_out;
  TextIdentity identity;
  Index documents = 0;
  /// The grammar's entropy per byte of a text that mote made, in nats.
  std::optional<double> entropy = {};

  const TextPart& part(Split split) const { return split == Split::train ? train : held_out; }
  /// The mean loss that a bigram model of the training tokens, counted from one up, has on the held-out ones; nothing
  /// if the vocabulary is too large for its table.
  std::optional<double> bigram_loss(Index vocab_size) const;
};

/// Reads, splits and encodes the text; makes the tokenizer unless there is one.
/// Errors, one sentence each: a file that cannot be read, is empty, larger than 100 MB, too short for a block, or, with
/// char, no UTF-8; too few documents to hold some out; a special token in a document; another text than the one
/// `expected`.
TextData read_text(const TextOptions& options, std::unique_ptr<Tokenizer>& tokenizer,
                   const std::optional<TextIdentity>& expected = {});

}  // namespace mote
