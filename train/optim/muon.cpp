// The choice of the parameters that Muon orthogonalizes, the Newton-Schulz iteration, and one step.
#include "train/optim/muon.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/kernels/gemm.h"
#include "nn/embedding.h"
#include "nn/position.h"
#include "train/loop/clip.h"

namespace mote {
namespace {

/// The hidden matrices of a model: all matrices but the embedding tables and the last matrix.
std::set<const Parameter::Cell*> hidden_matrices(const Module& model) {
  std::set<const Parameter::Cell*> hidden, tables;
  const Parameter::Cell* last = nullptr;
  each_field(model, [&](const ModuleField& f) {
    if (!f.parameter || f.parameter->shape().rank() != 2) return;
    const bool table = dynamic_cast<const Embedding*>(f.owner) || dynamic_cast<const LearnedPositions*>(f.owner);
    (table ? tables : hidden).insert(last = f.parameter->id());
  });
  std::erase_if(hidden, [&](const Parameter::Cell* p) { return p == last || tables.contains(p); });
  return hidden;
}

/// Splits n elements into parts, and calls run(begin, count) for all parts in parallel. It assumes that `run` takes
/// about 0.3 ns per element.
template <class Run>
void in_parts(Index n, Run run) {
  parallel_for(n, grain_for(0.3), [&](Index lo, Index hi) { run(lo, hi - lo); });
}

/// Sets `square` to a I + b gram + c square. All three matrices are [n, n]. `gram` is overwritten.
void polynomial(real a, real b, real c, real* gram, real* square, Index n) {
  const kernels::Table& t = kernels::table();
  in_parts(n * n, [&](Index at, Index count) {
    t.mul(gram + at, 1, &b, 0, gram + at, count);
    t.mul(square + at, 1, &c, 0, square + at, count);
    t.add(square + at, 1, gram + at, 1, square + at, count);
  });
  for (Index i = 0; i < n; ++i) square[i * (n + 1)] += a;
}

/// Returns x [r, c] with all singular values brought near 1 by Newton-Schulz iterations. If x has more rows than
/// columns, the smaller x^T x takes the place of x x^T, and x is multiplied by the polynomial from the right.
Array orthogonalized(Array x, Index steps) {
  if (x.numel() == 0) return x;
  const Index rows = x.shape()[0], columns = x.shape()[1], n = std::min(rows, columns);
  const bool tall = rows > columns;
  const real divisor = static_cast<real>(std::max(detail::norm_of({x}), 1e-7));
  real* const values = x.mutate();
  in_parts(x.numel(),
           [&](Index at, Index count) { kernels::table().div(values + at, 1, &divisor, 0, values + at, count); });
  Array next = Array::empty(x.shape()), gram = Array::empty({n, n}), square = Array::empty({n, n});
  for (Index k = 0; k < steps; ++k) {
    const kernels::Matrix here{x.data(), columns, 1}, turned{x.data(), 1, columns}, a{gram.mutate(), n, 1};
    kernels::gemm(n, n, std::max(rows, columns), tall ? turned : here, tall ? here : turned, gram.mutate(), n);
    kernels::gemm(n, n, n, a, a, square.mutate(), n);
    polynomial(real(3.4445), real(-4.7750), real(2.0315), gram.mutate(), square.mutate(), n);
    const kernels::Matrix p{square.data(), n, 1};
    kernels::gemm(rows, columns, n, tall ? here : p, tall ? p : here, next.mutate(), columns);
    std::swap(x, next);
  }
  return x;
}

}  // namespace

MuonGroups muon_groups(const Module& module, Real weight_decay) {
  const std::set<const Parameter::Cell*> hidden = hidden_matrices(module);
  MuonGroups groups{{{{}, weight_decay}}, {{{}, weight_decay}, {{}, 0.0}}};
  for (NamedParameter& p : named_parameters(module)) {
    const bool decays = p.parameter.shape().rank() >= 2;
    ParameterGroup& group = hidden.contains(p.parameter.id()) ? groups.matrices[0] : groups.others[decays ? 0 : 1];
    group.parameters.push_back(std::move(p));
  }
  return groups;
}

Muon::Muon(MuonGroups groups, const MuonOptions& options)
    : AdamBase("Muon", {orthogonalizing(std::move(groups.matrices)), by_adam(std::move(groups.others))},
               {options.lr, options.betas, options.eps, options.weight_decay}, true),
      momentum_(options.momentum),
      ns_steps_(options.ns_steps) {
  check_in("Muon", momentum_ >= 0 && momentum_ < 1, "momentum ", momentum_, " must be in [0, 1)");
  check_in("Muon", ns_steps_ >= 1, "ns_steps ", ns_steps_, " must be at least 1");
}

Optimizer::Rule Muon::orthogonalizing(std::vector<ParameterGroup> matrices) {
  for (const ParameterGroup& group : matrices)
    for (const auto& [name, parameter] : group.parameters) {
      if (!parameter.defined()) continue;  // the constructor of Optimizer reports it
      check_in("Muon", parameter.shape().rank() == 2, "'", name, "' has shape ", parameter.shape(),
               ", but only a matrix can be orthogonalized: list it among the others");
    }
  return {std::move(matrices), {"momentum_buffer"}};
}

/// Allocates in advance (see Optimizer::prepare()) for the parameters that are updated as AdamW does. A matrix that is
/// orthogonalized is not prepared, because the products in its update allocate memory and may fail.
bool Muon::prepare(Slot& slot) { return slot.rule > 0 && AdamBase::prepare(slot); }

void Muon::update(Slot& slot, double lr) {
  if (slot.rule > 0) return AdamBase::update(slot, lr);
  const Shape& shape = slot.parameter.shape();
  Array &momentum = slot.arrays[0], direction = copy_of(slot.parameter.grad());
  if (!momentum.defined()) momentum = Array::zeros(shape);
  real* const m = momentum.mutate();
  real* const u = direction.mutate();
  const real weight = static_cast<real>(1 - momentum_), keep = static_cast<real>(momentum_);
  const kernels::Table& t = kernels::table();
  in_parts(direction.numel(), [&](Index at, Index count) {
    t.lerp(u + at, weight, m + at, count);
    t.lerp(m + at, keep, u + at, count);
  });
  direction = orthogonalized(std::move(direction), ns_steps_);
  const double size = 0.2 * std::sqrt(static_cast<double>(std::max(shape[0], shape[1])));
  const kernels::VelocityDescent constants{
      static_cast<real>(lr * size), static_cast<real>(size > 0 ? slot.weight_decay / size : 0), 0, 1, false, false};
  real* const w = slot.parameter.mutate();
  in_parts(direction.numel(), [&](Index at, Index count) {
    t.descend_by_velocity(constants, w + at, direction.data() + at, nullptr, count);
  });
}

}  // namespace mote
