// bench overhead: what recording an op costs beside its arithmetic, and how many ops and nodes a layer has.
#include "engine/autograd/observer.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/sample.h"
#include "examples/bench/measure.h"
#include "examples/bench/models.h"
#include "examples/bench/output.h"

namespace bench {
namespace {

using mote::Array;
using mote::Index;
using mote::Tensor;

/// One [n, n] addition of two tracked inputs: values only, recorded, and recorded and differentiated.
void additions(double seconds, Output& out) {
  out.table("one element-wise addition, microseconds; net: what recording and differentiating add",
            {"shape", "values", "recorded", "+ backward", "net"});
  for (const Index n : {1, 8, 32, 64}) {
    const mote::Generator random(1);
    Tensor a = mote::randn({n, n}, random).requires_grad_();
    Tensor b = mote::randn({n, n}, random).requires_grad_();
    const Array dy = Array::full({n, n}, 1);
    const double values = time_of([&] { const Array y = a.array() + b.array(); }, seconds);
    const double recorded = time_of([&] { const Tensor y = a + b; }, seconds);
    const auto both_passes = [&] {
      const Tensor y = a + b;
      y.backward(dy);
      a.zero_grad();
      b.zero_grad();
    };
    const double both = time_of(both_passes, seconds);
    out.row({text_of(a.shape()), values * 1e6, recorded * 1e6, both * 1e6, (both - values) * 1e6});
  }
}

/// What one loss of a model records, in each of its blocks and around them.
struct Recording : mote::Observer {
  struct Sum {
    Index ops = 0, nodes = 0;
  } blocks, around;
  Recording() { watch(); }
  void event(const mote::Event& e) override {
    if (e.kind != mote::Event::op_recorded) return;
    Sum& sum = mote::current_layer().starts_with("transformer.h.") ? blocks : around;
    ++sum.ops;
    sum.nodes += e.node != nullptr;
  }
};

void layers(const Case& c, Output& out) {
  out.table("the graph of one loss of " + c.name + ": ops and nodes", {"part", "ops", "nodes"});
  const Training training(c);
  const Recording seen;
  training.loss();
  out.row({"a block", seen.blocks.ops / c.config.n_layer, seen.blocks.nodes / c.config.n_layer});
  out.row({"around them", seen.around.ops, seen.around.nodes});
}

}  // namespace

void overhead(int argc, char** argv, Output& out) {
  Choice choice(argc, argv, "S1");
  Common common;
  Options options("Measures what recording an op costs, and what a model's layers record.");
  choice.add_to(options);
  if (!common.parse(options, argc, argv)) return;
  const Case c = choice.chosen({choice.one})[0];
  additions(common.seconds, out);
  layers(c, out);
}

}  // namespace bench
