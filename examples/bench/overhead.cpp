// bench overhead: what recording an op costs beside its arithmetic, and how many ops and nodes a layer has.
#include "engine/autograd/node.h"
#include "engine/base/storage.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/sample.h"
#include "examples/bench/choice.h"
#include "examples/bench/measure.h"
#include "nn/trace.h"

namespace bench {
namespace {

using mote::Array;
using mote::Index;
using mote::Tensor;

/// One [n, n] addition of two tracked inputs: values only, recorded, and recorded and differentiated.
void additions(double seconds, Output& out) {
  out.table("overhead", "one element-wise addition, microseconds; net: what recording and differentiating add",
            {{"shape", "shape", As::text},
             {"values_us", "values"},
             {"recorded_us", "recorded"},
             {"both_us", "+ backward"},
             {"net_us", "net"}});
  for (const Index n : {1, 8, 32, 64}) {
    const mote::Generator random(1);
    Tensor a = mote::randn({n, n}, random).requires_grad_();
    Tensor b = mote::randn({n, n}, random).requires_grad_();
    const Array dy = Array::full({n, n}, 1);
    const double values = time_of([&] { const Array y = a.array() + b.array(); }, seconds);
    const double recorded = time_of([&] { const Tensor y = a + b; }, seconds);
    const double both = time_of(
        [&] {
          const Tensor y = a + b;
          y.backward(dy);
          a.zero_grad();
          b.zero_grad();
        },
        seconds);
    out.row({text_of(a.shape()), values * 1e6, recorded * 1e6, both * 1e6, (both - values) * 1e6});
  }
  // a chain: what a deep graph costs per op, collecting and sorting included
  const mote::Generator random(1);
  Tensor x = mote::randn({32, 32}, random).requires_grad_();
  const Tensor step = mote::randn({32, 32}, random);
  const double values = time_of([&] { const Array y = x.array() + step.array(); }, seconds);
  const double chain = time_of(
                           [&] {
                             Tensor y = x;
                             for (int i = 0; i < 1000; ++i) y = y + step;
                             y.backward(Array::full({32, 32}, 1));
                             x.zero_grad();
                           },
                           seconds) /
                       1000;
  out.row({"of 1000 in a row", values * 1e6, {}, chain * 1e6, (chain - values) * 1e6});
  out.note("The last line: [32, 32] additions, each to the result of the one before.");
}

/// Ops, nodes and blocks of memory of a model's graph, for each of its blocks and for what is around them.
void layers(const Case& c, Output& out) {
  out.table("graph",
            "the graph of one loss of " + c.name + ": ops, nodes, and blocks of memory that it holds until backward",
            {{"part", "part", As::text},
             {"ops", "ops", As::integer},
             {"nodes", "nodes", As::integer},
             {"blocks", "blocks", As::integer}});
  struct Count {
    Index ops = 0, nodes = 0, blocks = 0;
  };
  const auto count = [&](Index n_layer) {
    Case other = c;
    other.config.n_layer = n_layer;
    Training training(other);
    training.step();
    Count found;
    {
      const Index nodes = mote::live_nodes(), blocks = mote::memory_stats().live_blocks;
      const Tensor loss = training.loss();
      found.nodes = mote::live_nodes() - nodes, found.blocks = mote::memory_stats().live_blocks - blocks;
    }
    const mote::Trace trace;
    training.loss();
    for (const mote::TraceEvent& e : trace.events()) found.ops += e.is_op;
    return found;
  };
  const Count one = count(1), two = count(2);
  out.row({"a block", two.ops - one.ops, two.nodes - one.nodes, two.blocks - one.blocks});
  out.row({"around them", 2 * one.ops - two.ops, 2 * one.nodes - two.nodes, 2 * one.blocks - two.blocks});
  out.note("");
}

}  // namespace

void overhead(int argc, char** argv, Output& out) {
  Choice choice(argc, argv, "S1");
  Common common;
  Options options("Measures what recording an op costs, and what a model's layers record.");
  choice.add_to(options);
  if (!begin(options, argc, argv, common, out)) return;
  const Case c = choice.chosen({choice.one})[0];
  additions(common.seconds, out);
  layers(c, out);
}

}  // namespace bench
