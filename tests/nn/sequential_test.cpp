// Sequential.
#include "nn/sequential.h"

#include "nn/nn.h"
#include "tests/nn/oracles.h"
#include "tests/sentences.h"

namespace mote::test::sequential_test {
namespace {

TEST_CASE("Sequential inside Sequential, with dropout in training") {
  check_module(
      "Sequential",
      [](Generator& random) {
        return Sequential{Sequential{Linear(2, 3, random), Dropout(0.4, random)}, LayerNorm(3)};
      },
      [](const Sequential& m, In x) { return m(x[0]); },
      {.names = {"0.0.weight", "0.0.bias", "1.weight", "1.bias"},
       .inputs = {random_array({4, 2}, 1)},
       .error = [](const Sequential& m) { m(Tensor(zeros_of(4, 3))); },
       .error_text = "linear: x [4, 3] needs a last extent of 2 for weight [3, 2] (in 0.0)"});
}

TEST_CASE("Sequential of nothing is the identity; add appends and chains") {
  Sequential m;
  const Tensor x = random_array({2, 3}, 1);
  CHECK(m.size() == 0);
  CHECK(same_bits(m(x).array(), x.array()));
  m.add(ReLU()).add(Tanh());
  CHECK(m.size() == 2);
  CHECK(same_bits(m(x).array(), tanh(relu(x)).array()));
}

TEST_CASE("Sequential that begins with an Embedding is called with ids, also as the first layer of another") {
  const Generator random(1);
  const Sequential m{Embedding(5, 4, random), Linear(4, 3, random)};
  const IntArray ids = ints({{1, 4, 0}, {2, 2, 3}});
  const Tensor y = m(ids);
  CHECK(y.shape() == Shape{2, 3, 3});
  const Tensor rows = m.at<Embedding>(0)(ids);
  CHECK(same_bits(y.array(), m.at<Linear>(1)(rows).array()));
  y.backward(random_array({2, 3, 3}, 5));
  CHECK(without_gradient(m).empty());
  const Sequential outer{m.clone(), Tanh()};
  CHECK(same_bits(outer(ids).array(), Tanh()(y).array()));
  REFUSES(m(Tensor(zeros_of(2, 4))));
  REFUSES(m(ints({7})));
  REFUSES(Sequential{ReLU()}(ids));
  REFUSES(Sequential()(ids));
}

TEST_CASE("Sequential: a layer by its position, and as its type") {
  const Generator random(1);
  Sequential m{Linear(2, 3, random), Sequential{ReLU(), Dropout(0.5, random)}};
  const std::vector<Parameter> all = parameters(m);
  CHECK(m.at<Linear>(0).weight.same_as(all[0]));
  CHECK(m.at<Linear>(-2).bias.same_as(all[1]));
  CHECK(m.at<Sequential>(1).at<Dropout>(1).p == 0.5);
  CHECK(m[0].type_name() == "Linear");
  m[1].eval();  // of this layer alone
  CHECK(!m.at<Sequential>(-1)[1].training());
  CHECK(m.training());
  const Sequential& fixed = m;
  CHECK(&fixed[0] == &fixed.at<Linear>(0));
  REFUSES(m.at<Linear>(1));
  REFUSES(m[2]);
  REFUSES(fixed[-3]);
}

namespace {
/// A model whose list of blocks stands before another layer.
struct Stack : Layer<Stack> {
  std::vector<Linear> blocks;
  Linear head;
  Stack(Integer count, const Generator& random)
      : blocks(module_list<Linear>(count, 3, 3, random)), head(3, 2, random) {}
  Tensor forward(Tensor x) const {
    for (const Linear& block : blocks) x = block(x);
    return head(x);
  }
  void visit(Visitor& v) override {
    v("blocks", blocks);
    v("head", head);
  }
};
}  // namespace

TEST_CASE("module_list: layers that draw in order, before the fields behind them") {
  const Generator random(1), same(1);
  Stack stack(2, random);
  const Sequential in_order{Linear(3, 3, same), Linear(3, 3, same), Linear(3, 2, same)};
  const Tensor x = ones({1, 3});
  CHECK(stack(x).to_vector() == in_order(x).to_vector());
  CHECK(named_parameters(stack).at(2).name == "blocks.1.weight");
  CHECK(module_list<Linear>(0, 3, 3, random).empty());
  REFUSES(module_list<Linear>(-1, 3, 3, random));
}

}  // namespace
}  // namespace mote::test::sequential_test
