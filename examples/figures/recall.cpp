// How many pairs of a key and a value a layer can recall, by its width (Arora et al. 2023, Zoology: multi-query
// associative recall). The layer is full attention, attention with a window, or linear attention, whose memory is one
// matrix.
#include "engine/io/files/file.h"
#include "examples/figures/record.h"
#include "train/report/chart.h"
#include "train/tasks/associative_recall.h"
#include "train/train.h"

using namespace mote;
namespace {

/// Linear attention: y_t = f(q_t) S_t / (f(q_t) z_t) in each head, with S_t = sum of f(k_s) v_s^T and z_t = sum of
/// f(k_s) over s up to t. The attention weights are f(q) f(k) in place of e^(q k), with f(x) = 1 + x above 0 and e^x
/// below. S and z are all that the layer remembers of a row of any length. x [B, T, C] -> [B, T, C]. This class
/// computes all t at once, from the products of all queries and keys. Source: Katharopoulos et al. 2020.
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

/// A model with one attention layer between embeddings and logits. Each id is embedded together with the id before it,
/// so a place with a value also has the value's key. The layer only has to find that place.
struct Recaller : Layer<Recaller> {
  Embedding now, before;
  std::optional<SelfAttention> attention;
  std::optional<LinearAttention> linear;
  RMSNorm norm;
  Linear head;
  Recaller(const std::string& mixer, Index vocabulary, Index width, const Init& init)
      : now(vocabulary, width, init),
        before(vocabulary, width, init),
        norm(width),
        head(width, vocabulary, init, false) {
    if (mixer == "linear") linear.emplace(width, 1, init);
    if (mixer != "linear") attention.emplace(width, 1, init, AttentionOptions{.window = mixer == "window" ? 16 : 0});
  }
  Tensor forward(const IntArray& ids) const {
    const IntArray last = concat({ids.slice(1, 0, 1), ids.slice(1, 0, ids.shape()[1] - 1)}, 1);
    const Tensor here = now(ids), x = here + before(last);
    const Tensor y = attention ? (*attention)(x) : (*linear)(x);
    return head(norm(y));
  }
  void visit(Visitor& v) override {
    v("now", now);
    v("before", before);
    v("attention", attention);
    v("linear", linear);
    v("norm", norm);
    v("head", head);
  }
};

/// Trains 1,000 steps of 64 rows. Returns the percentage of right values, and the hash of the weights.
std::pair<double, unsigned long long> train(const std::string& mixer, Index width, Index pairs, Index seed) {
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
  const double right = static_cast<double>(sum(tensor(argmax(model(batch.ids), -1) == batch.targets)).item());
  return {right / static_cast<double>(2 * pairs), hash_of(parameters(model))};
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    std::string mixer = "full", picture;
    Seeds seeds{1, 1};
    Index widest = 64;
    const std::string usage = "[full|window|linear|all] [SEEDS: 1 or 1-10] [WIDEST: 8 to 1024] [PICTURE.svg]";
    read_words(argc, argv, usage, mixer, seeds, widest, picture);
    std::vector<std::string> mixers{"full", "window", "linear"};
    if (mixer != "all") std::erase_if(mixers, [&](const std::string& m) { return m != mixer; });
    if (mixers.empty() || widest < 8 || widest > 1024) throw UsageError("a word is none of " + usage);
    if (!picture.empty()) check_output(picture);
    std::vector<Chart> charts;
    for (const char* pairs : {"4", "8", "16", "32"})
      charts.push_back({pairs + std::string(" pairs, percent right"), "width", {}, false, true, 0, 100});
    std::printf(" mixer  width  pairs    right, median (worst)  seconds  hash of the first\n");
    for (const std::string& m : mixers) {
      for (Chart& chart : charts) chart.lines.push_back({m, {}, true, m == "window"});
      for (Index width = 8; width <= widest; width *= 2)
        for (int i = 0; i < 4; ++i) {
          const double begin = seconds_now();
          unsigned long long hash = 0;
          const std::vector<double> all = of_seeds(seeds, [&](Index seed) {
            const auto [right, of] = train(m, width, 4 << i, seed);
            hash = hash ? hash : of;
            return right;
          });
          charts[i].lines.back().points.push_back({double(width), median(all)});
          std::printf("%6s %6d %6d %8.1f (%5.1f) %15.1f  %016llx\n", m.c_str(), static_cast<int>(width), 4 << i,
                      median(all), smallest(all), seconds_now() - begin, hash);
          if (!picture.empty()) write_file(picture, charts_svg(charts));
        }
    }
    return 0;
  });
}
