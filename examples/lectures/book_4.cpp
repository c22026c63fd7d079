// Chapter 4 of "Build a Large Language Model (From Scratch)": norms, feed-forward layers, shortcuts, and a GPT of 124
// million parameters before it is trained.
#include "examples/lectures/book.h"
#include "examples/lectures/python.h"

using namespace mote;
namespace book = mote::tutorials::book;

namespace {

void embeddings_alone(const IntArray& batch, Lines& line) {
  const book::Config c;
  const Generator random(123);
  const Embedding tok_emb(c.vocab_size, c.emb_dim, random), pos_emb(c.context_length, c.emb_dim, random);
  const Linear out_head(c.emb_dim, c.vocab_size, random, false);
  const Tensor logits = out_head(dropout(tok_emb(batch) + pos_emb(int_arange(4)), c.drop_rate, random));
  line("Output shape: " + size_text(logits.shape()));
  line.text(plain(logits));
}

void norms(Lines& line) {
  const Generator random(123);
  const Tensor batch_example = randn({2, 5}, random);
  const Tensor out = relu(Linear(5, 6, random)(batch_example));
  line.text(plain(out));
  line.text("Mean:\n " + plain(mean(out, -1, true)));
  line.text("Variance:\n " + plain(var(out, -1, 1, true)));

  const Tensor out_norm = (out - mean(out, -1, true)) / sqrt(var(out, -1, 1, true));
  line.text("Normalized layer outputs:\n " + plain(out_norm));
  line.text("Variance:\n " + plain(var(out_norm, -1, 1, true)));

  const PrintOptions no_exponents{.scientific = Scientific::off, .version = 210};
  line.text("Mean:\n " + to_text(mean(out_norm, -1, true).array(), no_exponents));
  const Tensor out_ln = LayerNorm(6)(out);
  line.text("Mean:\n " + to_text(mean(out_ln, -1, true).array(), no_exponents));
  line.text("Variance:\n " + plain(var(out_ln, -1, 0, true)));
}

/// Prints the gradients of five layers. The gradients vanish unless the input of each layer is added to its output.
void shortcuts(Lines& line) {
  for (const bool use_shortcut : {false, true}) {
    const Generator random(123);
    std::vector<Sequential> layers;
    for (const Index out : {3, 3, 3, 3, 1}) layers.push_back(Sequential{Linear(3, out, random), GELU(GeluForm::tanh)});
    Tensor x = tensor({{1, 0, -1}});
    for (const Sequential& layer : layers) {
      const Tensor y = layer(x);
      x = use_shortcut && y.shape() == x.shape() ? x + y : y;
    }
    mse_loss(x, tensor({{0}})).backward();
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const Tensor grad = layers[i].at<Linear>(0).weight.grad();
      line("layers." + std::to_string(i) + ".0.weight has gradient mean of " + repr(mean(abs(grad)).item()));
    }
  }
}

std::string with_commas(Index n) {
  std::string text = std::to_string(n);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

void whole_model(const book::Story& story, const IntArray& batch, Lines& line) {
  const book::Config c;
  {
    const Generator random(123);
    const Tensor x = rand({2, 4, 768}, random);
    line("Input shape: " + size_text(x.shape()));
    line("Output shape: " + size_text(book::TransformerBlock(c, random)(x).shape()));
  }
  book::GPTModel model(c, Generator(123));
  const Tensor out = model(batch);
  line.text("Input batch:\n " + to_text(batch));
  line("Output shape: " + size_text(out.shape()));
  line.text(plain(out));

  const Index total_params = parameter_count(model);
  line("Total number of parameters: " + with_commas(total_params));
  line("Token embedding layer shape: " + size_text(model.tok_emb.weight.shape()));
  line("Output layer shape: " + size_text(model.out_head.weight.shape()));
  line("Number of trainable parameters considering weight tying: " +
       with_commas(total_params - parameter_count(model.out_head)));
  line(formatted("Total size of the model: %.2f MB", static_cast<double>(total_params * 4) / (1024 * 1024)));

  const IntArray encoded = story.row("Hello, I am");
  line("encoded: " + list_text(encoded.to_vector()));
  line("encoded_tensor.shape: " + size_text(encoded.shape()));
  model.eval();
  const IntArray generated = book::generate_text_simple(model, encoded, 6);
  line("Output: " + to_text(generated));
  line("Output length: " + std::to_string(generated.numel()));
  line(story.decode(generated.to_vector()));
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    std::string folder;
    read_data_words(argc, argv, "FOLDER: with the-verdict.txt, gpt2-vocab.json and gpt2-merges.txt", folder);
    const book::Story story(folder);
    Lines line("book_4");
    const IntArray batch = cat({story.row("Every effort moves you"), story.row("Every day holds a")});
    line.text(to_text(batch));
    embeddings_alone(batch, line);
    norms(line);
    line(std::to_string(book::Config().emb_dim));
    shortcuts(line);
    whole_model(story, batch, line);
    return line.summary();
  });
}
