// The program for the exercises. It copies the exercises into a folder of yours and watches the copies. Within seconds
// of saving it says whether an exercise is solved. The checks are compiled from examples/exercises/answers and never
// from your folder.
#include <poll.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "engine/io/files/file.h"
#include "examples/programs/options.h"
#include "train/loop/stop_signal.h"

namespace {
namespace fs = std::filesystem;

const std::string kept = std::string(MOTE_SOURCE_DIR) + "/examples/exercises/", work = MOTE_BUILD_DIR "/exercises/";

struct LearnOptions {
  std::string dir = "exercises";
  mote::Index from = 0;
  template <class V>
  void visit(V& v) {
    v("dir", dir, "your folder, to which the exercises are copied; your files are not overwritten");
    v("from", from, "the number of the first exercise to show; 0: the first that is not solved");
  }
};

/// An exercise, such as one with the name "20_causal_mask", the title "20: the causal mask", and the effort "Difficulty
/// 2 of 5, 10 minutes."
struct Exercise {
  std::string name = {};
  std::string title = {}, effort = {}, solution = {};
  std::vector<std::string> hints = {}, why = {};
};

std::string text_of_file(const std::string& path) { return mote::read_file(path, 1 << 20); }
/// Reads all exercises. The first two lines of a file are the title and the effort. The file of the same name in
/// answers/ has the hints, the solution and the sentences `why`. A learner is shown `why` after solving the exercise.
std::vector<Exercise> read_exercises() {
  std::vector<Exercise> all;
  for (const std::string& file : mote::list_folder(kept)) {
    if (!file.ends_with(".cpp")) continue;
    Exercise& e = all.emplace_back(Exercise{file.substr(0, file.size() - 4)});
    std::istringstream lines(text_of_file(kept + file)), answer(text_of_file(kept + "answers/" + file));
    std::getline(lines.ignore(3), e.title);
    std::getline(lines.ignore(3), e.effort);
    for (std::string line; std::getline(answer, line) && line != "namespace solution {";) {
      if (line.starts_with("// hint: ")) e.hints.push_back(line.substr(9));
      if (line.starts_with("// why: ")) e.why.push_back(line.substr(8));
    }
    for (std::string line; std::getline(answer, line) && line != "}  // namespace solution";) e.solution += line + "\n";
  }
  return all;
}

/// Quotes a word for a shell.
std::string quoted(const std::string& word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

/// Runs a shell command and returns what it prints, in English. `code` becomes its exit code, which is above 127 if a
/// signal ended it.
std::string run(const std::string& command, int& code) {
  FILE* pipe = popen(("export LC_ALL=C; (" + command + ") 2>&1").c_str(), "r");
  mote::check(pipe != nullptr, "cannot start a shell");
  std::string text;
  for (int c; (c = std::getc(pipe)) != EOF; text += static_cast<char>(c))
    if (text.size() == 1 << 16) text.erase(0, 1 << 15);  // of a long output only the end is kept
  const int status = pclose(pipe);
  code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return text;
}

const std::string compiler = quoted(MOTE_COMPILER) + " -std=c++20 -pthread -O0 -Wall -Wno-unused -Werror=return-type " +
                             "-Werror=unused-result --param ggc-min-heapsize=2000000 " +  // no garbage collection
                             "-D_GLIBCXX_ASSERTIONS -DMOTE_REAL_DOUBLE -I" + quoted(MOTE_SOURCE_DIR);

/// Returns the path of a header that includes the headers of every check. The header is precompiled when it is first
/// needed, and again when the library or the exercises' own headers have changed.
std::string headers() {
  const std::string stand_in = work + "check.h", compiled = stand_in + ".gch";
  const auto old = [&](const std::string& file) { return fs::last_write_time(file) < fs::last_write_time(compiled); };
  if (mote::file_exists(compiled) && old(MOTE_LIBRARY) && old(kept + "exercise.h") && old(kept + "answers/check.h"))
    return stand_in;
  std::cout << "Preparing, once, for some seconds ..." << std::endl;
  mote::make_folder(work);
  mote::write_file(stand_in, "#include \"examples/exercises/answers/check.h\"\n");
  const std::string partial = work + std::to_string(getpid());
  int code = 0;
  const std::string errors = run(compiler + " -x c++-header " + quoted(stand_in) + " -o " + quoted(partial), code);
  mote::check(code == 0, "the compiler cannot make ", compiled, ": ", errors);
  fs::rename(partial, compiled);
  return stand_in;
}

/// Returns the compiler's first error without the notes that follow it, and adds advice for some common mistakes.
std::string first_error(const std::string& text) {
  const std::size_t error = std::min(text.find("error: "), text.find("undefined reference")),
                    begin = text.rfind('\n', error) + 1;
  if (error == text.npos) return text;
  const std::size_t note = text.rfind('\n', text.find(" note: ", error)), more = text.find("\nIn file", error);
  std::string said = text.substr(begin, std::min({note, more, text.size(), begin + 1000}) - begin);
  if (text.find("/answers/", begin) < error)
    said = "Where the check calls what your file has to define as it was (or is a } missing in yours?):\n" + said;
  if (said.find("stray '@'") != said.npos) said += "\nThe product of matrices is matmul(a, b).";
  if (said.find("function type>[int]'") != said.npos) said += "\nshape is a function: x.shape()[0], or x.size(0).";
  if (said.find("dim' was not declared") != said.npos) said += "\nC++ names no arguments: sum(x, {-1}, true).";
  return said;
}

struct Verdict {
  bool solved;
  std::string text;
};
/// Compiles the check of an exercise together with the answer in `file`, and runs the check with `word`. The check
/// prints `word` if all is right.
Verdict judge(const Exercise& e, const std::string& file, const std::string& word, const std::string& more = "") {
  const std::string program = work + e.name + std::to_string(getpid());
  int code = 0;
  std::string text =
      run(compiler + " -fmax-errors=1 -include " + quoted(headers()) + more + " " +
              quoted("-DYOURS=\"" + fs::absolute(file).string() + "\"") + " " +
              quoted(kept + "answers/" + e.name + ".cpp") + " " + quoted(MOTE_LIBRARY) + " -o " + quoted(program),
          code);
  if (mote::StopSignal::received() != 0) return {false, "Stopped."};
  if (code != 0) return {false, "It does not compile:\n" + first_error(text)};
  text = run("ulimit -t 60; ulimit -v 4000000 2>/dev/null; " + quoted(program) + " " + word, code);
  mote::remove_file(program);
  if (code == 0 && text.ends_with(word + "\n")) return {true, text.substr(0, text.size() - word.size() - 1)};
  const char* end = code < 128 ? "Your code ended the program before the check had." : "Your code crashed.";
  return {false, code == 77 ? text : text + end};
}

/// A learner's folder with copies of the exercises. For each solved exercise there is a file in its folder .solved.
struct Folder {
  Folder(const std::string& folder, const std::vector<Exercise>& all) : path(folder + "/") {
    mote::make_folder(path + ".solved");
    for (const Exercise& e : all)
      if (!mote::file_exists(file(e))) mote::write_file(file(e), text_of_file(kept + e.name + ".cpp"));
    if (const std::string flags = path + "compile_flags.txt"; !mote::file_exists(flags))  // for editors
      mote::write_file(flags, "-std=c++20\n-DMOTE_REAL_DOUBLE\n-I" MOTE_SOURCE_DIR "\n");
  }
  std::string file(const Exercise& e) const { return path + e.name + ".cpp"; }
  bool solved(const Exercise& e) const { return mote::file_exists(mark(e)); }
  Verdict check(const Exercise& e) const {
    const Verdict v = judge(e, file(e), "passed-" + std::to_string(std::random_device()()));
    if (v.solved) {
      mote::make_folder(path + ".solved");
      mote::write_file(mark(e), "");
    }
    if (!v.solved && mote::StopSignal::received() == 0) mote::remove_file(mark(e));
    return v;
  }
  /// Restores an exercise. The learner's file is kept beside it under another name, which is returned.
  std::string reset(const Exercise& e) const {
    std::string old = path + e.name + ".old";
    while (mote::file_exists(old)) old += "_";
    if (mote::file_exists(file(e))) mote::write_file(old, text_of_file(file(e)));
    mote::write_file(file(e), text_of_file(kept + e.name + ".cpp"));
    mote::remove_file(mark(e));
    return old;
  }
  std::string mark(const Exercise& e) const { return path + ".solved/" + e.name; }
  std::string path;
};

void print_list(const std::vector<Exercise>& all, const Folder& folder) {
  int n = 0;
  for (const Exercise& e : all)
    std::cout << (folder.solved(e) ? ++n, "[x] " : "[ ] ") << e.title << ". " << e.effort << "\n";
  std::cout << n << " of " << all.size() << " solved" << std::endl;
}

bool print_verdict(const Exercise& e, const Folder& folder) {
  std::cout << e.title << "\n" << folder.file(e) << "\n" << std::endl;
  const Verdict v = folder.check(e);
  std::cout << v.text << (v.text.empty() || v.text.ends_with('\n') ? "" : "\n");
  if (v.solved) std::cout << "Solved.\n\n";
  for (const std::string& sentence : e.why)
    if (v.solved) std::cout << "  " << sentence << "\n";
  std::cout << std::endl;
  return v.solved;
}

std::string solution(const Exercise& e, const Folder& folder) {
  return folder.solved(e) ? e.solution : "The solution is shown once yours is right; a hint helps.\n";
}

/// During its lifetime, the terminal hands over each key as it is pressed and does not show it.
struct Keys {
  termios before;
  Keys() {
    tcgetattr(STDIN_FILENO, &before);
    termios raw = before;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  }
  ~Keys() { tcsetattr(STDIN_FILENO, TCSANOW, &before); }
  /// Returns a key that is pressed within a fifth of a second, or 0 if none is. Returns 'q' at the end of input and
  /// after Ctrl-C.
  static char next() {
    pollfd in{STDIN_FILENO, POLLIN, 0};
    char key = 0;
    if (poll(&in, 1, 200) > 0 && read(STDIN_FILENO, &key, 1) != 1) key = 'q';
    return mote::StopSignal::received() != 0 ? 'q' : key;
  }
};

/// Watches all files of the folder until q is pressed. The exercise that was saved last is on the screen.
void watch(const std::vector<Exercise>& all, const Folder& folder, std::size_t at) {
  const mote::StopSignal signal;
  const Keys keys;
  std::size_t hints = 0;
  const auto show = [&](std::size_t exercise) {
    hints = exercise == at ? hints : 0;
    at = exercise;
    std::cout << "\033[2J\033[H";
    print_verdict(all[at], folder);
    std::cout << "Save to check. n next, h hint, l list, c check all, x reset, s solution, q quit" << std::endl;
  };
  std::error_code gone;  // a file may be gone for a moment while an editor replaces it
  const auto saved = [&](const Exercise& e) { return fs::last_write_time(folder.file(e), gone); };
  std::vector<fs::file_time_type> times;
  for (const Exercise& e : all) times.push_back(saved(e));
  show(at);
  for (char key; (key = Keys::next()) != 'q';) {
    if (key == 'n') show((at + 1) % all.size());
    if (key == 'h') std::cout << all[at].hints[std::min(hints++, all[at].hints.size() - 1)] << std::endl;
    if (key == 'l') print_list(all, folder);
    if (key == 's') std::cout << solution(all[at], folder) << std::flush;
    if (key == 'x') folder.reset(all[at]);  // the loop below notices the reset as a saved file
    for (std::size_t i = 0; key == 'c' && i < all.size() && mote::StopSignal::received() == 0; ++i)
      print_verdict(all[i], folder);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (const auto time = saved(all[i]); time != times[i] && time != fs::file_time_type::min()) {
        times[i] = time;
        show(i);
      }
  }
}

/// Returns the exercise named by `word`, a number or a file name such as 7, 07 or 07_broadcast_shape.
const Exercise& find(const std::vector<Exercise>& all, const std::string& word) {
  for (const Exercise& e : all)
    if (word == e.name || e.name.starts_with(std::string(word.size() < 2, '0') + word + "_")) return e;
  throw mote::UsageError("there is no exercise '" + word + "': `learn list` shows them");
}

/// Tests the checks themselves, by proved() in answers/check.h. Also tests that an empty file does not pass, and that
/// no hint, sentence or solution is missing.
int prove(const std::vector<Exercise>& chosen) {
  bool good = true;
  for (const Exercise& e : chosen) {
    const Verdict all = judge(e, kept + e.name + ".cpp", "prove", " -DPROVE"), empty = judge(e, "/dev/null", "empty");
    std::cout << e.title << "\n" << all.text << "  empty: " << empty.text.substr(0, empty.text.find(':')) << std::endl;
    const bool whole = e.hints.size() == 2 && e.why.size() == 3 && !e.solution.empty();
    std::cout << (whole ? "" : "  two hints, three sentences of why and a solution are not there\n");
    good = good && all.solved && !empty.solved && whole;
  }
  return good ? 0 : 1;
}

/// Runs a command of this program. `words` are empty, or the command and the exercises that it is for.
int learn(const LearnOptions& options, std::vector<std::string> words) {
  const std::vector<Exercise> all = read_exercises();
  const std::string command = words.empty() ? "" : words[0];
  if (std::string(" list check hint solution reset prove  ").find(" " + command + " ") == std::string::npos)
    throw mote::UsageError("unknown command '" + command + "': list, check, hint, solution, reset");
  std::vector<Exercise> chosen;
  for (std::size_t i = 1; i < words.size(); ++i) chosen.push_back(find(all, words[i]));
  if (command == "prove") return prove(chosen.empty() ? all : chosen);
  if (options.dir.empty()) throw mote::UsageError("--dir is empty: it names the folder of your exercises");
  const Folder folder(options.dir, all);
  if (command == "list") return print_list(all, folder), 0;
  if (command == "check" && chosen.empty()) chosen = all;
  if (!command.empty() && chosen.empty()) throw mote::UsageError(command + " needs the number of an exercise");
  bool good = true;
  for (const Exercise& e : chosen) {
    if (command == "reset") std::cout << folder.reset(e) << " is yours; the exercise is as it was\n";
    if (command == "check") good = print_verdict(e, folder) && good;
    if (command == "solution") {
      std::cout << solution(e, folder);
      good = folder.solved(e) && good;
    }
    if (command == "hint") std::cout << e.hints[0] << "\n" << e.hints[1] << "\n";
  }
  if (!command.empty()) return good ? 0 : 1;
  std::size_t first = 0;
  while (first + 1 < all.size() && folder.solved(all[first])) ++first;
  if (options.from != 0) first = static_cast<std::size_t>(&find(all, std::to_string(options.from)) - all.data());
  if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) return watch(all, folder, first), 0;
  return print_verdict(all[first], folder) ? 0 : 1;
}
}  // namespace

int main(int argc, char** argv) {
  return mote::run_program(argv[0], [&] {
    mote::CommandLine line(argc, argv);
    std::vector<std::string> words;
    std::erase_if(line.given, [&](const auto& g) { return g.where.empty() && (words.push_back(g.name), true); });
    LearnOptions options;
    mote::Options parser(
        "Shows the first exercise that is not solved. Whenever you save a file of your folder, it is checked.");
    parser.add("Options", options);
    parser.note =
        "Commands, for which no terminal is needed:\n"
        "  list           all exercises\n"
        "  check [N ...]  checks them; the exit code is 1 unless all are solved\n"
        "  hint N         two hints\n"
        "  solution N     the solution of an exercise that you have solved\n"
        "  reset N        the exercise as it was at first; your file is kept beside it";
    return parser.parse(line) ? learn(options, words) : 0;
  });
}
