// Which parameters Muon orthogonalizes, the iteration that does it, and one step.
#include "train/muon.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/kernels/gemm.h"
#include "nn/embedding.h"
#include "nn/position.h"
#include "train/clip.h"

namespace mote {
namespace {

/// The matrices of a model that are neither a table nor its last one.
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

/// Calls run(begin, count) for the chunks of n elements, which take about a nanosecond for three.
template <class Run>
void in_chunks(Index n, Run run) {
  struct Elements {
    Index numel;
  };
  const std::array<Elements, 1> all{{{n}}};
  const detail::ChunkedLoop loop(all, 4 * 1024);
  loop.run(all, 0.3, [&](const Elements&, Index at, Index count, Index) { run(at, count); });
}

/// sum = a I + b gram + c square, all [n, n]; gram is used up.
void polynomial(real a, real b, real c, real* gram, real* square, Index n) {
  const kernels::Table& t = kernels::table();
  in_chunks(n * n, [&](Index at, Index count) {
    t.mul(gram + at, 1, &b, 0, gram + at, count);
    t.mul(square + at, 1, &c, 0, square + at, count);
    t.add(square + at, 1, gram + at, 1, square + at, count);
  });
  for (Index i = 0; i < n; ++i) square[i * (n + 1)] += a;
}

/// x [r, c] with all its singular values near 1. Of a matrix with more rows than columns, (p(X^T X)) stands on the
/// right.
Array orthogonalized(Array x, Index steps) {
  if (x.numel() == 0) return x;
  const Index rows = x.shape()[0], columns = x.shape()[1], n = std::min(rows, columns);
  const bool tall = rows > columns;
  const double norm = std::sqrt(detail::sum_of_squares(detail::Gradients{{x, x.numel()}}));
  const real divisor = static_cast<real>(std::max(norm, 1e-7));
  real* const values = x.mutate();
  in_chunks(x.numel(),
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

MuonGroups muon_groups(const Module& module, double weight_decay) {
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
      if (!parameter.defined()) continue;  // Optimizer's error
      check_in("Muon", parameter.shape().rank() == 2, "'", name, "' has shape ", parameter.shape(),
               ", but only a matrix can be orthogonalized: list it among the others");
    }
  return {std::move(matrices), {"momentum_buffer"}};
}

void Muon::begin() {
  next_.clear();
  next_.reserve(parameters().size());
  jobs_.reserve(parameters().size());
  loop_.reserve(parameters().size());
  updated_ = 0;
}

/// The new momentum and the direction, apart from the old: a product may run out of memory.
bool Muon::prepare(Slot& slot) {
  if (slot.rule > 0) return AdamBase::prepare(slot);
  prepare_parameter(slot);
  const Array& before = slot.arrays[0];
  Array momentum = before.defined() ? copy_of(before) : Array::zeros(slot.parameter.shape());
  Array direction = copy_of(slot.parameter.grad());
  real *const m = momentum.mutate(), *const u = direction.mutate();
  const real share = static_cast<real>(1 - momentum_), keep = static_cast<real>(momentum_), scale = grad_scale();
  const kernels::Table& t = kernels::table();
  in_chunks(direction.numel(), [&](Index at, Index count) {
    if (scale != 1) t.mul(u + at, 1, &scale, 0, u + at, count);
    t.lerp(u + at, share, m + at, count);
    t.lerp(m + at, keep, u + at, count);
  });
  next_.push_back({std::move(momentum), orthogonalized(std::move(direction), ns_steps_)});
  return true;
}

void Muon::update(Slot& slot, double lr) {
  if (slot.rule > 0) return AdamBase::update(slot, lr);
  Next& next = next_[updated_++];
  slot.arrays[0] = std::move(next.momentum);
  const Shape& shape = slot.parameter.shape();
  const double size = 0.2 * std::sqrt(static_cast<double>(std::max(shape[0], shape[1])));
  const kernels::SgdStep constants{
      static_cast<real>(lr * size), static_cast<real>(size > 0 ? slot.weight_decay / size : 0), 0, 1, false, false};
  jobs_.push_back({constants, slot.parameter.mutate(), next.direction.data(),
                   grad_scale() != 1 ? slot.parameter.mutate_grad() : nullptr, slot.parameter.numel()});
}

void Muon::finish() {
  AdamBase::finish();
  const kernels::Table& t = kernels::table();
  const real scale = grad_scale();
  loop_.set(jobs_);
  loop_.run(jobs_, 0.3, [&](const Job& j, Index at, Index n, Index) {
    if (j.grad) t.mul(j.grad + at, 1, &scale, 0, j.grad + at, n);
    t.sgd(j.constants, j.value + at, {j.direction + at, nullptr, 1}, nullptr, n);
  });
  jobs_.clear();
  next_.clear();
}

}  // namespace mote
