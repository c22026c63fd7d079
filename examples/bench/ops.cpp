// bench ops: every op that is no product of matrices, forward and backward, as a share of the bandwidth.
#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "engine/ops/ops.h"
#include "examples/bench/commands.h"
#include "examples/bench/measure.h"
#include "train/adamw.h"
#include "train/clip.h"
#include "train/sgd.h"

namespace bench {
namespace {

using mote::Array;
using mote::Index;
using mote::Tensor;

struct OpsWish {
  Index rows = 2048, columns = 384;
  std::string op = "all";
  template <class V>
  void visit(V& v) {
    v("rows", rows, "rows of the inputs");
    v("columns", columns, "elements of a row");
    v("op", op, "the one to measure, or all");
  }
};

/// What an op is given: elements above 0, so that every function is defined.
struct Inputs {
  Tensor a, b, weight, bias;
  mote::Mask mask;
  mote::IntArray ids;
  mote::Generator random{3};
  Index rows, columns;
};

struct Timed {
  const char* name;
  std::function<Tensor(const Inputs&)> run;
};

std::vector<Timed> all_ops() {
  return {
      {"add", [](const Inputs& in) { return in.a + in.b; }},
      {"add row", [](const Inputs& in) { return in.a + in.bias; }},
      {"sub", [](const Inputs& in) { return in.a - in.b; }},
      {"mul", [](const Inputs& in) { return in.a * in.b; }},
      {"div", [](const Inputs& in) { return in.a / in.b; }},
      {"pow", [](const Inputs& in) { return pow(in.a, in.b); }},
      {"maximum", [](const Inputs& in) { return maximum(in.a, in.b); }},
      {"minimum", [](const Inputs& in) { return minimum(in.a, in.b); }},
      {"where", [](const Inputs& in) { return where(in.mask, in.a, in.b); }},
      {"masked_fill", [](const Inputs& in) { return masked_fill(in.a, in.mask, 0); }},
      {"neg", [](const Inputs& in) { return -in.a; }},
      {"abs", [](const Inputs& in) { return abs(in.a); }},
      {"sqrt", [](const Inputs& in) { return sqrt(in.a); }},
      {"exp", [](const Inputs& in) { return exp(in.a); }},
      {"log", [](const Inputs& in) { return log(in.a); }},
      {"sin", [](const Inputs& in) { return sin(in.a); }},
      {"cos", [](const Inputs& in) { return cos(in.a); }},
      {"tanh", [](const Inputs& in) { return tanh(in.a); }},
      {"sigmoid", [](const Inputs& in) { return sigmoid(in.a); }},
      {"relu", [](const Inputs& in) { return relu(in.a); }},
      {"silu", [](const Inputs& in) { return silu(in.a); }},
      {"gelu", [](const Inputs& in) { return gelu(in.a); }},
      {"gelu tanh", [](const Inputs& in) { return gelu(in.a, mote::GeluForm::tanh); }},
      {"sum", [](const Inputs& in) { return sum(in.a); }},
      {"sum of columns", [](const Inputs& in) { return sum(in.a, {0}); }},
      {"sum of rows", [](const Inputs& in) { return sum(in.a, {1}); }},
      {"var of rows", [](const Inputs& in) { return var(in.a, {1}); }},
      {"max of rows", [](const Inputs& in) { return max(in.a, {1}); }},
      {"softmax", [](const Inputs& in) { return softmax(in.a); }},
      {"log_softmax", [](const Inputs& in) { return log_softmax(in.a); }},
      {"layer_norm", [](const Inputs& in) { return layer_norm(in.a, in.weight, in.bias); }},
      {"rms_norm", [](const Inputs& in) { return rms_norm(in.a, in.weight); }},
      {"dropout", [](const Inputs& in) { return dropout(in.a, 0.1, in.random); }},
      {"embedding", [](const Inputs& in) { return embedding(in.a, in.ids); }},
      {"cross_entropy", [](const Inputs& in) { return cross_entropy(in.a, in.ids); }},
      {"mse_loss", [](const Inputs& in) { return mse_loss(in.a, in.b); }},
      {"transposed copy", [](const Inputs& in) { return contiguous(transpose(in.a, 0, 1)); }},
      {"concat",
       [](const Inputs& in) {
         return mote::concat({in.a, in.b}, 1);
       }},
  };
}

/// Bytes that an op must read and write: forward its inputs and its result; backward the gradient of the result, what
/// the rules kept and the gradients they send, unless these are views of it. Of several ops inside one, those of each.
struct Bytes : mote::Observer {
  double forward = 0, backward = 0;
  std::map<const mote::Node*, double> kept;  // of the rules that have not sent a gradient of their own
  Bytes() { watch(); }
  void op_recorded(const mote::OpReport& op) override {
    double bytes = of(op.result);
    for (const Array* x : op.inputs) {
      if (!x->defined()) continue;
      if (x->shares_storage(op.result)) return;  // a view
      bytes += of(*x);
    }
    forward += bytes;
    if (op.node) kept[op.node] = static_cast<double>(op.kept_bytes);
  }
  void gradient_sent(const mote::Node& node, std::size_t, const Array& dx, const Array& dy) override {
    if (dx.shares_storage(dy)) return;
    backward += of(dx);
    if (kept.contains(&node)) backward += of(dy) + std::exchange(kept[&node], 0);
    kept.erase(&node);
  }
  static double of(const Array& x) { return static_cast<double>(x.numel()) * sizeof(mote::real); }
};

void zero_gradients(Inputs& in) {
  for (Tensor* x : {&in.a, &in.b, &in.weight, &in.bias}) x->zero_grad();
}

void measure_op(const Timed& op, Inputs& in, double seconds, Output& out) {
  Array dy;
  double forward_bytes = 0, backward_bytes = 0;
  {
    const Bytes bytes;
    const Tensor y = op.run(in);
    dy = Array::full(y.shape(), 1);
    y.backward(dy);
    forward_bytes = bytes.forward, backward_bytes = bytes.backward;
  }
  zero_gradients(in);
  const Result forward = measure([&] { const Tensor y = op.run(in); }, {.bytes = forward_bytes}, seconds / 2);
  const Result both = measure(
      [&] {
        op.run(in).backward(dy);
        zero_gradients(in);
      },
      {.bytes = forward_bytes + backward_bytes, .block = std::max(forward_bytes, backward_bytes)}, seconds / 2);
  const double backward = std::max(both.seconds - forward.seconds, 1e-9), speed = backward_bytes / backward * 1e-9;
  const bool moves = backward_bytes > 0;  // or it only passes views on
  out.row({op.name, forward.seconds * 1e6, forward_bytes / forward.seconds * 1e-9, forward.share, backward * 1e6,
           moves ? mote::Json(speed) : mote::Json(), moves ? mote::Json(speed / both.gbytes) : mote::Json(),
           both.gbytes});
}

/// Attention over all rows as one sequence would be quadratic: sequences of 64, heads of 32 or fewer columns.
void measure_attention(const Inputs& in, double seconds, Output& out) {
  const Index length = std::min<Index>(64, in.rows), width = in.columns % 32 == 0 ? 32 : in.columns;
  const Index sequences = in.rows / length, count = in.columns / width;
  const mote::Shape shape{sequences, count, length, width};
  const mote::Generator random(4);
  Tensor q = randn(shape, random).requires_grad_();
  Tensor k = randn(shape, random).requires_grad_();
  Tensor v = randn(shape, random).requires_grad_();
  const Array dy = Array::full(shape, 1);
  const double flops = static_cast<double>(sequences * count) * static_cast<double>(length * (length + 1) / 2) * 4 *
                       static_cast<double>(width);
  const auto run = [&] { return attention(q, k, v, {.causal = true}); };
  const Result forward = measure([&] { const Tensor y = run(); }, {.flops = flops}, seconds / 2);
  const Result both = measure(
      [&] {
        run().backward(dy);
        for (Tensor* x : {&q, &k, &v}) x->zero_grad();
      },
      {.flops = 3 * flops}, seconds / 2);
  const double backward = std::max(both.seconds - forward.seconds, 1e-9);
  out.table("attention",
            "causal attention " + text_of(shape) + ", GFLOP/s; the limit is multiplying and adding in registers",
            {{"op", "op", As::text},
             {"forward_us", "us"},
             {"forward_gflops", "GFLOP/s"},
             {"forward_share", "of limit", As::share},
             {"backward_us", "back us"},
             {"backward_gflops", "GFLOP/s"},
             {"backward_share", "of limit", As::share},
             {"limit_gflops", "limit"}});
  out.row({"attention", forward.seconds * 1e6, flops / forward.seconds * 1e-9, forward.share, backward * 1e6,
           2 * flops / backward * 1e-9, 2 * flops / backward * 1e-9 / both.gflops, both.gflops});
  out.note("");
}

/// One parameter of rows x columns: value, gradient and state are read, all but the gradient written.
void measure_optimizers(const Inputs& in, double seconds, Output& out) {
  out.table("optimizers", "a step for one parameter " + text_of(in.a.shape()) + "; the limit is reading as many bytes",
            {{"op", "op", As::text},
             {"us", "us"},
             {"gbytes", "GB/s"},
             {"share", "of limit", As::share},
             {"limit_gbytes", "limit"}});
  mote::Parameter w(in.a.array());
  (mote::Tensor(w) * in.b).backward(Array::full(in.a.shape(), 1));
  const std::vector<mote::ParameterGroup> group{{{{"w", w}}}};
  const double elements = static_cast<double>(w.numel()) * sizeof(mote::real);
  mote::AdamW adamw(group);
  mote::SGD sgd(group, {.lr = 1e-6, .momentum = 0.9});
  const auto line = [&](const char* name, Index arrays, double bytes, const std::function<void()>& step) {
    const Result r = measure(step, {.bytes = bytes, .block = static_cast<double>(arrays) * elements}, seconds / 2);
    out.row({name, r.seconds * 1e6, bytes / r.seconds * 1e-9, r.share, r.gbytes});
  };
  line("AdamW", 4, 7 * elements, [&] { adamw.step(); });
  line("SGD, momentum", 3, 5 * elements, [&] { sgd.step(); });
  line("clip_grad_norm", 1, elements, [&] { mote::clip_grad_norm({w}, 1e9); });
  out.note("");
}

}  // namespace

void ops(int argc, char** argv, Output& out) {
  OpsWish wish;
  Common common;
  Options options("Measures every op that is no product of matrices, forward and backward.");
  options.add("What to measure", wish);
  if (!begin(options, argc, argv, common, out)) return;
  if (wish.rows < 1 || wish.columns < 1) throw UsageError("--rows and --columns must be at least 1");
  std::vector<Timed> list = all_ops();
  if (wish.op != "all") list = {checked_usage([&] { return mote::by_name("op", list, wish.op, "all, "); })};
  const mote::Shape shape{wish.rows, wish.columns}, row{wish.columns};
  const mote::Generator random(1);
  Inputs in;
  in.rows = wish.rows, in.columns = wish.columns;
  in.a = uniform(0.1, 2, shape, random).requires_grad_();
  in.b = uniform(0.1, 2, shape, random).requires_grad_();
  in.weight = uniform(0.1, 2, row, random).requires_grad_();
  in.bias = uniform(0.1, 2, row, random).requires_grad_();
  in.mask = in.a.array() > in.b.array();
  in.ids = randint(0, std::min(wish.rows, wish.columns), {wish.rows}, random);
  out.table("ops",
            "ops of inputs " + text_of(shape) + " (and rows " + text_of(row) + ") on " +
                std::to_string(mote::threads()) +
                " threads; the limit is reading as many bytes as the op reads and writes",
            {{"op", "op", As::text},
             {"forward_us", "us"},
             {"forward_gbytes", "GB/s"},
             {"forward_share", "of limit", As::share},
             {"backward_us", "back us"},
             {"backward_gbytes", "GB/s"},
             {"backward_share", "of limit", As::share},
             {"limit_gbytes", "limit"}});
  for (const Timed& op : list) measure_op(op, in, common.seconds, out);
  out.note("");
  if (wish.op != "all") return;
  measure_attention(in, common.seconds, out);
  measure_optimizers(in, common.seconds, out);
}

}  // namespace bench
