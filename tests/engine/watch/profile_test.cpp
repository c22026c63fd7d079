// Profile: what it adds up, with a clock of the test's own, and that nothing is counted twice or left out.
#include "engine/watch/profile.h"

#include <optional>
#include <sstream>
#include <thread>

#include "engine/base/env.h"
#include "engine/ops/ops.h"
#include "models/gpt.h"
#include "nn/linear.h"
#include "nn/sequential.h"
#include "nn/trace.h"
#include "tests/process.h"
#include "tests/tools.h"

namespace mote::test::profile_test {
namespace {

double fake_time = 0;
double fake_clock() { return fake_time; }

/// An op that takes `seconds`, forward and backward, and calls another one in between.
Tensor slow(const Tensor& x, double seconds) {
  Op op("slow", x);
  fake_time += seconds;
  const Tensor inner = neg(x.detach());
  fake_time += seconds;
  return op.record(inner.array(), save(seconds), [](const Array& dy, Grads& dx, double seconds) {
    fake_time += 3 * seconds;
    dx.add(0, -dy);
  });
}

/// A layer that takes a second beside its op and its child.
struct Inner : Layer<Inner> {
  Tensor forward(const Tensor& x) const {
    fake_time += 1;
    return slow(x, 10);
  }
  void visit(Visitor&) override {}
};
struct Outer : Layer<Outer> {
  Inner inner;
  Tensor forward(const Tensor& x) const {
    fake_time += 2;
    const Tensor y = inner(x);
    return slow(y, 100);
  }
  void visit(Visitor& v) override { v("inner", inner); }
};

double sum_of(const std::map<std::string, ProfileLine>& lines) {
  double sum = 0;
  for (const auto& [name, line] : lines) sum += line.seconds + line.backward_seconds;
  return sum;
}

TEST_CASE("profile: ops exclude ops inside, layers exclude layers inside, and with the rest they are all of the time") {
  fake_time = 5;
  ProfileTotals totals;
  {
    Profile profile(totals, fake_clock, 5);
    const Outer model;
    const Tensor x = ones({2, 3}).requires_grad_();
    const Tensor y = model(x);
    fake_time += 1000;  // outside of everything
    y.backward(Array::full({2, 3}, 1));
    slow(x, 1000);
  }
  CHECK(totals.seconds == fake_time - 5);
  CHECK(totals.own_seconds == 0);  // this clock stands still in between
  const ProfileLine slow_line = totals.ops.at("slow"), outer = totals.layers.at("Outer"),
                    inner = totals.layers.at("Inner");
  CHECK(slow_line.calls == 3);
  CHECK(slow_line.seconds == 20 + 200 + 2000);
  CHECK(slow_line.backward_seconds == 30 + 300);
  CHECK(totals.ops.at("neg").calls == 3);
  CHECK(totals.ops.at("neg").seconds == 0);
  CHECK((outer.calls == 1 && inner.calls == 1));
  CHECK(outer.seconds == 2 + 200);
  CHECK(outer.backward_seconds == 300);
  CHECK(inner.seconds == 1 + 20);
  CHECK(inner.backward_seconds == 30);
  CHECK(totals.seconds - sum_of(totals.ops) == 1000 + 1 + 2);    // outside any op
  CHECK(totals.seconds - sum_of(totals.layers) == 1000 + 2000);  // outside any layer
}

TEST_CASE("profile: what ops report, forward and backward, once for the op and once for its layer") {
  fake_time = 0;
  ProfileTotals totals;
  {
    Profile profile(totals, fake_clock, 0);
    Generator random(1);
    const Linear layer(3, 2, random);
    const Tensor x = random_array({4, 3}, 1);
    sum(transpose(layer(x), 0, 1)).backward();
  }
  const ProfileLine line = totals.ops.at("linear"), layer = totals.layers.at("Linear");
  const Index element = sizeof(real);
  CHECK(line.flops == 4 * 2 * 3 * 2 + 4 * 2);           // y and its bias
  CHECK(line.backward_flops == 4 * 2 * 3 * 2 + 4 * 2);  // dW and db, x has no gradient
  CHECK(line.moved == (12 + 6 + 2 + 8) * element);
  CHECK(line.backward_moved == (8 + 12 + 6 + 6 + 2) * element);  // dy, x and W, dW and db
  CHECK((layer.flops == line.flops && layer.backward_flops == line.backward_flops && layer.calls == 1));
  CHECK((layer.moved == line.moved && layer.backward_moved == line.backward_moved));
  const ProfileLine view = totals.ops.at("transpose");
  CHECK(view.moved + view.backward_moved + view.flops + view.backward_flops == 0);
}

TEST_CASE("profile: what a rule reads counts once, however many gradients it sends") {
  ProfileTotals totals;
  {
    Profile profile(totals, fake_clock, 0);
    const Tensor a = Tensor(random_array({2, 3}, 1)).requires_grad_(),
                 b = Tensor(random_array({2, 3}, 2)).requires_grad_();
    sum(a * b).backward();
  }
  const Index element = sizeof(real);
  CHECK(totals.ops.at("mul").moved == 3 * 6 * element);
  CHECK(totals.ops.at("mul").backward_moved == (6 + 2 * 6 + 2 * 6) * element);  // dy, a and b; da and db
}

TEST_CASE("profile: of a composed op the ops inside count forward, and its own rule backward") {
  fake_time = 0;
  ProfileTotals totals;
  {
    Profile profile(totals, fake_clock, 0);
    sum(slow(Tensor(random_array({4, 3}, 1)).requires_grad_(), 1)).backward();
  }
  CHECK(totals.ops.at("neg").flops == 12);
  CHECK(totals.ops.at("slow").flops == 0);
  CHECK(totals.ops.at("slow").backward_moved > 0);
}

TEST_CASE("profile: a GELU before a product is an op of its own forward, and counted with the product backward") {
  ProfileTotals totals;
  {
    Profile profile(totals, fake_clock, 0);
    const Tensor weight = Tensor(random_array({2, 3}, 2)).requires_grad_();
    sum(gelu_linear(Tensor(random_array({4, 3}, 1)).requires_grad_(), weight)).backward();
  }
  const Index product = 2 * 4 * 3 * 2;
  CHECK(totals.ops.at("gelu").flops == 4 * 3);
  CHECK(totals.ops.at("gelu_linear").flops == product);
  CHECK(totals.ops.at("gelu_linear").backward_flops == 2 * product + 4 * 3);  // dx through gelu, dW
  CHECK(totals.ops.at("gelu_linear").backward_moved > 0);
}

TEST_CASE("profile: threads add up, and a rule counts for the layer that recorded it on another thread") {
  fake_time = 0;
  ProfileTotals totals;
  Tensor y;
  const Inner layer;
  const Tensor x = ones({2}).requires_grad_();
  std::thread([&] {
    Profile profile(totals, fake_clock, 0);
    y = layer(x);
  }).join();
  CHECK(totals.seconds == 21);
  {
    Profile profile(totals, fake_clock, fake_time);
    y.backward(Array::full({2}, 1));
  }
  CHECK(totals.seconds == 21 + 30);
  CHECK(totals.layers.at("Inner").backward_seconds == 30);
}

TEST_CASE("profile: an error closes what it leaves, and what was open before is not counted") {
  fake_time = 0;
  ProfileTotals totals;
  std::optional<Profile> profile;
  {
    Op open("before");
    profile.emplace(totals, fake_clock, 0);
  }
  CHECK(error_of([] { reshape(ones({2}), {3}); }) != "(no error)");
  const Tensor y = ones({2}) + ones({2});
  CHECK(totals.ops.at("add").calls == 1);
  CHECK(!totals.ops.contains("before"));
}

TEST_CASE("profile: a trace added up by name, to the last operation and byte") {
  const GPT model({.block_size = 8, .vocab_size = 7, .n_layer = 2, .n_head = 2, .n_embd = 8}, Generator(1));
  ProfileTotals totals;
  {
    const Profile profile(totals, fake_clock, 0);
    const Trace trace;
    model.loss(ints({{1, 2, 3}}), ints({{2, 3, 4}})).backward();
    Index calls = 0;
    TraceCosts ops;
    for (const TraceEvent& e : trace.events()) {
      if (!e.is_op) continue;
      ++calls;
      ops.add(e);
    }
    TraceCosts added;
    for (const auto& [name, line] : totals.ops) {
      calls -= line.calls;
      added.add(line);
    }
    CHECK(calls == 0);
    CHECK((added.flops == ops.flops && added.backward_flops == ops.backward_flops && added.flops > 0));
    CHECK((added.moved == ops.moved && added.backward_moved == ops.backward_moved && added.moved > 0));
    CHECK((added.flops == trace.total().flops && added.kept == trace.total().kept));
  }
}

TEST_CASE("profile: the tables") {
  fake_time = 0;
  ProfileTotals totals;
  {
    Profile profile(totals, fake_clock, 0);
    const Outer model;
    model(ones({2, 3}));
    fake_time += 80;
  }
  std::ostringstream out;
  totals.own_seconds = 30;
  totals.print(out);
  const std::string text = out.str();
  CHECK(text.starts_with("MOTE_PROFILE: 303.000 s of all threads that ran ops."));
  for (const char* part :
       {"\nop ", "\nslow ", "\noutside any op ", "\nall ", "\nlayer ", "\nOuter ", "\nInner ", "\noutside any layer ",
        "\nMOTE_PROFILE itself ", " 72.6 %", " 17.5 %", " 9.9 %", " 100.0 %"})
    CHECK_MESSAGE(text.find(part) != std::string::npos, part, " is not in\n", text);
}

TEST_CASE("profile: run again under MOTE_PROFILE" * doctest::skip()) {
  const Tensor x = ones({2, 3}).requires_grad_();
  sum(exp(x)).backward();
  std::thread([] { exp(ones({2})); }).join();
  CHECK(settings().profile);
}

TEST_CASE("profile: MOTE_PROFILE=1 needs nothing of the program") {
  const Variable variable("MOTE_PROFILE", "1");
  CHECK(run_again("profile: run again under MOTE_PROFILE") == "exit 0");
}

}  // namespace
}  // namespace mote::test::profile_test
