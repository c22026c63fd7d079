// Summary, the table of a module's layers and parameters.
#include <set>

#include "engine/io/text/table.h"
#include "nn/module.h"

namespace mote {

namespace {

struct Line {
  std::string name, type, shapes;
  Index count = 0;
};

/// Collects one line per module with parameters of its own; a parameter belongs to the innermost module on the stack.
struct Summarize : Reader {
  std::vector<Line> lines;
  std::vector<std::size_t> stack;
  std::set<const Parameter::Cell*> seen;

  void on_enter(const Module& m) override {
    stack.push_back(lines.size());
    lines.push_back({path(), m.type_name(), "", 0});
  }
  void on_leave(const Module&) override { stack.pop_back(); }
  void on_parameter(const Parameter& p) override {
    Line& line = lines[stack.back()];
    const bool tied = !seen.insert(p.id()).second;
    const std::string field = path().substr(path().rfind('.') + 1);
    line.shapes += (line.shapes.empty() ? "" : ", ") + field + " " + text_of(p.shape()) + (tied ? " (tied)" : "") +
                   (p.trainable() ? "" : " (frozen)");
    if (!tied) line.count += p.numel();
  }
};

}  // namespace

std::string summary(const Module& module) {
  Summarize reader;
  reader.lines.push_back({"(self)", module.type_name(), "", 0});
  reader.stack.push_back(0);
  module.read(reader);
  std::vector<TableRow> rows{{"layer", "type", "parameters", "    count"}};
  Index total = 0;
  for (const Line& line : reader.lines) {
    if (line.shapes.empty()) continue;
    rows.push_back({line.name, line.type, line.shapes, std::to_string(line.count)});
    total += line.count;
  }
  rows.push_back({"total", module.type_name(), "", std::to_string(total)});
  return table_text(rows, "lllr");
}

}  // namespace mote
