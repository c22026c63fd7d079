// Doctest's main, with two rules of its own. A filter that no test case passes is a failure: a case that was renamed
// would pass for ever. And what wrong calls are told stands in sentences.txt, one file for each folder of tests.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

/// A sentence of a sentences.txt: the file and the name of the test, the call, and what the call is told.
struct Sentence {
  std::string path, test, call, text;
  bool met = false;
};

const std::string call_mark = "  ", text_mark = "    ";
const std::string title =
    "# What wrong calls are told, by test. The tests beside this file compare it, and write it anew when they run "
    "with\n"
    "# MOTE_WRITE_SENTENCES=1.\n";

std::vector<Sentence> sentences;
std::set<std::string> paths;  // of all sentences.txt that tests have asked for
std::string running;          // the test, as in Sentence::test
std::set<std::string> files;  // of tests that ran
bool nothing_ran = false;

bool writing() { return std::getenv("MOTE_WRITE_SENTENCES") != nullptr; }

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }
std::string file_of(const Sentence& s) { return s.test.substr(0, s.test.find(": ")); }

/// sentences.txt beside a test. The compiler may know its file by a path that is not a whole one.
std::string path_beside(const std::string& file) {
  const std::string folder = file.substr(0, file.rfind('/') + 1);
  const std::size_t tests = folder.rfind("/tests/");
  return (tests == folder.npos ? MOTE_SOURCE_DIR "/" + folder : MOTE_SOURCE_DIR + folder.substr(tests)) +
         "sentences.txt";
}

void read_sentences(const std::string& path) {
  if (!paths.insert(path).second || writing()) return;

  std::ifstream in(path);
  Sentence now;
  now.path = path;
  bool in_text = false;
  const auto add = [&] {
    if (in_text) sentences.push_back(now);
    in_text = false;
  };
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(text_mark)) {
      now.text += (in_text ? "\n" : "") + line.substr(text_mark.size());
      in_text = true;
      continue;
    }
    add();
    if (line.empty() || line.starts_with("#")) continue;
    if (line.starts_with(call_mark))
      now.call = line.substr(call_mark.size());
    else
      now.test = line;
    now.text.clear();
  }
  add();
}

void write_sentences(const std::string& path) {
  std::ofstream out(path);
  out << title;
  std::string last_test;
  for (const Sentence& s : sentences) {
    if (s.path != path) continue;
    if (s.test != last_test) out << "\n" << s.test << "\n";
    last_test = s.test;
    out << call_mark << s.call << "\n" << text_mark;
    for (const char c : s.text) out << c << (c == '\n' ? text_mark : "");
    out << "\n";
  }
}

/// After all tests have run: the sentences that no call is told any more.
bool sentences_left_over() {
  bool left = false;
  for (const Sentence& s : sentences) {
    if (s.met || !files.contains(file_of(s))) continue;
    std::cout << s.path << ": no call is told this any more: " << s.test << ": " << s.call << "\n";
    left = true;
  }
  return left;
}

struct Listener : doctest::IReporter {
  explicit Listener(const doctest::ContextOptions&) {}
  void test_case_start(const doctest::TestCaseData& now) override {
    const std::string file = name_of(now.m_file.c_str());
    files.insert(file);
    running = file + ": " + now.m_name;
  }
  void test_run_end(const doctest::TestRunStats& run) override { nothing_ran = run.numTestCasesPassingFilters == 0; }
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};
REGISTER_LISTENER("listener", 1, Listener);

}  // namespace

namespace mote::test {

void check_sentence(const char* file, int line, const std::string& call, const std::string& told) {
  static const std::regex temporary("[^ '\"]*/mote_test_[A-Za-z0-9]{6}");
  const std::string sentence = std::regex_replace(told, temporary, "FOLDER"), path = path_beside(file);
  read_sentences(path);
  const auto same_call = [&](const Sentence& s) { return s.test == running && s.call == call; };
  auto known = std::find_if(sentences.begin(), sentences.end(),
                            [&](const Sentence& s) { return same_call(s) && s.text == sentence; });
  if (writing() && known == sentences.end() && sentence != "(no error)") {
    const auto last = std::find_if(sentences.rbegin(), sentences.rend(), same_call);
    known = sentences.insert(last == sentences.rend() ? sentences.end() : last.base(), {path, running, call, sentence});
  }
  const bool is_known = known != sentences.end();
  CHECK(true);
  if (is_known) {
    known->met = true;
    return;
  }

  std::string text = call + "\nis told:      " + sentence;
  for (const Sentence& s : sentences)
    if (same_call(s)) text += "\nwritten down: " + s.text;
  ADD_FAIL_CHECK_AT(file, line, text);
}

}  // namespace mote::test

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  const int code = context.run();
  if (code != 0) return code;
  if (nothing_ran) return 97;
  const bool all_ran = argc == 1;  // no filter
  if (!all_ran && writing()) std::cout << "no sentences were written: for that, all tests run, without options\n";
  if (!all_ran) return writing() ? 95 : 0;
  if (!writing()) return sentences_left_over() ? 96 : 0;
  for (const std::string& path : paths) write_sentences(path);
  return 0;
}
