// How a RunState is read from a run's checkpoint.
#include "train/run/run_state.h"

#include <set>

#include "train/keep/checkpoint.h"

namespace mote {

RunState read_run_state(const std::string& path, Module& model, Optimizer& optimizer) {
  RunState state;
  const Generator data(0);
  const SafetensorsFile file(path);
  std::set<std::string> others;
  for (const TensorEntry& e : file.tensors()) {
    others.insert(e.name.substr(0, e.name.find('.')));
    if (e.name.starts_with("ema.")) state.averages.push_back({e.name.substr(4), file.array(e)});
  }
  for (const auto& [name, text] : file.metadata()) others.insert(name.substr(0, name.find('.')));
  if (const std::string* const updates = file.find_metadata("ema.updates"))
    detail::read_field("ema.updates", *updates, state.averaged);
  Checkpoint checkpoint;
  checkpoint.add("model", model);
  checkpoint.add("optimizer", optimizer);
  checkpoint.add("data", data);
  checkpoint.add("steps", state.steps);
  checkpoint.add("best_score", state.best_score);
  for (const char* const own : {"model", "optimizer", "data", "steps", "best_score", "mote", "format"})
    others.erase(own);
  for (const std::string& other : others) checkpoint.note(other, {});
  checkpoint.load(path);
  state.data = data.get_state();
  state.optimizer = optimizer.state();
  return state;
}

}  // namespace mote
