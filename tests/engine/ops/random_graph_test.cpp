// Random graphs of all differentiable ops against central differences. MOTE_RANDOM_GRAPHS=20000 sets their number,
// MOTE_RANDOM_GRAPHS_SEED the first of their seeds.

#include <cstdlib>
#include <set>

#include "engine/ops/ops.h"
#include "tests/random_text.h"
#include "tests/tools.h"

namespace mote::test::random_graph_test {
namespace {

Index roll(Dice& dice, Index below) { return static_cast<Index>(dice.below(static_cast<std::size_t>(below))); }
bool flip(Dice& dice) { return roll(dice, 2) == 0; }

Array values(const Shape& shape, Index seed) {
  return random_array(shape, static_cast<std::uint64_t>(seed), -1.5, 1.5);
}

/// x [.., last], made so that its last axis has `width` elements: a gradient through a product.
Tensor widened(const Tensor& x, Index width, Dice& dice) {
  return x.size(-1) == width ? x : matmul(x, Tensor(values({x.size(-1), width}, roll(dice, 1000))));
}
Tensor with_axis(const Tensor& x) { return x.dim() == 0 ? unsqueeze(x, 0) : x; }
int some_axis(const Tensor& x, Dice& dice) {
  return static_cast<int>(roll(dice, x.dim())) - (flip(dice) ? x.dim() : 0);
}
Mask some_mask(const Shape& shape, Dice& dice) { return Tensor(values(shape, roll(dice, 1000))) > Tensor(-0.5); }
/// A shape that broadcasts to x's.
Shape smaller(const Shape& shape, Dice& dice) {
  Shape s = shape;
  for (int i = 0; i < s.rank(); ++i)
    if (roll(dice, 3) == 0) s = s.with(i, 1);
  while (s.rank() > 0 && roll(dice, 4) == 0) s = s.without(0);
  return s;
}
/// Another tensor that broadcasts with x: of the graph if one does, else a constant.
Tensor partner(const Tensor& x, const std::vector<Tensor>& graph, Dice& dice) {
  for (int tries = 0; tries < 4; ++tries) {
    const Tensor& y = graph[static_cast<std::size_t>(roll(dice, static_cast<Index>(graph.size())))];
    if (y.array().layout().expands_to(x.shape()) || x.array().layout().expands_to(y.shape())) return y;
  }
  return values(smaller(x.shape(), dice), roll(dice, 1000));
}

using Make = Tensor (*)(const Tensor& x, const std::vector<Tensor>& graph, Dice& dice);
struct Kind {
  const char* name;
  Make make;
};
using Graph = const std::vector<Tensor>&;

Tensor make_attention(const Tensor& x, Graph graph, Dice& dice) {
  const Tensor q = widened(with_axis(x), 4, dice);
  const Tensor other = widened(with_axis(graph.front()), 4, dice);
  const Index heads = 1 + roll(dice, 2), keys = q.numel() / 4 + roll(dice, 2);
  const Tensor rows = reshape(q, {1, 1, q.numel() / 4, 4});
  const Tensor queries = expand(rows, {1, heads, q.numel() / 4, 4});
  const Tensor last = reshape(slice(reshape(other, {other.numel() / 4, 4}), 0, 0, 1), {1, 1, 1, 4});
  const Tensor k = expand(last, {1, 1, keys, 4});
  const Tensor bent = k * Tensor(values({1, 1, keys, 4}, roll(dice, 1000)));
  const Tensor v = sin(bent);
  AttentionOptions options;
  options.causal = flip(dice);
  if (*options.causal && flip(dice)) options.window = 2;
  if (flip(dice)) options.mask = some_mask({keys}, dice);
  return attention(queries, bent, v, options);
}

Tensor make_parts(const Tensor& x, Graph, Dice& dice) {
  const Tensor y = with_axis(x);
  const int axis = some_axis(y, dice);
  std::vector<Tensor> parts = flip(dice) ? chunk(y, 2, axis) : unbind(y, axis);
  std::reverse(parts.begin(), parts.end());
  parts.push_back(parts.front());  // used twice
  const bool same =
      std::all_of(parts.begin(), parts.end(), [&](const Tensor& p) { return p.shape() == parts[0].shape(); });
  if (parts[0].dim() < y.dim() || (same && flip(dice))) return stack(parts, 0);
  return concat(parts, axis);
}

const Kind kinds[] = {
    {"tanh", [](const Tensor& x, Graph, Dice&) { return tanh(x); }},
    {"sigmoid", [](const Tensor& x, Graph, Dice&) { return sigmoid(x); }},
    {"relu", [](const Tensor& x, Graph, Dice&) { return relu(x); }},
    {"gelu", [](const Tensor& x, Graph, Dice& d) { return gelu(x, flip(d) ? GeluForm::exact : GeluForm::tanh); }},
    {"silu", [](const Tensor& x, Graph, Dice&) { return silu(x); }},
    {"add", [](const Tensor& x, Graph g, Dice& d) { return x + partner(x, g, d); }},
    {"sub", [](const Tensor& x, Graph g, Dice& d) { return partner(x, g, d) - x; }},
    {"mul", [](const Tensor& x, Graph g, Dice& d) { return tanh(x * partner(x, g, d)); }},
    {"square", [](const Tensor& x, Graph, Dice&) { return sin(x * x); }},
    {"div", [](const Tensor& x, Graph g, Dice& d) {
       const Tensor y = partner(x, g, d);
       return x / (y * y + 1);
     }},
    {"neg", [](const Tensor& x, Graph, Dice&) { return -x; }},
    {"numbers", [](const Tensor& x, Graph, Dice&) { return 0.5 - (x * 0.7 + 0.3) / 2; }},
    {"pow",
     [](const Tensor& x, Graph, Dice& d) { return pow(tanh(x) + 1.5, static_cast<double>(roll(d, 5)) * 0.75 - 1); }},
    {"pow of two", [](const Tensor& x, Graph g, Dice& d) {
       const Tensor y = partner(x, g, d);
       const Tensor base = tanh(x) + 1.5;
       return pow(base, tanh(y));
     }},
    {"exp", [](const Tensor& x, Graph, Dice&) { return exp(tanh(x)); }},
    {"log", [](const Tensor& x, Graph, Dice&) { return log(x * x + 0.5); }},
    {"sqrt", [](const Tensor& x, Graph, Dice&) { return sqrt(x * x + 0.5); }},
    {"cos", [](const Tensor& x, Graph, Dice&) { return cos(x); }},
    {"abs", [](const Tensor& x, Graph, Dice&) { return abs(x); }},
    {"softmax", [](const Tensor& x, Graph, Dice& d) {
       const Tensor y = with_axis(x);
       return softmax(y, some_axis(y, d));
     }},
    {"masked_softmax", [](const Tensor& x, Graph, Dice& d) {
       const Tensor y = with_axis(x);
       return masked_softmax(y, some_mask(smaller(y.shape(), d), d));
     }},
    {"log_softmax", [](const Tensor& x, Graph, Dice& d) {
       const Tensor y = with_axis(x);
       return log_softmax(y, some_axis(y, d));
     }},
    {"layer_norm", [](const Tensor& x, Graph g, Dice& d) {
       const Tensor w = tanh(reshape(widened(reshape(g.front(), {1, -1}), 5, d), {5}));
       const Tensor y = widened(with_axis(x), 5, d);
       return layer_norm(y, w, flip(d) ? cos(w) : Tensor(), 0.1);
     }},
    {"rms_norm", [](const Tensor& x, Graph, Dice& d) {
       return rms_norm(widened(with_axis(x), 4, d), values({4}, roll(d, 1000)), 0.1);
     }},
    {"matmul", [](const Tensor& x, Graph, Dice&) {
       const Tensor y = with_axis(x);
       return tanh(matmul(y, transpose(y, 0, -1).dim() < 2 ? y : transpose(y, -2, -1)));
     }},
    {"linear", [](const Tensor& x, Graph g, Dice& d) {
       const Tensor w = widened(reshape(g.front(), {1, -1}), 3, d);
       const Tensor y = widened(with_axis(x), 3, d);
       return tanh(linear(y, w, flip(d) ? Tensor() : Tensor(values({1}, roll(d, 1000)))));
     }},
    {"sum", [](const Tensor& x, Graph, Dice& d) {
       const Tensor y = with_axis(x);
       return sin(sum(y, some_axis(y, d), flip(d)));
     }},
    {"mean", [](const Tensor& x, Graph, Dice& d) { return flip(d) ? mean(x) : mean(with_axis(x), -1, true); }},
    {"var", [](const Tensor& x, Graph, Dice&) { return var(with_axis(x), 0, 0, true); }},
    {"max", [](const Tensor& x, Graph, Dice& d) { return flip(d) ? max(x) : max(with_axis(x), {0}); }},
    {"min", [](const Tensor& x, Graph, Dice& d) { return flip(d) ? min(x) : min(with_axis(x), -1, true).values; }},
    {"maximum", [](const Tensor& x, Graph g, Dice& d) { return maximum(x, partner(x, g, d)); }},
    {"minimum", [](const Tensor& x, Graph g, Dice& d) { return minimum(partner(x, g, d), x); }},
    {"clamp", [](const Tensor& x, Graph, Dice&) { return clamp(x, -0.8, 0.9); }},
    {"where", [](const Tensor& x, Graph g, Dice& d) {
       const Tensor y = partner(x, g, d);
       return where(some_mask(smaller(x.shape(), d), d), x, y);
     }},
    {"masked_fill",
     [](const Tensor& x, Graph, Dice& d) { return masked_fill(x, some_mask(smaller(x.shape(), d), d), 0.25); }},
    {"reshape", [](const Tensor& x, Graph, Dice& d) { return flip(d) ? reshape(x, {-1}) : reshape(x, {1, -1, 1}); }},
    {"transpose", [](const Tensor& x, Graph, Dice&) { return transpose(with_axis(x), 0, -1); }},
    {"permute", [](const Tensor& x, Graph, Dice&) { return permute(reshape(x, {1, -1, 1}), {1, 2, 0}); }},
    {"contiguous",
     [](const Tensor& x, Graph, Dice&) { return view(contiguous(transpose(with_axis(x), 0, -1)), {-1}); }},
    {"slice", [](const Tensor& x, Graph, Dice& d) {
       const Tensor y = with_axis(x);
       return slice(y, some_axis(y, d), 0, 3, 1 + roll(d, 2));
     }},
    {"select", [](const Tensor& x, Graph, Dice&) { return select(with_axis(x), 0, -1); }},
    {"parts", make_parts},
    {"expand",
     [](const Tensor& x, Graph, Dice&) {
       return x.dim() > 2 ? squeeze(slice(x, 0, 0, 1), 0) : expand(unsqueeze(x, 0), x.shape().insert(0, 2));
     }},
    {"tril", [](const Tensor& x, Graph, Dice& d) {
       const Tensor y = x.dim() < 2 ? reshape(x, {-1, 1}) : x;
       return flip(d) ? tril(y, 1) : triu(y);
     }},
    {"gather", [](const Tensor& x, Graph, Dice& d) {
       const Tensor y = with_axis(x);
       IntArray index(y.shape().with(-1, 2));
       for (Index i = 0; i < index.numel(); ++i) index.mutate()[i] = roll(d, y.size(-1));
       return gather(y, -1, index);
     }},
    {"take_rows", [](const Tensor& x, Graph, Dice& d) {
       const Tensor y = with_axis(x);
       return take_rows(y, std::vector<Index>{roll(d, y.size(0)), 0, roll(d, y.size(0))});
     }},
    {"embedding", [](const Tensor& x, Graph, Dice& d) {
       const Tensor table = reshape(x, {x.numel(), 1});
       return embedding(table, ints({{roll(d, x.numel()), 0}, {roll(d, x.numel()), 0}}));
     }},
    {"rotary", [](const Tensor& x, Graph, Dice& d) {
       const Tensor y = widened(reshape(x, {-1, 1}), 4, d);
       const Array angles = values({y.size(0), 2}, roll(d, 1000));
       return rotary(y, map(kernels::table().cos, angles), map(kernels::table().sin, angles));
     }},
    {"dropout", [](const Tensor& x, Graph, Dice& d) { return dropout(x, 0.3, Generator(roll(d, 1000))); }},
    {"cross_entropy", [](const Tensor& x, Graph, Dice& d) {
       const Tensor logits = widened(reshape(x, {-1, 1}), 4, d);
       IntArray targets({logits.size(0)}, -100);
       for (Index i = 0; i < targets.numel(); ++i)
         if (i == 0 || flip(d)) targets.mutate()[i] = roll(d, 4);
       const Reduction reduction = flip(d) ? Reduction::mean : flip(d) ? Reduction::sum : Reduction::none;
       return cross_entropy(logits, targets, {.reduction = reduction, .label_smoothing = flip(d) ? 0.1 : 0});
     }},
    {"mse_loss", [](const Tensor& x, Graph, Dice& d) {
       return mse_loss(x, Tensor(values(x.shape(), roll(d, 1000))), flip(d) ? Reduction::mean : Reduction::none);
     }},
    {"attention", make_attention},
};

/// The graph of one seed, rebuilt for any values of its leaves: what is chosen depends on shapes alone.
class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(seed) {
    Dice dice(seed);
    for (Index i = 0; i < 3; ++i) {
      std::vector<Index> extents;
      for (Index axis = roll(dice, 4); axis > 0; --axis) extents.push_back(1 + roll(dice, 3));
      leaves.push_back(values(Shape(extents), static_cast<Index>(seed) * 10 + i));
    }
  }
  /// A number that every result of the graph enters.
  Tensor loss(const std::vector<Tensor>& x) {
    Dice dice(seed_ + 1'000'000'007);
    std::vector<Tensor> graph = x;
    made.clear();
    const Index count = 4 + roll(dice, 9);
    while (static_cast<Index>(graph.size()) < count + 3) {
      const Tensor from = graph[static_cast<std::size_t>(roll(dice, static_cast<Index>(graph.size())))];
      const Kind& kind = kinds[static_cast<std::size_t>(roll(dice, std::ssize(kinds)))];
      Tensor y = kind.make(from, graph, dice);
      made.push_back(kind.name);
      if (y.numel() > 64) y = slice(reshape(y, {-1}), 0, 0, 30);
      if (y.dim() > 4) y = reshape(y, {-1});
      graph.push_back(y);
    }
    Tensor total = Tensor(0);
    for (std::size_t i = 0; i < graph.size(); ++i) {
      const Tensor weighted = graph[i] * Tensor(values(graph[i].shape(), static_cast<Index>(seed_ % 997 + i)));
      total = total + mean(weighted);
    }
    return total;
  }
  double loss_at(const std::vector<Array>& at) {
    const NoGrad no_grad;
    return static_cast<double>(loss(std::vector<Tensor>(at.begin(), at.end())).item());
  }
  std::vector<Array> leaves;
  std::vector<std::string> made;

 private:
  std::uint64_t seed_;
};

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// In float the differences are too coarse to tell anything; there the graphs are only run and differentiated.
TEST_CASE("random graphs: gradients equal central differences") {
  const std::uint64_t count = number_from("MOTE_RANDOM_GRAPHS", 1000),
                      first = number_from("MOTE_RANDOM_GRAPHS_SEED", 1);
  const Leaks leaks;
  std::set<std::string> seen;
  double worst = 0;
  Index derivatives = 0, bends = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Random graph(seed);
    std::vector<Tensor> x;
    for (const Array& leaf : graph.leaves) x.push_back(Tensor(leaf).requires_grad_());
    graph.loss(x).backward();
    seen.insert(graph.made.begin(), graph.made.end());
    Dice dice(seed + 77);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Array gradient = x[i].grad().contiguous();
      REQUIRE(gradient.shape() == x[i].shape());
      for (int tries = 0; f64 && tries < 3; ++tries) {
        const Index at = roll(dice, gradient.numel());
        const auto shifted = [&](double by) {
          std::vector<Array> moved = graph.leaves;
          moved[i].mutate()[at] += static_cast<real>(by);
          return graph.loss_at(moved);
        };
        constexpr double h = 1e-5;
        const double above = shifted(h), below = shifted(-h), here = shifted(0);
        const double want = (above - below) / (2 * h), got = static_cast<double>(gradient.data()[at]);
        const double error = std::abs(want - got) / std::max(1.0, std::abs(want));
        ++derivatives;
        // relu, abs, max and the like bend: where one does within h, the two sides differ and no derivative is defined
        if (error > 1e-6 && std::abs((above - here) - (here - below)) / h > 1e-4) {
          ++bends;
          continue;
        }
        worst = std::max(worst, error);
        INFO("seed " << seed << ", leaf " << i << " " << x[i].shape() << ", element " << at << ", ops "
                     << doctest::toString(graph.made.size()));
        CHECK(error < 1e-6);
      }
    }
  }
  if (std::getenv("MOTE_RANDOM_GRAPHS"))
    MESSAGE(count << " graphs, " << derivatives << " derivatives, worst error " << worst << ", " << bends
                  << " at a bend");
  CHECK(bends * 1000 <= derivatives);
  if (count >= 1000) CHECK(seen.size() == std::size(kinds));
  CHECK(leaks.nodes() == 0);
  CHECK(leaks.bytes() == 0);
}

}  // namespace
}  // namespace mote::test::random_graph_test
