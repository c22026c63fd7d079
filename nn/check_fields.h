// check_fields, which finds what a layer uses and its visit() forgot; FieldWatch, by which fit looks for the same.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "engine/autograd/observer.h"
#include "nn/module.h"

namespace mote {

/// Notes, during its lifetime, what layers use although no layer around them lists it in visit(). It may be parameters:
/// no optimizer would train them. It may be modules with random streams or buffers: eval() would not reach them. Not
/// noticed: what is not used, under NoGrad, by another thread, or by a function outside every layer.
class FieldWatch : public Observer {
 public:
  FieldWatch() { watch(); }
  /// A sentence about what was found, "" if nothing was; without the parameters for which `fine` is true.
  std::string problem(const std::function<bool(const Node&)>& fine = nullptr) const;
  /// All parameters that ops have used, inside layers or not.
  const std::set<NodePtr>& used() const& { return used_; }
  std::set<NodePtr> used() && { return std::move(used_); }

 private:
  struct Found {
    std::string what;                 // whose visit() does not list what
    std::vector<NodePtr> parameters;  // none for a module that has none
  };
  Found& forgotten(const LayerScope& layer, const LayerScope* child);
  void event(const Event& e) override;
  void look_at(const LayerScope& opened);
  void look_at(const Node& recorded);

  std::set<const void*> listed_;  // modules and parameters' nodes of the outermost layer that runs
  std::vector<Found> found_;
  std::set<NodePtr> used_;
};

/// Calls `run`, such as [&] { model(x); }, and throws a sentence if a layer inside used a field that visit() forgot. To
/// be called once, in a program or a test; run() draws what it draws (dropout). fit() looks for the same in its first
/// step. Errors: what was found; NoGrad.
void check_fields(const std::function<void()>& run);

}  // namespace mote
