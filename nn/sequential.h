// Sequential, layers one after the other, and module_list, layers in a list.
#pragma once

#include "engine/array/int_array.h"
#include "nn/module.h"

namespace mote {

/// Calls its layers in turn, each on the result of the previous one. Layers are named by position: 0, 1, ... Build it
/// with braces: Sequential{Linear(2, 16, random), ReLU(), Linear(16, 1, random)}. C++ evaluates a brace list from left
/// to right, so the layers draw their weights in this order. Arguments in parentheses may be evaluated in any order.
struct Sequential : Layer<Sequential> {
  Sequential() = default;
  template <class... Layers>
  requires((std::is_base_of_v<Module, std::remove_cvref_t<Layers>> && ...) &&
           !(sizeof...(Layers) == 1 && (std::is_same_v<std::remove_cvref_t<Layers>, Sequential> && ...)))
      Sequential(Layers&&... layers) {
    (add(std::forward<Layers>(layers)), ...);
  }

  /// Refuses an argument that is not a layer, at compile time.
  template <class... Layers>
  requires(sizeof...(Layers) > 0 && (!std::is_base_of_v<Module, std::remove_cvref_t<Layers>> || ...))
      __attribute__((unavailable("a Sequential is of layers: write ReLU(), not relu"))) Sequential(Layers&&...);

  /// Appends a layer that maps a Tensor to a Tensor. The first layer may also map ids to a Tensor, as an Embedding
  /// does. Returns the Sequential, so calls can be chained.
  template <class L>
  Sequential& add(L&& layer) & {
    static_assert(!std::is_lvalue_reference_v<L>,
                  "pass a layer by std::move or as a temporary: modules cannot be copied");
    const auto copy = [](const Module& m) -> std::unique_ptr<Module> {
      return std::make_unique<L>(static_cast<const L&>(m));
    };
    children_.push_back({std::make_unique<L>(std::move(layer)), call<L, Tensor>, call<L, IntArray>, copy});
    return *this;
  }
  template <class L>
  Sequential add(L&& layer) && {
    add(std::forward<L>(layer));
    return std::move(*this);
  }
  Tensor forward(const Tensor& x) const { return rest(x, 0); }
  /// Passes ids to the first layer. Errors: there is no layer, or the first layer takes tensors.
  Tensor forward(const IntArray& ids) const {
    check_in("Sequential", size() > 0,
             "there are no layers: ids need a first layer that takes them, such as Embedding");
    return rest(children_[0].of_ids(*children_[0].layer, ids), 1);
  }

  /// The layer at a position. Negative positions count from the end. at<T>(i) returns it as a T, so
  /// at<Linear>(0).weight compiles. Errors: a position out of range, a layer of another type.
  Module& operator[](Integer position) && = delete;  // the layer would die with the temporary
  Module& operator[](Integer position) & { return *children_[index(position)].layer; }
  const Module& operator[](Integer position) const& { return *children_[index(position)].layer; }
  template <class L>
  L& at(Integer position) && = delete;
  template <class L>
  L& at(Integer position) & {
    return const_cast<L&>(std::as_const(*this).at<L>(position));
  }
  template <class L>
  const L& at(Integer position) const& {
    const Module& layer = (*this)[position];
    const L* const found = dynamic_cast<const L*>(&layer);
    check_in("Sequential", found != nullptr, "layer ", position, " is a ", layer.type_name(),
             ", not of the type that at() asks for");
    return *found;
  }
  void visit(Visitor& v) override {
    for (std::size_t i = 0; i < children_.size(); ++i) v(std::to_string(i), *children_[i].layer);
  }
  std::size_t size() const { return children_.size(); }

  Sequential(Sequential&&) = default;
  Sequential& operator=(Sequential&&) = default;
  Sequential(const Sequential& other) : Layer(other) {  // only clone() gets past Module's copy constructor
    for (const Child& c : other.children_) children_.push_back({c.copy(*c.layer), c.of_tensor, c.of_ids, c.copy});
  }

 private:
  struct Child {  // a layer and functions for its type
    std::unique_ptr<Module> layer;
    Tensor (*of_tensor)(const Module&, const Tensor&);
    Tensor (*of_ids)(const Module&, const IntArray&);
    std::unique_ptr<Module> (*copy)(const Module&);
  };
  template <class L, class X>
  static Tensor call(const Module& m, const X& x) {
    const L& layer = static_cast<const L&>(m);
    constexpr bool tensors = detail::Takes<L, const Tensor&>, ids = detail::Takes<L, const IntArray&>;
    if constexpr (detail::Takes<L, const X&> || !(tensors || ids)) return layer(x);
    check_in("Sequential", false, layer.type_name(), ids ? " takes ids, not a tensor " : " takes a tensor, not ids ",
             x.shape());
    return Tensor();
  }
  Tensor rest(const Tensor& x, std::size_t first) const {
    Tensor y = x;
    for (std::size_t i = first; i < size(); ++i) y = children_[i].of_tensor(*children_[i].layer, y);
    return y;
  }
  std::size_t index(Index position) const {
    const Index count = static_cast<Index>(size());
    check_in("Sequential", position >= -count && position < count, "position ", position, " is out of range for ",
             count, " layers");
    return static_cast<std::size_t>(position < 0 ? position + count : position);
  }
  std::vector<Child> children_;
};

/// PyTorch's nn.ModuleList: `count` layers of type L, each built from the same arguments. A layer draws its weights
/// when it is built. So a field is filled where fields are initialized, blocks(module_list<Block>(12, width, random)).
/// In the body of the constructor all other fields have drawn already.
template <class L, class... Arguments>
std::vector<L> module_list(Integer count, const Arguments&... arguments) {
  check_in("module_list", count >= 0, "count ", count, " must be at least 0");
  std::vector<L> layers;
  for (Index i = 0; i < count; ++i) layers.emplace_back(arguments...);
  return layers;
}

}  // namespace mote
