// The functions that tasks share: ids as text, the head that attends best, drawing from a split.
#include "train/tasks/task.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/base/math.h"
#include "engine/base/number_text.h"
#include "engine/io/text/utf8.h"
#include "engine/io/text/utf8_stream.h"

namespace mote {

std::string text_of(const Outcome& o) {
  const auto percent = [](double fraction) { return detail::field_text(std::round(1e6 * fraction) / 1e4); };
  if (o.loss > 0) return std::isfinite(o.loss) ? "loss <= " + fixed_text(o.loss, 2) : "nothing";
  if (o.least >= o.most) return percent(o.most) + " %";
  if (o.least <= 0) return "<= " + percent(o.most) + " %";
  if (o.most >= 1) return ">= " + percent(o.least) + " %";
  return percent(o.least) + " to " + percent(o.most) + " %";
}

namespace {
bool only_letters(const Task& task) {
  bool letters = true;
  for (Index id = 0; id < task.vocab_size() && letters; ++id) letters = task.word(id).size() == 1;
  return letters;
}
}  // namespace

std::optional<double> Task::guessing_loss() const { return math::log(static_cast<double>(vocab_size())); }

Questions Task::evaluation(Index count, Split split) const { return questions(count, split, Generator(20260101)); }

std::string Task::text(std::span<const Index> ids) const {
  const bool letters = only_letters(*this);
  std::string text;
  for (const Index id : ids) {
    check(id < vocab_size(), "the answer has id ", id, ", but the task has ", vocab_size(),
          " words: the model has more logits than words");
    text.append(letters || text.empty() ? "" : " ").append(word(id));
  }
  return text;
}

std::vector<Index> Task::ids(const std::string& text) const {
  const bool letters = only_letters(*this);
  std::map<std::string, Index> known;
  for (Index id = 0; id < vocab_size(); ++id) known.emplace(word(id), id);
  std::vector<Index> ids;
  std::string unknown;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end) {
    if (!known.contains(" ")) at = text.find_first_not_of(' ', at);
    if (at == std::string::npos) break;
    end = letters ? at + detail::character_at(text, at).first : std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (const auto found = known.find(word); found != known.end())
      ids.push_back(found->second);
    else if (const std::string quoted = "'" + readable_text(word) + "'"; unknown.find(quoted) == std::string::npos)
      unknown.append(unknown.empty() ? "" : ", ").append(quoted);
  }
  if (unknown.empty()) return ids;
  std::string all;
  for (Index id = 0; id < vocab_size(); ++id)
    if (id < 30 || id + 1 == vocab_size())
      all.append(" ").append(word(id));
    else if (id == 30)
      all.append(" ...");
  throw Error("the task has no word " + unknown + "; its words are" + all);
}

Index Task::looks_at(std::span<const Index>, Index) const { return -1; }
std::string Task::looks_text(const std::string& fraction) const {
  return fraction + " of its attention goes to the position that tells what comes next";
}

std::string Task::best_head_text(std::span<const Index> ids, const std::vector<Array>& layers) const {
  double best = -1;
  std::string name;
  const Index T = std::ssize(ids);
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    const Shape& shape = layers[layer].shape();
    if (shape[1] != T || shape[2] != T) continue;  // this layer attends to other positions than those of `ids`
    for (Index head = 0; head < shape[0]; ++head) {
      double fraction = 0, count = 0;
      for (Index t = 0; t < T; ++t)
        if (const Index at = looks_at(ids, t); at >= 0) {
          fraction += static_cast<double>(layers[layer].at({head, t, at}));
          ++count;
        }
      if (count == 0 || fraction / count <= best) continue;
      best = fraction / count;
      name = "head " + std::to_string(head) + " of layer " + std::to_string(layer) + " (both counted from 0)";
    }
  }
  return name.empty() ? "" : "attention: " + name + ". " + looks_text(fixed_text(100 * best, 0) + " %");
}

Index checked_size(const char* task, const char* option, Index size, Index least, Index most) {
  check_in(task, size >= least && size <= most, option, " ", size, " must be ", least, " to ", most);
  return size;
}

std::vector<Index> draw_of(Split split, const std::function<std::vector<Index>()>& draw) {
  for (int tried = 0; tried < 100'000; ++tried)
    if (std::vector<Index> s = draw(); split_of(s) == split) return s;
  throw Error("none of 100000 drawn questions is one to " +
              std::string(split == Split::validation ? "test on" : "train on") + ": the task has too few questions");
}

void check_splits(const char* task, const std::function<std::vector<Index>(const Generator&)>& draw) {
  const Generator random(0);
  bool train = false, test = false;
  for (int tried = 0; tried < 1000 && !(train && test); ++tried)
    (split_of(draw(random)) == Split::train ? train : test) = true;
  check_in(task, train && test, "there are too few different questions to hold some out");
}

std::vector<Index> random_ids(Integer length, Integer low, Integer high, const Generator& random) {
  std::vector<Index> ids(static_cast<std::size_t>(length));
  random.randint(ids, low, high);
  return ids;
}

std::string symbol_word(Index id, Index symbols) {
  return symbols <= 26 ? std::string(1, static_cast<char>('a' + id)) : std::to_string(id);
}

}  // namespace mote
