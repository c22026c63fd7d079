// Scopes that reach inside a model while it runs: Record reads values on their way, Ablate, Patch and Fix change them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/autograd/observer.h"
#include "nn/module.h"

namespace mote {

/// Values inside a model, by the name of the layer that they belong to: "transformer.h.1" is the Tensor that calling
/// that block returns, and after the layer's name may stand
///
///     scores | weights | dropped_weights | heads    values inside its attention, scores before masks: [B, H, Tq, Tk];
///                                                   "heads", what each gives to the output projection: [B, H, Tq, d]
///     scale                                         of a norm: 1 / sqrt(variance + eps), [B, T, 1]
///     0, or 0 2 ...                                 behind these: only these heads, counted from 0; -1 is the last
///     at 3, or at 3 4 ...                           only these positions, on the last axis but one; -1 is the last
///
/// and * in a name stands for anything: "*.attn heads 0 at -1". The model itself is "", its own attention "heads".
/// Positions count what a call computes: with a cache only the new tokens. A layer with two names has its first. The
/// model must stay where it is.
class Places {
 public:
  /// Of a model with these layers. Errors: a text that is not of this form; a name that none of them has, with the
  /// nearest that there are.
  Places(const std::vector<NamedModule>& layers, const std::string& text);

  const std::string& text() const& { return text_; }
  std::string text() && { return std::move(text_); }
  /// Whether that value of the innermost layer is among them.
  bool include(std::string_view value) const;
  /// The name of the innermost layer, with the value's behind it: "transformer.h.1.attn weights".
  std::string name(std::string_view value) const;
  /// Of all heads and positions.
  bool whole() const { return heads_.empty() && positions_.empty(); }
  /// x where it is not among them, `with` where it is, broadcast to x. Errors: heads or positions that x does not have.
  Tensor put(const Tensor& x, const Tensor& with) const;

  bool reached = false;  ///< set by whoever has found a value there
  /// To be told every event. Errors: a call of the model ends, and none was ever reached.
  void check_reached(const char* who, const Event& e) const;

 private:
  std::string text_, value_;
  const void* model_;
  std::map<const void*, std::string> layers_;
  std::vector<Index> heads_, positions_;  // none: all
};

/// During its lifetime, keeps the values at these places, as this thread computes them:
///
///     const Record seen(model, {"*.mlp", "*.attn weights"});
///     model(ids);
///     Tensor y = seen["transformer.h.0.mlp"];  // y.retain_grad() before backward(): y.grad() after it
///
/// They are what the rest of the model gets, after all changes. With gradients they are Tensors of the graph, but for
/// scales; under NoGrad recording costs less. Changes no bit. A scope is a local variable. Errors: those of Places;
/// heads or positions; from a call of the model: a place was not reached in it, nor in an earlier one.
class Record : private Observer {
 public:
  [[nodiscard]] Record(const Module& model, const std::vector<std::string>& places);
  /// The value as it was computed last. Errors: none has this name; the nearest are listed.
  const Tensor& operator[](const std::string& name) const&;
  Tensor operator[](const std::string& name) && { return std::as_const(*this)[name]; }
  /// All, by name.
  const std::map<std::string, Tensor>& values() const& { return values_; }
  std::map<std::string, Tensor> values() && { return std::move(values_); }

 private:
  void event(const Event& e) override;

  std::vector<Places> places_;
  std::map<std::string, Tensor> values_;
};

/// During its lifetime, puts what `change` makes of the values at these places into their place, for this thread.
/// Gradients flow through what it computes. Scopes nest: the inner one is asked first, and the next sees its result.
/// Where the model is not called nothing is changed, and that is no error. Errors: those of Places; from a call of the
/// model: those of what is put there; the places were not reached in it, nor in an earlier one.
class Change : private Observer {
 public:
  [[nodiscard]] Change(const Module& model, const std::string& places, std::function<Tensor(const Tensor&)> change);

 private:
  void event(const Event& e) override;

  Places places_;
  std::function<Tensor(const Tensor&)> change_;
};

/// Puts in another value, of the whole shape or one that broadcasts, such as that of another run, recorded under NoGrad
/// or detached: Patch(model, "*.h.1 at 3", seen["transformer.h.1"]).
struct Patch : Change {
  [[nodiscard]] Patch(const Module& model, const std::string& places, const Tensor& value)
      : Change(model, places, [value](const Tensor&) { return value; }) {}
};
/// Gives attention a pattern, or keeps a norm's scale: Fix(model, "*.attn weights 0", pattern [T, T]),
/// Fix(model, "transformer.ln_f scale", seen["transformer.ln_f scale"]).
using Fix = Patch;
/// Takes values out: they become 0 (a score of 0 still has weight), or `instead`, such as a mean over other inputs.
struct Ablate : Patch {
  [[nodiscard]] Ablate(const Module& model, const std::string& places, const Tensor& instead = 0.0)
      : Patch(model, places, instead) {}
};

}  // namespace mote
