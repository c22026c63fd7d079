// Lesson 6. A language model that reads three letters: embeddings make vectors of them, and a network reads these.
#include <cmath>

#include "engine/engine.h"
#include "examples/lessons/lesson.h"
#include "examples/lessons/names.h"
#include "nn/nn.h"
#include "train/optim/adamw.h"

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

/// An MLP: three symbols -> scores for the next. Source: Bengio et al. 2003.
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
/// What lesson 5's table pays, that knows the last letter only: counted on `seen`, with `more` added to each count. On
/// the same names 0 is best; in others there are new pairs, which it must not hold to be impossible.
double table_of(const Examples& seen, const Examples& data, double more) {
  Array counts = Array::full({symbols, symbols}, static_cast<real>(more));
  for (Index i = 0; i < seen.after.numel(); ++i)
    counts.mutate()[seen.before.at({i, context - 1}) * symbols + seen.after.at({i})] += 1;
  const Tensor p = Tensor(counts) / sum(Tensor(counts), {1}, true);
  return -number(mean(log(gather(embedding(p, data.before.select(1, context - 1)), 1, data.after.unsqueeze(1)))));
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
  AdamW optimizer(all_parameters(model), {.lr = 1e-2});  // lesson 14
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
  const double table = table_of(data, data, 0), table_fresh = table_of(data, fresh, 0.5);
  std::printf("a table of pairs %.3f %23.3f\n", table, table_fresh);
  claim(loss_of(model, data) < table / 2, "it fits the names it trains on far better than a table of pairs");
  claim(loss_of(model, fresh) > lowest + 0.3, "but after a while it learns them by heart: on others it becomes worse");
  claim(std::abs(lowest - table_fresh) < 0.1, "and there it never was much better than the table: 180 names are few");
  std::printf(
      "\nTry: hidden = 16, context = 2: which helps with unseen names? After lesson 14, weight_decay, too.\n"
      "Now read examples/lessons/07_attention_from_nothing.cpp: how a model decides itself which letters to read.\n");
}
}  // namespace

int main(int, char** argv) { return run_lesson(argv, lesson, "embedding; MLP; held out"); }
