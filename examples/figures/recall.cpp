// Recall's curve: how many keys with values a layer can hold, by its width, with attention to all and to a window, and
// with linear attention, whose memory is one matrix (Arora et al. 2023, Zoology: multi-query associative recall).
#include "examples/figures/record.h"
#include "train/tasks/associative_recall.h"
#include "train/train.h"

using namespace mote;
namespace {

/// y_t = f(q_t) S_t / (f(q_t) z_t) with S_t = sum of f(k_s) v_s^T and z_t = sum of f(k_s) over s up to t, in each head:
/// attention whose weights are f(q) f(k), f = 1 + x above 0 and e^x below, in place of e^(q k). What it knows of a row
/// of any length is S and z. x [B, T, C] -> [B, T, C]. Here all t at once, by the products of all pairs. Source:
/// Katharopoulos et al. 2020.
struct LinearAttention : Layer<LinearAttention> {
  const Index heads;
  Linear query, key, value, out;
  LinearAttention(Index width, Index head_count, const Init& init)
      : heads(head_count),
        query(width, width, init, false),
        key(width, width, init, false),
        value(width, width, init, false),
        out(width, width, init, false) {}
  static Tensor feature(const Tensor& x) { return relu(x) + exp(-relu(-x)); }
  Tensor forward(const Tensor& x) const {
    const Tensor q = feature(split_heads(query(x), heads));
    const Tensor k = feature(split_heads(key(x), heads));
    const Tensor weights = tril(matmul(q, transpose(k, -2, -1)));
    const Tensor y = matmul(weights, split_heads(value(x), heads));
    return out(join_heads(y / sum(weights, {-1}, true)));
  }
  void visit(Visitor& v) override { v("query", query), v("key", key), v("value", value), v("out", out); }
};

/// A layer that mixes, between vectors and logits. Each id comes with the one before it, so that a place that has a
/// value also knows its key; what is left is to find the place.
struct Recaller : Layer<Recaller> {
  Embedding now, before;
  std::optional<SelfAttention> attention;
  std::optional<LinearAttention> linear;
  Norm norm;
  Linear head;
  Recaller(const std::string& mixer, Index vocabulary, Index width, const Init& init)
      : now(vocabulary, width, init),
        before(vocabulary, width, init),
        norm(NormKind::rms_norm, width, 1e-5, false),
        head(width, vocabulary, init, false) {
    if (mixer == "linear")
      linear.emplace(width, 1, init);
    else
      attention.emplace(width, 1, init, AttentionOptions{.window = mixer == "window" ? 16 : 0});
  }
  Tensor forward(const IntArray& ids) const {
    const Index T = ids.shape()[1];
    const IntArray last = concat({ids.slice(1, 0, 1), ids.slice(1, 0, T - 1)}, 1);
    const Tensor here = now(ids);
    const Tensor x = here + before(last);
    const Tensor y = attention ? (*attention)(x) : (*linear)(x);
    return head(norm(y));
  }
  void visit(Visitor& v) override {
    v("now", now), v("before", before), v("attention", attention), v("linear", linear), v("norm", norm),
        v("head", head);
  }
};

/// Percent of the keys' values that are right after 1,000 steps of 64 rows, and the hash of the weights.
std::pair<double, std::string> train(const std::string& mixer, Index width, Index pairs, Index seed) {
  const AssociativeRecallTask task({.keys = 64, .values = 64, .pairs = pairs, .length = 4 * pairs});
  const Generator random(static_cast<std::uint64_t>(seed));
  const Recaller model(mixer, task.vocab_size(), width, Init(random));
  AdamW optimizer(decay_groups(model, 0.1));
  const auto loss = [&](Index) {
    const Batch batch = task.batch(64, Split::train, random);
    return cross_entropy(model(batch.ids), batch.targets, {.ignore_index = -1});
  };
  const auto rate = [](Index i) { return 1e-2 * std::min(double(i + 1) / 50, 1.02 - double(i) / 1000); };
  fit(optimizer, loss, {.schedule = rate});
  const NoGrad no_grad;
  const Batch batch = task.batch(200, Split::validation, random);
  const double right = static_cast<double>(sum(tensor(eq(argmax(model(batch.ids), -1), batch.targets))).item());
  return {right / static_cast<double>(2 * pairs), hash_of(parameters(model))};
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    std::string mixer = "full";
    Seeds seeds;
    std::optional<Index> only;  // this width alone
    const std::string usage = "[full|window|linear] [SEEDS: 1 or 1-10] [WIDTH: 1 to 1024]";
    read_words(argc, argv, usage, mixer, seeds, only);
    if ((mixer != "full" && mixer != "window" && mixer != "linear") || only.value_or(1) < 1 || only.value_or(1) > 1024)
      throw UsageError("it is given " + usage);
    std::printf("%s: median (worst) percent right\nwidth  pairs    right           seconds  hash of the first\n",
                mixer.c_str());
    for (const Index width : only ? std::vector<Index>{*only} : std::vector<Index>{8, 16, 32, 64})
      for (const Index pairs : {4, 8, 16, 32}) {
        const double begin = seconds_now();
        std::string hash;
        const std::vector<double> all = of_seeds(seeds, [&](Index seed) {
          const auto [right, of] = train(mixer, width, pairs, seed);
          hash = hash.empty() ? of : hash;
          return right;
        });
        std::printf("%5d %6d  %5.1f (%5.1f) %11.1f  %s\n", static_cast<int>(width), static_cast<int>(pairs),
                    median(all), smallest(all), seconds_now() - begin, hash.c_str());
        std::fflush(stdout);
      }
    return 0;
  });
}
