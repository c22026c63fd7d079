// Options of the example programs. Names, defaults and help come from the fields of configs. Options are given on the
// command line or in a file. An error is one line.
#pragma once

#include <algorithm>
#include <cctype>
#include <functional>
#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/table.h"
#include "engine/io/files/file.h"
#include "engine/io/text/utf8_stream.h"
#include "examples/programs/program.h"
#include "nn/fields.h"

namespace mote {

/// The options and words that a program was given. An option is --name value or --name=value. An option that is true
/// or false may also be --name alone. A value that begins with -- is only taken after =.
struct CommandLine {
  struct Given {
    std::string name, value = {};
    bool has_value = false;
    std::string where = {};  ///< what errors say before the name: "--", or "FILE:3: "; "" for a word that is no option
    bool separate = false;   ///< the value is a word of its own, not behind =
    bool is_word() const { return where.empty() && !name.starts_with("-"); }
  };
  std::string program;
  std::vector<Given> given = {};
  bool help = false;  ///< --help or -h

  CommandLine(int argc, char** argv) : program(argv[0]) {
    for (int i = 1; i < argc; ++i) {
      const std::string text = argv[i];
      const std::size_t equals = text.find('=');
      if (text == "--help" || text == "-h")
        help = true;
      else if (!text.starts_with("--"))
        given.push_back({text});
      else if (equals != text.npos)
        given.push_back({text.substr(2, equals - 2), text.substr(equals + 1), true, "--"});
      else if (i + 1 < argc && !std::string(argv[i + 1]).starts_with("--"))
        given.push_back({text.substr(2), argv[++i], true, "--", true});
      else
        given.push_back({text.substr(2), "", false, "--"});
    }
  }

  bool has(const std::string& name) const {
    return std::any_of(given.begin(), given.end(), [&](const Given& g) { return g.name == name; });
  }
  /// Returns the value of an option, or `fallback` if the option is not given. Programs call it for options that decide
  /// which other options exist.
  std::string peek(const std::string& name, const std::string& fallback) const {
    for (const Given& g : given)
      if (g.name == name && g.has_value) return g.value;
    return fallback;
  }

  /// Adds the options in a file, in which each line is key = value, as in nanoGPT's config files. # begins a comment,
  /// and texts may stand in quotes. True and False are true and false, None leaves the option out, and 5 * 8 is 40.
  /// decay_lr = True is the schedule cosine, and False is constant. An option that is also on the command line is not
  /// taken from the file. Errors: one UsageError that names the file and the line of every mistake. The options config
  /// and resume may not be in a file.
  void add_file(const std::string& path) {
    std::string text = checked_usage([&] { return read_file(path, 1 << 20); });
    if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);  // a byte order mark, as Windows' editors write it
    std::vector<Given> lines;
    std::istringstream in(text);
    std::string line, problems;
    for (int number = 1; std::getline(in, line); ++number) {
      try {
        const Given g = setting(line, path + ":" + std::to_string(number) + ": ");
        if (g.name == "config" || g.name == "resume") throw UsageError(g.where + g.name + " is for the command line");
        if (!g.name.empty() && !has(g.name)) lines.push_back(g);
      } catch (const UsageError& e) {
        problems += (problems.empty() ? "" : "; ") + std::string(e.what());
      }
    }
    if (!problems.empty()) throw UsageError(problems);
    given.insert(given.begin(), lines.begin(), lines.end());
  }

  /// Checks that the paths `names`, if they are given, are not empty. Errors: a UsageError.
  void check_paths(const std::vector<std::string>& names) const {
    for (const std::string& name : names)
      if (peek(name, "?").empty()) throw UsageError("--" + name + " needs a path");
  }

  /// Separates the names of `tasks` from options that are true or false, whose names are `flags`. So `--diagnose copy`
  /// is the option --diagnose and the word copy. Errors: a UsageError if another word is behind such an option.
  void split_flags(const std::vector<std::string>& flags, const std::vector<std::string>& tasks) {
    const auto among = [](const std::vector<std::string>& all, const std::string& name) {
      return std::find(all.begin(), all.end(), name) != all.end();
    };
    std::vector<Given> all;
    for (const Given& g : given) {
      const bool word = among(flags, g.name) && g.separate && g.value != "true" && g.value != "false";
      all.push_back(g);
      if (!word) continue;
      if (!among(tasks, g.value))
        throw UsageError("--" + g.name + " is a flag, and '" + g.value + "' behind it is none of " +
                         "true, false and the tasks: give it a value as in --" + g.name + "=false");
      all.back().value.clear();
      all.back().has_value = false;
      all.push_back({g.value});
    }
    given = all;
  }

 private:
  static std::string trimmed(const std::string& text) {
    const std::size_t first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
    return first == std::string::npos ? "" : text.substr(first, last - first + 1);
  }
  /// Returns the product of whole numbers that have * between them, so "5 * 8" gives "40". Returns any other text as it
  /// is.
  static std::string product(const std::string& text) {
    Index result = 1;
    std::istringstream in(text);
    std::string factor;
    while (std::getline(in, factor, '*')) {
      const std::string digits = trimmed(factor);
      const bool whole = !digits.empty() && digits.size() <= 9 && digits.find_first_not_of("0123456789") == text.npos;
      if (!whole || result > 1'000'000'000) return text;
      result *= std::stoll(digits);
    }
    return text.find('*') == text.npos ? text : std::to_string(result);
  }
  /// The option on a line of a file. Its name is empty if the line has no option.
  static Given setting(const std::string& line, const std::string& where) {
    const std::string all = trimmed(line);
    if (all.empty() || all[0] == '#') return {};
    const std::size_t equals = all.find('=');
    const std::string key = trimmed(all.substr(0, equals));
    const bool word = std::all_of(key.begin(), key.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
    if (key.empty() || !word || equals == all.npos)
      throw UsageError(where + "a line must be key = value, or a comment that begins with #");

    std::string value = trimmed(all.substr(equals + 1));
    if (!value.empty() && (value[0] == '\'' || value[0] == '"')) {  // a # in quotes begins no comment
      const std::size_t end = value.find(value[0], 1);
      if (end == value.npos) throw UsageError(where + "a quote is not closed");
      const std::string rest = trimmed(value.substr(end + 1));
      if (!rest.empty() && rest[0] != '#')
        throw UsageError(where + "after the closing quote only a comment may follow, not " + rest);
      return {key, value.substr(1, end - 1), true, where};
    }
    value = trimmed(value.substr(0, value.find('#')));
    if (value.empty()) throw UsageError(where + key + " has no value");
    if (value == "None") return {};
    if (value == "True" || value == "False") value[0] = static_cast<char>(std::tolower(value[0]));
    if (key == "decay_lr" && (value == "true" || value == "false"))  // nanoGPT's setting for the schedule
      return {"schedule", value == "true" ? "cosine" : "constant", true, where};
    return {key, product(value), true, where};
  }
};

/// Options of one program, in groups. Every field of a group's config is an option with the field's value as default.
class Options {
 public:
  explicit Options(std::string about) : about_(std::move(about)) {}
  std::string usage = "[options]";  ///< what the help shows behind the program's name
  std::string note = {};            ///< the end of the help
  std::string context = {};         ///< added to an unknown option's error: "unknown option --window for --task repeat"

  /// Adds all fields of `config`, which receives the values and must outlive this object. The help prints `title`
  /// above them.
  template <class Config>
  void add(const std::string& title, Config& config) {
    add(
        title, [&config] { return fields(config); },
        [&config](const std::string& name, const std::string& text) { set_field(config, name, text); });
  }
  /// Adds a group without a config. `fields` lists its fields, and `set` takes the text of a value.
  void add(const std::string& title, const std::function<std::vector<Field>()>& fields,
           const std::function<void(const std::string& name, const std::string& text)>& set) {
    groups_.push_back({title, fields, set});
  }

  /// Sets the options that were given. If --help is among them, prints the help and returns false. Errors: one
  /// UsageError with all mistakes.
  [[nodiscard]] bool parse(const CommandLine& line) const {
    std::string problems;
    std::set<std::string> seen;
    for (const CommandLine::Given& g : line.given) {
      try {
        take(g, seen.insert(g.name).second);
      } catch (const UsageError& e) {
        problems += (problems.empty() ? "" : "; ") + std::string(e.what());
      }
    }
    if (line.help && problems.empty()) print_help(line.program);
    for (const CommandLine::Given& g : line.given)
      if (const std::string needs = find(g.name).second.use.needs; !line.help && !needs.empty())
        problems += (problems.empty() ? "" : "; ") + g.where + g.name + " is for " + needs;
    if (!problems.empty()) throw UsageError(problems);
    return !line.help;
  }

 private:
  struct Group {
    std::string title;
    std::function<std::vector<Field>()> fields;
    std::function<void(const std::string&, const std::string&)> set;
  };
  void take(const CommandLine::Given& g, bool first) const {
    const auto [group, field] = find(g.where.empty() ? "" : g.name);
    const bool in_file = g.where.size() > 2;
    if (!group)
      throw UsageError((in_file ? g.where : "") + "unknown option " + (in_file ? "" : g.where) + g.name + context +
                       nearest(g.name));
    if (!first) throw UsageError(g.where + g.name + " is given twice");
    if (!g.has_value && field.words != "true|false") throw UsageError(g.where + g.name + " needs a value");
    try {
      group->set(field.name, g.has_value ? g.value : "true");
    } catch (const Error& e) {
      throw UsageError(g.where + e.what());
    }
  }
  /// The group that has a field of this name, and the field. The group is null if there is none.
  std::pair<const Group*, Field> find(const std::string& name) const {
    for (const Group& group : groups_)
      for (const Field& f : group.fields())
        if (name == f.name) return {&group, f};
    return {nullptr, {}};
  }

  std::string nearest(const std::string& name) const {
    static constexpr const char* others[][2] = {
        {"lr", "learning_rate"}, {"steps", "max_iters"}, {"iters", "max_iters"}, {"epochs", "max_iters"},
        {"batch", "batch_size"}, {"layers", "n_layer"},  {"heads", "n_head"},    {"width", "n_embd"},
        {"d_model", "n_embd"},   {"output", "out_dir"},  {"wd", "weight_decay"}, {"context", "block_size"}};
    for (const auto& [theirs, ours] : others)
      if (name == theirs && find(ours).first) return std::string(" (did you mean --") + ours + "?)";
    std::string best;
    std::size_t least = std::min<std::size_t>(3, name.size());
    for (const Group& group : groups_)
      for (const Field& f : group.fields())
        if (const std::size_t d = distance(name, f.name); d < least) {
          least = d;
          best = f.name;
        }
    return best.empty() ? " (--help lists them all)" : " (did you mean --" + best + "?)";
  }

  void print_help(const std::string& program) const {
    std::vector<TableRow> rows{{about_ + "\n\nusage: " + program + " " + usage}};
    for (const Group& group : groups_) {
      rows.push_back({"\n" + group.title});
      for (const Field& f : group.fields())
        if (f.use.needs.empty())  // hides options that need another setting to have an effect
          rows.push_back({"  --" + f.name, f.help + (f.words.empty() ? "" : " (" + f.words + ")") + " [" +
                                               readable_text(f.value, "") + "]"});
    }
    rows.insert(rows.end(), {{""}, {"  --help", "this text"}});
    if (!note.empty()) rows.push_back({"\n" + note});
    std::cout << table_text(rows);
  }

  std::string about_;
  std::vector<Group> groups_;
};

}  // namespace mote
