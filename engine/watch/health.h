// Health, which measures every layer's results and the gradients that arrive at them.
#pragma once

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "engine/autograd/observer.h"

namespace mote {

/// The mean, the standard deviation and the share of zeros of all numbers that add() was given. Without numbers all
/// three are NaN.
struct Spread {
  double mean = std::numeric_limits<double>::quiet_NaN();
  double deviation = mean;  ///< root of the mean square distance from the mean
  double zeros = mean;      ///< the share of numbers that are 0
  double count = 0;
  void add(const Array& x);
};

/// The spread of a layer's results, and of the gradients of the loss with respect to these results.
struct LayerHealth {
  std::string layer;  ///< the layer's path, or the type of an outermost layer
  Spread result = {}, gradient = {};
};

/// While it lives, a Health measures all layers that its thread calls. Several calls of one layer are measured
/// together. No result changes.
class Health : public Observer {
 public:
  [[nodiscard]] Health() { watch(); }
  /// The layers in the order in which they first returned.
  const std::vector<LayerHealth>& layers() const& { return layers_; }
  std::vector<LayerHealth> layers() && { return std::move(layers_); }

 private:
  void event(const Event& e) override;
  void add_result(const Tensor& y);

  std::vector<LayerHealth> layers_;
  std::map<const void*, std::size_t> places_;  // the position in layers_ of each layer
  std::multimap<Index, std::size_t> of_node_;  // the layers that returned a result, by the id of its node
};

/// How far an optimizer step moved a weight: the standard deviation of `after - before`, divided by that of `before`.
/// About 0.001 is usual for matrices. Infinity or NaN if all numbers of `before` are equal.
double update_ratio(const Array& before, const Array& after);

}  // namespace mote
