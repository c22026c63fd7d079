// Length generalization: a model is trained on sequences of at most 20 symbols, and tested on sequences of up to 100.
// The model is one block whose heads look only at symbols with neighbouring places. With `plain`, the program trains
// three usual blocks with rotary positions instead, for comparison.
#include "examples/figures/lengths.h"

#include "examples/figures/record.h"
#include "train/train.h"

using namespace mote;
namespace {

const Problem problems[] = {{"addition", 10, 20, 100, 64, 2000, 4000},
                            {"parity", 2, 16, 64, 64, 1000, 6000},
                            {"copy", 128, 20, 100, 64, 1000, 4000},
                            {"sort", 128, 20, 100, 128, 4000, 4000}};

/// One transformer block without positions. Instead, each symbol has a place ("position coupling", Cho et al. 2024).
/// Each of the four heads sees only the symbols at one offset from the query's place (-1, 0, 1 or 2), wherever these
/// symbols are in the row. So the length of the row makes no difference. For sorting, one head sees the question, and
/// its scores grow with the log of the length, so that its attention stays sharp in longer rows. With `plain`, three
/// blocks with rotary positions see all symbols.
struct Reader : Layer<Reader> {
  const Problem& problem;
  const bool plain;
  const Index heads;
  Embedding symbols;
  std::vector<TransformerBlock> h;
  RMSNorm norm;
  Linear head;
  Reader(const Problem& p, bool usual, const Init& init)
      : problem(p),
        plain(usual),
        heads(p.sorts() && !plain ? 1 : 4),
        symbols(p.symbols + 2, p.width, init),
        h(blocks(p.width, init)),
        norm(p.width),
        head(p.width, p.symbols + 2, init, false) {}
  std::vector<TransformerBlock> blocks(Index width, const Init& init) const {
    TransformerBlockOptions options{.bias = false, .norm = NormKind::rms_norm};
    if (plain) options.projections.rotary = RotaryOptions{};
    std::vector<TransformerBlock> all;
    for (int i = 0; i < (plain ? 3 : 1); ++i) all.emplace_back(width, heads, init, options);
    return all;
  }
  Tensor forward(const IntArray& ids, const Mask& mask) const {
    Tensor x = symbols(ids);
    for (const TransformerBlock& block : h) x = block(x, mask);
    return head(norm(x));
  }
  /// The logits [B, T, V] for rows [B, T] whose symbols belong to these places.
  Tensor logits(const Rows& rows) {
    if (plain) return (*this)(rows.ids, Mask());
    const double T = static_cast<double>(rows.places.size()), longest = 2 * problem.trained;
    if (problem.sorts()) h[0].attn.options.scale = math::log(T) / math::log(longest) / std::sqrt(problem.width);
    return (*this)(rows.ids, seen(rows.places));
  }
  Mask seen(const std::vector<Index>& places) const {
    const std::size_t T = places.size();
    std::vector<real> pairs;
    for (Index head = 0; head < heads; ++head)
      for (std::size_t here = 0; here < T; ++here)
        for (std::size_t there = 0; there < T; ++there)
          pairs.push_back(problem.sorts() ? there < T / 2 : places[there] == places[here] + head - 1);
    return Array({heads, std::ssize(places), std::ssize(places)}, pairs) > 0.5;
  }
  void visit(Visitor& v) override { v("symbols", symbols), v("h", h), v("norm", norm), v("head", head); }
};

/// The percentage of 200 answers of length n in which every symbol is predicted right. Each symbol is predicted from
/// the right symbols before it.
double right(Reader& model, Index n, const Generator& random) {
  const NoGrad no_grad;
  double all = 0;
  for (int batch = 0; batch < 20; ++batch) {
    const Rows rows = rows_of(model.problem, 10, n, false, random);
    const Tensor hit = tensor(argmax(model.logits(rows), -1) == rows.targets);
    all += static_cast<double>(sum(min(maximum(hit, tensor(rows.targets == -1)), {1})).item());
  }
  return all / 2;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    std::string name = "addition", how;
    Seeds seeds{1, 1};
    const std::string usage = "[addition|parity|copy|sort] [SEEDS: 1 or 1-10] [plain]";
    read_words(argc, argv, usage, name, seeds, how);
    const auto* p =
        std::find_if(std::begin(problems), std::end(problems), [&](const Problem& x) { return x.name == name; });
    if (p == std::end(problems) || (how != "" && how != "plain")) throw UsageError("a word is none of " + usage);
    const int middle = 2 * p->trained;
    std::printf("%s, right of length %d, %d, %d\nseed                            seconds  hash of the weights\n",
                p->name.c_str(), p->trained, middle, p->asked);
    const std::vector<double> shares = of_seeds(seeds, [&](Index seed) {
      const double begin = seconds_now();
      const Generator random(static_cast<std::uint64_t>(seed));
      Reader model(*p, how == "plain", Init(random));
      const bool hints = p->sorts() && !model.plain;
      const Index steps = model.plain ? p->plain_steps : p->steps;
      AdamW optimizer(decay_groups(model, 0.1));
      const auto loss = [&](Index) {
        const Rows rows = rows_of(*p, 64, random_ids(1, 1, p->trained + 1, random)[0], hints, random);
        return cross_entropy(model.logits(rows), rows.targets, {.ignore_index = -1});
      };
      const auto rate = [&](Index i) {
        return (model.plain ? 2e-3 : 3e-3) * std::min({1.0, double(i + 1) / 100, 1.02 - double(i) / double(steps)});
      };
      fit(optimizer, loss, {.steps = steps, .schedule = rate});
      const double seconds = seconds_now() - begin, here = right(model, p->trained, random);
      const double further = right(model, middle, random);
      const double asked = right(model, p->asked, random);
      std::printf("%4d  %6.1f %%  %6.1f %%  %6.1f %% %8.0f  %016llx\n", static_cast<int>(seed), here, further, asked,
                  seconds, hash_of(parameters(model)));
      return asked;
    });
    std::printf("worst %.1f %%, median %.1f %%\n", smallest(shares), median(shares));
    return 0;
  });
}
