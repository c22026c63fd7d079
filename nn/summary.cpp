// Summary, the table of a module's layers and parameters.
#include <algorithm>
#include <set>

#include "engine/base/table.h"
#include "nn/module.h"

namespace mote {

namespace {

struct Line {
  const Module* module;
  std::string name, shapes;
  Index count = 0;
};

/// One line per module that has parameters. A parameter stands in the line of the module that lists it.
std::vector<Line> summary_lines(const Module& module) {
  std::vector<Line> lines{{&module, "(self)", ""}};
  std::set<const Parameter::Cell*> seen;
  each_field(module, [&](const ModuleField& f) {
    if (f.child) lines.push_back({f.child, f.path, ""});
    if (!f.parameter) return;
    Line& line = *std::find_if(lines.rbegin(), lines.rend(), [&](const Line& l) { return l.module == f.owner; });
    const bool tied = !seen.insert(f.parameter->id()).second;
    const std::string field = f.path.substr(f.path.rfind('.') + 1);
    line.shapes += (line.shapes.empty() ? "" : ", ") + field + " " + text_of(f.parameter->shape()) +
                   (tied ? " (tied)" : "") + (f.parameter->trainable() ? "" : " (frozen)");
    if (!tied) line.count += f.parameter->numel();
  });
  std::erase_if(lines, [](const Line& line) { return line.shapes.empty(); });
  return lines;
}

}  // namespace

std::string summary(const Module& module) {
  std::vector<TableRow> rows{{"layer", "type", "parameters", "    count"}};
  Index total = 0;
  for (const Line& line : summary_lines(module)) {
    rows.push_back({line.name, line.module->type_name(), line.shapes, std::to_string(line.count)});
    total += line.count;
  }
  rows.push_back({"total", module.type_name(), "", std::to_string(total)});
  return table_text(rows, "lllr");
}

}  // namespace mote
