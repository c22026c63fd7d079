// head_scores and describe; attention_text, a picture made of characters.
#include "nn/head_pictures.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "engine/base/check.h"
#include "engine/base/math.h"
#include "engine/base/number_text.h"
#include "engine/base/table.h"
#include "engine/io/text/utf8.h"

namespace mote {
namespace {

struct Mean {
  double sum = 0;
  Index count = 0;
  void add(double x) { sum += x, ++count; }
  double value() const { return count > 0 ? sum / static_cast<double>(count) : 0; }
};

}  // namespace

std::vector<HeadScore> head_scores(const Array& weights, const IntArray& ids) {
  const Array all = weights.rank() == 3 ? weights.unsqueeze(0) : weights;
  check_in("head_scores", all.rank() == 4 && all.shape()[2] == all.shape()[3], "weights ", weights.shape(),
           " must be [H, T, T] or [B, H, T, T]");
  const Index B = all.shape()[0], H = all.shape()[1], T = all.shape()[2];
  check_in("head_scores", ids.numel() == B * T && (T == 0 || ids.shape()[-1] == T), "ids ", ids.shape(),
           " must be [B, T] = ", Shape{B, T}, ": one id for each of the ", T, " positions of weights ",
           weights.shape());
  const Array w = all.contiguous();
  const IntArray tokens = ids.contiguous();
  std::vector<HeadScore> scores;
  for (Index h = 0; h < H; ++h) {
    Mean previous, first, induction, entropy;
    for (Index b = 0; b < B; ++b) {
      const Index* const id = tokens.data() + b * T;
      for (Index t = 1; t < T; ++t) {
        const real* const row = w.data() + ((b * H + h) * T + t) * T;
        previous.add(static_cast<double>(row[t - 1]));
        first.add(static_cast<double>(row[0]));
        double following = 0, spread = 0;
        bool seen = false;
        for (Index j = 0; j <= t; ++j) {
          const double p = static_cast<double>(row[j]);
          if (p > 0) spread -= p * math::log(p);
          if (j > 0 && id[j - 1] == id[t]) {
            following += p;
            seen = true;
          }
        }
        if (seen) induction.add(following);
        entropy.add(spread / math::log(static_cast<double>(t + 1)));
      }
    }
    scores.push_back({previous.value(), first.value(), induction.value(), entropy.value()});
  }
  return scores;
}

std::string describe(const std::vector<HeadScore>& scores) {
  std::vector<TableRow> rows{{"head", "previous", "first", "induction", "entropy"}};
  for (std::size_t h = 0; h < scores.size(); ++h) {
    const HeadScore& s = scores[h];
    const double most = std::max({s.previous, s.first, s.induction});
    const char* kind = s.entropy > 0.9       ? "nearly uniform"
                       : !(most >= 0.5)      ? ""
                       : most == s.previous  ? "previous token"
                       : most == s.induction ? "induction"
                                             : "first token";
    rows.push_back({std::to_string(h), fixed_text(s.previous, 2), fixed_text(s.first, 2), fixed_text(s.induction, 2),
                    fixed_text(s.entropy, 2), kind});
  }
  return table_text(rows, "rrrrr");
}

std::vector<std::string> characters_of(const std::string& text) {
  std::vector<std::string> characters;
  for (std::size_t i = 0; i < text.size(); i += characters.back().size())
    characters.push_back(text.substr(i, detail::character_at(text, i).first));
  return characters;
}

std::string attention_text(const Array& weights, const std::vector<std::string>& queries, Flag causal,
                           const std::vector<std::string>& heads) {
  check_in("attention_text", weights.rank() == 2 || weights.rank() == 3, "weights ", weights.shape(),
           " must be [Tq, Tk] or [H, Tq, Tk]: of a batch, pass row b as weights.select(0, b)");
  const Array all = weights.rank() == 2 ? weights.unsqueeze(0) : weights;
  const Index H = all.shape()[0], Tq = all.shape()[1], Tk = all.shape()[2];
  check_in("attention_text", static_cast<Index>(queries.size()) == Tq, "weights ", weights.shape(), " have ", Tq,
           " queries, but labels of queries: ", queries.size());
  check_in("attention_text", heads.empty() || static_cast<Index>(heads.size()) == H, "weights ", weights.shape(),
           " have ", H, " heads, but names of heads: ", heads.size());
  constexpr std::string_view glyphs = ".:-=+*#%@";
  std::size_t label = 1;
  for (const std::string& name : queries) label = std::max(label, characters_of(name).size());
  const std::size_t map = static_cast<std::size_t>(2 * Tk + 2);  // two columns for each key, and a border
  const Index side_by_side = std::max<Index>(1, (118 - static_cast<Index>(label)) / static_cast<Index>(map));
  std::string text;
  for (Index first = 0; first < H; first += side_by_side) {
    const Index end = std::min(H, first + side_by_side);
    if (weights.rank() == 3) {
      text += std::string(label + 4, ' ');
      for (Index h = first; h < end; ++h) {
        std::string title = " " + (heads.empty() ? "head " + std::to_string(h) : heads[static_cast<std::size_t>(h)]);
        if (h + 1 < end) title.resize(std::max(map, title.size()), ' ');
        text += title;
      }
      text += "\n";
    }
    for (Index i = 0; i < Tq; ++i) {
      const std::string& name = queries[static_cast<std::size_t>(i)];
      text += std::string(label + 2 - characters_of(name).size(), ' ') + name + " |";
      for (Index h = first; h < end; ++h) {
        for (Index j = 0; j < Tk; ++j) {
          const double w = static_cast<double>(all.at({h, i, j}));
          const std::size_t level = w > 0 ? static_cast<std::size_t>(std::min(w, 1.0) * 9) : 0;  // NaN counts as 0
          text += ' ';
          text += causal && j > i + Tk - Tq && !(w > 0) ? ' ' : glyphs[std::min<std::size_t>(8, level)];
        }
        text += " |";
      }
      text += "\n";
    }
  }
  return text;
}

}  // namespace mote
