// attention_shapes, one filter of a Trace: the lines that a tutorial's attention prints about itself.
#include <algorithm>
#include <sstream>

#include "nn/trace.h"

namespace mote {

std::string attention_shapes(const Trace& trace) {
  const std::vector<TraceEvent>& events = trace.events();
  const auto is_attention = [](const TraceEvent& e) { return e.is_op && e.name == "attention" && !e.notes.empty(); };
  const auto layers = std::count_if(events.begin(), events.end(), is_attention);
  check_in("attention_shapes", layers > 0, "no attention was traced");
  std::ostringstream text;
  text.imbue(std::locale::classic());
  for (auto op = events.begin(); op != events.end(); ++op) {
    if (!is_attention(*op)) continue;
    // The layer is the module around the op: its events are the deeper ones that follow it.
    auto first = op, last = op + 1;
    while (op->depth > 0 && first != events.begin() && first->depth >= op->depth) --first;
    while (op->depth > 0 && last != events.end() && last->depth >= op->depth) ++last;
    if (layers > 1) text << (op->path.empty() ? first->name : op->path) << "\n";
    // mote splits q | k | v and then each into heads [B, T, H, d]; together they are the tutorial's view.
    std::vector<Shape> cuts;
    Index slices = 0;
    for (auto e = first; e != op; ++e) {
      slices += e->is_op && e->name == "slice";
      if (e->is_op && (e->name == "reshape" || e->name == "view") && e->output.rank() >= 4) cuts.push_back(e->output);
    }
    if (slices == 3 && cuts.size() == 3 && cuts[0] == cuts[1] && cuts[1] == cuts[2])
      text << "qkv view: " << cuts[0].insert(2, 3) << "\n";
    const char* const names[] = {"q: ", " k: ", " v: "};
    for (std::size_t i = 0; i < std::min<std::size_t>(3, op->inputs.size()); ++i) text << names[i] << op->inputs[i];
    text << "\nweights: " << op->notes[0].second << " ctx: " << op->output << "\n";
    if (first == op) continue;
    while (!(--last)->is_op) continue;  // the layer may end in a module that does nothing: dropout in evaluation
    text << "out: " << last->output << "\n";
  }
  return text.str();
}

}  // namespace mote
