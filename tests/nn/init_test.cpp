// Init and the initialisers: PyTorch's numbers, what they draw, what they refuse.
#include "nn/init.h"

#include "tests/nn/oracles.h"
#include "tests/sentences.h"

namespace mote::test::init_test {
namespace {

TEST_CASE("what Init::none left is known, whatever its shape, until it is drawn or set") {
  const Init none = Init::none(Generator(1));
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{1, 1}, Shape{3}, Shape{2, 3}}) {
    const Parameter p(none.normal(shape, 1, 0.02));
    CHECK(p.shape() == shape);
    CHECK(p.value().to_vector() == std::vector<real>(static_cast<std::size_t>(shape.numel())));
    CHECK(Init::left_undrawn(p.value()));
    init::constant(p, 0);
    CHECK(!Init::left_undrawn(p.value()));
    p.set(none.uniform(shape, 0, 1));
    CHECK(Init::left_undrawn(p.value()));
    init::normal(p, 0, 1, Generator(1));
    CHECK(!Init::left_undrawn(p.value()));
    CHECK(!Init::left_undrawn(Array::full(shape, 1)));
  }
}

TEST_CASE("initialisers draw PyTorch's numbers") {
  // torch.manual_seed(123); w = torch.empty(2, 3); and then. The others: init_vectors_test.
  const Parameter w(Array::full({2, 3}, nan));
  Generator random(123);
  init::uniform(w, -0.5, 0.25, random);  // nn.init.uniform_(w, -0.5, 0.25)
  CHECK(w.value().to_vector() ==
        std::vector<real>{-0.277916044f, -0.112578288f, -0.311246961f, 0.0164175928f, -0.444520652f, 0.149891466f});
  random.manual_seed(123);
  init::normal(w, 1, 0.5, random);  // nn.init.normal_(w, 1.0, 0.5)
  CHECK(w.value().to_vector() ==
        std::vector<real>{0.944266438f, 1.0601815f, 0.815182745f, 0.879791021f, 0.401537806f, 1.10463464f});
  init::constant(w, real(0.25));
  CHECK(w.value().to_vector() == std::vector<real>(6, real(0.25)));
}

TEST_CASE("kaiming with a slope, as before a leaky_relu") {
  // torch.manual_seed(1); w = torch.empty(3, 5); kaiming_uniform_(w, a=5 ** 0.5); then kaiming_normal_(w, a=0.1)
  const Generator one(1);
  Parameter weight(Array::zeros({3, 5}));
  init::kaiming_uniform(weight, std::sqrt(5.0), one);
  CHECK(weight.value().at({2, 4}) == doctest::Approx(-0.032605789601802826).epsilon(1e-6));
  init::kaiming_normal(weight, 0.1, one);
  CHECK(weight.value().at({0, 0}) == doctest::Approx(-1.1547495126724243).epsilon(1e-6));
  CHECK(weight.value().at({2, 4}) == doctest::Approx(0.20437084138393402).epsilon(1e-6));
}

TEST_CASE("initialisers want a matrix, and keep the parameter's handle") {
  Generator random(1);
  const Parameter row(Array::zeros({3})), w(Array::zeros({2, 3})), other = w;
  REFUSES(init::xavier_uniform(row, random));
  REFUSES(init::kaiming_normal(row, random));
  init::xavier_uniform(w, random);
  CHECK(same_bits(other.value(), w.value()));
}

TEST_CASE("Init draws from its stream; Init::none leaves zeros and the stream alone") {
  Generator random(1), again(1);
  const Init drawing = random, none = Init::none(random);
  CHECK(drawing.draws());
  CHECK(!none.draws());
  CHECK(same_bits(none.uniform({2, 3}, -1, 1), Array::zeros({2, 3})));
  CHECK(same_bits(none.normal({2, 3}, 0, 1), Array::zeros({2, 3})));
  CHECK(random.get_state() == again.get_state());
  const Array drawn = drawing.uniform({2, 3}, -1, 1);
  CHECK(same_bits(drawn, Init(again).uniform({2, 3}, -1, 1)));
  CHECK(random.get_state() == again.get_state());
}

}  // namespace
}  // namespace mote::test::init_test
