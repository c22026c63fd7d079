// What checks of exercises share: expectations whose sentences name the mistake, and judge(), which says whether one
// holds.
#pragma once

#include <cctype>
#include <chrono>
#include <cstdlib>
#include <sstream>
#include <thread>

#include "engine/io/files/file.h"
#include "examples/exercises/exercise.h"

namespace of_check {  // none of these names is in the way of an answer's

/// What is wrong with an answer, in one sentence.
struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Ends the check with this sentence unless it holds.
inline void expect(bool holds, const std::string& sentence) {
  if (!holds) throw Wrong(sentence);
}

/// Whether two arrays have one shape, and elements that differ by 1e-9 at most, relative to those above 1. NaN is equal
/// to NaN.
inline bool close(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined() || a.shape() != b.shape()) return false;
  const std::vector<real> x = a.to_vector(), y = b.to_vector();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool same = x[i] == y[i] || (x[i] != x[i] && y[i] != y[i]);
    if (!same && !(std::abs(x[i] - y[i]) <= std::min(1e-9 * std::max(real(1), std::abs(y[i])), real(1)))) return false;
  }
  return true;
}
inline bool close(double a, double b) { return close(Tensor(a), Tensor(b)); }

/// Ends the check with the sentence that names a mistake if `got` is what that mistake leads to.
inline void expect_not(const Tensor& got, const Tensor& mistake, const std::string& sentence) {
  expect(!close(got, mistake), sentence);
}

template <class T>
std::string printed(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

/// `what` is named by the sentence, "your softmax of {1, 2}": shape first, then elements.
inline void expect_close(const std::string& what, const Tensor& got, const Tensor& want) {
  expect(got.defined(), what + " is an empty Tensor, which nothing was assigned to.");
  expect(got.shape() == want.shape(),
         what + " has the shape " + printed(got.shape()) + ", but it should be " + printed(want.shape()) + ".");
  if (close(got, want)) return;
  const std::string yours = printed(got.detach()), right = printed(want.detach());
  expect(yours == right || got.numel() > 24, what + " is\n" + yours + "\nbut it should be\n" + right);
  Index i = 0;  // of many numbers, or of ones that differ in later digits, the first that is wrong
  while (close(reshape(got, {-1}).detach().array().select(0, i), reshape(want, {-1}).detach().array().select(0, i)))
    ++i;
  std::vector<Index> at;
  for (Index axis = got.dim(), rest = i; axis-- > 0; rest /= got.size(axis))
    at.insert(at.begin(), rest % got.size(axis));
  std::ostringstream sentence;
  sentence.precision(10);
  sentence << what << " of shape " << got.shape() << " has at " << text_of(std::span<const Index>(at)) << " the number "
           << got.detach().to_vector()[i] << ", but it should be " << want.detach().to_vector()[i] << ".";
  expect(false, sentence.str());
}
inline void expect_close(const std::string& what, double got, double want) {
  std::ostringstream sentence;
  sentence.precision(10);
  sentence << what << " is " << got << ", but it should be " << want << ".";
  expect(close(got, want), sentence.str());
}

/// The gradient of sum(f(x) * weights) with respect to x: `weights` of one element or of f(x)'s shape.
inline Tensor gradient(const std::function<Tensor(const Tensor&)>& f, const Tensor& x, const Tensor& weights) {
  const Tensor leaf = Tensor(x.array()).requires_grad_();
  const Tensor y = f(leaf);
  expect(y.requires_grad(),
         "No gradient reaches an argument: compute the result from it, with ops of mote, and detach nothing.");
  sum(y * weights).backward();
  return leaf.grad();
}

/// Fails if one of these ops of mote has been used on the way to `y`: the exercise is to write it.
inline void expect_by_hand(const Tensor& y, const std::vector<std::string>& ops) {
  expect(y.requires_grad(),
         "No gradient reaches an argument: compute the result from it, with ops of mote, and detach nothing.");
  for (const auto& [name, count] : count_ops(y))
    for (const std::string& op : ops)
      expect(name != op, "this calls mote's own " + op + ": write it yourself, of simpler ops.");
}

/// Whether the code in a file calls this function of mote's, or uses this class: not in a comment or a string, and not
/// where the file has something of its own by that name.
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
    if (before != code.npos && inside(code[before]) && !returned) return false;  // `double learning_rate = ...`
    used = used || (after != code.npos && code[after] == '(');
  }
  return used;
}

using Check = void (*)();  ///< fails by Wrong, or whatever error the answer ends with

/// The sentence that is due to an answer; empty if it is right.
inline std::string verdict(Check check) {
  try {
    check();
    return "";
  } catch (const Gap&) {
    return "your_code_here() still stands where your code should be.";
  } catch (const Wrong& wrong) {
    return *wrong.what() ? wrong.what() : "Wrong.";
  } catch (const std::exception& e) {
    return std::string("your code ends with an error: ") + e.what();
  }
}

/// An answer that the check is tried with: it has to fail with a sentence in which `part` occurs; "": it has to pass.
struct Tried {
  std::string name, part;
  Check check;
  Tried(const std::string& name, const std::string& part, Check check);
};
inline std::vector<Tried> all_tried;
inline Tried::Tried(const std::string& name, const std::string& part, Check check)
    : name(name), part(part), check(check) {
  all_tried.push_back(*this);
}

/// Whether unsolved fails, a solution passes, and at least three mistakes fail, each with a sentence of its own.
inline bool proved(Check yours) {
  std::set<std::string> sentences{verdict(yours)};
  bool good = !sentences.contains("");
  std::printf("  unsolved: %s\n", sentences.begin()->c_str());
  std::size_t solutions = 0;
  for (const Tried& tried : all_tried) {
    const std::string sentence = verdict(tried.check);
    const bool as_it_should = tried.part.empty() ? sentence.empty() : sentence.find(tried.part) != sentence.npos;
    const bool own = tried.part.empty() || sentences.insert(sentence).second || tried.name == "hard-coded";
    std::printf("  %s: %s%s%s\n", tried.name.c_str(), sentence.empty() ? "passes" : sentence.c_str(),
                as_it_should ? "" : " <- NOT WHAT IT SHOULD SAY", own ? "" : " <- NOT A SENTENCE OF ITS OWN");
    good = good && as_it_should && own;
    solutions += tried.part.empty();
  }
  const bool hard_coded =
      std::any_of(all_tried.begin(), all_tried.end(), [](const Tried& t) { return t.name == "hard-coded"; });
  return good && solutions > 0 && hard_coded && all_tried.size() >= solutions + 4;
}

inline constexpr int wrong_answer = 77;  ///< exit code; whatever else ends the program is no verdict

/// The main() of a check: prints what is wrong, or at the end the word that it was given, so that a program that ends
/// before that has not passed. "prove": tries the check itself. `by_hand`: functions of mote that do what the exercise
/// asks for and leave no op of their own (see expect_by_hand) in a graph; `file` must not name them.
inline int judge(int argc, char** argv, Check yours, const std::string& file = "",
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
  std::_Exit(sentence.empty() ? 0 : wrong_answer);  // nothing of the answer's own runs after the verdict
}

}  // namespace of_check
