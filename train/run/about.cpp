// A run's about.json, and the picture of its heads.
#include "train/run/about.h"

#include <algorithm>
#include <cmath>

#include "engine/base/number_text.h"
#include "engine/io/text/json.h"
#include "engine/io/text/utf8_stream.h"
#include "nn/head_pictures.h"

namespace mote {
namespace {

Json row_json(const std::vector<std::string>& cells) {
  Json row = Json::array();
  for (const std::string& cell : cells) row.push_back(valid_utf8(cell));
  return row;
}

/// Whether the queries and the keys of a layer are the same positions, as in self-attention.
bool sees_itself(const Array& layer, Index positions) {
  return layer.shape()[1] == positions && layer.shape()[2] == positions;
}

/// What the heads of each layer attend to on the held-out example, as text: their head_scores().
std::string heads_text(const RunEnding& end) {
  if (end.heads.empty() || end.ids.empty()) return "";
  std::string text =
      "Shares of attention to the token before, to the first one, and to what followed an earlier occurrence of the "
      "same\ntoken (induction); from 0.5 on it has a name. Entropy 1 is an even look at everything.\n";
  const IntArray ids = stack_rows({end.ids});
  for (std::size_t layer = 0; layer < end.heads.size(); ++layer) {
    text += "\nlayer " + std::to_string(layer);
    if (sees_itself(end.heads[layer], std::ssize(end.ids)))
      text += "\n" + describe(head_scores(end.heads[layer], ids));
    else
      text += " attends to other positions than those of its queries\n";
  }
  return text;
}

Json ending_json(const RunEnding& end, const Data& data, const Module& model) {
  Json facts = Json::array(), mistakes = Json::array();
  facts.push_back(row_json({"task", data.name()}));
  facts.push_back(row_json({"steps", std::to_string(end.steps)}));
  facts.push_back(row_json({"parameters", std::to_string(parameter_count(model))}));
  if (end.answers) {
    facts.push_back(row_json({"exact match", end.answers->text()}));
    for (const Answers::Mistake& m : end.answers->mistakes)
      mistakes.push_back(row_json({m.question, m.answer, m.instead_of}));
  } else {
    facts.push_back(row_json({"held-out loss", fixed_text(end.loss, 4) + end.loss_note}));
  }
  return Json::object(
      {{"facts", std::move(facts)}, {"mistakes", std::move(mistakes)}, {"heads", valid_utf8(heads_text(end))}});
}

}  // namespace

std::string about_json(const Data& data, const Module& model, const Optimizer& optimizer, const Evaluator& evaluator,
                       const std::optional<RunEnding>& ending) {
  const std::optional<double> guessing = data.guessing_loss();
  const Json about = Json::object({{"data", valid_utf8(data.name())},
                                   {"description", valid_utf8(data.description())},
                                   {"graded", data.graded()},
                                   {"holds_out", data.holds_out()},
                                   {"chance", data.chance()},
                                   {"guessing_loss", guessing && std::isfinite(*guessing) ? Json(*guessing) : Json()},
                                   {"tokens", row_json(evaluator.tokens())},
                                   {"model", summary(model)},
                                   {"weight_decay", describe(optimizer.groups())},
                                   {"ending", ending ? ending_json(*ending, data, model) : Json()}});
  return text_of(about, 2) + "\n";
}

std::string heads_svg(const RunEnding& end, const Data& data) {
  constexpr Index widest = 32;
  const Index T = std::ssize(end.ids), first = std::max<Index>(0, T - widest);
  for (std::size_t layer = end.heads.size(); layer-- > 0;) {
    if (T == 0 || !sees_itself(end.heads[layer], T)) continue;
    std::vector<std::string> words;
    for (Index t = first; t < T; ++t) words.push_back(data.word(end.ids[static_cast<std::size_t>(t)]));
    return attention_svg(end.heads[layer].slice(1, first, T).slice(2, first, T), words, words,
                         "layer " + std::to_string(layer) + " of a model trained on " + data.name());
  }
  return "";
}

}  // namespace mote
