// checkpoint, which computes a part of a model again in backward, in place of keeping what its rules need.
#pragma once

#include <algorithm>

#include "engine/array/stream_guard.h"
#include "engine/autograd/op.h"

namespace mote {

template <>
inline constexpr bool is_saveable<StreamGuard::Drawn> = true;  // holds no graph

namespace detail {

/// What a rule may keep of f: where it is.
template <class F>
struct Borrowed {
  F* f;
};

/// Streams, put back to where they stood; at its end to where they were, which needs no memory.
struct Redraw {
  explicit Redraw(const StreamGuard::Streams& then) : now(then) {
    for (StreamGuard::Drawn& d : now) d.before = d.stream.get_state();
    for (const StreamGuard::Drawn& d : then) d.stream.set_state(d.before);
  }
  ~Redraw() {
    for (const StreamGuard::Drawn& d : now) d.stream.set_state(d.before);
  }
  Redraw(const Redraw&) = delete;
  StreamGuard::Streams now;
};

/// f(x), whose errors are its own and not those of the op around it.
template <class F>
Tensor call(F& f, const Tensor& x, bool no_grad) {
  const During<bool> recorded(thread_context.no_grad, no_grad);
  const During<const char*> outside(thread_context.op, nullptr);
  return f(x);
}

inline bool same_numbers(const Array& a, const Array& b) {
  if (!(a.shape() == b.shape())) return false;
  const Array x = a.contiguous(), y = b.contiguous();
  const auto same = [](real p, real q) { return p == q || (p != p && q != q); };  // NaN is the same as NaN
  return std::equal(x.data(), x.data() + x.numel(), y.data(), same);
}

}  // namespace detail

/// f(x), of which backward keeps x and the result alone: it calls f(x) again, now recorded, and goes on through that
/// graph. So a chain of blocks keeps one tensor per block, and what is inside of one block at a time, for one more
/// forward pass. PyTorch's torch.utils.checkpoint(f, x, use_reentrant=False). All bits of results and gradients are
/// those of f(x), those of parameters, and of tensors that f refers to, included, whether x requires a gradient or not;
/// dropout draws its numbers again, and its streams go on as if it had not. Nests; under NoGrad it is f(x). Observers
/// and scopes such as Change see the second call, too, without the layers around f.
/// f, a layer or another callable, is borrowed until backward. Errors: f gives other numbers the second time, because
/// it, a parameter, or a scope around it has changed.
template <class F>
Tensor checkpoint(F& f, const Tensor& x) {
  if (NoGrad::active()) return f(x);
  Tensor inside;  // stands for what f refers to, if only that requires a gradient
  Op op("checkpoint", x, inside);
  const StreamGuard streams(true);
  const Tensor y = detail::call(f, x, x.requires_grad());  // else recorded, to see whether it would be
  if (y.requires_grad() && !x.requires_grad()) inside = Tensor(Array::zeros({0})).requires_grad_();
  return op.record(y.array(), save(x, y, detail::Borrowed<F>{&f}, streams.drawn()),
                   [](const Array&, Grads& dx, const Array& x, const Array& y, const detail::Borrowed<F>& borrowed,
                      const StreamGuard::Streams& drawn) {
                     const detail::Redraw streams(drawn);
                     const During<Watch*> seen(thread_context.watch, dx.watch());
                     const Tensor again = detail::call(*borrowed.f, Tensor(x, dx.input(0)), false);
                     check(detail::same_numbers(y, again.array()), "f, called again in backward, gave ",
                           "another result ", again.shape(), " than before, ", y.shape(), ": it, a parameter or a ",
                           "scope around it has changed since");
                     dx.go_on_through(again.node());
                   });
}
template <class F>
__attribute__((unavailable("f must live until backward: give it a name first"))) Tensor checkpoint(const F&& f,
                                                                                                   const Tensor& x);

}  // namespace mote
