// clip_grad_norm at its edges; optimizer_test.cpp has torch's numbers.
#include "train/loop/clip.h"

#include <functional>
#include <limits>
#include <memory>
#include <string>

#include "tests/tools.h"
#include "tests/train/optim/optimizer_cases.h"
#include "train/optim/adamw.h"
#include "train/optim/sgd.h"

namespace mote::test::clip_test {
namespace {

constexpr double NaN = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();

std::vector<Parameter> with_gradients() {
  std::vector<Parameter> list;
  for (const Shape& shape : shapes) list.emplace_back(Array::zeros(shape));
  give_gradients(list, 0);
  return list;
}
std::vector<real> gradients(const std::vector<Parameter>& list) {
  std::vector<real> all;
  for (const Parameter& p : list)
    for (const real g : p.grad().to_vector()) all.push_back(g);
  return all;
}
bool close(double a, double b) { return std::abs(a - b) <= 2e-7 * std::abs(b); }

}  // namespace

TEST_CASE("clip_grad_norm: below, at and above the limit; limits 0 and infinity") {
  const std::vector<Parameter> list = with_gradients();
  const std::vector<real> before = gradients(list);
  CHECK(close(clip_grad_norm(list, 100), 6.63884163));
  CHECK(close(clip_grad_norm(list, inf), 6.63884163));
  CHECK(gradients(list) == before);
  CHECK(close(clip_grad_norm(list, 0), 6.63884163));
  for (const real g : gradients(list)) CHECK(g == 0);
  CHECK(clip_grad_norm(list, 1) == 0);  // a norm of 0: 1 / 1e-6 is above 1
  CHECK(clip_grad_norm(list, 0) == 0);
  CHECK(clip_grad_norm({}, 1) == 0);
}

TEST_CASE("clip_grad_norm: frozen and missing gradients do not count, shared ones are not written to") {
  std::vector<Parameter> list = with_gradients();
  list[0].set_trainable(false);
  list[1].zero_grad();
  const Array kept = list[2].grad();
  const std::vector<real> before = kept.to_vector();
  const real frozen = list[0].grad().item();
  const double norm = clip_grad_norm(list, 0.5), clipped = clip_grad_norm(list, 0.5);
  CHECK(norm > 1);
  CHECK(std::abs(clipped - 0.5) < 1e-6);
  CHECK(list[0].grad().item() == frozen);
  CHECK_FALSE(list[1].grad().defined());
  CHECK(kept.to_vector() == before);
  list[3].set_grad(made({7, 5}, [](Index i) { return static_cast<double>(i); }).transpose(0, 1));  // any strides
  CHECK(clip_grad_norm(list, 1) > 100);
  CHECK(std::abs(clip_grad_norm(list, 2) - 1) < 1e-6);
}

TEST_CASE("clip_grad_norm: norms that are not finite leave gradients alone") {
  for (const double bad : {NaN, inf, -inf}) {
    const std::vector<Parameter> list = with_gradients();
    list[2].set_grad(made({17}, [&](Index i) { return i == 16 ? bad : 1.0; }));
    const double norm = clip_grad_norm(list, 1);
    CHECK((std::isnan(bad) ? std::isnan(norm) : norm == inf));
    CHECK(list[1].grad().to_vector() == with_gradients()[1].grad().to_vector());
    CHECK(list[2].grad().at({0}) == 1);
  }
}

TEST_CASE("clip_grad_norm: gradients whose squares vanish still have a norm") {
  const double smallest = static_cast<double>(std::numeric_limits<real>::denorm_min());
  for (const double size :
       {smallest, smallest * 1000, sizeof(real) == 8 ? 1e-200 : 1e-30, sizeof(real) == 8 ? 1e-160 : 1e-20, 1e-12}) {
    const Parameter p(Array::zeros({4})), q(Array::zeros({5}));
    p.set_grad(Array::full({4}, static_cast<real>(size)));
    q.set_grad(Array::full({5}, -static_cast<real>(size)));
    const double norm = clip_grad_norm({p, q}, 1), want = 3 * static_cast<double>(static_cast<real>(size));
    CHECK(std::abs(norm - want) <= 1e-6 * want);
    CHECK(p.grad().at({0}) == static_cast<real>(size));
  }
  const Parameter zero(Array::zeros({4})), empty(Array::zeros({0}));
  zero.set_grad(Array::zeros({4}));
  empty.set_grad(Array::zeros({0}));
  CHECK(clip_grad_norm({zero, empty}, 1) == 0);
}

TEST_CASE("clip_grad_norm: gradients whose squares are beyond the range still have a norm") {
  const double most = static_cast<double>(std::numeric_limits<real>::max());
  for (const double size : {sizeof(real) == 8 ? 1e200 : 1e20, most / 8}) {
    const Parameter p(Array::zeros({2}));
    p.set_grad(made({2}, [&](Index i) { return i == 0 ? 3 * size : 4 * size; }));
    CHECK(std::abs(clip_grad_norm({p}, 1) / size - 5) < 1e-6);
    CHECK(std::abs(static_cast<double>(p.grad().at({0})) - 0.6) < 1e-5);
    CHECK(std::abs(static_cast<double>(p.grad().at({1})) - 0.8) < 1e-5);
  }
}

TEST_CASE("clip_grad_norm: errors") {
  const std::vector<Parameter> list = with_gradients();
  const std::vector<real> before = gradients(list);
  CHECK_THROWS_WITH_AS(clip_grad_norm(list, -1), "clip_grad_norm: max_norm -1 must be at least 0", Error);
  CHECK_THROWS_AS(clip_grad_norm(list, NaN), Error);
  CHECK_THROWS_AS(clip_grad_norm({list[0], list[1], list[0]}, 1), Error);
  CHECK_THROWS_AS(clip_grad_norm({list[0], Parameter()}, 1), Error);
  CHECK(gradients(list) == before);
}

TEST_CASE("clip_grad_norm: equal bits for every number of threads and every instruction set") {
  const auto run = [] {
    std::vector<Parameter> list = with_gradients();
    list.emplace_back(Array::zeros({100003}));
    list.back().set_grad(made({100003}, [](Index i) { return gradient(i % 13, 4, i) * 1e-3; }));
    const double norm = clip_grad_norm(list, 0.7);
    std::vector<real> all = gradients(list);
    all.push_back(static_cast<real>(norm));
    return all;
  };
  const std::vector<real> expected = run();
  on_all_hardware({1, 2, 3}, [&] { CHECK(run() == expected); });
}

}  // namespace mote::test::clip_test
