// check_fields, which finds fields that a layer uses but that its visit() does not list, and FieldWatch, with which
// fit finds the same fields.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "engine/autograd/observer.h"
#include "nn/module.h"

namespace mote {

/// During its lifetime, finds parameters and modules that layers use although no visit() lists them. No optimizer would
/// train such a parameter. eval() would not reach such a module, so a module is reported if it has random streams or
/// buffers. FieldWatch does not notice a field that is not used, a parameter that is only used under NoGrad, or a use
/// by another thread or by a function outside every layer.
class FieldWatch : public Observer {
 public:
  FieldWatch() { watch(); }
  /// A sentence that names the fields that were found, or "" if there are none. Parameters for which `fine` returns
  /// true are left out.
  std::string problem(const std::function<bool(const Node&)>& fine = nullptr) const;
  /// All parameters that ops have used, inside layers or not.
  const std::set<NodePtr>& used() const& { return used_; }
  std::set<NodePtr> used() && { return std::move(used_); }

 private:
  struct Found {
    std::string what;                 // the sentence: "visit() of A does not list the B that it calls"
    std::vector<NodePtr> parameters;  // empty for a module without parameters
  };
  Found& forgotten(const LayerScope& layer, const LayerScope* child);
  void event(const Event& e) override;
  void look_at(const LayerScope& opened);
  void look_at(const Node& recorded);

  std::set<const void*> listed_;  // the modules and parameters that visit() of the outermost layer lists
  std::vector<Found> found_;
  std::set<NodePtr> used_;
};

/// Calls `run`, such as [&] { model(x); }, and checks that visit() lists every field that a layer used. It is enough to
/// call check_fields once, in a program or a test. Dropout inside run() draws from its stream as usual. fit() makes the
/// same check in its first step. Errors: a layer used a field that no visit() lists; NoGrad is active.
void check_fields(const std::function<void()>& run);

}  // namespace mote
