// bench ops: every op that is no product of matrices, forward and backward, as a share of the bandwidth.
#include <algorithm>
#include <functional>

#include "engine/ops/ops.h"
#include "engine/watch/profile.h"
#include "examples/bench/measure.h"
#include "examples/bench/output.h"
#include "train/loop/clip.h"
#include "train/optim/adamw.h"
#include "train/optim/sgd.h"

namespace bench {
namespace {

using mote::Array;
using mote::Index;
using mote::Tensor;

struct OpsOptions {
  Index rows = 2048, columns = 384;
  template <class V>
  void visit(V& v) {
    v("rows", rows, "rows of the inputs");
    v("columns", columns, "elements of a row");
  }
};

/// What an op is given: elements above 0, so that every function is defined.
struct Inputs {
  Tensor a, b, weight, bias;
  mote::Mask mask;
  mote::IntArray ids;
  mote::Generator random{3};
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

/// Bytes that the ops and rules inside `run` must read and write, as MOTE_PROFILE counts them.
double bytes_of(const std::function<void()>& run) {
  mote::ProfileTotals totals;
  {
    const mote::Profile watch(totals, now, now());
    run();
  }
  double sum = 0;
  for (const auto& [name, line] : totals.ops) sum += static_cast<double>(line.moved + line.backward_moved);
  return sum;
}

/// The columns of ops: times, and how much is done a second, forward and backward.
mote::TableRow columns(const std::string& speed) {
  return {"op", "us", speed, "of limit", "back us", speed, "of limit", "limit"};
}

/// A row of these. `done` and `back` count bytes or, where there are none, operations.
void measure_op(const char* name, const std::function<Tensor()>& run, std::vector<Tensor> inputs, const Work& done,
                const Work& back, double seconds, Output& out) {
  const Array dy = Array::full(run().shape(), 1);
  const auto both_passes = [&] {
    run().backward(dy);
    for (Tensor& x : inputs) x.zero_grad();
  };
  const Result forward = measure([&] { const Tensor y = run(); }, done, seconds / 2);
  const Result both = measure(
      both_passes,
      {.flops = done.flops + back.flops, .bytes = done.bytes + back.bytes, .block = std::max(done.bytes, back.bytes)},
      seconds / 2);
  const double backward = std::max(both.seconds - forward.seconds, 1e-9), limit = both.gflops + both.gbytes;
  const double speed = (back.flops + back.bytes) / backward * 1e-9;
  const bool moves = speed > 0;  // or it only passes views on
  out.row({name, forward.seconds * 1e6, (done.flops + done.bytes) / forward.seconds * 1e-9, share(forward.share),
           backward * 1e6, moves ? Cell(speed) : Cell(), moves ? share(speed / limit) : Cell(), limit});
}

/// Attention over all rows as one sequence would be quadratic: sequences of 64, heads of 32 or fewer columns.
void measure_attention(const Inputs& in, double seconds, Output& out) {
  const Index rows = in.a.size(0), row = in.a.size(1);
  const Index length = std::min<Index>(64, rows), width = row % 32 == 0 ? 32 : row;
  const Index sequences = rows / length, count = row / width;
  const mote::Shape shape{sequences, count, length, width};
  const mote::Generator random(4);
  Tensor q = randn(shape, random).requires_grad_();
  Tensor k = randn(shape, random).requires_grad_();
  Tensor v = randn(shape, random).requires_grad_();
  const double flops = static_cast<double>(sequences * count) * static_cast<double>(length * (length + 1) / 2) * 4 *
                       static_cast<double>(width);
  out.table("causal attention " + text_of(shape) + ", GFLOP/s; the limit is multiplying and adding in registers",
            columns("GFLOP/s"));
  measure_op(
      "attention", [&] { return attention(q, k, v, {.causal = true}); }, {q, k, v}, {.flops = flops},
      {.flops = 2 * flops}, seconds, out);
}

/// One parameter of rows x columns: value, gradient and state are read, all but the gradient written.
void measure_optimizers(const Inputs& in, double seconds, Output& out) {
  out.table("a step for one parameter " + text_of(in.a.shape()) + "; the limit is reading as many bytes",
            columns("GB/s"));
  mote::Parameter w(in.a.array());
  (mote::Tensor(w) * in.b).backward(Array::full(in.a.shape(), 1));
  const std::vector<mote::ParameterGroup> group{{{{"w", w}}}};
  const double elements = static_cast<double>(w.numel()) * sizeof(mote::real);
  mote::AdamW adamw(group);
  mote::SGD sgd(group, {.lr = 1e-6, .momentum = 0.9});
  const auto line = [&](const char* name, Index arrays, double bytes, const std::function<void()>& step) {
    const Result r = measure(step, {.bytes = bytes, .block = static_cast<double>(arrays) * elements}, seconds / 2);
    out.row({name, r.seconds * 1e6, bytes / r.seconds * 1e-9, share(r.share), {}, {}, {}, r.gbytes});
  };
  line("AdamW", 4, 7 * elements, [&] { adamw.step(); });
  line("SGD, momentum", 3, 5 * elements, [&] { sgd.step(); });
  line("clip_grad_norm", 1, elements, [&] { mote::clip_grad_norm({w}, 1e9); });
}

}  // namespace

void ops(int argc, char** argv, Output& out) {
  OpsOptions sizes;
  Common common;
  Options options("Measures every op that is no product of matrices, forward and backward.");
  options.add("What to measure", sizes);
  if (!common.parse(options, argc, argv)) return;
  if (sizes.rows < 1 || sizes.columns < 1) throw UsageError("--rows and --columns must be at least 1");
  const mote::Shape shape{sizes.rows, sizes.columns}, row{sizes.columns};
  const mote::Generator random(1);
  Inputs in;
  in.a = uniform(0.1, 2, shape, random).requires_grad_();
  in.b = uniform(0.1, 2, shape, random).requires_grad_();
  in.weight = uniform(0.1, 2, row, random).requires_grad_();
  in.bias = uniform(0.1, 2, row, random).requires_grad_();
  in.mask = in.a.array() > in.b.array();
  in.ids = randint(0, std::min(sizes.rows, sizes.columns), {sizes.rows}, random);
  out.table("ops of inputs " + text_of(shape) + " (and rows " + text_of(row) + ") on " +
                std::to_string(mote::threads()) +
                " threads; the limit is reading as many bytes as the op reads and writes",
            columns("GB/s"));
  for (const Timed& op : all_ops()) {
    Tensor y;
    const double done = bytes_of([&] { y = op.run(in); });
    const double back = bytes_of([&] { y.backward(Array::full(y.shape(), 1)); });
    measure_op(
        op.name, [&] { return op.run(in); }, {in.a, in.b, in.weight, in.bias}, {.bytes = done}, {.bytes = back},
        common.seconds, out);
  }
  measure_attention(in, common.seconds, out);
  measure_optimizers(in, common.seconds, out);
}

}  // namespace bench
