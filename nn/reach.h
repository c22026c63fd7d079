// Scopes that reach inside a model while it runs. Record keeps values, and Change, Patch, Fix and Ablate change them.
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

/// Selects values inside a model by name. "transformer.h.1" is the Tensor that a call of this layer returns. Other
/// values are named by words behind the layer's name:
///
///     scores | weights | dropped_weights    values inside the layer's attention, [B, H, Tq, Tk], scores before masks
///     heads                                 what each head gives to the output projection, [B, H, Tq, d]
///     scale                                 of a norm: 1 / sqrt(variance + eps), [B, T, 1]
///     0, or 0 2 ...                         only these heads of a value of attention, counted from 0; -1 is the last
///     at 3, or at 3 4 ...                   only these positions, on the last axis but one; -1 is the last
///
/// In a layer's name, * stands for any characters: "*.attn heads 0 at -1". The model itself is named "", so the values
/// of its own attention are "heads" and so on. Positions count the rows that a call computes, so with a cache they
/// count only the new tokens. A layer that visit() lists under two names has the first name that matches. The model
/// must not be moved while a Places refers to it.
class Places {
 public:
  /// The places that `text` names in a model with these layers. Errors: a text that does not have the form above; a
  /// layer's name that no layer has. The message lists the nearest names.
  Places(const std::vector<NamedModule>& layers, const std::string& text);

  const std::string& text() const& { return text_; }
  std::string text() && { return std::move(text_); }
  /// Whether `value` of the innermost running layer is one of the places. "" is the layer's result.
  bool include(std::string_view value) const;
  /// The name of the innermost running layer, followed by the value's name: "transformer.h.1.attn weights".
  std::string name(std::string_view value) const;
  /// Whether the places include all heads and positions.
  bool whole() const { return heads_.empty() && positions_.empty(); }
  /// x with the selected heads and positions replaced by those of `with`, which broadcasts to x. Errors: heads or
  /// positions that x does not have; a `with` that does not broadcast.
  Tensor put(const Tensor& x, const Tensor& with) const;

  bool reached = false;  ///< whether a value at these places has been found; set by the observer
  /// Must be called for every event. Errors: a call of the model ends, and no value at these places was ever reached.
  void check_reached(const char* who, const Event& e) const;

 private:
  std::string text_, value_;
  const void* model_;
  std::map<const void*, std::string> layers_;
  std::vector<Index> heads_, positions_;  // empty: all
};

/// During its lifetime, keeps the values at some places of a model, as this thread computes them:
///
///     const Record seen(model, {"*.mlp", "*.attn weights"});
///     model(ids);
///     Tensor y = seen["transformer.h.0.mlp"];  // for y.grad(), call y.retain_grad() before backward()
///
/// The recorded values are those that the rest of the model gets, after the changes by scopes such as Change. Unless
/// NoGrad is active, the values are Tensors of the graph, except scales. Recording costs less under NoGrad. Recording
/// changes no bit of any result. A Record must be a local variable. Errors: those of Places; a place with single heads
/// or positions; in a call of the model, a place that neither this call nor an earlier one has reached.
class Record : private Observer {
 public:
  [[nodiscard]] Record(const Module& model, const std::vector<std::string>& places);
  /// The latest value of this name. Errors: no value has this name. The message lists the nearest names.
  const Tensor& operator[](const std::string& name) const&;
  Tensor operator[](const std::string& name) && { return std::as_const(*this)[name]; }
  /// All recorded values by name.
  const std::map<std::string, Tensor>& values() const& { return values_; }
  std::map<std::string, Tensor> values() && { return std::move(values_); }

 private:
  void event(const Event& e) override;

  std::vector<Places> places_;
  std::map<std::string, Tensor> values_;
};

/// During its lifetime, replaces the values x at these places by change(x), on this thread. Gradients flow through what
/// `change` computes. Scopes nest: the inner scope changes a value first, and the outer scope sees the result. Errors:
/// those of Places. A call of the model throws the errors of Places::put(), and an error if no call has reached the
/// places so far.
class Change : private Observer {
 public:
  [[nodiscard]] Change(const Module& model, const std::string& places, std::function<Tensor(const Tensor&)> change);

 private:
  void event(const Event& e) override;

  Places places_;
  std::function<Tensor(const Tensor&)> change_;
};

/// During its lifetime, replaces the values at these places by `value`, which broadcasts to their shape. `value` may
/// come from another run, recorded under NoGrad or detached: Patch(model, "*.h.1 at 3", seen["transformer.h.1"]).
struct Patch : Change {
  [[nodiscard]] Patch(const Module& model, const std::string& places, const Tensor& value)
      : Change(model, places, [value](const Tensor&) { return value; }) {}
};
/// Another name for Patch, to fix the pattern of attention weights or the scale of a norm:
///
///     const Fix pattern_of_head(model, "*.attn weights 0", pattern);  // pattern [T, T]
///     const Fix scale(model, "transformer.ln_f scale", seen["transformer.ln_f scale"]);
using Fix = Patch;
/// During its lifetime, replaces the values at these places by 0, or by `instead`, such as a mean over other inputs. A
/// score of 0 still gets an attention weight, so ablate weights instead of scores.
struct Ablate : Patch {
  [[nodiscard]] Ablate(const Module& model, const std::string& places, const Tensor& instead = 0.0)
      : Patch(model, places, instead) {}
};

}  // namespace mote
