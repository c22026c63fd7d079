// What is here: the plan of the house as a test: who may include whom, how files open, how long they may be, and what
//   must not be in them.
// What is not: headers that compile alone (headers_alone.cmake), symbols of kernels (symbols.cmake).
// Read next: ../CMakeLists.txt.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

const fs::path root = MOTE_SOURCE_DIR;

/// Levels, lowest first; a file includes its own level and those below. The longest path that a file's begins with
/// counts.
const std::vector<std::pair<int, Names>> levels{
    {0, {"engine/real.h", "engine/check.h", "engine/env.", "engine/shape.h", "engine/math", "engine/nested.h"}},
    {1,
     {"engine/random", "engine/parallel.", "engine/storage.", "engine/kernels/", "engine/flat.h", "engine/tokens.h",
      "engine/mask.h"}},
    {2, {"engine/array"}},
    {3, {"engine/tensor.h", "engine/backward_rule.h", "engine/node.h", "engine/graph", "engine/observer."}},
    {4, {"engine/ops/"}},
    {5,
     {"engine/gradcheck.", "engine/print.", "engine/json.", "engine/file.", "engine/safetensors.", "engine/engine.h"}},
    {6, {"nn/"}},
    {7, {"models/", "train/"}},
    {8, {"examples/", "tests/"}},
};

/// Above 260 lines, and why.
const std::map<std::string, std::string> long_files{};

int level(const std::string& file) {
  std::size_t longest = 0;
  int found = -1;
  for (const auto& [number, starts] : levels)
    for (const std::string& start : starts)
      if (start.size() > longest && file.rfind(start, 0) == 0) longest = start.size(), found = number;
  return found;
}

Names lines_of(const std::string& file) {
  std::ifstream in(root / file);
  REQUIRE_MESSAGE(in.good(), "cannot read ", file);
  Names lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Every header and source of these folders, sorted, as paths from the root.
Names files(const Names& folders) {
  Names found;
  for (const std::string& folder : folders) {
    if (!fs::exists(root / folder)) continue;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string end = entry.path().extension().string();
      if (end == ".h" || end == ".cpp") found.push_back(fs::relative(entry.path(), root).generic_string());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

const Names library{"engine", "nn", "models", "train"};
const Names everything{"engine", "nn", "models", "train", "examples", "tests"};

/// The files that `file` includes: in quotes (open '"') or from the system (open '<').
Names includes(const std::string& file, char open) {
  static const std::regex form("^\\s*#\\s*include\\s*([\"<])([^\">]+)[\">]");
  Names found;
  std::smatch parts;
  for (const std::string& line : lines_of(file))
    if (std::regex_search(line, parts, form) && parts[1].str()[0] == open) found.push_back(parts[2]);
  return found;
}

bool in_folder(const std::string& file, const std::string& folder) { return file.rfind(folder + "/", 0) == 0; }

TEST_CASE("architecture: every file has a level, and the tree is where it is looked for") {
  CHECK(files(library).size() > 60);
  for (const std::string& file : files(everything))
    CHECK_MESSAGE(level(file) >= 0, file, " has no level: give it one in tests/architecture_test.cpp");
}

TEST_CASE("architecture: includes point downwards, to files that exist, by their path from the root") {
  for (const std::string& file : files(everything))
    for (const std::string& target : includes(file, '"')) {
      CHECK_MESSAGE(fs::exists(root / target), file, " includes \"", target, "\", which is no path from the root");
      CHECK_MESSAGE(level(target) <= level(file), file, " (level ", level(file), ") includes ", target, " (level ",
                    level(target), ")");
      const bool strangers = (in_folder(file, "models") && in_folder(target, "train")) ||
                             (in_folder(file, "train") && in_folder(target, "models"));
      CHECK_MESSAGE(!strangers, file, " includes ", target, ": models and train do not know each other");
    }
}

TEST_CASE("architecture: kernels know pointers and sizes, nothing else") {
  const std::set<std::string> quoted{"engine/real.h", "engine/kernels/kernels.h", "engine/math_formulas.h",
                                     "engine/math_constants.h", "engine/math_trig.h"};
  const std::set<std::string> system{"cstddef", "cstdint", "cstring", "immintrin.h", "emmintrin.h", "arm_neon.h"};
  for (const std::string& file : files({"engine/kernels/target"})) {
    for (const std::string& target : includes(file, '"'))
      CHECK_MESSAGE((in_folder(target, "engine/kernels/target") || quoted.contains(target)), file, " includes ",
                    target);
    for (const std::string& target : includes(file, '<'))
      CHECK_MESSAGE(system.contains(target), file, " includes <", target,
                    ">: inline functions from there could be emitted with a wider instruction set");
  }
}

TEST_CASE("architecture: no header includes itself, over whatever way") {
  std::map<std::string, int> state;  // 1: being looked at, 2: done
  const std::function<void(const std::string&, const std::string&)> look = [&](const std::string& file,
                                                                               const std::string& way) {
    CHECK_MESSAGE(state[file] != 1, "a circle of includes: ", way);
    if (state[file] != 0 || !fs::exists(root / file)) return;
    state[file] = 1;
    for (const std::string& target : includes(file, '"')) look(target, way + " -> " + target);
    state[file] = 2;
  };
  for (const std::string& file : files(everything)) look(file, file);
}

/// "": well opened; else what is missing.
std::string opening_fault(const std::string& file) {
  const Names wanted{"// What is here:", "// What is not:", "// Read next:"};
  std::size_t found = 0, line = 0;
  const Names lines = lines_of(file);
  for (; line < lines.size() && lines[line].rfind("//", 0) == 0; ++line)
    if (found < 3 && lines[line].find(wanted[found].substr(3)) != std::string::npos) {
      while (found < 3 && lines[line].find(wanted[found].substr(3)) != std::string::npos) ++found;
    }
  if (lines.empty() || lines[0].rfind(wanted[0], 0) != 0) return "does not open with \"" + wanted[0] + "\"";
  if (found < 3) return "has no line \"" + wanted[found] + "\" at its beginning";
  if (file.ends_with(".h") && (line >= lines.size() || lines[line] != "#pragma once"))
    return "has no #pragma once right after its first comment";
  return "";
}

TEST_CASE("architecture: every file opens with what is here, what is not, and what to read next") {
  for (const std::string& file : files(everything)) {
    const std::string fault = opening_fault(file);
    CHECK_MESSAGE(fault.empty(), file, " ", fault);
  }
}

TEST_CASE("architecture: no file above 260 lines but those with a reason") {
  for (const std::string& file : files(library)) {
    const std::size_t n = lines_of(file).size();
    if (long_files.contains(file))
      CHECK_MESSAGE(n > 240, file, " has ", n, " lines: its exception can go");
    else
      CHECK_MESSAGE(n <= 260, file, " has ", n, " lines");
  }
}

/// Fails for each line of code (not of comment) in `folders` that has one of `words`.
void forbid(const Names& folders, const Names& words, const std::string& why) {
  for (const std::string& file : files(folders)) {
    const Names lines = lines_of(file);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string code = lines[i].substr(0, lines[i].find("//"));
      for (const std::string& word : words)
        CHECK_MESSAGE(code.find(word) == std::string::npos, file, ":", i + 1, " has ", word, ": ", why);
    }
  }
}

TEST_CASE("architecture: nothing whose result the standard leaves open") {
  forbid(library, {"<random>", "_distribution<", "std::random_device", "std::mt19937"},
         "draws come from engine/random.h");
  forbid(library, {"<execution>", "std::reduce", "std::transform_reduce", "#pragma omp"},
         "its order of adding is open");
  forbid(library, {"<unordered_map>", "<unordered_set>", "std::hash"}, "its order differs between libraries");
  forbid(library, {"fast-math", "_MM_SET_FLUSH_ZERO_MODE", "fesetround"}, "it changes bits behind everybody's back");
}

TEST_CASE("architecture: the library never prints or exits by itself") {
  const Names folders{"nn", "models", "train"};
  forbid(folders, {"std::cout", "std::cerr", "printf(", "exit(", "abort("}, "reports take a stream, errors are thrown");
  forbid({"engine"}, {"std::cout", "std::exit(", "std::abort("}, "reports take a stream, errors are thrown");
}

}  // namespace
