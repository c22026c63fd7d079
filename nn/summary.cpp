// Summary, the table of a module's layers and parameters.
#include <algorithm>
#include <iomanip>
#include <set>
#include <sstream>

#include "nn/module.h"

namespace mote {

namespace {

struct Line {
  const Module* module;
  std::string name, shapes;
  Index count = 0;
};

/// A line for each module; a parameter stands in that of the module that lists it.
std::vector<Line> lines_of(const Module& module) {
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
  const std::vector<Line> lines = lines_of(module);
  std::size_t name = 5, type = std::max<std::size_t>(4, module.type_name().size()), shapes = 6;
  Index total = 0;
  for (const Line& line : lines) {
    name = std::max(name, line.name.size());
    type = std::max(type, line.module->type_name().size());
    shapes = std::max(shapes, line.shapes.size());
    total += line.count;
  }
  std::ostringstream text;
  text.imbue(std::locale::classic());
  const auto row = [&](const std::string& a, const std::string& b, const std::string& c, const std::string& count) {
    text << std::left << std::setw(static_cast<int>(name) + 2) << a << std::setw(static_cast<int>(type) + 2) << b
         << std::setw(static_cast<int>(shapes) + 2) << c << std::right << std::setw(9) << count << "\n";
  };
  row("layer", "type", "parameters", "count");
  for (const Line& line : lines) row(line.name, line.module->type_name(), line.shapes, std::to_string(line.count));
  row("total", module.type_name(), "", std::to_string(total));
  return text.str();
}

}  // namespace mote
