// checkpoint(): every bit of the pass without it, streams included; what it keeps; what it refuses.
#include "engine/ops/recompute.h"

#include "engine/ops/ops.h"
#include "engine/watch/observer.h"
#include "tests/support.h"

namespace mote::test::recompute_test {
namespace {

/// Two products with dropout between them; x and the weight are used more than once, in both directions of a sum.
struct Net {
  Parameter w{random_array({4, 4}, 5, -1, 1)};
  Generator random{7};
  Tensor operator()(const Tensor& x) const {
    const Tensor h = dropout(tanh(matmul(x, w)), 0.4, random);
    return x + matmul(h * x, w);
  }
};

struct Result {
  std::vector<Array> arrays;
  std::vector<GeneratorState> streams;
  friend bool operator==(const Result& a, const Result& b) {
    return a.streams == b.streams &&
           std::equal(a.arrays.begin(), a.arrays.end(), b.arrays.begin(), b.arrays.end(), same_bits);
  }
};

/// x goes through `net` three times as `call` says, and around it; twice, so that gradients accumulate.
template <class Call>
Result pass(const Call& call, bool tracked = true) {
  const Net net;
  Result r;
  const Tensor x = Tensor(random_array({3, 4}, 1)).requires_grad_(tracked);
  for (int time = 0; time < 2; ++time) {
    const Tensor y = call(net, call(net, x) * x + x);
    const Tensor loss = sum(y * call(net, y)) + sum(x * matmul(x, net.w));
    loss.backward();
    r.arrays.insert(r.arrays.end(), {y.array(), loss.array()});
    r.streams.push_back(net.random.get_state());
  }
  if (tracked) r.arrays.push_back(x.grad());
  r.arrays.push_back(net.w.grad());
  return r;
}

const auto plain = [](const Net& net, const Tensor& x) { return net(x); };
const auto again = [](const Net& net, const Tensor& x) { return checkpoint(net, x); };

TEST_CASE("checkpoint: results, gradients and streams to the last bit, used three times, inside a guard or not") {
  for (const bool tracked : {true, false}) {
    const Result expected = pass(plain, tracked);
    CHECK(pass(again, tracked) == expected);
    const StreamGuard step;
    CHECK(pass(again, tracked) == expected);
    CHECK(expected.arrays.back().defined());  // the parameter's, also where x needs none
  }
}

TEST_CASE("checkpoint: nested, around all of it or in a chain") {
  const auto whole = [](const auto& call) {
    const Net net;
    const auto f = [&](const Tensor& x) { return call(net, call(net, x)) * x; };
    const Tensor x = Tensor(random_array({3, 4}, 1)).requires_grad_();
    const Tensor y = call(f, x);
    sum(y * y).backward();
    return Result{{y.array(), x.grad(), net.w.grad()}, {net.random.get_state()}};
  };
  const auto nested = [](const auto& f, const Tensor& x) { return checkpoint(f, x); };
  CHECK(whole(nested) == whole([](const auto& f, const Tensor& x) { return f(x); }));
}

TEST_CASE("checkpoint: its gradient against differences") {
  const Parameter w(random_array({4, 4}, 5, -1, 1));
  const auto f = [&](const Tensor& x) { return tanh(matmul(x, w)) * x; };
  check_gradient([&](In x) { return checkpoint(f, x[0]); }, {random_array({3, 4}, 1)});
}

TEST_CASE("checkpoint: what f refers to gets its gradient, and f may give back x, or nothing that needs one") {
  const Tensor a = Tensor(random_array({4}, 2)).requires_grad_(), x = Tensor(random_array({4}, 3)).requires_grad_();
  const Tensor shared = exp(a);
  const auto times = [&](const Tensor& t) { return shared * t; };
  (sum(checkpoint(times, x) * checkpoint(times, x)) + sum(shared)).backward();
  const Tensor b = Tensor(a.array()).requires_grad_(), z = Tensor(x.array()).requires_grad_();
  const Tensor e = exp(b);
  (sum((e * z) * (e * z)) + sum(e)).backward();
  CHECK(same_bits(a.grad(), b.grad()));
  CHECK(same_bits(x.grad(), z.grad()));

  const auto identity = [](const Tensor& t) { return t; };
  const Tensor leaf = Tensor(x.array()).requires_grad_();
  sum(checkpoint(identity, leaf) * 3).backward();
  CHECK(leaf.grad().to_vector() == std::vector<real>(4, 3));
  const auto cut = [](const Tensor& t) { return t.detach(); };
  const Tensor other = Tensor(x.array()).requires_grad_();
  (sum(checkpoint(cut, other)) + sum(other)).backward();
  CHECK(other.grad().to_vector() == std::vector<real>(4, 1));
  CHECK_FALSE(checkpoint(times, x.detach()).node() == nullptr);
  CHECK(checkpoint(identity, x.detach()).node() == nullptr);  // nothing in it needs a gradient, nothing is kept
}

TEST_CASE("checkpoint: keeps x and its result alone; under NoGrad nothing") {
  struct Kept : Observer {
    Index bytes = 0;
    int tanhs = 0, sums = 0;
    Kept() { watch(); }
    void op_recorded(const OpReport& op) override {
      bytes += op.kept_bytes;
      tanhs += op.op == std::string("tanh");
    }
  } kept;
  const auto f = [](const Tensor& x) { return tanh(tanh(tanh(x))); };
  const Tensor x = Tensor(random_array({100}, 1)).requires_grad_();
  const Index nodes = live_nodes();
  {
    const Tensor y = checkpoint(f, x);
    CHECK(kept.bytes < 2 * 100 * static_cast<Index>(sizeof(real)) + 1);
    CHECK(live_nodes() == nodes + 1);
    CHECK(kept.tanhs == 3);
    sum(y).backward();
    CHECK(kept.tanhs == 6);  // an observer sees the second call
  }
  CHECK(live_nodes() == nodes);
  const NoGrad values;
  CHECK_FALSE(checkpoint(f, x).requires_grad());
}

TEST_CASE("checkpoint: another result the second time is an error, and errors inside f are its own") {
  const Parameter w(random_array({4}, 1));
  const auto f = [&](const Tensor& x) { return x * w; };
  const Tensor x = Tensor(random_array({4}, 2)).requires_grad_();
  const Tensor loss = sum(checkpoint(f, x));
  w.set(w.value() * real(2));
  CHECK(error_of([&] { loss.backward(); }) ==
        "checkpoint: f, called again in backward, gave another result [4] than before, [4]: it, a parameter or a scope "
        "around it has changed since");
  CHECK_FALSE(w.grad().defined());
  CHECK_FALSE(x.grad().defined());

  const Generator random(3);
  bool fails = false;
  const auto g = [&](const Tensor& t) {
    const Tensor y = dropout(t, 0.5, random);
    check(!fails, "no more");
    return y;
  };
  const Tensor other = sum(checkpoint(g, x));
  const GeneratorState drawn = random.get_state();
  fails = true;
  CHECK(error_of([&] { other.backward(); }) == "no more");
  CHECK(random.get_state() == drawn);
  CHECK_FALSE(x.grad().defined());
  CHECK(error_of([&] { sum(checkpoint(g, x)); }) == "no more");
  CHECK(random.get_state() == drawn);
  const Tensor once = sum(checkpoint(f, x));
  once.backward();
  CHECK(error_of([&] { once.backward(); }).find("was consumed by an earlier backward") != std::string::npos);
}

}  // namespace
}  // namespace mote::test::recompute_test
