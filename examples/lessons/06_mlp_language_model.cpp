// Lesson 6. A language model that reads three letters. Embeddings turn the letters into vectors, and a network reads
// the vectors.
#include <cmath>

#include "engine/engine.h"
#include "examples/lessons/lesson.h"
#include "examples/lessons/names.h"
#include "nn/nn.h"
#include "train/optim/adamw.h"

using namespace mote;

namespace {
constexpr Index context = 3, width = 8, hidden = 64;

/// Every symbol of some names, and the three symbols before it. Positions before the first letter of a name count as
/// symbol 0.
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

/// An MLP that reads three symbols and returns scores for the next symbol. A layer of mote is a struct with two
/// functions: forward() computes, and visit() lists the layers and parameters that are trained. Source: Bengio et al.
/// 2003.
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
/// The loss on `data` of lesson 5's table, which knows only the last letter. The table is counted on `seen`, with
/// `more` added to each count. If `data` is `seen`, a `more` of 0 is best. Other names have pairs that were never
/// counted. For these names `more` has to be above 0, because a pair with the probability 0 makes the loss infinite.
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

  // An embedding is a row of a table. The product of a one-hot vector, which has a single 1 among zeros, and the table
  // is the same row. Taking the row gives the same result without multiplying by zeros.
  const Index e = symbol('e');
  Array one_hot = Array::zeros({1, symbols});
  one_hot.mutate()[e] = 1;
  const Tensor row = model.letters(ints({e})), product = matmul(Tensor(one_hot), model.letters.weight);
  std::cout << "The vector of e, before training:\n" << row << "\n";
  claim(row.to_vector() == product.to_vector(),
        "a row of the table, and a product with 0 ... 0 1 0 ... 0, are the same");

  // Every tenth name is held out of training. The loss on names that the model has not seen tells whether the model
  // has learned a rule or only remembers names.
  const std::vector<std::string> all = names();
  std::vector<std::string> seen, unseen;
  for (std::size_t i = 0; i < all.size(); ++i) (i % 10 == 9 ? unseen : seen).push_back(all[i]);
  const Examples data = examples_of(seen), fresh = examples_of(unseen);
  AdamW optimizer(all_parameters(model), {.lr = 1e-2});  // an optimizer, see lesson 14
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
