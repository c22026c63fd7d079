// What is here: LearnedPositions and SinusoidalPositions.
// What is not: the models that add them (../models/).
// Read next: transformer_block_test.cpp.
#include "nn/position.h"

#include "tests/nn/oracles.h"

namespace mote::test {
namespace {

TEST_CASE("LearnedPositions") {
  check_module(
      "LearnedPositions", [](Generator& random) { return LearnedPositions(5, 3, random); },
      [](const LearnedPositions& m, In) { return m(4); },
      {.names = {"weight"},
       .oracle =
           [](const Weights& w, const std::vector<Value>&) {
             const Row& x = w.at("weight").x;
             return Row(x.begin(), x.begin() + 12);
           },
       .error = [](const LearnedPositions& m) { m(6); },
       .error_text = "LearnedPositions: length 6 is above the 5 positions there are (in LearnedPositions)"});
  Generator random(123);
  const LearnedPositions m(5, 3, random);
  check_float32(m(2).array(), {-0.111467116f, 0.120362945f, -0.369634509f, -0.240417972f, -1.19692433f, 0.20926936f});
  CHECK(m(0).shape() == Shape{0, 3});  // drawn as torch.nn.Embedding(5, 3) is after manual_seed(123)
  CHECK(error_of([&] { m(-1); }) == "LearnedPositions: length -1 is below 0 (in LearnedPositions)");
}

Row waves(Index length, Index width) {
  Row y;
  for (Index t = 0; t < length; ++t)
    for (Index c = 0; c < width; ++c) {
      const double angle =
          static_cast<double>(t) / std::pow(10000.0, static_cast<double>(c / 2 * 2) / static_cast<double>(width));
      y.push_back(c % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  return y;
}

TEST_CASE("SinusoidalPositions") {
  for (const Index width : {6, 5, 1})
    check_module(
        "SinusoidalPositions", [=](Generator&) { return SinusoidalPositions(8, width); },
        [](const SinusoidalPositions& m, In) { return m(7); },
        {.oracle = [=](const Weights&, const std::vector<Value>&) { return waves(7, width); },
         .tolerance = f64 ? 1e-14 : 1e-7,
         .error = [](const SinusoidalPositions& m) { m(9); },
         .error_text = "SinusoidalPositions: length 9 is above the 8 positions there are (in SinusoidalPositions)"});
  const SinusoidalPositions m(2000, 64);
  CHECK(distance(m(2000).to_vector(), waves(2000, 64)) < (f64 ? 1e-11 : 1e-7));
  CHECK(named_parameters(m).empty());
  REQUIRE(named_buffers(m).size() == 1);
  CHECK(named_buffers(m)[0].name == "table");
  CHECK(!m(3).requires_grad());
  CHECK(error_of([&] { m(-1); }) == "SinusoidalPositions: length -1 is below 0 (in SinusoidalPositions)");
}

}  // namespace
}  // namespace mote::test
