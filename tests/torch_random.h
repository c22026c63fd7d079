// Walking through tests/vectors/torch_random.txt, a draw at a time, each by the rule of its name.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "engine/array/random.h"
#include "tests/vectors.h"

namespace mote::test {

using Names = std::set<std::string>;

/// The words of a text.
inline Names names_of(const std::string& text) {
  std::istringstream words(text);
  Names names;
  for (std::string word; words >> word;) names.insert(word);
  return names;
}

/// Who tests which draw. What stands in neither list is the engine's, so that a draw nobody knows fails there.
inline const Names layer_draws = names_of(
    "linear_3_2 linear_3_2_nobias linear_6_7 linear_7_5 linear_5_4_nobias "
    "embedding_4_3 embedding_7_5 embedding_6_4_padding_2 embedding_5_3_padding_4 layernorm_6 "
    "nn_multiheadattention_4_2 nn_multiheadattention_8_2 nn_multiheadattention_8_2_nobias "
    "sequential_linear4x5_layernorm5_dropout_linear5x3 module_then_apply_seed_1337 "
    "xavier_uniform_3x4 xavier_uniform_gain0.75_5x6 xavier_normal_3x4 xavier_normal_gain0.75_5x6 "
    "kaiming_uniform_relu_5x6 kaiming_normal_relu_4x5 kaiming_normal_relu_5x6 kaiming_normal_relu_2x7");
inline const Names loader_draws = names_of("dataloader_shuffle_10_two_epochs");  // train/loop/data_loader_test.cpp

/// One draw, "123/linear_3_2", with a fresh stream of its seed and its parts: "weight", "bias", or "" for the only one.
class TorchDraw {
 public:
  std::string seed, name;
  Generator random;

  TorchDraw(std::string s, std::string n) : seed(std::move(s)), name(std::move(n)), random(std::stoll(seed)) {}
  void add(const std::string& part, const Vector& vector) { parts_.push_back({part, &vector}); }
  const Vector& part(const std::string& name_of_part = "") {
    for (Part& p : parts_)
      if (p.name == name_of_part) {
        p.used = true;
        return *p.vector;
      }
    throw std::runtime_error(seed + "/" + name + " has no part '" + name_of_part + "'");
  }
  bool all_used() const {
    return std::all_of(parts_.begin(), parts_.end(), [](const Part& p) { return p.used; });
  }

 private:
  struct Part {
    std::string name;
    const Vector* vector;
    bool used = false;
  };
  std::vector<Part> parts_;
};

/// Draws from `random` and checks every part but "next".
using TorchRule = std::function<void(TorchDraw&)>;
struct TorchRules {
  std::string names;  // several, with a space between
  TorchRule rule;     // none: not in this build of the library
};

/// Every draw of the file that is `mine` has a rule, and every rule a draw; the numbers and the word after them agree.
inline void check_torch_draws(const std::vector<TorchRules>& table,
                              const std::function<bool(const std::string&)>& mine) {
  std::map<std::string, const TorchRule*> rules;
  for (const TorchRules& r : table)
    for (const std::string& name : names_of(r.names)) CHECK_MESSAGE(rules.emplace(name, &r.rule).second, name);
  const VectorFile file("torch_random.txt");
  std::vector<TorchDraw> draws;
  for (const Vector& vector : file.all()) {
    const std::size_t first = vector.name.find('/'), second = vector.name.find('/', first + 1);
    REQUIRE_MESSAGE(first != std::string::npos, vector.name, " is not seed/draw or seed/draw/part");
    const std::string seed = vector.name.substr(0, first), name = vector.name.substr(first + 1, second - first - 1);
    if (draws.empty() || draws.back().seed != seed || draws.back().name != name) draws.emplace_back(seed, name);
    draws.back().add(second == std::string::npos ? "" : vector.name.substr(second + 1), vector);
  }
  Names seen;
  for (TorchDraw& draw : draws) {
    if (!mine(draw.name)) continue;
    CAPTURE(draw.seed);
    CAPTURE(draw.name);
    const auto found = rules.find(draw.name);
    CHECK_MESSAGE(found != rules.end(), "no rule says how to draw this");
    seen.insert(draw.name);
    if (found == rules.end() || !*found->second) continue;
    (*found->second)(draw);
    check_digits(draw.part("next"), std::vector{draw.random.next_u32()});
    CHECK_MESSAGE(draw.all_used(), "its rule leaves a part out");
  }
  for (const auto& rule : rules) CHECK_MESSAGE(seen.contains(rule.first), rule.first, " has a rule and no vector");
}

/// Within 2 units in the last place of the number without its mean, or of the number if that is larger. random.h
/// promises 3 for normals, where PyTorch takes the C library's log and sin; none of the file's is that far away.
template <class T>
void check_close(const Vector& expected, const std::vector<T>& got, double mean) {
  CAPTURE(expected.name);
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    const T wanted = static_cast<T>(expected.number(i));
    const T size = std::max(std::abs(wanted), std::abs(wanted - static_cast<T>(mean)));
    CHECK(std::abs(got[i] - wanted) <= 2 * (std::nextafter(size, std::numeric_limits<T>::infinity()) - size));
  }
}

}  // namespace mote::test
