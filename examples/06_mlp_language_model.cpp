// Lesson 6. A language model that reads three letters: embeddings make vectors of them, and a network reads these.
#include <cmath>

#include "engine/engine.h"
#include "examples/lesson.h"
#include "examples/names.h"
#include "nn/nn.h"
#include "train/adamw.h"

using namespace mote;

namespace {

constexpr Index context = 3, width = 8, hidden = 64;

/// Every symbol of some names, and the three before it, with zeros before the first letter.
struct Examples {
  IntArray before, after;  // [N, 3], [N]
};
Examples examples_of(const std::vector<std::string>& some) {
  std::vector<Index> before, after;
  for (const std::string& name : some)
    for (std::size_t i = 0; i <= name.size(); ++i) {
      for (std::size_t back = context; back > 0; --back) before.push_back(i < back ? 0 : symbol(name[i - back]));
      after.push_back(i < name.size() ? symbol(name[i]) : 0);
    }
  const Index N = static_cast<Index>(after.size());
  return {IntArray({N, context}, before), IntArray({N}, after)};
}

/// An MLP, a "multi-layer perceptron": three symbols -> scores for the next. Source: Bengio et al. 2003.
/// A layer of mote is a struct with forward(), which computes, and visit(), which lists what is trained.
struct Model : Layer<Model> {
  Embedding letters;  // [27, 8]: a vector for each symbol, learned like every weight
  Linear mix, scores;
  explicit Model(const Generator& random)
      : letters(symbols, width, random), mix(context * width, hidden, random), scores(hidden, symbols, random) {}
  Tensor forward(const IntArray& before) const {                          // [N, 3] -> [N, 27]
    const Tensor vectors = letters(before);                               // [N, 3, 8]
    const Tensor side_by_side = reshape(vectors, {-1, context * width});  // [N, 24]
    return scores(tanh(mix(side_by_side)));
  }
  void visit(Visitor& v) override { v("letters", letters), v("mix", mix), v("scores", scores); }
};

double loss_of(const Model& model, const Examples& data) {
  const NoGrad no_grad;
  return number(cross_entropy(model(data.before), data.after));
}

void lesson() {
  const Generator random(3);
  const Model model(random);

  // An embedding is a row of a table: what a product with a vector of zeros and one 1 would be, without the zeros.
  const Index e = symbol('e');
  Array one_hot = Array::zeros({1, symbols});
  one_hot.mutate()[e] = 1;
  const Tensor row = model.letters(ints({e})), product = matmul(Tensor(one_hot), model.letters.weight);
  std::cout << "The vector of e, before training:\n" << row << "\n";
  claim(row.to_vector() == product.to_vector(),
        "a row of the table, and a product with 0 ... 0 1 0 ... 0, are the same");

  // Every tenth name is kept apart: what the model has not seen tells whether it has learned or only remembers.
  const std::vector<std::string> all = names();
  std::vector<std::string> seen, unseen;
  for (std::size_t i = 0; i < all.size(); ++i) (i % 10 == 9 ? unseen : seen).push_back(all[i]);
  const Examples data = examples_of(seen), fresh = examples_of(unseen);
  AdamW optimizer(all_parameters(model), {.lr = 1e-2});  // lesson 13
  double lowest = 1e9;
  std::printf("\n          loss on %zu names it trains on, and on %zu others\n", seen.size(), unseen.size());
  for (int step = 0; step <= 300; ++step) {
    if (step % 50 == 0) {
      const double other = loss_of(model, fresh);
      lowest = std::min(lowest, other);
      std::printf("step %3d %9.3f %27.3f\n", step, loss_of(model, data), other);
    }
    optimizer.zero_grad();
    cross_entropy(model(data.before), data.after).backward();
    optimizer.step();
  }
  claim(loss_of(model, data) < 1.6, "it fits the names it trains on far better than any table of pairs could");
  claim(loss_of(model, fresh) > lowest + 0.3, "but after a while it learns them by heart: on others it becomes worse");
  std::printf(
      "\nTry: weight_decay, hidden = 16, dropout: which of them helps with names that it has not seen?\n"
      "Now read examples/07_attention_from_nothing.cpp: how a model decides itself which letters to read.\n");
}

}  // namespace

int main(int, char** argv) { return run_lesson(argv, lesson, "embedding; MLP; held out"); }
