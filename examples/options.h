// Options of the example programs, from the fields of configs: names, defaults, help, one-line errors; given on the
// command line, and in a file.
#pragma once

#include <algorithm>
#include <cctype>
#include <functional>
#include <initializer_list>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "engine/io/files/file.h"
#include "engine/io/text/fields.h"
#include "examples/program.h"

/// What a program was given: --name value or --name=value, or of an option that is true or false --name alone. A value
/// that begins with -- is only taken after =.
class CommandLine {
 public:
  struct Given {
    std::string name, value;  ///< with its --
    bool has_value = false;
    std::string where = {};  ///< of a line of a file its name and number, as errors begin: "FILE:3: "
  };

  CommandLine(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      const std::string text = argv[i];
      const std::size_t equals = text.find('=');
      const bool value_follows = i + 1 < argc && !std::string(argv[i + 1]).starts_with("--");
      if (text.starts_with("--") && equals != std::string::npos)
        given_.push_back({text.substr(0, equals), text.substr(equals + 1), true});
      else if (text == "--help" || text == "-h" || !text.starts_with("--") || !value_follows)
        given_.push_back({text, ""});
      else
        given_.push_back({text, argv[++i], true});
    }
  }

  std::vector<Given>& all() { return given_; }
  const std::vector<Given>& all() const { return given_; }
  bool has(const std::string& name) const {
    return std::any_of(given_.begin(), given_.end(), [&](const Given& g) { return g.name == name; });
  }
  /// The value of an option, for programs whose other options depend on it; `fallback` if it is not given.
  std::string peek(const std::string& name, const std::string& fallback) const {
    for (const Given& g : given_)
      if (g.name == name && g.has_value) return g.value;
    return fallback;
  }

  /// Adds what a file says, line by line: key = value, as nanoGPT's config files have it: # begins a comment, texts may
  /// stand in quotes, True and False are true and false, None is as if not given. `rename` may give a line another
  /// name. Where both name an option, the command line wins. Errors: a UsageError that names file and line; also of
  /// `reserved`, options that a file cannot give.
  void add_file(const std::string& path, std::initializer_list<std::string> reserved,
                const std::function<void(Given&)>& rename) {
    std::string text = checked_usage([&] { return mote::read_file(path, 1 << 20); });
    if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);  // a byte order mark, as Windows' editors write it
    std::vector<Given> lines;
    for (std::size_t at = 0, number = 1; at < text.size(); ++number) {
      const std::size_t stop = std::min(text.find('\n', at), text.size());
      const std::string where = path + ":" + std::to_string(number) + ": ";
      Given line = setting(text.substr(at, stop - at), where);
      at = stop + 1;
      if (line.name.empty()) continue;  // or None: not given
      rename(line);
      for (const std::string& name : reserved)
        if (line.name == name) throw UsageError(where + name.substr(2) + " is for the command line");
      for (const Given& other : lines)
        if (other.name == line.name) throw UsageError(where + line.name.substr(2) + " is given twice");
      lines.push_back(std::move(line));
    }
    std::erase_if(lines, [this](const Given& line) { return has(line.name); });
    given_.insert(given_.begin(), lines.begin(), lines.end());
  }

 private:
  static std::string trimmed(const std::string& text) {
    const std::size_t first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
    return first == std::string::npos ? "" : text.substr(first, last - first + 1);
  }
  /// A line as an option, without a name if it is empty.
  static Given setting(const std::string& line, const std::string& where) {
    const std::size_t comment = line.find('#'), equals = line.find('=');
    const std::string key = trimmed(line.substr(0, std::min(equals, comment)));
    if (key.empty() && comment < equals) return {};
    if (key.empty() && trimmed(line).empty()) return {};
    std::string value = equals < comment ? trimmed(line.substr(equals + 1)) : "";
    const bool word = std::all_of(key.begin(), key.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
    if (key.empty() || !word || value.empty())
      throw UsageError(where + "a line is key = value, or a comment that begins with #");
    if (!value.empty() && (value[0] == '\'' || value[0] == '"')) {
      const std::size_t end = value.find(value[0], 1);
      const std::string rest = end == std::string::npos ? "" : trimmed(value.substr(end + 1));
      if (end == std::string::npos || !(rest.empty() || rest[0] == '#'))
        throw UsageError(where + "a quote is not closed");
      value = value.substr(1, end - 1);
    } else {
      value = trimmed(value.substr(0, value.find('#')));
      if (value.empty()) throw UsageError(where + key + " has no value");
      if (value == "None") return {};
      value = value == "True" ? "true" : value == "False" ? "false" : value;
    }
    return {"--" + key, value, true, where};
  }

  std::vector<Given> given_;
};

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

  static std::string peek(int argc, char** argv, const std::string& name, const std::string& fallback) {
    return CommandLine(argc, argv).peek(name, fallback);
  }

  /// Takes what was given; false if that asks for --help, which is then printed. Errors: a mistake is a UsageError.
  [[nodiscard]] bool parse(int argc, char** argv) const { return parse(argv[0], CommandLine(argc, argv)); }
  [[nodiscard]] bool parse(const char* program, const CommandLine& line) const {
    std::vector<std::string> seen;
    bool help = false;
    for (const CommandLine::Given& given : line.all()) {
      if (given.name == "--help" || given.name == "-h") {
        help = true;
        continue;
      }
      // As its reader wrote it: in a file without the dashes.
      const std::string shown = given.where + given.name.substr(given.where.empty() ? 0 : 2);
      const auto [group, field] = find(given.name);
      if (!group)
        throw UsageError(given.where + "unknown option " + given.name.substr(given.where.empty() ? 0 : 2) + context_ +
                         nearest(given.name));
      if (std::count(seen.begin(), seen.end(), given.name)) throw UsageError(shown + " is given twice");
      seen.push_back(given.name);
      const bool is_switch = field.words == "true|false";
      if (!given.has_value && !is_switch) throw UsageError(shown + " needs a value");
      try {
        group->set(field.name, given.has_value ? given.value : "true");
      } catch (const mote::Error& e) {
        throw UsageError(given.where + (given.where.empty() ? "--" : "") + std::string(e.what()));
      }
    }
    if (help) print_help(program);
    if (help) return false;
    for (const std::string& name : seen)
      if (const std::string needs = find(name).second.use.needs; !needs.empty())
        throw UsageError(name + " is for " + needs);
    return true;
  }

 private:
  struct Group {
    std::string title;
    std::function<std::vector<mote::Field>()> fields;
    std::function<void(const std::string&, const std::string&)> set;
  };
  /// The field of this name and its group, or null.
  std::pair<const Group*, mote::Field> find(const std::string& name) const {
    for (const Group& group : groups_)
      for (const mote::Field& f : group.fields())
        if (name == "--" + f.name) return {&group, f};
    return {nullptr, {}};
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
    // What others call them.
    for (const auto& [theirs, ours] : {std::pair("lr", "learning_rate"),
                                       {"steps", "max_iters"},
                                       {"iters", "max_iters"},
                                       {"epochs", "max_iters"},
                                       {"batch", "batch_size"},
                                       {"layers", "n_layer"},
                                       {"heads", "n_head"},
                                       {"width", "n_embd"},
                                       {"d_model", "n_embd"},
                                       {"context", "block_size"},
                                       {"wd", "weight_decay"},
                                       {"output", "out_dir"}})
      if (name == "--" + std::string(theirs) && find("--" + std::string(ours)).first)
        return " (did you mean --" + std::string(ours) + "?)";
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
        if (f.use.needs.empty())  // else it has no effect beside the others
          line(f.name, f.help + (f.words.empty() ? "" : " (" + f.words + ")") + " [" + f.value + "]");
    }
    std::cout << "\n";
    line("help", "this text");
    if (!note_.empty()) std::cout << "\n" << note_ << "\n";
  }

  std::string about_, note_, context_;
  std::vector<Group> groups_;
};
