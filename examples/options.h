// Command-line options for the example programs: names, defaults, help, and errors of one line.
#pragma once

#include <charconv>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <new>
#include <string>
#include <vector>

/// Options of one program. Each is bound to a variable whose value is its default: options.add("--seed", seed, "...").
/// Given as --name value or --name=value.
class Options {
 public:
  explicit Options(std::string about) : about_(std::move(about)) {}

  void add(const std::string& name, std::int64_t& value, const std::string& help, std::int64_t low = 0,
           std::int64_t high = 1'000'000'000) {
    entries_.push_back({name, help, std::to_string(value), [&value, low, high](const std::string& text) {
                          std::int64_t parsed = 0;
                          if (!parse(text, parsed)) return std::string("is not a whole number");
                          if (parsed < low) return "must be at least " + std::to_string(low);
                          if (parsed > high) return "must be at most " + std::to_string(high);
                          value = parsed;
                          return std::string();
                        }});
  }
  void add(const std::string& name, double& value, const std::string& help, double low = 0) {
    entries_.push_back({name, help, text_of(value), [&value, low](const std::string& text) {
                          double parsed = 0;
                          if (!parse(text, parsed) || parsed != parsed) return std::string("is not a number");
                          if (parsed < low || parsed > 1e9)
                            return "must be at least " + text_of(low) + " and at most 1e9";
                          value = parsed;
                          return std::string();
                        }});
  }
  /// Any text.
  void add(const std::string& name, std::string& value, const std::string& help) {
    entries_.push_back({name, help, value, [&value](const std::string& text) {
                          value = text;
                          return std::string();
                        }});
  }
  /// One word of a list.
  void add(const std::string& name, std::string& value, const std::string& help,
           const std::vector<std::string>& words) {
    std::string list;
    for (const std::string& w : words) list += (list.empty() ? "" : "|") + w;
    entries_.push_back({name, help + " (" + list + ")", value, [&value, words, list](const std::string& text) {
                          for (const std::string& w : words)
                            if (w == text) return value = text, std::string();
                          return "must be one of " + list;
                        }});
  }

  /// Reads the command line. --help prints the options and ends the program with 0; a mistake prints one line on stderr
  /// and ends it with 2.
  void parse_or_exit(int argc, char** argv) const {
    std::vector<std::string> given;
    for (int i = 1; i < argc; ++i) {
      std::string name = argv[i], value;
      if (name == "--help" || name == "-h") help_and_exit(argv[0]);
      const std::size_t equals = name.find('=');
      const bool joined = name.starts_with("--") && equals != std::string::npos;
      if (joined) value = name.substr(equals + 1), name = name.substr(0, equals);
      const Entry* const entry = find(name);
      if (!entry) fail(argv[0], "unknown option " + name + nearest(name));
      for (const std::string& before : given)
        if (before == name) fail(argv[0], name + " is given twice");
      given.push_back(name);
      if (!joined) {
        if (i + 1 == argc) fail(argv[0], name + " needs a value");
        value = argv[++i];
      }
      if (const std::string problem = entry->set(value); !problem.empty())
        fail(argv[0], name + " '" + value + "' " + problem);
    }
  }

 private:
  struct Entry {
    std::string name, help, fallback;
    std::function<std::string(const std::string&)> set;  // returns what is wrong, or nothing
  };

  template <class T>
  static bool parse(const std::string& text, T& value) {
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    return status == std::errc() && end == text.data() + text.size();
  }
  static std::string text_of(double value) {
    char text[32];
    return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
  }
  const Entry* find(const std::string& name) const {
    for (const Entry& e : entries_)
      if (e.name == name) return &e;
    return nullptr;
  }

  static std::size_t distance(const std::string& a, const std::string& b) {  // edits that turn a into b
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
    std::size_t least = 4;
    for (const Entry& e : entries_)
      if (const std::size_t d = distance(name, e.name); d < least) least = d, best = e.name;
    return best.empty() ? " (--help lists them all)" : " (did you mean " + best + "?)";
  }

  [[noreturn]] static void fail(const char* program, const std::string& message) {
    std::cerr << program << ": " << message << "\n";
    std::exit(2);
  }
  [[noreturn]] void help_and_exit(const char* program) const {
    std::size_t width = 6;
    for (const Entry& e : entries_) width = std::max(width, e.name.size());
    std::cout << about_ << "\n\nusage: " << program << " [options]\n\n";
    for (const Entry& e : entries_)
      std::cout << "  " << e.name << std::string(width + 2 - e.name.size(), ' ') << e.help << " [" << e.fallback
                << "]\n";
    std::cout << "  --help" << std::string(width - 4, ' ') << "this text\n";
    std::exit(0);
  }

  std::string about_;
  std::vector<Entry> entries_;
};

/// Runs a program: an error becomes one line on stderr and exit code 1.
template <class Body>
int run_program(const char* name, const Body& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    std::cerr << name << ": there is not enough memory for these sizes\n";
  } catch (const std::exception& e) {
    std::cerr << name << ": " << e.what() << "\n";
  }
  return 1;
}
