// The plan of the house as a test: who may include whom, how files open, and what must not be in them.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

const fs::path root = MOTE_SOURCE_DIR;

/// The floors of the house, lowest first. A folder is a level: a file includes its own folder and the ones before it,
/// and of the last three lines also what stands beside it, but for models and train, which do not know each other. A
/// new file needs no line here; it lies in a folder.
const std::vector<Names> levels{
    {"engine/base"},     {"engine/kernels"},  {"engine/array"}, {"engine/autograd"}, {"engine/ops"},
    {"engine/io/text"},  {"engine/io/files"}, {"engine/watch"}, {"engine"},          {"nn"},
    {"models", "train"}, {"examples"},        {"tests"},
};

/// The level of the innermost folder of the list that `file` lies in; -1: in none.
int level(const std::string& file) {
  for (fs::path folder = fs::path(file).parent_path(); !folder.empty(); folder = folder.parent_path())
    for (std::size_t i = 0; i < levels.size(); ++i)
      for (const std::string& name : levels[i])
        if (folder == name) return static_cast<int>(i);
  return -1;
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
    CHECK_MESSAGE(level(file) >= 0, file, " lies in a folder that is no level of the house");
}

TEST_CASE("architecture: includes point downwards, to files that exist, by their path from the root") {
  for (const std::string& file : files(everything)) {
    if (in_folder(file, "examples/starter") || in_folder(file, "tests/consumer")) continue;  // projects of others
    for (const std::string& target : includes(file, '"')) {
      CHECK_MESSAGE(fs::exists(root / target), file, " includes \"", target, "\", which is no path from the root");
      CHECK_MESSAGE(level(target) <= level(file), file, " (level ", level(file), ") includes ", target, " (level ",
                    level(target), ")");
      const bool strangers = (in_folder(file, "models") && in_folder(target, "train")) ||
                             (in_folder(file, "train") && in_folder(target, "models"));
      CHECK_MESSAGE(!strangers, file, " includes ", target, ": models and train do not know each other");
      const bool graph = in_folder(target, "engine/autograd") || in_folder(target, "engine/ops");
      CHECK_MESSAGE(!(in_folder(file, "engine/io") && graph), file, " includes ", target,
                    ": files do not know the graph");
    }
  }
}

TEST_CASE("architecture: kernels know pointers and sizes, nothing else") {
  const std::set<std::string> quoted{"engine/base/real.h",           "engine/kernels/kernels.h",
                                     "engine/kernels/gemm.h",        "engine/kernels/mersenne.h",
                                     "engine/base/math_constants.h", "engine/base/math_trig.h"};
  // Of <type_traits> and <utility> types alone are used; the test kernel_symbols sees what is not inlined.
  const std::set<std::string> system{"cstddef", "cstdint",     "cstring",     "type_traits",
                                     "utility", "immintrin.h", "emmintrin.h", "arm_neon.h", "wasm_simd128.h"};
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

TEST_CASE("architecture: a folder's index includes all its headers, or headers that include them") {
  const std::vector<std::string> indexes{"engine/ops/ops.h", "nn/nn.h", "models/models.h", "train/train.h"};
  // A task's header is for the list of tasks alone; the inner headers are for one .cpp of their folder.
  const std::set<std::string> folders{"engine/ops", "nn", "models", "models/tutorials", "train"};
  const std::set<std::string> inner{"engine/ops/attention_pass.h", "train/report/page_parts.h"};
  for (const std::string& index : indexes) {
    const std::string folder = fs::path(index).parent_path().generic_string();
    std::set<std::string> reached;
    const std::function<void(const std::string&)> reach = [&](const std::string& file) {
      if (!reached.insert(file).second) return;
      for (const std::string& target : includes(file, '"')) reach(target);
    };
    reach(index);
    for (const std::string& file : files({folder}))
      if (file.ends_with(".h") && folders.contains(fs::path(file).parent_path().generic_string()) &&
          !inner.contains(file))
        CHECK_MESSAGE(reached.contains(file), index, " does not include ", file);
  }
}

TEST_CASE("architecture: every file opens with lines that say what is here") {
  for (const std::string& file : files(everything)) {
    const Names lines = lines_of(file);
    std::size_t n = 0;
    while (n < lines.size() && lines[n].starts_with("//")) ++n;
    CHECK_MESSAGE(n >= 1, file, " opens with no line of comment");
    if (file.ends_with(".h")) CHECK_MESSAGE(lines[n] == "#pragma once", file, " has no #pragma once after its opening");
  }
}

TEST_CASE("architecture: no line above 120 characters but in a page and in a table that a program printed") {
  const std::set<std::string> except{"train/report/page_parts.h", "train/text/unicode_tables.h"};
  const auto is_first_byte = [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; };
  for (const std::string& file : files(everything)) {
    if (except.contains(file) || in_folder(file, "tests/vectors")) continue;
    const Names lines = lines_of(file);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto characters = std::count_if(lines[i].begin(), lines[i].end(), is_first_byte);
      if (characters > 120) FAIL_CHECK(file, ":", i + 1, " has ", characters, " characters");
    }
  }
}

/// Fails for each line of code (not of comment) in `folders`, but for the files `except`, that has one of `words`.
void forbid(const Names& folders, const Names& words, const std::string& why,
            const std::set<std::string>& except = {}) {
  for (const std::string& file : files(folders)) {
    if (except.contains(file)) continue;
    const Names lines = lines_of(file);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].starts_with("#error")) continue;  // a message that names what it forbids
      const std::string code = lines[i].substr(0, lines[i].find("//"));
      for (const std::string& word : words)
        CHECK_MESSAGE(code.find(word) == std::string::npos, file, ":", i + 1, " has ", word, ": ", why);
    }
  }
}

TEST_CASE("architecture: nothing that a compiler we promise does not have") {
  forbid(library, {"std::ranges", "std::views", "std::format", "std::bit_cast"}, "Debian's Emscripten has none");
}

TEST_CASE("architecture: nothing whose result the standard leaves open") {
  forbid(library, {"<random>", "_distribution<", "std::random_device", "std::mt19937"},
         "draws come from engine/array/random.h");
  forbid(library, {"<execution>", "std::reduce", "std::transform_reduce", "#pragma omp"},
         "its order of adding is open");
  forbid(library, {"snprintf", "sscanf", "strtod", "strtof", "std::stod", "std::stof", "atof("},
         "it follows the locale: engine/base/number_text.h does not");
  forbid(library, {"<unordered_map>", "<unordered_set>", "std::hash"}, "its order differs between libraries");
  forbid(library, {"fast-math", "_MM_SET_FLUSH_ZERO_MODE"}, "it changes bits behind everybody's back");
  // The thread pool's workers take over the mode of whoever calls them: else bits would depend on who computes.
  forbid(library, {"fesetround", "_mm_setcsr", "fpcr"}, "it changes bits behind everybody's back",
         {"engine/base/parallel.cpp"});
}

TEST_CASE("architecture: the library never prints or exits by itself") {
  const Names folders{"nn", "models", "train"};
  // This tutorial's class prints its shapes while trace_shapes is on, which is its default.
  const std::set<std::string> prints{"models/tutorials/llm_from_scratch.cpp"};
  forbid(folders, {"std::cout"}, "reports take a stream, errors are thrown", prints);
  forbid(folders, {"std::cerr", "printf(", "exit(", "abort("}, "reports take a stream, errors are thrown");
  forbid({"engine"}, {"std::cout", "std::exit(", "std::abort("}, "reports take a stream, errors are thrown");
}

TEST_CASE(
    "architecture: a test file has a namespace of its own name, since the files of a folder are compiled joined") {
  for (const std::string& file : files({"tests"})) {
    if (!file.ends_with("_test.cpp") || fs::path(file).parent_path() == "tests") continue;
    const std::string own = "namespace mote::test::" + fs::path(file).stem().string() + " {";
    const Names lines = lines_of(file);
    CHECK_MESSAGE(std::find(lines.begin(), lines.end(), own) != lines.end(), file, " has no line: ", own);
  }
}

/// Every file of the tree that people write, as paths from the root.
Names written_files() {
  Names found = files(everything);
  for (const std::string folder : {"engine", "nn", "models", "train", "examples", "tests", "."}) {
    const auto look = [&](const fs::directory_entry& entry) {
      const std::string end = entry.path().extension().string();
      if (end == ".md" || end == ".txt" || end == ".cmake")
        found.push_back(fs::relative(entry.path(), root).generic_string());
    };
    if (folder == ".")
      for (const fs::directory_entry& entry : fs::directory_iterator(root)) look(entry);
    else
      for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) look(entry);
  }
  return found;
}

/// What in a text looks like the name of a file: shape.h, engine/ops/norm.h. Not transformer.h.0, nor *_test.cpp.
Names names_in(const std::string& text) {
  static const std::regex form("[A-Za-z0-9_*{}<>$./-]+\\.(h|cpp|md|txt|cmake)(?![A-Za-z0-9_(]|\\.[A-Za-z0-9_])");
  Names found;
  for (std::sregex_iterator at(text.begin(), text.end(), form), end; at != end; ++at) {
    const std::string name = at->str();
    if (name.find_first_of("*{}<>$") == std::string::npos && name[0] != '/' && name[0] != '.') found.push_back(name);
  }
  return found;
}

/// All pages: README.md of the top and of each room, and those that are about one task or question.
Names pages() {
  Names found = written_files();
  std::erase_if(found, [](const std::string& file) { return !file.ends_with(".md"); });
  return found;
}

/// Files that a page asks its reader to imagine: named in a paragraph with "Suppose" right before a block of code.
std::set<std::string> supposed() {
  std::set<std::string> found;
  for (const std::string& page : pages()) {
    std::string paragraph, last;
    for (const std::string& line : lines_of(page)) {
      if (line.starts_with("<!-- block: ") && last.find("Suppose") != std::string::npos)
        for (const std::string& name : names_in(last)) found.insert(name);
      paragraph += line + "\n";
      if (line.empty()) last = std::exchange(paragraph, "");
    }
  }
  return found;
}

TEST_CASE("architecture: each room has a README") {
  const Names all = pages();
  for (const std::string room :
       {"engine", "nn", "models", "models/tutorials", "train", "train/tasks", "examples", "examples/bench", "tests"})
    CHECK_MESSAGE(std::count(all.begin(), all.end(), room + "/README.md") == 1, room, " has no README.md");
}

TEST_CASE("architecture: every block of C++ on a page has a name, and tests/readme.cmake builds it") {
  std::string script;
  for (const std::string& line : lines_of("tests/readme.cmake")) script += line + "\n";
  int blocks = 0;
  for (const std::string& page : pages()) {
    std::string before;
    for (const std::string& line : lines_of(page)) {
      if (line == "```cpp") {
        ++blocks;
        static const std::regex marker("<!-- block: ([a-z_]+) -->");
        std::smatch name;
        const bool named = std::regex_match(before, name, marker);
        CHECK_MESSAGE(named, page, " has a block of C++ without a name, after: ", before);
        if (named)
          CHECK_MESSAGE(std::regex_search(script, std::regex("[( ]" + name[1].str() + "[ )\n]")), page, ": ",
                        name[1].str());
      }
      before = line;
    }
  }
  CHECK(blocks > 20);
}

/// The headings of a page, as links name them: small letters, a hyphen for each space, nothing for other signs.
Names headings(const std::string& page) {
  Names found;
  for (const std::string& line : lines_of(page)) {
    if (!line.starts_with("#")) continue;
    std::string name;
    for (const char c : line.substr(line.find(' ') + 1))
      if (c == ' ' || c == '-')
        name += '-';
      else if (std::isalnum(static_cast<unsigned char>(c)) || c == '_')
        name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    found.push_back(name);
  }
  return found;
}

TEST_CASE("architecture: every link and picture of a page leads to what is there") {
  static const std::regex link("\\]\\(([^)\\s]+)\\)|src=\"([^\"]+)\"");
  static const std::regex code("`[^`]*`");
  for (const std::string& page : pages()) {
    bool block = false;
    for (const std::string& line : lines_of(page)) {
      if (line.starts_with("```")) block = !block;
      if (block) continue;
      const std::string text = std::regex_replace(line, code, "``");
      for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at) {
        const std::string target = (*at)[1].matched ? (*at)[1].str() : (*at)[2].str();
        if (target.find("://") != std::string::npos) continue;
        const std::size_t hash = std::min(target.find('#'), target.size());
        const fs::path file = hash == 0 ? fs::path(page) : fs::path(page).parent_path() / target.substr(0, hash);
        const std::string path = file.lexically_normal().generic_string();
        CHECK_MESSAGE(fs::exists(root / path), page, " links to ", target, ", which is not there");
        if (hash == target.size() || !fs::exists(root / path)) continue;
        const Names all = headings(path);
        const bool heading = std::find(all.begin(), all.end(), target.substr(hash + 1)) != all.end();
        CHECK_MESSAGE(heading, page, " links to ", target, ", which is no heading there");
      }
    }
  }
}

TEST_CASE("architecture: what changed names the version and the fingerprint that are") {
  const auto text_in = [](const std::string& file) {
    std::string all;
    for (const std::string& line : lines_of(file)) all += line + "\n";
    return all;
  };
  const std::string changes = text_in("train/CHANGES.md"),
                    sources = text_in("CMakeLists.txt") + text_in("tests/fingerprint_test.cpp");
  static const std::regex form("project\\(mote VERSION ([0-9.]+)|expected = 0x([0-9a-f]+)");
  for (std::sregex_iterator at(sources.begin(), sources.end(), form), end; at != end; ++at) {
    const std::string name = (*at)[1].matched ? (*at)[1] : (*at)[2];
    CHECK_MESSAGE(changes.find(name) != changes.npos, "train/CHANGES.md does not have ", name);
  }
}

TEST_CASE("architecture: every file named on a page, in a comment or in .ci exists") {
  const Names all = written_files();
  // What is made of the tree, and what a reader writes.
  const std::set<std::string> imagined = supposed(), others{"mote.h",
                                                            "mote.cpp",
                                                            "main.cpp",
                                                            "sentences.txt",
                                                            "input.txt",
                                                            "names.txt",
                                                            "tinyshakespeare.txt",
                                                            "the-verdict.txt",
                                                            "merges.txt",
                                                            "gpt2-merges.txt"};  // of readers
  CHECK(imagined.contains("nn/gated_mlp.h"));
  const auto exists = [&](const std::string& name, const fs::path& folder) {
    const auto is = [&](const std::string& path) { return std::find(all.begin(), all.end(), path) != all.end(); };
    return others.contains(name) || is(name) || is((folder / name).lexically_normal().generic_string()) ||
           std::count_if(all.begin(), all.end(), [&](const std::string& f) { return f.ends_with("/" + name); }) == 1;
  };
  Names readers = all;
  for (const char* const script : {".ci/run", ".ci/whole", ".ci/stages", ".ci/platform"}) readers.push_back(script);
  for (const std::string& file : readers) {
    if (file.starts_with("tests/vectors/")) continue;
    const std::string end = fs::path(file).extension().string();
    const bool whole = end == ".md" || file.starts_with(".ci/");
    const std::string comment = end == ".h" || end == ".cpp" ? "//" : "# ";
    const Names lines = lines_of(file);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::size_t start = whole ? 0 : lines[i].find(comment);
      if (start == std::string::npos) continue;
      for (const std::string& name : names_in(lines[i].substr(start)))
        CHECK_MESSAGE(((whole && imagined.contains(name)) || exists(name, fs::path(file).parent_path())), file, ":",
                      i + 1, " names ", name, ", which is no file here, or more than one");
    }
  }
}

TEST_CASE("architecture: every word of a lesson is explained, and every explained word is a lesson's") {
  std::set<std::string> explained, used;
  const std::string heading = "### ";
  for (const std::string& line : lines_of("examples/words.md"))
    if (line.starts_with(heading)) CHECK_MESSAGE(explained.insert(line.substr(heading.size())).second, line, " twice");
  for (const std::string& file : files(everything)) {
    if (!std::regex_match(file, std::regex("examples/lessons/[^/]*\\.cpp"))) continue;
    std::string text;
    for (const std::string& line : lines_of(file)) text += line + "\n";
    std::smatch words;
    const bool names = std::regex_search(text, words, std::regex("run_lesson\\([^;\"]*\"([^\"]+)\"\\);"));
    REQUIRE_MESSAGE(names, file, " names no words");
    std::istringstream list(words[1].str());
    for (std::string word; std::getline(list >> std::ws, word, ';'); used.insert(word))
      CHECK_MESSAGE(explained.contains(word), file, " names \"", word, "\", which words.md does not explain");
  }
  for (const std::string& word : explained) CHECK_MESSAGE(used.contains(word), "no lesson names \"", word, "\"");
}

}  // namespace
