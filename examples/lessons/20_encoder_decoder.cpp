// Lesson 20. Encoder and decoder: one model reads a row, another writes a row and looks at what was read.
#include <string>
#include <vector>

#include "engine/engine.h"
#include "examples/lessons/lesson.h"
#include "nn/head_pictures.h"
#include "nn/nn.h"
#include "train/optim/adamw.h"

using namespace mote;

namespace {

// The task is to write a row of eight digits backwards. As in translation, the whole row is known before the first
// digit is written, and each written digit may depend on the digits written before it.
constexpr Index digits = 10, start = 10, T = 8, C = 32;  // start: the token before the first digit that is written

/// The encoder is lesson 19's model without the last matrix. Every digit may look at all digits, on both sides.
/// ids [B, T] -> [B, T, C].
struct Encoder : Layer<Encoder> {
  Embedding digit{digits, C, Generator(1)}, place{T, C, Generator(2)};
  LayerNorm ln_1{C}, ln_2{C}, ln{C};
  MultiHeadAttention look{C, 1, Generator(3)};
  FeedForward mlp{C, 4 * C, Generator(4)};
  Tensor forward(const IntArray& ids) const {
    const Tensor x = digit(ids) + Tensor(place.weight);
    const Tensor y = x + look(ln_1(x));
    return ln(y + mlp(ln_2(y)));
  }
  void visit(Visitor& v) override {
    v("digit", digit);
    v("place", place);
    v("ln_1", ln_1);
    v("look", look);
    v("ln_2", ln_2);
    v("mlp", mlp);
    v("ln", ln);
  }
};

/// The decoder is lesson 12's GPT with a second attention between attention and MLP, the cross-attention. The queries
/// of the cross-attention come from the decoder's own tokens and ask what is needed for the next digit. The keys and
/// values come from the encoder's result, so the decoder looks at the row that was read.
struct Decoder : Layer<Decoder> {
  bool crosses = true;
  Embedding digit{digits + 1, C, Generator(5)}, place{T, C, Generator(6)};
  LayerNorm ln_1{C}, ln_2{C}, ln_3{C}, ln{C};
  MultiHeadAttention look{C, 1, Generator(7), {.causal = true}}, cross{C, 1, Generator(8)};
  FeedForward mlp{C, 4 * C, Generator(9)};
  Linear out{C, digits, Generator(10)};
  Tensor forward(const IntArray& written, const Tensor& read) const {  // [B, n], [B, T, C] -> scores [B, n, digits]
    const Tensor x = digit(written) + slice(place.weight, 0, 0, written.shape()[1]);
    const Tensor y = x + look(ln_1(x));
    const Tensor z = crosses ? y + cross(ln_2(y), read, read) : y;  // queries from y, keys and values from read
    return out(ln(z + mlp(ln_3(z))));
  }
  void visit(Visitor& v) override {
    v("digit", digit);
    v("place", place);
    v("ln_1", ln_1);
    v("look", look);
    v("ln_2", ln_2);
    v("cross", cross);
    v("ln_3", ln_3);
    v("mlp", mlp);
    v("ln", ln);
    v("out", out);
  }
};

struct Model : Layer<Model> {
  Encoder encoder;
  Decoder decoder;
  Tensor forward(const IntArray& ids, const IntArray& written) const { return decoder(written, encoder(ids)); }
  void visit(Visitor& v) override { v("encoder", encoder), v("decoder", decoder); }
};

IntArray backwards(const IntArray& ids) {
  IntArray y(ids.shape());
  for (Index i = 0; i < ids.numel(); ++i) y.mutate()[i] = ids.at({i / T, T - 1 - i % T});
  return y;
}

IntArray before(const IntArray& row) {  // the token before each written digit: the start, then digits
  return concat({IntArray({row.shape()[0], 1}, start), row.slice(1, 0, T - 1)}, 1);
}

/// Writes rows by greedy decoding. The encoder reads once. Then the decoder writes digit by digit, and chooses each
/// time the digit with the highest score.
IntArray write(const Model& model, const IntArray& ids) {
  const Tensor read = model.encoder(ids);
  IntArray row({ids.shape()[0], 1}, start);
  for (Index t = 0; t < T; ++t) row = concat({row, argmax(select(model.decoder(row, read), 1, t)).unsqueeze(1)}, 1);
  return row.slice(1, 1, T + 1);
}

/// Trains by teacher forcing: the decoder is given the right digits, not the digits that it would have written. So all
/// digits are known beforehand, and one pass trains the decoder on all eight. The causal mask hides from each place
/// the digit that is to be written there. Returns a tensor with the shape of `fresh`, which is 1 where the trained
/// model writes the right digit and otherwise 0.
Tensor train(const char* name, const Model& model, const IntArray& fresh) {
  AdamW optimizer(all_parameters(model), {.lr = 3e-3});
  const Generator random(11);
  Tensor loss;
  for (int step = 0; step < 300; ++step) {
    const IntArray ids = randint(0, digits, {32, T}, random), wanted = backwards(ids);
    optimizer.zero_grad();
    loss = cross_entropy(model(ids, before(wanted)), wanted);
    loss.backward();
    optimizer.step();
  }
  const NoGrad no_grad;
  const Tensor right = tensor(write(model, fresh) == backwards(fresh)), rows = min(right, {1});
  std::printf("   %-29s %8.3f %9.1f %9.1f\n", name, number(loss), 100 * number(mean(right)), 100 * number(mean(rows)));
  return right;
}

void lesson() {
  const IntArray fresh = randint(0, digits, {1000, T}, Generator(12));
  Model whole, apart;
  apart.decoder.crosses = false;
  std::printf("Percent right, in 1000 new rows      loss    digits      rows\n");
  const Tensor right = train("encoder and decoder", whole, fresh);
  claim(number(mean(min(right, {1}))) >= 0.99, "the decoder writes what the encoder has read, backwards");
  const Tensor guessed = train("without cross-attention", apart, fresh);
  claim(number(mean(guessed)) < 0.13,
        "without it one digit of ten, by guessing (ln 10 = 2.303): no other way leads from row to row");
  const NoGrad no_grad;
  const IntArray written = write(whole, fresh);
  const Tensor at_once = whole(fresh, before(written)), three = whole(fresh, before(written).slice(1, 0, 3));
  claim(slice(at_once, 1, 0, 3).to_vector() == three.to_vector(), "later digits change no bit of earlier scores");
  const Array look = attention_maps(whole, fresh, before(written)).back().weights;  // [B, 1, T, T]
  std::printf("\nWhere cross-attention looks: a line for each digit written, a column for each that was read\n     ");
  std::vector<std::string> labels;
  for (Index t = 0; t < T; ++t) labels.push_back(std::to_string(written.at({0, t})));
  for (Index t = 0; t < T; ++t) std::printf(" %d", int(fresh.at({0, t})));
  std::cout << "\n" << attention_text(look.select(0, 0).select(0, 0), labels, false);
  double due = 0;
  for (Index i = 0; i < 1000 * T; ++i) due += 0.1 / T * double(look.at({i / T, 0, i % T, T - 1 - i % T}));
  claim(due > 80, std::to_string(int(due)) + " % of it goes to the digit to be written: from corner to corner");
  std::printf(
      "\nTry: let it sort. Leave out the encoder's own attention: is it needed? And for rows of 3 to 8 digits?\n"
      "Now read nn/multi_head_attention.h, the one layer that all three ways to look are.\n");
}

}  // namespace

int main(int, char** argv) { return run_lesson(argv, lesson, "encoder; decoder; cross-attention; teacher forcing"); }
