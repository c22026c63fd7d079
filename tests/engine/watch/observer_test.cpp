// Observers: what they are told of ops, layers and rules, in which order, and that watching disturbs nothing.
#include "engine/autograd/observer.h"

#include "engine/ops/ops.h"
#include "nn/linear.h"
#include "tests/sentences.h"
#include "tests/tools.h"

namespace mote::test::observer_test {
namespace {

/// Writes down everything it is told.
struct Diary : Observer {
  std::vector<std::string> lines;
  std::string wanted;
  explicit Diary(std::string value = "nothing") : wanted(std::move(value)) { watch(); }
  void event(const Event& e) override {
    const std::string name(e.name);
    if (e.kind == Event::layer_opened) lines.push_back("layer " + path_of(*e.layer));
    if (e.kind == Event::layer_closed) lines.push_back("end");
    if (e.kind == Event::op_opened) lines.push_back("open " + name);
    if (e.kind == Event::op_recorded)
      lines.push_back("recorded " + name + " " + text_of(e.result->shape()) + (e.node ? " tracked" : ""));
    if (e.kind == Event::op_closed) lines.push_back("close " + name);
    if (e.kind == Event::rule_opened) lines.push_back("back " + name + " " + text_of(e.dy->shape()));
    if (e.kind == Event::gradient_sent) lines.push_back("dx " + std::to_string(e.input) + " " + text_of(e.dx->shape()));
    if (e.kind == Event::rule_closed) lines.push_back("done " + name);
    if (wanted != name) return;
    if (e.kind == Event::value_asked) e.answer(Want::to_see);
    if (e.kind == Event::value_shown)
      lines.push_back(std::string(thread_context.op) + " shows " + name + " " + text_of(e.value->shape()));
  }
  static std::string path_of(const LayerScope& scope) { return scope.path(scope); }
};

using Lines = std::vector<std::string>;

TEST_CASE("observer: layers and ops, forward and backward, in the order in which they happen") {
  Generator random(1);
  const Linear layer(3, 2, random, false);
  const Tensor x = random_array({4, 3}, 1);
  Diary diary;
  const Tensor y = sum(layer(x));
  CHECK(diary.lines == Lines{"layer Linear", "open linear", "recorded linear [4, 2] tracked", "close linear", "end",
                             "open sum", "recorded sum [] tracked", "close sum"});
  diary.lines.clear();
  y.backward();
  CHECK(diary.lines ==
        Lines{"back sum []", "dx 0 [4, 2]", "done sum", "back linear [4, 2]", "dx 1 [2, 3]", "done linear"});
}

TEST_CASE("observer: values are handed out only when asked for, to those who asked") {
  const Tensor x = random_array({2}, 1);
  const auto shy = [&] {
    Op op("shy", x);
    if (wanted_value("inside") != Want::nothing) show_value("inside", Array::zeros({7}));
    return op.record(copy_of(x.array()), [](const Array& dy, Grads& dx) { dx.add(0, dy); });
  };
  Diary one("inside"), other("outside");
  shy();
  CHECK(one.lines == Lines{"open shy", "shy shows inside [7]", "recorded shy [2]", "close shy"});
  CHECK(other.lines == Lines{"open shy", "recorded shy [2]", "close shy"});
}

TEST_CASE("observer: what is opened is closed by an error too, forward and backward") {
  const Tensor x = Tensor(random_array({2}, 1)).requires_grad_();
  Diary diary;
  CHECK(error_of([&] { reshape(x, {3}); }).rfind("reshape: ", 0) == 0);
  CHECK(diary.lines == Lines{"open reshape", "close reshape"});
  diary.lines.clear();
  Tensor y;
  {
    Op op("broken", x);
    y = op.record(x.array(), [](const Array&, Grads&) { check(false, "cannot go back"); });
  }
  diary.lines.clear();
  REFUSES(y.backward(Array::zeros({2})));
  CHECK(diary.lines == Lines{"back broken [2]", "done broken"});
}

TEST_CASE("observer: what runs inside an observer or a rule is not reported, and an observer's error arrives") {
  struct Busy : Observer {
    int told = 0;
    Busy() { watch(); }
    void event(const Event& e) override {
      if (e.kind != Event::op_recorded) return;
      ++told;
      exp(Tensor(*e.result));  // not told to itself
      check(told < 3, "enough");
    }
  };
  const Tensor x = Tensor(random_array({2}, 1)).requires_grad_();
  Busy busy;
  const Tensor y = x * x;
  CHECK(busy.told == 1);
  Tensor composed;
  {
    Op op("uses_ops", y);
    composed = op.record(copy_of(y.array()), [](const Array& dy, Grads& dx) { dx.add(0, exp(Tensor(dy)).array()); });
  }
  CHECK(busy.told == 2);
  composed.backward(Array::zeros({2}));
  CHECK(busy.told == 2);
  REFUSES(exp(x));
  CHECK(thread_context.op == nullptr);
}

TEST_CASE("observer: whoever was told that something opens is told that it closes, if another one then throws") {
  struct Unwilling : Observer {
    std::string what;
    explicit Unwilling(std::string w) : what(std::move(w)) { watch(); }
    void event(const Event& e) override {
      check(e.kind != Event::layer_opened || what != "layer", "not now");
      check(e.kind != Event::op_opened || what != "op", "not now");
      check(e.kind != Event::rule_opened || what != "rule", "not now");
    }
  };
  Generator random(1);
  const Linear layer(3, 2, random, false);
  const Tensor x = random_array({4, 3}, 1);
  for (const std::string what : {"layer", "op", "rule"}) {
    const Unwilling outer(what);  // told after the diary, which is the innermost
    Diary diary;
    CHECK(error_of([&] {
            sum(layer(x)).backward();
          }).ends_with("not now" + std::string(what == "op" ? " (in Linear)" : "")));
    std::vector<std::string> open;
    for (const std::string& line : diary.lines) {
      if (line.starts_with("layer") || line.starts_with("open") || line.starts_with("back")) open.push_back(line);
      if (line == "end" || line.starts_with("close") || line.starts_with("done")) open.pop_back();
    }
    CHECK_MESSAGE(open.empty(), what);
    CHECK((thread_context.op == nullptr && thread_context.layer == nullptr));
  }
}

TEST_CASE("observer: what is thrown while something closes is lost, and ends nothing") {
  struct Sulky : Observer {
    Sulky() { watch(); }
    void event(const Event& e) override {
      check(e.kind != Event::layer_closed && e.kind != Event::op_closed && e.kind != Event::rule_closed, "no");
    }
  };
  const Linear layer(3, 2, Generator(1), false);
  const Diary outer;
  const Sulky sulky;  // told before the diary
  sum(layer(random_array({4, 3}, 1))).backward();
  CHECK(std::count(outer.lines.begin(), outer.lines.end(), "close linear") == 1);
  CHECK(std::count(outer.lines.begin(), outer.lines.end(), "done linear") == 1);
  CHECK(outer.lines.back() == "done linear");
}

TEST_CASE("observer: a value is offered to each, the innermost first, and shown to all as it has become") {
  struct Times : Observer {
    real factor;
    std::vector<real> seen = {};
    explicit Times(double f) : factor(static_cast<real>(f)) { watch(); }
    void event(const Event& e) override {
      if (e.kind == Event::value_offered) *e.value = *e.value * factor + factor;
      if (e.kind == Event::value_shown) seen.push_back(e.value->item());
    }
  };
  const Times outer(3), inner(2);
  CHECK(offer_value("x", Tensor(1)).item() == (1 * 2 + 2) * 3 + 3);
  CHECK((outer.seen == std::vector<real>{15} && inner.seen == outer.seen));
}

TEST_CASE("observer: an event knows what the rule keeps, each value as what it is") {
  struct Kept : Observer {
    bool right = false;
    Kept() { watch(); }
    void event(const Event& e) override {
      if (e.kind != Event::op_recorded || e.kept.size() != 2) return;
      right = e.kept[0].as<Shape>() && *e.kept[0].as<Shape>() == Shape{2, 3} && !e.kept[0].as<Array>() &&
              e.kept[1].as<int>() && *e.kept[1].as<int>() == 7 && !e.kept[1].as<Index>();
    }
  } seen;
  const Tensor x = random_array({2, 3}, 1);
  Op op("keeps", x);
  op.record(x.array(), save(x.shape(), 7), [](const Array& dy, Grads& dx, const Shape&, int) { dx.add(0, dy); });
  CHECK(seen.right);
}

TEST_CASE("observer: watching changes no bit and leaves nothing behind; one that ends early unhooks itself") {
  const auto run = [] {
    Tensor x = Tensor(random_array({5, 7}, 3)).requires_grad_();
    const Tensor y = softmax(x * x, 0);
    sum(y * x).backward();
    return x.grad();
  };
  const Array alone = run();
  const Leaks leaks;
  {
    std::optional<Diary> first(std::in_place), second(std::in_place);
    first.reset();  // not the innermost
    CHECK(same_bits(run(), alone));
    CHECK(second->lines.size() > 10);
  }
  CHECK(watching() == nullptr);
  struct Twice : Diary {
    Twice() { watch(); }  // as Diary's constructor did
  };
  {
    const Twice twice;
    run();
  }
  CHECK(watching() == nullptr);
  CHECK(leaks.nodes() == 0);
  CHECK(leaks.bytes() == 0);
}

TEST_CASE("observer: kept bytes are those of what save() was given") {
  struct Kept : Observer {
    Index bytes = -1;
    Kept() { watch(); }
    void event(const Event& e) override {
      if (e.kind == Event::op_recorded) bytes = e.kept_bytes();
    }
  };
  const Tensor a = Tensor(random_array({4}, 1)).requires_grad_(), b = random_array({3, 1}, 2);
  const Index number = static_cast<Index>(sizeof(real));
  Kept kept;
  add(a, b);
  CHECK(kept.bytes == 0);
  mul(a, b);
  CHECK(kept.bytes == 7 * number);
  mul(b, b);  // nothing is recorded, so nothing is kept
  CHECK(kept.bytes == 0);
  masked_fill(a, a > Tensor(real(0)), 0);
  CHECK(kept.bytes == 4);
  gather(a, 0, ints({1, 2}));
  CHECK(kept.bytes == 2 * 8);
  const auto keeps = [&a](const auto& value) {
    Op op("keeps", a);
    op.record(copy_of(a.array()), save(value), [](const Array& dy, Grads& dx, const auto&) { dx.add(0, dy); });
  };
  keeps(std::vector<Index>{1, 2, 3});
  CHECK(kept.bytes == 3 * 8);
  keeps(std::vector<Array>{a.array(), b.array()});
  CHECK(kept.bytes == 7 * number);
}

}  // namespace
}  // namespace mote::test::observer_test
