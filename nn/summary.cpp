// Summary, the table of a module's layers and parameters.
#include <algorithm>
#include <iomanip>
#include <set>
#include <sstream>

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
  std::erase_if(reader.lines, [](const Line& line) { return line.shapes.empty(); });
  std::size_t name = 5, type = std::max<std::size_t>(4, module.type_name().size()), shapes = 6;
  Index total = 0;
  for (const Line& line : reader.lines) {
    name = std::max(name, line.name.size());
    type = std::max(type, line.type.size());
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
  for (const Line& line : reader.lines) row(line.name, line.type, line.shapes, std::to_string(line.count));
  row("total", module.type_name(), "", std::to_string(total));
  return text.str();
}

}  // namespace mote
