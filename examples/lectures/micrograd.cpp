// micrograd: the expression of its README, with its value and its two derivatives. Then its demo: a network of 337
// parameters separates two moons of points after 100 steps of gradient descent.
#include "examples/lectures/lecture.h"
#include "examples/lectures/python.h"

#include "engine/engine.h"

using namespace mote;

namespace {

void expression(Lines& line) {
  const Tensor a = tensor(-4.0).requires_grad_(), b = tensor(2.0).requires_grad_();
  Tensor c = a + b;
  Tensor d = a * b + pow(b, 3);
  c += c + 1;
  c += 1 + c + (-a);
  d += d * 2 + relu(b + a);
  d += 3 * d + relu(b - a);
  const Tensor e = c - d;
  const Tensor f = pow(e, 2);
  Tensor g = f / 2.0;
  g += 10.0 / f;
  g.backward();
  line(formatted("%.4f", static_cast<double>(g.item())));
  line(formatted("%.4f", static_cast<double>(a.grad().item())));
  line(formatted("%.4f", static_cast<double>(b.grad().item())));
}

/// scikit-learn's make_moons(100, noise=0.1), which is an upper and a lower half circle of points. The points are
/// shuffled, and each coordinate gets noise from N(0, 0.1). X is [100, 2]. y is -1 for the upper half circle and 1 for
/// the lower.
struct Moons {
  Tensor X, y;

  explicit Moons(NumpyRandom random) {
    constexpr int half = 50;
    std::vector<int> order(2 * half);
    for (int i = 0; i < 2 * half; ++i) order[static_cast<std::size_t>(i)] = i;
    random.shuffle(order);

    std::vector<std::vector<double>> points;
    std::vector<double> sides;
    for (const int i : order) {
      const bool below = i >= half;
      const double angle = (below ? i - half : i) * (3.141592653589793 / (half - 1));
      const double x = below ? 1 - std::cos(angle) : std::cos(angle);
      const double y = below ? 1 - std::sin(angle) - 0.5 : std::sin(angle);
      points.push_back({x, y});
      sides.push_back(below ? 1 : -1);
    }
    for (std::vector<double>& point : points)
      for (double& coordinate : point) coordinate += 0.1 * random.normal();
    X = tensor(points);
    y = tensor(sides);
  }
};

/// Layers of 16, 16 and 1 neurons, ReLU between them. Each neuron draws its weights from [-1, 1); biases are 0.
struct MLP {
  std::vector<Parameter> weights, biases;

  explicit MLP(PythonRandom random) {
    Index in = 2;
    for (const Index out : {16, 16, 1}) {
      std::vector<real> drawn;
      for (Index i = 0; i < out * in; ++i) drawn.push_back(static_cast<real>(random.uniform(-1, 1)));
      weights.emplace_back(Array({out, in}, drawn));
      biases.emplace_back(Array::zeros({out}));
      in = out;
    }
  }
  Tensor scores(Tensor x) const {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      x = linear(x, weights[i], biases[i]);
      if (i + 1 < weights.size()) x = relu(x);
    }
    return flatten(x);
  }
  std::vector<Parameter> parameters() const {
    std::vector<Parameter> all = weights;
    all.insert(all.end(), biases.begin(), biases.end());
    return all;
  }
};

void moons(Lines& line) {
  const Moons data(NumpyRandom(1337));
  const MLP model(PythonRandom(1337));
  Index count = 0;
  for (const Parameter& p : model.parameters()) count += p.numel();
  line("number of parameters " + std::to_string(count));

  for (int k = 0; k < 100; ++k) {
    const Tensor scores = model.scores(data.X);
    const Tensor data_loss = mean(relu(1 - data.y * scores));  // the max-margin loss
    Tensor squares = 0;
    for (const Parameter& p : model.parameters()) squares = squares + sum(p * p);
    const Tensor loss = data_loss + 1e-4 * squares;
    const double right = static_cast<double>(sum((data.y > 0) == (scores > 0)).item());

    for (const Parameter& p : model.parameters()) p.zero_grad();
    loss.backward();
    const double learning_rate = 1.0 - 0.9 * k / 100;
    for (const Parameter& p : model.parameters()) p.set(p.value() - p.grad() * learning_rate);
    line("step " + std::to_string(k) + " loss " + repr(loss.item()) + ", accuracy " + repr(right) + "%");
  }
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    read_words(argc, argv, "none");
    Lines line("micrograd");
    expression(line);
    moons(line);
    return line.summary();
  });
}
