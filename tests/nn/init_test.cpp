// Init and the initialisers: PyTorch's numbers, what they draw, what they refuse.
#include "nn/init.h"

#include "tests/nn/oracles.h"

namespace mote::test::init_test {
namespace {

TEST_CASE("initialisers draw PyTorch's numbers") {
  // torch.manual_seed(123); w = torch.empty(4, 3) (2, 3 for the last two); and then
  const Parameter w(Array::full({4, 3}, nan)), small(Array::full({2, 3}, nan));
  Generator random(123);
  init::xavier_uniform(w, random);  // nn.init.xavier_uniform_(w)
  check_float32(w.value(), {-0.377527326f, 0.0306673888f, -0.459816486f, 0.349139333f, -0.788849711f, 0.67866677f,
                            -0.672923326f, -0.736065805f, -0.585013747f, 0.419297904f, -0.342083275f, 0.346454233f});
  random.manual_seed(123);
  init::xavier_uniform(w, random, 5.0 / 3);  // nn.init.xavier_uniform_(w, gain=nn.init.calculate_gain("tanh"))
  check_float32(w.value(), {-0.629212201f, 0.0511123128f, -0.766360819f, 0.581898868f, -1.31474948f, 1.13111126f,
                            -1.12153888f, -1.22677624f, -0.975022912f, 0.69882983f, -0.570138812f, 0.577423692f});
  random.manual_seed(123);
  init::kaiming_normal(w, random);  // nn.init.kaiming_normal_(w, nonlinearity="relu")
  check_float32(w.value(), {-0.0910125226f, 0.0982759297f, -0.301805317f, -0.196300462f, -0.97728467f, 0.170867711f,
                            -0.79392451f, -0.616492093f, 0.264465481f, -0.0886083543f, 0.171734661f, -0.319121808f});
  random.manual_seed(123);
  init::uniform(small, -0.5, 0.25, random);  // nn.init.uniform_(w, -0.5, 0.25)
  check_float32(small.value(),
                {-0.277916044f, -0.112578288f, -0.311246961f, 0.0164175928f, -0.444520652f, 0.149891466f});
  random.manual_seed(123);
  init::normal(small, 1, 0.5, random);  // nn.init.normal_(w, 1.0, 0.5)
  check_float32(small.value(), {0.944266438f, 1.0601815f, 0.815182745f, 0.879791021f, 0.401537806f, 1.10463464f});
  init::constant(small, real(0.25));
  CHECK(small.value().to_vector() == std::vector<real>(6, real(0.25)));
}

TEST_CASE("kaiming_normal of 16 numbers and more") {
  // torch.manual_seed(123); w = torch.empty(4, 5); nn.init.kaiming_normal_(w, nonlinearity="relu")
  const Parameter w(Array::zeros({4, 5}));
  Generator random(123);
  init::kaiming_normal(w, random);
  check_float32(w.value(),
                {0.213371634f,  -0.112436183f, -0.191967711f, -0.37189135f, 0.99989295f,   0.82284987f,   0.806571305f,
                 -0.127093896f, -0.101549454f, -0.253923297f, 0.440014571f, -1.14224803f,  -0.732932389f, 0.205845937f,
                 -0.399399072f, -1.79616988f,  -0.496384829f, -0.89149189f, -0.257805854f, 0.503008425f});
}

TEST_CASE("initialisers want a matrix, and keep the parameter's handle") {
  Generator random(1);
  const Parameter row(Array::zeros({3})), w(Array::zeros({2, 3})), other = w;
  CHECK(error_of([&] { init::xavier_uniform(row, random); }) == "xavier_uniform: needs a weight [out, in], not [3]");
  CHECK(error_of([&] { init::kaiming_normal(row, random); }) == "kaiming_normal: needs a weight [out, in], not [3]");
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
