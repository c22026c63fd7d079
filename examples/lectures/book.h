// "Build a Large Language Model (From Scratch)": its story, its tokenizer, its pieces of text, and the model of its
// fourth chapter.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "examples/lectures/lecture.h"
#include "models/tutorials/book.h"
#include "nn/embedding.h"
#include "nn/nn.h"
#include "train/loop/data_loader.h"
#include "train/text/tokenizer.h"

namespace mote::tutorials::book {

/// The text that the book trains on, and GPT-2's tokenizer: the-verdict.txt, gpt2-vocab.json and gpt2-merges.txt in one
/// folder.
struct Story {
  std::string text;
  std::unique_ptr<Tokenizer> tokenizer;

  explicit Story(const std::string& folder)
      : text(lecture_file(folder + "/the-verdict.txt", 20'479)),
        tokenizer(load_gpt2_tokenizer(folder + "/gpt2-vocab.json", folder + "/gpt2-merges.txt")) {}
  std::vector<Index> encode(std::string_view part) const { return tokenizer->encode(part, SpecialText::allow); }
  std::string decode(const std::vector<Index>& ids) const { return tokenizer->decode(ids); }
  /// The ids of `part` as one row, [1, T].
  IntArray row(std::string_view part) const {
    const std::vector<Index> ids = encode(part);
    return IntArray({1, std::ssize(ids)}, ids);
  }
};

/// The book's GPTDatasetV1: pieces of max_length tokens, which begin `stride` tokens apart. The targets are the same
/// pieces, shifted by one token.
struct Pieces {
  IntArray inputs, targets;  ///< [pieces, max_length]

  Pieces(std::span<const Index> tokens, Index max_length, Index stride) {
    std::vector<IntArray> before, after;
    for (Index i = 0; i < std::ssize(tokens) - max_length; i += stride) {
      const auto piece = [&](Index from) {
        return IntArray({max_length},
                        tokens.subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(max_length)));
      };
      before.push_back(piece(i));
      after.push_back(piece(i + 1));
    }
    inputs = stack(before);
    targets = stack(after);
  }
  Index size() const { return inputs.shape()[0]; }
};

/// The book's GPT_CONFIG_124M and its variants.
struct Config {
  Index vocab_size = 50'257, context_length = 1024, emb_dim = 768, n_heads = 12, n_layers = 12;
  double drop_rate = 0.1;
};

/// Attention and a feed-forward layer, each with a norm before it, dropout after it and a residual connection: [B, T,
/// emb_dim] -> [B, T, emb_dim].
struct TransformerBlock : Layer<TransformerBlock> {
  MultiHeadAttention att;
  Sequential ff;
  LayerNorm norm1, norm2;
  Dropout drop_shortcut;

  TransformerBlock(const Config& c, const Generator& random)
      : att(c.emb_dim, c.emb_dim, c.context_length, c.drop_rate, c.n_heads, random),
        ff{Linear(c.emb_dim, 4 * c.emb_dim, random), GELU(GeluForm::tanh), Linear(4 * c.emb_dim, c.emb_dim, random)},
        norm1(c.emb_dim),
        norm2(c.emb_dim),
        drop_shortcut(c.drop_rate, random) {}
  Tensor forward(const Tensor& input) const {
    const Tensor x = drop_shortcut(att(norm1(input))) + input;
    return drop_shortcut(ff(norm2(x))) + x;
  }
  void visit(Visitor& v) override {
    v("att", att);
    v("ff", ff);
    v("norm1", norm1);
    v("norm2", norm2);
    v("drop_shortcut", drop_shortcut);
  }
};

/// The book's GPT: ids [B, T] -> logits [B, T, vocab_size]. Each weight is drawn once, as PyTorch's layers draw it.
/// The output layer has its own weights, not those of tok_emb.
struct GPTModel : Layer<GPTModel> {
  Embedding tok_emb, pos_emb;
  Dropout drop_emb;
  std::vector<TransformerBlock> trf_blocks;
  LayerNorm final_norm;
  Linear out_head;

  GPTModel(const Config& c, const Generator& random)
      : tok_emb(c.vocab_size, c.emb_dim, random),
        pos_emb(c.context_length, c.emb_dim, random),
        drop_emb(c.drop_rate, random),
        trf_blocks(module_list<TransformerBlock>(c.n_layers, c, random)),
        final_norm(c.emb_dim),
        out_head(c.emb_dim, c.vocab_size, random, false) {}
  Tensor forward(const IntArray& ids) const {
    Tensor x = drop_emb(tok_emb(ids) + pos_emb(int_arange(ids.shape()[1])));
    for (const TransformerBlock& block : trf_blocks) x = block(x);
    return out_head(final_norm(x));
  }
  void visit(Visitor& v) override {
    v("tok_emb", tok_emb);
    v("pos_emb", pos_emb);
    v("drop_emb", drop_emb);
    v("trf_blocks", trf_blocks);
    v("final_norm", final_norm);
    v("out_head", out_head);
  }
};

/// The book's generate_text_simple, which appends the likeliest token `count` times. ids [1, T] -> [1, T + count].
inline IntArray generate_text_simple(const GPTModel& model, IntArray ids, Index count) {
  const NoGrad no_grad;
  for (Index i = 0; i < count; ++i) {
    const Tensor logits = index(model(ids), {Slice(), -1});
    ids = cat({ids, argmax(logits, -1, true)}, 1);
  }
  return ids;
}

/// The data of the fifth chapter, in pieces of 256 tokens: the first nine tenths of the story to train on, and the
/// rest to validate on.
struct Loaders {
  Pieces train, val;
  DataLoader train_loader, val_loader;

  Loaders(const Story& story, const Generator& random)
      : train(story.encode(story.text.substr(0, border(story))), 256, 256),
        val(story.encode(story.text.substr(border(story))), 256, 256),
        train_loader(train.size(), {.batch_size = 2, .shuffle = true, .drop_last = true}, random),
        val_loader(val.size(), {.batch_size = 2}, random) {}

 private:
  static std::size_t border(const Story& story) {
    return static_cast<std::size_t>(0.9 * static_cast<double>(story.text.size()));
  }
};

inline Tensor calc_loss_batch(const GPTModel& model, const Pieces& pieces, const std::vector<Index>& rows) {
  return cross_entropy(model(take_rows(pieces.inputs, rows)), take_rows(pieces.targets, rows));
}

/// The mean loss of the first `batches` batches of a loader.
inline double calc_loss_loader(const GPTModel& model, const Pieces& pieces, const DataLoader& loader, Index batches) {
  const NoGrad no_grad;
  batches = std::min(batches, loader.size());
  double total = 0;
  Index i = 0;
  for (const std::vector<Index>& rows : loader) {
    if (i++ == batches) break;
    total += static_cast<double>(calc_loss_batch(model, pieces, rows).item());
  }
  return total / static_cast<double>(batches);
}

/// The mean training and validation losses over up to `batches` batches each, as text such as "Train loss 9.781, Val
/// loss 9.933".
inline std::string evaluate_model(GPTModel& model, const Loaders& data, Index batches) {
  model.eval();
  const double train = calc_loss_loader(model, data.train, data.train_loader, batches);
  const double val = calc_loss_loader(model, data.val, data.val_loader, batches);
  model.train();
  return formatted("Train loss %.3f, Val loss %.3f", train, val);
}

/// "Every effort moves you" and 50 generated tokens, in one line.
inline std::string sample(GPTModel& model, const Story& story) {
  model.eval();
  std::string text = story.decode(generate_text_simple(model, story.row("Every effort moves you"), 50).to_vector());
  model.train();
  for (char& c : text)
    if (c == '\n') c = ' ';
  return text;
}

}  // namespace mote::tutorials::book
