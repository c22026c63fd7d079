// The functions that the checks of all exercises share: expectations, the table of common mistakes, and judge(), which
// prints the verdict on an answer.
#pragma once

#include <cctype>
#include <chrono>
#include <cstdlib>
#include <sstream>
#include <thread>

#include "engine/io/files/file.h"
#include "examples/exercises/exercise.h"

namespace of_check {  // a namespace, because an answer may define the same names

/// Thrown by an expectation that fails. what() is the sentence for the learner.
struct Wrong : std::runtime_error {
  std::string at;       // the name of the expectation that failed, or of a Mistake that the answer has
  Tensor got;           // the value that the answer computed; undefined if the expectation compares no numbers
  real tolerance = 0;   // the tolerance of close() when another value is compared with `got`
  std::string details;  // appended to the sentence of a mistake
  explicit Wrong(const std::string& sentence, const std::string& at = "", const Tensor& got = {}, real tolerance = 0,
                 const std::string& details = "")
      : std::runtime_error(sentence), at(at), got(got), tolerance(tolerance), details(details) {}
};

/// Fails the check unless `holds` is true. If the table has a mistake named `mistake`, the learner is told the
/// sentence of that mistake. Otherwise `mistake` is itself the sentence. `details` is appended to the sentence.
inline void expect(bool holds, const std::string& mistake, const std::string& details = "") {
  if (!holds) throw Wrong(mistake + details, mistake, {}, 0, details);
}

/// Whether a and b have the same shape and nearly equal elements: |a - b| is at most tolerance * max(1, |b|), and at
/// most 1. NaN counts as equal to NaN. An undefined Tensor is close to nothing.
inline bool close(const Tensor& a, const Tensor& b, real tolerance = 1e-9) {
  if (!a.defined() || !b.defined() || a.shape() != b.shape()) return false;
  const std::vector<real> x = a.to_vector(), y = b.to_vector();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool same = x[i] == y[i] || (x[i] != x[i] && y[i] != y[i]);
    if (!same && !(std::abs(x[i] - y[i]) <= std::min(tolerance * std::max(real(1), std::abs(y[i])), real(1))))
      return false;
  }
  return true;
}
inline bool close(double a, double b, real tolerance = 1e-9) { return close(Tensor(a), Tensor(b), tolerance); }

template <class T>
std::string printed(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

/// Fails the check unless `got` has the shape of `want` and is close to it. The learner is told a sentence that begins
/// with `what`, for example "my_softmax of {0, -inf, 1}".
inline void expect_close(const std::string& what, const Tensor& got, const Tensor& want, real tolerance = 1e-9) {
  const auto end = [&](const std::string& sentence) { throw Wrong(what + sentence, what, got, tolerance); };
  if (!got.defined()) end(" is an empty Tensor, which nothing was assigned to.");
  if (got.shape() != want.shape())
    end(" has the shape " + printed(got.shape()) + ", but it should be " + printed(want.shape()) + ".");
  if (close(got, want, tolerance)) return;
  const std::string yours = printed(got.detach()), right = printed(want.detach());
  if (yours != right && got.numel() <= 24) end(" is\n" + yours + "\nbut it should be\n" + right);
  // The sentence has only the first wrong number, because the tensors are too large to print or both print the same
  // digits.
  Index i = 0;
  const auto number = [&i](const Tensor& x) { return reshape(x, {-1}).detach().array().select(0, i); };
  while (close(number(got), number(want), tolerance)) ++i;
  std::vector<Index> at;
  for (Index axis = got.dim(), rest = i; axis-- > 0; rest /= got.size(axis))
    at.insert(at.begin(), rest % got.size(axis));
  std::ostringstream sentence;
  sentence.precision(10);
  sentence << " of shape " << got.shape() << " has at " << text_of(std::span<const Index>(at)) << " the number "
           << got.detach().to_vector()[i] << ", but it should be " << want.detach().to_vector()[i] << ".";
  end(sentence.str());
}
inline void expect_close(const std::string& what, double got, double want, real tolerance = 1e-9) {
  if (close(got, want, tolerance)) return;
  std::ostringstream sentence;
  sentence.precision(10);
  sentence << what << " is " << got << ", but it should be " << want << ".";
  throw Wrong(sentence.str(), what, got, tolerance);
}

/// The gradient of sum(f(x) * weights) with respect to x. `weights` has one element or the shape of f(x).
inline Tensor gradient(const std::function<Tensor(const Tensor&)>& f, const Tensor& x, const Tensor& weights) {
  const Tensor leaf = Tensor(x.array()).requires_grad_();
  const Tensor y = f(leaf);
  expect(y.requires_grad(),
         "No gradient reaches an argument: compute the result from it, with ops of mote, and detach nothing.");
  sum(y * weights).backward();
  return leaf.grad();
}

/// Fails the check if y was computed with one of these ops of mote, because the exercise is to write such an op.
inline void expect_by_hand(const Tensor& y, const std::vector<std::string>& ops) {
  expect(y.requires_grad(),
         "No gradient reaches an argument: compute the result from it, with ops of mote, and detach nothing.");
  for (const auto& [name, count] : count_ops(y))
    for (const std::string& op : ops)
      expect(name != op, "this calls mote's own " + op + ": write it yourself, of simpler ops.");
}

/// Whether the code in a file calls the function `name` of mote, or uses the class `name`. Comments and strings do not
/// count, nor does a function or variable of this name that the file declares itself.
inline bool uses(const std::string& path, const std::string& name) {
  const std::string text = read_file(path, 1 << 20);
  std::string code = " ";
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "//") == 0) i = std::min(text.find('\n', i), text.size());
    if (text.compare(i, 2, "/*") == 0) i = std::min(text.find("*/", i + 2), text.size() - 2) + 2;
    if (i < text.size() && text[i] == '"')
      for (++i; i + 1 < text.size() && text[i] != '"'; ++i) i += text[i] == '\\';
    else if (i < text.size())
      code += text[i];
  }
  const auto inside = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  bool used = false;
  for (std::size_t at = 0; (at = code.find(name, at + 1)) != code.npos;) {
    const std::size_t before = code.find_last_not_of(" \n", at - 1),
                      after = code.find_first_not_of(" \n", at + name.size());
    if (inside(code[at - 1]) || inside(code[at + name.size()])) continue;
    if (std::isupper(static_cast<unsigned char>(name[0]))) return true;  // a class
    const bool returned = before != code.npos && before > 5 && code.compare(before - 5, 6, "return") == 0;
    if (before != code.npos && inside(code[before]) && !returned) return false;  // a declaration
    used = used || (after != code.npos && code[after] == '(');
  }
  return used;
}

using Check = std::function<void()>;  ///< throws Wrong if the answer is wrong, or the answer's own exception

/// A common mistake: its name, and the sentence that a learner with this mistake is told. Each of `programs` runs the
/// exercise's check on a program with the mistake, and the test wants that check to fail.
struct Mistake {
  std::string name, sentence;
  std::vector<Check> programs;
};
inline std::vector<Mistake> mistakes;
inline std::vector<Check> solutions;
inline const std::string of_example = "That is the answer of the example, whatever is asked.";

/// A row of an exercise's table: a mistake with wrong programs that make this mistake. `Program` is the type of the
/// function that the exercise asks for. If the exercise asks for something else, such as a struct, `Program` is
/// void(), and each program calls the check itself.
template <class Program>
struct Row {
  std::string name, sentence;
  std::vector<Program*> programs;
  template <class... P>
  Row(const std::string& name, const std::string& sentence, P... programs)
      : name(name), sentence(sentence), programs{static_cast<Program*>(programs)...} {}
};

/// The constructor adds the table of an exercise to `mistakes`, where verdict() looks for the mistake of an answer.
struct Table {
  template <class Program, std::size_t n>
  Table(void (*check)(Program*), const Row<Program> (&rows)[n]) {
    for (const Row<Program>& row : rows) {
      Mistake& mistake = mistakes.emplace_back(Mistake{row.name, row.sentence, {}});
      for (Program* program : row.programs) mistake.programs.push_back([=] { check(program); });
    }
  }
  template <std::size_t n>
  explicit Table(const Row<void()> (&rows)[n])
      : Table(
            +[](void (*check)()) { check(); }, rows) {}
};

/// The constructor adds checks of right answers to `solutions`. All of these checks have to pass.
struct Right {
  template <class... C>
  explicit Right(C... checks) {
    (solutions.push_back(checks), ...);
  }
};

/// Runs a check and returns how it failed. The sentence is empty if the answer is right.
inline Wrong end_of(const Check& check) {
  try {
    check();
    return Wrong("");
  } catch (const Gap&) {
    return Wrong("your_code_here() still stands where your code should be.");
  } catch (const Wrong& wrong) {
    return *wrong.what() ? wrong : Wrong("Wrong.");
  } catch (const std::exception& e) {
    const std::string sentence = std::string("your code ends with an error: ") + e.what();
    return Wrong(sentence, sentence);
  }
}

/// Returns the sentence that the learner is told about an answer, or an empty one if the answer is right. If the
/// failed expectation names a mistake of the table, returns the sentence of that mistake. Otherwise runs the wrong
/// programs of the table. If one of them fails at the same expectation with the same numbers, returns the sentence of
/// its mistake. Otherwise returns the sentence of the failed expectation.
inline std::string verdict(const Check& check) {
  const Wrong yours = end_of(check);
  if (yours.at.empty()) return yours.what();
  const auto same = [&](const Wrong& other) {
    if (yours.at != other.at || yours.got.defined() != other.got.defined()) return false;
    return !yours.got.defined() || close(other.got, yours.got, yours.tolerance);
  };
  for (const Mistake& mistake : mistakes)
    if (mistake.name == yours.at) return mistake.sentence + yours.details;
  for (const Mistake& mistake : mistakes)
    for (const Check& program : mistake.programs)
      if (same(end_of(program))) return mistake.sentence;
  return yours.what();
}

/// Returns whether the check itself is right: the unsolved exercise fails, the solutions pass, and for each wrong
/// program of the table the verdict is the sentence of its own mistake. The table must have five to eight mistakes,
/// each with a sentence of its own.
inline bool proved(const Check& yours) {
  std::set<std::string> sentences{""};
  const std::string unsolved = verdict(yours);
  bool good = !unsolved.empty() && !solutions.empty() && mistakes.size() >= 5 && mistakes.size() <= 8;
  std::printf("  unsolved: %s\n", unsolved.c_str());
  const auto expect_told = [&](const std::string& name, const Check& program, const std::string& sentence) {
    const std::string told = verdict(program);
    const bool due = sentence.empty() ? told.empty() : told.starts_with(sentence);
    std::printf("  %s: %s%s\n", name.c_str(), told.c_str(), due ? "" : " <- NOT WHAT IT SHOULD BE TOLD");
    good = good && due;
  };
  for (const Check& solution : solutions) expect_told("solution", solution, "");
  for (const Mistake& mistake : mistakes) {
    const bool own = sentences.insert(mistake.sentence).second && !mistake.programs.empty();
    if (!own) std::printf("  %s: NO SENTENCE OR PROGRAM OF ITS OWN\n", mistake.name.c_str());
    good = good && own;
    for (const Check& program : mistake.programs) expect_told(mistake.name, program, mistake.sentence);
  }
  return good;
}

inline constexpr int wrong_answer = 77;  ///< exit code of a wrong answer; 0 means right, and other codes are no verdict

/// The main() of a check. Prints the sentence about a wrong answer, or argv[1] if the answer is right. An answer that
/// exits early does not print argv[1], so it does not pass. If argv[1] is "prove", judge() tests the check itself, see
/// proved(). The code in `file` must not use the names in `by_hand`. These names are functions and classes of mote
/// that do what the exercise asks for, and that expect_by_hand() cannot find because graphs have no op of that name.
inline int judge(int argc, char** argv, const Check& yours, const std::string& file = "",
                 const std::vector<std::string>& by_hand = {}) {
  const std::string word = argc > 1 ? argv[1] : "";
  std::thread([] {
    std::this_thread::sleep_for(std::chrono::seconds(20));
    std::printf("\nyour code has not ended after 20 seconds: is there a loop without an end?\n");
    std::fflush(stdout);
    std::_Exit(wrong_answer);
  }).detach();
  std::string sentence = word != "prove" ? verdict(yours) : proved(yours) ? "" : "THE CHECK IS NOT PROVED";
  for (const std::string& name : by_hand)
    if (sentence.empty() && uses(file, name)) sentence = "this calls mote's own " + name + ": write it yourself.";
  std::printf("%s\n", sentence.empty() ? word.c_str() : sentence.c_str());
  std::fflush(stdout);
  std::_Exit(sentence.empty() ? 0 : wrong_answer);  // skips destructors and exit handlers of the answer
}

}  // namespace of_check
