// The grammar of synthetic_text(). The writer makes a sentence by random choices, in which all options are equally
// likely. A text shows which options were chosen, so its probability is the product of the probabilities of these
// options.
#include <iterator>

#include "engine/array/random.h"
#include "engine/base/math.h"
#include "train/text/text_task.h"

namespace mote {
namespace {

struct Noun {
  const char *one, *many;
};
constexpr Noun nouns[] = {{"fox", "foxes"},  {"hen", "hens"},    {"bear", "bears"}, {"hare", "hares"},
                          {"crow", "crows"}, {"wolf", "wolves"}, {"mouse", "mice"}, {"cat", "cats"}};
constexpr const char* adjectives[] = {"", "big ", "small ", "red ", "grey ", "quiet ", "brave "};
constexpr const char* verbs[] = {"see", "follow", "fear", "call", "find"};
constexpr const char* places[] = {"", " in the wood", " by the river", " on the hill", " under the moon"};
constexpr const char* number_words[] = {"two", "three", "four", "five", "six", "seven"};

class TextWriter {
 public:
  SyntheticText write(std::size_t bytes) {
    while (made_.text.size() < bytes) {
      sentence();
      made_.text += choice(4) == 0 ? '\n' : ' ';
    }
    return made_;
  }

 private:
  std::size_t choice(std::size_t n) {
    made_.nats += math::log(static_cast<double>(n));
    std::int64_t drawn[1];
    random_.randint(drawn, 0, static_cast<std::int64_t>(n));
    return static_cast<std::size_t>(drawn[0]);
  }
  template <class T, std::size_t n>
  const T& one_of(const T (&list)[n]) {
    return list[choice(n)];
  }

  /// A subject such as "the red fox" or "two hens". `many` says whether its verb is plural.
  std::string subject(bool& many) {
    many = choice(2) == 1;
    std::string words = choice(2) == 0 ? "the " : many ? "two " : "a ";
    words += one_of(adjectives);
    const Noun& noun = one_of(nouns);
    return words + (many ? noun.many : noun.one);
  }
  std::string some() {
    bool many = false;
    return subject(many);
  }
  static std::string verb_for(const std::string& verb, bool many) { return " " + verb + (many ? " " : "s "); }

  void sentence() {
    std::string said;
    const std::size_t kind = choice(3);
    if (kind == 0) {
      bool many = false;
      said = subject(many);
      const std::string verb = one_of(verbs);
      said += verb_for(verb, many) + some();
      said += one_of(places);
    } else if (kind == 1) {
      const std::string verb = one_of(verbs), object = some();
      bool many = false;
      const std::string answer = subject(many);
      said = "who" + verb_for(verb, false) + object + "? ";
      said += capital(answer) + verb_for(verb, many) + object;
    } else {
      const Noun& noun = one_of(nouns);
      const std::size_t last = choice(std::size(number_words)) + 1;
      said = std::string("one ") + noun.one;
      for (std::size_t n = 0; n < last; ++n) said += std::string(", ") + number_words[n] + " " + noun.many;
    }
    made_.text += capital(said) + ".";
  }
  static std::string capital(std::string words) {
    words[0] = static_cast<char>(words[0] - 'a' + 'A');
    return words;
  }

  Generator random_{1};
  SyntheticText made_{{}, 0};
};

}  // namespace

SyntheticText synthetic_text(Integer bytes) { return TextWriter().write(static_cast<std::size_t>(bytes)); }

}  // namespace mote
