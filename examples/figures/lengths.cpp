// Lengths never seen: learned on at most 20 symbols, asked of 100; and the same model with usual positions beside it.
#include "examples/figures/lengths.h"

#include "examples/figures/record.h"
#include "examples/many_seeds.h"
#include "train/train.h"

using namespace mote;
namespace {

const Problem problems[] = {{"addition", 10, 20, 100, 64, 2000},
                            {"parity", 2, 16, 64, 64, 1000},
                            {"copy", 128, 20, 100, 64, 1000},
                            {"sort", 128, 20, 100, 128, 4000}};

/// One block without positions, or, `plain`, with rotary ones. In place of them its four heads see what is -1, 0, 1 and
/// 2 places ahead ("position coupling": Cho et al. 2024), wherever that stands, and how long the rows are makes no
/// difference. To sort, one head sees all, and looks sharper the more there is: scores grow by the log of the length.
struct Reader : Layer<Reader> {
  const Problem& problem;
  const bool plain;
  Embedding symbols;
  TransformerBlock block;
  Norm norm;
  Linear head;
  Reader(const Problem& p, bool usual, const Init& init)
      : problem(p),
        plain(usual),
        symbols(p.symbols + 2, p.width, init),
        block(p.width, p.sorts() ? 1 : 4, init, options()),
        norm(NormKind::rms_norm, p.width, 1e-5, false),
        head(p.width, p.symbols + 2, init, false) {}
  TransformerBlockOptions options() const {
    TransformerBlockOptions o{.bias = false, .norm = NormKind::rms_norm};
    if (plain) o.projections.rotary = RotaryOptions{};
    return o;
  }
  Tensor forward(const IntArray& ids, const Mask& mask) const { return head(norm(block(symbols(ids), mask))); }
  /// What it says to rows [B, T] whose symbols belong to these places: [B, T, V].
  Tensor logits(const Rows& rows) {
    const double T = static_cast<double>(rows.places.size()), longest = 2 * problem.trained;
    if (!plain && problem.sorts())
      block.attn.options.scale = std::max(1.0, math::log(T) / math::log(longest)) / std::sqrt(problem.width);
    return (*this)(rows.ids, plain || problem.sorts() ? Mask() : seen(rows.places));
  }
  static Mask seen(const std::vector<Index>& places) {
    const Index T = std::ssize(places);
    Array ahead = Array::zeros({4, T, T});
    real* to = ahead.mutate();
    for (Index head = 0; head < 4; ++head)
      for (const Index here : places)
        for (const Index there : places) *to++ = there == here + head - 1;
    return ahead > 0.5;
  }
  void visit(Visitor& v) override { v("symbols", symbols), v("block", block), v("norm", norm), v("head", head); }
};

/// Percent of 200 answers of this length that are right from the first symbol to the last, each after right ones.
double right(Reader& model, Index n, const Generator& random) {
  const NoGrad no_grad;
  double all = 0;
  for (int batch = 0; batch < 20; ++batch) {
    const Rows rows = rows_of(model.problem, 10, n, false, random);
    const Tensor hit = tensor(eq(argmax(model.logits(rows), -1), rows.targets));
    all += static_cast<double>(sum(min(maximum(hit, tensor(rows.targets == -1)), {1})).item());
  }
  return all / 2;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    const std::string name = argc > 1 ? argv[1] : "addition", how = argc > 3 ? argv[3] : "";
    const auto [first, last] = read_seeds(argc > 2 ? argv[2] : "1");
    const auto* p =
        std::find_if(std::begin(problems), std::end(problems), [&](const Problem& x) { return x.name == name; });
    if (p == std::end(problems) || argc > 4 || (how != "" && how != "plain"))
      throw UsageError("[addition|parity|copy|sort] [SEEDS: 1-10] [plain]");
    const int middle = 2 * p->trained;
    std::printf("%s, right of length %d, %d, %d\nseed                            seconds  hash of the weights\n",
                p->name.c_str(), p->trained, middle, p->asked);
    std::vector<double> shares;
    for (Index seed = first; seed <= last; ++seed) {
      const double begin = seconds_now();
      const Generator random(static_cast<std::uint64_t>(seed));
      Reader model(*p, how == "plain", Init(random));
      const bool hints = p->sorts() && how != "plain";
      AdamW optimizer(decay_groups(model, 0.1));
      for (int step = 0; step < p->steps; ++step) {
        const Rows rows = rows_of(*p, 64, random_ids(1, 1, p->trained + 1, random)[0], hints, random);
        optimizer.zero_grad();
        cross_entropy(model.logits(rows), rows.targets, {.ignore_index = -1}).backward();
        clip_grad_norm(optimizer.parameters(), 1);
        optimizer.set_learning_rate(3e-3 * std::min({1.0, (step + 1) / 100.0, 1.02 - double(step) / p->steps}));
        optimizer.step();
      }
      const double seconds = seconds_now() - begin, here = right(model, p->trained, random);
      const double further = right(model, middle, random);
      shares.push_back(right(model, p->asked, random));
      std::printf("%4d  %6.1f %%  %6.1f %%  %6.1f %% %8.0f  %s\n", static_cast<int>(seed), here, further, shares.back(),
                  seconds, hash_of(parameters(model)).c_str());
      std::fflush(stdout);
    }
    std::printf("worst %.1f %%, median %.1f %%\n", smallest(shares), median(shares));
    return 0;
  });
}
