// Health, which measures every layer's results and the gradients that arrive at them.
#pragma once

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "engine/autograd/observer.h"

namespace mote {

/// How all numbers that add() was given are spread. Without numbers each field is NaN.
struct Spread {
  double mean = std::numeric_limits<double>::quiet_NaN();
  double deviation = mean;  ///< root of the mean square distance from the mean
  double zeros = mean;      ///< the share of numbers that are 0
  double count = 0;
  void add(const Array& x);
};

/// What a layer returned, and the gradients of the loss with respect to that.
struct LayerHealth {
  std::string layer;  ///< its path; the outermost's type
  Spread result = {}, gradient = {};
};

/// During its lifetime, measures all layers that this thread calls, several calls of one together. Changes no bit.
class Health : public Observer {
 public:
  [[nodiscard]] Health() { watch(); }
  /// In the order in which they first returned.
  const std::vector<LayerHealth>& layers() const& { return layers_; }
  std::vector<LayerHealth> layers() && { return std::move(layers_); }

 private:
  void event(const Event& e) override;
  void add_result(const Tensor& y);

  std::vector<LayerHealth> layers_;
  std::map<const void*, std::size_t> places_;  // of layers, in layers_
  std::multimap<Index, std::size_t> of_node_;  // by the id of a result's node, the layers that returned it
};

/// How far a step moved a weight: the deviation of after - before as a share of that of `before`; about 0.001 is usual
/// for matrices. Infinity or NaN if all numbers of `before` are equal.
double update_ratio(const Array& before, const Array& after);

}  // namespace mote
