// Command-line options for the example programs, from the fields of configs: names, defaults, help, one-line errors.
#pragma once

#include <algorithm>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "engine/base/fields.h"
#include "examples/program.h"

/// Options of one program, in groups. Every field of a group's config is an option, its value the default. Given as
/// --name value or --name=value; a value that begins with -- needs the second form.
class Options {
 public:
  explicit Options(std::string about) : about_(std::move(about)) {}

  /// Adds all fields of `config`, which receives the values and must outlive this. The help prints `title` above them.
  template <class Config>
  void add(const std::string& title, Config& config) {
    add(
        title, [&config] { return mote::fields(config); },
        [&config](const std::string& name, const std::string& text) { mote::set_field(config, name, text); });
  }
  /// Adds a group whose config does not exist yet: functions that list its fields and take a value.
  void add(const std::string& title, const std::function<std::vector<mote::Field>()>& fields,
           const std::function<void(const std::string& name, const std::string& text)>& set) {
    groups_.push_back({title, fields, set});
  }
  /// A last line of the help.
  void note(const std::string& text) { note_ = text; }
  /// The end of the error for an unknown option: "unknown option --window for --task repeat".
  void context(const std::string& text) { context_ = text; }

  /// The value of an option, for programs whose other options depend on it; `fallback` if it is not given.
  static std::string peek(int argc, char** argv, const std::string& name, const std::string& fallback) {
    for (const Given& given : read(argc, argv))
      if (given.name == name && given.has_value) return given.value;
    return fallback;
  }

  /// Reads the command line; false if it asked for --help, which is then printed. Errors: a mistake is a UsageError.
  [[nodiscard]] bool parse(int argc, char** argv) const {
    std::vector<std::string> seen;
    bool help = false;
    for (const Given& given : read(argc, argv)) {
      if (given.name == "--help" || given.name == "-h") {
        help = true;
        continue;
      }
      const Group* const group = find(given.name);
      if (!group) throw UsageError("unknown option " + given.name + context_ + nearest(given.name));
      if (std::count(seen.begin(), seen.end(), given.name)) throw UsageError(given.name + " is given twice");
      seen.push_back(given.name);
      if (!given.has_value) throw UsageError(given.name + " needs a value");
      try {
        group->set(given.name.substr(2), given.value);
      } catch (const mote::Error& e) {
        throw UsageError("--" + std::string(e.what()));
      }
    }
    if (help) print_help(argv[0]);
    return !help;
  }

 private:
  struct Group {
    std::string title;
    std::function<std::vector<mote::Field>()> fields;
    std::function<void(const std::string&, const std::string&)> set;
  };
  struct Given {
    std::string name, value;
    bool has_value;
  };

  static std::vector<Given> read(int argc, char** argv) {
    std::vector<Given> all;
    for (int i = 1; i < argc; ++i) {
      const std::string text = argv[i];
      const std::size_t equals = text.find('=');
      if (text.starts_with("--") && equals != std::string::npos)
        all.push_back({text.substr(0, equals), text.substr(equals + 1), true});
      else if (text == "--help" || text == "-h" || !text.starts_with("--") || i + 1 == argc ||
               std::string(argv[i + 1]).starts_with("--"))
        all.push_back({text, "", false});
      else
        all.push_back({text, argv[++i], true});
    }
    return all;
  }
  const Group* find(const std::string& name) const {
    for (const Group& group : groups_)
      for (const mote::Field& f : group.fields())
        if (name == "--" + f.name) return &group;
    return nullptr;
  }

  static std::size_t distance(const std::string& a, const std::string& b) {  // edits that change a into b
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j <= b.size(); ++j) {
        const std::size_t change = diagonal + (a[i - 1] != b[j - 1]);
        diagonal = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
      }
    }
    return row[b.size()];
  }
  std::string nearest(const std::string& name) const {
    std::string best;
    std::size_t least = std::min<std::size_t>(4, (name.size() + 3) / 3);  // few edits, for a short name fewer
    for (const Group& group : groups_)
      for (const mote::Field& f : group.fields())
        if (const std::size_t d = distance(name, "--" + f.name); d < least) {
          least = d;
          best = "--" + f.name;
        }
    return best.empty() ? " (--help lists them all)" : " (did you mean " + best + "?)";
  }

  void print_help(const char* program) const {
    std::size_t width = 4;
    for (const Group& group : groups_)
      for (const mote::Field& f : group.fields()) width = std::max(width, f.name.size());
    const auto line = [width](const std::string& name, const std::string& text) {
      std::cout << "  --" << name << std::string(width + 2 - name.size(), ' ') << text << "\n";
    };
    std::cout << about_ << "\n\nusage: " << program << " [options]\n";
    for (const Group& group : groups_) {
      std::cout << "\n" << group.title << "\n";
      for (const mote::Field& f : group.fields())
        line(f.name, f.help + (f.words.empty() ? "" : " (" + f.words + ")") + " [" + f.value + "]");
    }
    std::cout << "\n";
    line("help", "this text");
    if (!note_.empty()) std::cout << "\n" << note_ << "\n";
  }

  std::string about_, note_, context_;
  std::vector<Group> groups_;
};
