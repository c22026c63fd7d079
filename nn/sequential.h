// Sequential, layers one after the other.
#pragma once

#include "nn/module.h"

namespace mote {

/// Calls its layers in turn, each on the result of the previous one. Layers are named by position: 0, 1, ...
/// Build it with braces, Sequential{Linear(2, 16, random), ReLU(), Linear(16, 1, random)}: C++ evaluates a brace list
/// from left to right, but arguments in parentheses in any order, and so would draw weights in any order.
struct Sequential : Layer<Sequential> {
  Sequential() = default;
  template <class... Layers>
  requires((std::is_base_of_v<Module, std::remove_cvref_t<Layers>> && ...) &&
           !(sizeof...(Layers) == 1 && (std::is_same_v<std::remove_cvref_t<Layers>, Sequential> && ...)))
      Sequential(Layers&&... layers) {
    (add(std::forward<Layers>(layers)), ...);
  }

  /// Appends a layer: anything that maps a Tensor to a Tensor. Returns *this, so calls can be chained.
  template <class L>
  Sequential& add(L&& layer) {
    static_assert(!std::is_lvalue_reference_v<L>,
                  "pass a layer by std::move or as a temporary: modules cannot be copied");
    children_.push_back(std::make_unique<Holder<L>>(std::move(layer)));
    return *this;
  }
  Tensor forward(const Tensor& x) const {
    Tensor y = x;
    for (const auto& child : children_) y = child->call(y);
    return y;
  }
  void visit(Visitor& v) override {
    for (std::size_t i = 0; i < children_.size(); ++i) v(std::to_string(i), children_[i]->module());
  }
  std::size_t size() const { return children_.size(); }

  Sequential(Sequential&&) = default;
  Sequential& operator=(Sequential&&) = default;
  Sequential(const Sequential& other) : Layer(other) {  // only clone() gets past Module's copy constructor
    for (const auto& child : other.children_) children_.push_back(child->copy());
  }

 private:
  struct Child {
    virtual ~Child() = default;
    virtual Tensor call(const Tensor& x) const = 0;
    virtual Module& module() = 0;
    virtual std::unique_ptr<Child> copy() const = 0;
  };
  template <class L>
  struct Holder final : Child {
    L layer;
    explicit Holder(L&& l) : layer(std::move(l)) {}
    explicit Holder(const L& l) : layer(l) {}
    Tensor call(const Tensor& x) const override { return layer(x); }
    Module& module() override { return layer; }
    std::unique_ptr<Child> copy() const override { return std::make_unique<Holder>(layer); }
  };
  std::vector<std::unique_ptr<Child>> children_;
};

}  // namespace mote
