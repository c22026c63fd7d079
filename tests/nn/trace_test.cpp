// Trace: its tree, its counts against formulas worked out by hand, and what it must not disturb.
#include "nn/trace.h"

#include <iostream>
#include <memory>
#include <sstream>
#include <thread>

#include "engine/ops/ops.h"
#include "nn/feed_forward.h"
#include "nn/multi_head_attention.h"
#include "nn/sequential.h"
#include "nn/transformer_block.h"
#include "tests/process.h"
#include "tests/sentences.h"
#include "tests/support.h"

namespace mote::test::trace_test {
namespace {

/// A user's op that is not in the table of costs, and one that is.
Tensor twice(const Tensor& x) {
  Op op("twice", x);
  return op.record(x.array() + x.array(), [](const Array& dy, Grads& dx) { dx.add(0, dy + dy); });
}
Tensor costly(const Tensor& x) {
  Op op("costly", x);
  return op.record(copy_of(x.array()), [](const Array& dy, Grads& dx) { dx.add(0, dy); });
}

/// A user's layers: two levels, a list, a layer called twice.
struct Inner : Layer<Inner> {
  Linear up;
  explicit Inner(Generator& random) : up(3, 4, random) {}
  Tensor forward(const Tensor& x) const { return twice(up(x)); }
  void visit(Visitor& v) override { v("up", up); }
};
struct Outer : Layer<Outer> {
  std::vector<Inner> parts;
  Linear down;
  explicit Outer(Generator& random) : down(4, 3, random, false) {
    parts.emplace_back(random);
    parts.emplace_back(random);
  }
  Tensor forward(const Tensor& x) const {
    const Tensor a = parts[0](x);
    const Tensor b = parts[1](x);
    const Tensor once = down(a + b);
    const Tensor both = concat({once, x}, 0);
    return down(transpose(reshape(both, {4, -1}), 0, 1));
  }
  void visit(Visitor& v) override {
    v("parts", parts);
    v("down", down);
  }
};

std::string text_of(const Trace& trace, TracePrint options = {}) {
  options.times = false;
  std::ostringstream out;
  trace.print(out, options);
  return out.str();
}

/// What the ops called `name` were counted for.
Index flops_of(const Trace& trace, const std::string& name) {
  Index sum = 0;
  for (const TraceEvent& e : trace.events())
    if (e.is_op && e.name == name) sum += e.flops;
  return sum;
}

Tensor ones(const Shape& shape) { return Array::full(shape, 1); }

TEST_CASE("trace: the tree of a small module, whole") {
  Generator random(1);
  const Outer m(random);
  const Tensor x = random_array({2, 3}, 1);
  const Trace trace;
  m(x);
  // a list, a layer called twice, an op and layers of the user's own, views, which cost nothing
  const std::string wanted = R"(module or op       shapes                         parameters  FLOPs  bytes
Outer                                                     44    256    268
  parts.0 (Inner)                                         16     64     64
    up (Linear)                                           16     56     32
      linear       [2, 3], [4, 3], [4] -> [2, 4]                 56     32
    twice          [2, 4] -> [2, 4]                               8     32
  parts.1 (Inner)                                         16     64     64
    up (Linear)                                           16     56     32
      linear       [2, 3], [4, 3], [4] -> [2, 4]                 56     32
    twice          [2, 4] -> [2, 4]                               8     32
  add              [2, 4], [2, 4] -> [2, 4]                       8     32
  down (Linear)                                           12     48     24
    linear         [2, 4], [3, 4] -> [2, 3]                      48     24
  concat           [2, 3], [2, 3] -> [4, 3]                       0     48
  reshape          [4, 3] -> [4, 3]                               0      0
  transpose        [4, 3] -> [3, 4]                               0      0
  down (Linear)                                           12     72     36
    linear         [3, 4], [3, 4] -> [3, 3]                      72     36
total                                                     44    256    268
)";
  const std::string got = text_of(trace);
  INFO(got);
  if (!f64) CHECK(got == wanted);
  CHECK(trace.total().bytes == static_cast<Index>(67 * sizeof(real)));
  CHECK(trace.total().parameters == parameter_count(m));
  double ops = 0;  // an op's time is its own, a module's that of all that happens inside
  for (const TraceEvent& e : trace.events()) {
    CHECK(e.seconds >= -1e-9);
    if (e.is_op) ops += e.seconds;
  }
  CHECK((ops > 0 && ops <= trace.total().seconds * (1 + 1e-9)));
  CHECK(trace.total("parts").seconds <= trace.total().seconds);

  const std::string shallow = text_of(trace, {.depth = 2, .show = [](const TraceEvent& e) { return e.is_op; }});
  if (!f64)
    CHECK(shallow == R"(module or op  shapes                    parameters  FLOPs  bytes
  add         [2, 4], [2, 4] -> [2, 4]                  8     32
  concat      [2, 3], [2, 3] -> [4, 3]                  0     48
  reshape     [4, 3] -> [4, 3]                          0      0
  transpose   [4, 3] -> [3, 4]                          0      0
total                                           44    256    268
)");
  std::ostringstream timed;
  timed << trace;
  CHECK(timed.str().find(" us\n") != std::string::npos);
}

TEST_CASE("trace: products are counted exactly, a multiply-add as two") {
  const Trace trace;
  const Tensor a = ones({2, 3, 4}), b = ones({4, 5}), row = ones({4}), w = ones({5, 4}), bias = ones({5});
  const auto counted = [&](Index flops) { CHECK(trace.events().back().flops == flops); };
  matmul(a, b);
  counted(2 * 2 * 3 * 4 * 5);
  CHECK(trace.events().back().bytes == static_cast<Index>(30 * sizeof(real)));
  matmul(row, b);
  counted(2 * 4 * 5);
  matmul(row, row);
  counted(2 * 4);
  matmul(ones({3, 0}), ones({0, 5}));
  counted(0);
  linear(a, w);
  counted(2 * 6 * 4 * 5);
  CHECK(trace.events().back().inputs.size() == 2);
  linear(a, w, bias);
  counted(2 * 6 * 4 * 5 + 6 * 5);
}

TEST_CASE("trace: what every other op states, forward and for its gradients") {
  const Index n = 24;
  const auto costs = [](auto f, Index forward, Index backward) {
    const Tensor x = Tensor(random_array({2, 3, 4}, 1, 0.5, 1.5)).requires_grad_();
    const Trace trace;
    const Tensor y = f(x);
    const TraceEvent& e = trace.events().back();
    CHECK_MESSAGE(e.flops == forward, e.name);
    y.backward(Array::full(y.shape(), 1));
    CHECK_MESSAGE(e.backward_flops == backward, e.name);
  };
  const Tensor one = ones({2, 3, 4});
  const Tensor w = Tensor(Array::full({4}, 1)).requires_grad_(), b = Tensor(Array::full({4}, 1)).requires_grad_();
  costs([&](const Tensor& x) { return x + x; }, n, 0);
  costs([&](const Tensor& x) { return x + 1; }, n, 0);
  costs([&](const Tensor& x) { return max(x, 0).values; }, n, 0);
  costs([&](const Tensor& x) { return x * x; }, n, 2 * n);
  costs([&](const Tensor& x) { return exp(x); }, n, n);
  costs([&](const Tensor& x) { return sum(x, 0); }, n, 0);
  costs([&](const Tensor& x) { return mean(x, 0); }, n, n);
  costs([&](const Tensor& x) { return var(x, 0); }, 4 * n, 2 * n);
  costs([&](const Tensor& x) { return max(x, Axes(0)); }, n, 3 * n);
  costs([&](const Tensor& x) { return min(x, Axes(0)); }, n, 3 * n);
  costs([&](const Tensor& x) { return gather(x, 0, IntArray({1, 3, 4})); }, 0, n / 2);
  costs([&](const Tensor& x) { return rotary(x, Array::full({3, 2}, 1), Array::full({3, 2}, 1)); }, 3 * n, 3 * n);
  const Array one_pair = Array::full({3, 1}, 1);  // of one head of 2 of the 4 columns
  costs([&](const Tensor& x) { return rotary(x, one_pair, one_pair, 1, 2); }, 3 * n / 2, 3 * n / 2);
  costs([&](const Tensor& x) { return layer_norm(x, w, b); }, 7 * n, 9 * n + 4 * n + n);
  costs([&](const Tensor& x) { return rms_norm(x, w); }, 4 * n, 7 * n + 3 * n);
  costs([&](const Tensor& x) { return softmax(x); }, 5 * n, 4 * n);
  costs([&](const Tensor& x) { return masked_softmax(x, x > Tensor(real(0))); }, 5 * n, 4 * n);
  costs([&](const Tensor& x) { return log_softmax(x); }, 5 * n, 4 * n);
  costs([&](const Tensor& x) { return cross_entropy(x, IntArray({2, 3})); }, 5 * n, 3 * n);
  costs([&](const Tensor& x) { return mse_loss(x, one); }, 3 * n, 2 * n);
  costs([&](const Tensor& x) { return mse_loss(one, x); }, 3 * n, 2 * n);
  costs([&](const Tensor& x) { return embedding(select(x, 0, 0), ints({1, 1})); }, 0, 8);
  const std::initializer_list<Integer> turned{2, 0, 1};
  for (const auto& free : std::vector<std::function<Tensor(const Tensor&)>>{
           [](const Tensor& x) { return reshape(x, {-1}); }, [](const Tensor& x) { return transpose(x, 0, 1); },
           [&](const Tensor& x) { return permute(x, turned); }, [](const Tensor& x) { return contiguous(x); },
           [](const Tensor& x) { return slice(x, 2, 1, 3); },
           [](const Tensor& x) { return concat(std::vector<Tensor>(2, x)); },
           [](const Tensor& x) { return stack(std::vector<Tensor>(2, x)); }, [](const Tensor& x) { return tril(x); },
           [](const Tensor& x) { return triu(x); }})
    costs(free, 0, 0);
}

TEST_CASE("trace: attention counts the pairs that may attend, as the plain formula's ops together") {
  const Tensor q = random_array({2, 3, 5, 4}, 1), k = random_array({2, 3, 7, 4}, 2), v = random_array({2, 3, 7, 6}, 3);
  const Index pair = 2 * 4 + 2 * 6 + 6;
  Index plain = 0;
  {
    const Trace trace;
    const Tensor scores = matmul(q, transpose(k, -2, -1)) * real(0.5);
    matmul(softmax(scores), v);
    plain = trace.total().flops;
  }
  CHECK(plain == 2 * 3 * 5 * 7 * pair);
  const Trace trace;
  const std::pair<AttentionOptions, Index> counts[] = {
      {{}, plain},
      {{.causal = true}, 2 * 3 * 25 * pair},  // 3 + 4 + 5 + 6 + 7 keys
      {{.causal = true, .window = 2}, 2 * 3 * 10 * pair},
      {{.mask = padding_mask({7, 1}, 7)}, 3 * 5 * (7 + 1) * pair},
      {{.causal = true, .mask = padding_mask({4, 0}, 7)}, 3 * (3 + 4 * 4) * pair},
      {{.alibi = Array::full({3}, 1)}, 2 * 3 * 5 * 7 * (pair + 1)},
      {{.dropout = 0.5}, 2 * 3 * 5 * 7 * (pair + 1)}};
  for (const auto& [options, flops] : counts) {
    attention(q, k, v, options, Generator(1));
    const TraceEvent& last = trace.events().back();
    CHECK(last.flops == flops);
    CHECK(last.output == Shape{2, 3, 5, 6});
    REQUIRE(last.notes.size() == 1);
    CHECK(last.notes[0] == std::pair<std::string, Shape>("weights", {2, 3, 5, 7}));
  }
  const Tensor dq = Tensor(q).requires_grad_(), dk = Tensor(k).requires_grad_(), dv = Tensor(v).requires_grad_();
  for (const bool drop : {false, true}) {  // the scores again, dropout of dP, dP, softmax, dQ; dK; dV
    const Trace both;
    attention(dq, dk, dv, {.dropout = drop ? 0.5 : 0}, Generator(1)).backward(Array::zeros({2, 3, 5, 6}));
    CHECK(both.total().backward_flops == 2 * 3 * 5 * 7 * ((2 * 4 + 6) + drop + 2 * 6 + 4 + 2 * 4 + 2 * 4 + 2 * 6));
  }
  SelfAttention m(8, 2, Generator(1));  // and over a cache
  m.eval();
  const NoGrad no_grad;
  KeyValueCache cache = m.cache();
  m(random_array({1, 5, 8}, 1), Mask(), &cache);
  const Trace cached;
  m(random_array({1, 1, 8}, 2), Mask(), &cache);
  CHECK(flops_of(cached, "attention") == 2 * 6 * (4 * 4 + 6));
  for (const TraceEvent& e : cached.events()) {
    if (e.name != "attention") continue;
    CHECK(e.notes[0].second == Shape{1, 2, 1, 6});
    CHECK(e.output == Shape{1, 1, 8});
  }
}

TEST_CASE("trace: totals, of all and of one path; parameters met twice count once") {
  Generator random(1);
  Outer m(random);
  m.parts[1].up.weight = m.parts[0].up.weight;
  const Tensor x = random_array({2, 3}, 1);
  const Trace trace;
  m(x);
  m(x);
  mean(x);
  CHECK((trace.total().parameters == 32 && parameter_count(m) == 32));
  CHECK(trace.total("parts").parameters == 20);
  CHECK(trace.total("parts").flops == 2 * (2 * (48 + 8) + 2 * 8));
  CHECK(trace.total("parts.0.up").flops == 2 * (48 + 8));
  CHECK(trace.total("down").flops == 2 * (48 + 72));
  CHECK(trace.total().flops == flops_of(trace, "linear") + flops_of(trace, "twice") + flops_of(trace, "add") + 6);
  REFUSES(trace.total("part"));
}

TEST_CASE("trace: an op of ops leaves the counting to them, unless it has a row of its own") {
  const Tensor x = ones({2, 3});
  const Trace trace;
  const auto composed = [&](Index own) {
    if (own) set_costs("composed", [own](const Event&) -> OpCosts { return {own}; });
    Op op("composed", x);
    const Tensor inside = exp(x);
    const Tensor y = inside * x;
    return op.record(y.array(), [](const Array& dy, Grads& dx) { dx.add(0, dy); });
  };
  composed(0);
  REQUIRE(trace.events().size() == 3);
  CHECK(trace.events()[2].name == "composed");
  CHECK(trace.events()[2].flops == 0);
  CHECK(trace.events()[2].bytes == 0);
  CHECK(trace.total().flops == 12);
  composed(100);
  CHECK(trace.total().flops == 12 + 112);
  composed(Index(3) << 31);
  CHECK(text_of(trace).find(" 6,442,450,944 ") != std::string::npos);
  split(x, 1, 1);  // three slices, and no line of its own
  argmax(x);       // gives no Tensor
  CHECK(trace.events().size() == 12);
  set_costs("costly", [](const Event& e) -> OpCosts { return {1000 * e.result->numel(), {3}, {{"inside", {7, 7}}}}; });
  costly(x);
  CHECK(trace.events().back().flops == 6000);
  CHECK(text_of(trace).find(" [2, 3] -> [2, 3]; inside [7, 7] ") != std::string::npos);
}

TEST_CASE("trace: nothing is seen before, after, or in other threads") {
  const Tensor x = ones({2});
  exp(x);
  {
    const Trace trace;
    CHECK(trace.events().empty());
    std::thread other([&] { exp(x); });
    other.join();
    CHECK(trace.events().empty());
    CHECK(watching() != nullptr);
  }
  CHECK(watching() == nullptr);
}

TEST_CASE("trace: backward is counted beside the forward pass it belongs to, and summed over modules") {
  Generator random(1);
  const Outer m(random);
  Tensor x = Tensor(random_array({2, 3}, 1)).requires_grad_();
  const Tensor before = exp(x);
  const Trace trace;
  const Tensor y = sum(m(before));
  CHECK(trace.total().backward_flops == 0);
  const std::size_t events = trace.events().size();
  y.backward();
  REQUIRE(trace.events().size() == events + 1);  // exp, which was recorded before the trace began
  CHECK(trace.events().back().name == "exp");
  CHECK(trace.events().back().backward_flops == 6);
  // dX and dW cost what the product does, db one addition per element
  CHECK(trace.total("parts.0.up").backward_flops == 2 * 48 + 8);
  CHECK(trace.total("parts.0").backward_flops == 2 * 48 + 8 + 8);  // twice() states nothing: one per element
  CHECK(trace.total("down").backward_flops == 2 * (48 + 72));
  CHECK(trace.total("parts.0.up").kept == static_cast<Index>((6 + 12) * sizeof(real)));  // its input and its weight
  CHECK(trace.total("parts.0").backward_seconds > 0);
  CHECK(trace.total().backward_seconds >= trace.total("parts.0").backward_seconds);
  const Tensor seen = [&] {
    const Trace earlier;
    return x * x;
  }();
  const Trace later;  // counts as much as one that has seen the op itself
  seen.backward(Array::full({2, 3}, 1));
  CHECK(later.total().backward_flops == 2 * 6);
  std::ostringstream printed;
  printed << trace;
  CHECK(printed.str().find("kept") != std::string::npos);
  CHECK(printed.str().find("back FLOPs  back us\n") != std::string::npos);
  std::istringstream lines(printed.str());  // every line is as long as the first: no column lacks its value
  std::string first;
  std::getline(lines, first);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() == first.size());
}

TEST_CASE("trace: nested, both see; one that begins inside a layer or an op is closed with it") {
  const Tensor x = ones({2});
  const Trace outer;
  exp(x);
  {
    const Trace inner;
    twice(x);
    CHECK(inner.events().size() == 1);
  }
  exp(x);
  REQUIRE(outer.events().size() == 3);
  CHECK(outer.events()[1].name == "twice");

  Op op("around", x);
  {
    const Trace inside;
    op.record(copy_of(x.array()), [](const Array&, Grads&) {});
    CHECK(inside.events().empty());  // this op was open before
  }
  CHECK(outer.events().size() == 4);
}

TEST_CASE("trace: an error passes through and leaves the trace, and the next errors' places, in order") {
  Generator random(1);
  const Sequential broken{Linear(3, 4, random), Linear(3, 4, random)};
  const Outer good(random);
  const Tensor x = random_array({2, 3}, 1);
  const Trace trace;
  const std::string text = "linear: x [2, 4] needs a last extent of 3 for weight [4, 3] (in 1)";
  CHECK(error_of([&] { broken(x); }) == text);
  CHECK(trace.events().size() == 4);  // Sequential, 0, its linear, 1
  CHECK(thread_context.layer == nullptr);
  CHECK(thread_context.op == nullptr);
  good(x);
  CHECK((trace.events()[4].depth == 0 && trace.events()[4].path.empty()));
  CHECK(error_of([&] { broken(x); }) == text);
}

TEST_CASE("trace: no bit changes by it, and MOTE_DEBUG says the same") {
  const auto run = [](bool traced) {
    Generator random(1);
    const TransformerBlock block(8, 2, random, {.dropout = 0.3});
    const Tensor x = Tensor(random_array({2, 5, 8}, 1)).requires_grad_();
    std::optional<const Trace> trace;
    if (traced) trace.emplace();
    const Tensor y = block(x);
    sum(y).backward();
    return std::pair(y.to_vector(), x.grad().to_vector());
  };
  const Setting on("MOTE_DEBUG", "1");
  std::ostringstream plain, traced;
  std::streambuf* const before = std::cerr.rdbuf(plain.rdbuf());
  const auto alone = run(false);
  std::cerr.rdbuf(traced.rdbuf());
  const auto watched = run(true);
  std::cerr.rdbuf(before);
  CHECK(watched == alone);
  CHECK(plain.str() == traced.str());
  CHECK(plain.str().find("attn.c_attn linear(") != std::string::npos);
}

}  // namespace
}  // namespace mote::test::trace_test
