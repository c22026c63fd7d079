// Part 1 of makemore: bigrams of names. The counts of the bigrams give probabilities, from which names are drawn. Then
// one layer learns such probabilities by gradient descent.
#include "examples/lectures/names.h"

using namespace mote;

namespace {

/// The bigrams of words, with '.' before and behind each word. x has the first ids, and y has the second ids.
struct Bigrams {
  std::vector<Index> x, y;
  explicit Bigrams(std::span<const std::string> words) {
    for (const std::string& word : words) {
      const std::string all = "." + word + ".";
      for (std::size_t i = 0; i + 1 < all.size(); ++i) {
        x.push_back(id_of(all[i]));
        y.push_back(id_of(all[i + 1]));
      }
    }
  }
};

IntArray list(const std::vector<Index>& ids) { return IntArray({std::ssize(ids)}, ids); }

/// A name, drawn letter by letter. Row i of P has the probabilities of the letters that follow letter i.
std::string name(const Tensor& P, const Generator& g) {
  std::string out;
  Index ix = 0;
  do {
    ix = multinomial(index(P, {ix}), 1, true, g).item();
    out += letter(ix);
  } while (ix != 0);
  return out;
}

/// The notebook's generator, with its seed set again, as at the beginning of a cell of the notebook.
Generator lecture_stream() {
  const Generator g(2147483647);
  g.set_build({.version = 113});  // the notebook is of 2022 and draws as PyTorch 1.13 does
  return g;
}

void counted(const std::vector<std::string>& words, Lines& line) {
  const auto shorter = [](const std::string& a, const std::string& b) { return a.size() < b.size(); };
  line(std::to_string(words.size()));
  line(std::to_string(std::min_element(words.begin(), words.end(), shorter)->size()));
  line(std::to_string(std::max_element(words.begin(), words.end(), shorter)->size()));

  const Bigrams all(words);
  const IntArray N = bincount(list(all.x) * 27 + list(all.y), 27 * 27).reshape({27, 27});
  const Tensor first = tensor(N.select(0, 0)), p = first / sum(first);
  line.text(to_text(p.array()));
  line(std::string("'") + letter(multinomial(p, 1, true, lecture_stream()).item()) + "'");

  const Generator g = lecture_stream();
  const Tensor three = rand({3}, g), shares = three / sum(three);
  line(to_text(shares.array()));
  line.text(to_text(multinomial(shares, 100, true, g)));

  const Tensor smooth = tensor(N + 1), P = smooth / sum(smooth, 1, true);
  const Generator names = lecture_stream();
  for (int i = 0; i < 5; ++i) line(name(P, names));
}

void learned(const std::vector<std::string>& words, Lines& line) {
  const Bigrams emma(std::span<const std::string>(words).first(1));
  const IntArray xs = list(emma.x), ys = list(emma.y);
  line(to_text(xs));
  line(to_text(ys));

  const Parameter W(randn({27, 27}, lecture_stream()).array());
  const Tensor xenc = tensor(one_hot(xs, 27));
  const auto probabilities = [&] {
    const Tensor counts = exp(matmul(xenc, W));
    return counts / sum(counts, 1, true);
  };
  const auto of_letters = [&](const Tensor& probs) { return index(probs, {int_arange(xs.numel()), ys}); };

  const Tensor probs = probabilities(), p = of_letters(probs);
  line.text(to_text(probs.array().select(0, 0)));
  for (const real value : p.to_vector())
    line(repr(static_cast<double>(value)) + " " + repr(static_cast<double>(-log(Tensor(value)).item())));
  const auto loss_of = [&](const Tensor& of) { return -mean(log(of)); };
  line(repr(static_cast<double>(loss_of(p).item())));

  for (int step = 0; step < 4; ++step) {  // the notebook had run the cells of one step four times
    W.zero_grad();
    loss_of(of_letters(probabilities())).backward();
    W.set(W.value() + W.grad() * -0.1);
  }
  line(repr(static_cast<double>(loss_of(of_letters(probabilities())).item())));
  line(std::to_string(Bigrams(words).x.size()));
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    std::string path;
    read_data_words(argc, argv, "FILE: names.txt, 228,145 bytes", path);
    const std::vector<std::string> words = words_of(lecture_file(path, 228'145));
    Lines line("makemore_1");
    counted(words, line);
    learned(words, line);
    return line.summary();
  });
}
