// How places are read and matched, and what happens when one is never reached.
#include "nn/reach.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include "engine/io/text/words.h"
#include "engine/ops/compare.h"
#include "engine/ops/create.h"
#include "engine/ops/view.h"

namespace mote {
namespace {

/// Whether `name` is of this form, in which * stands for anything.
bool matches(std::string_view form, std::string_view name) {
  if (form.empty()) return name.empty();
  if (form[0] == '*') return matches(form.substr(1), name) || (!name.empty() && matches(form, name.substr(1)));
  return !name.empty() && form[0] == name[0] && matches(form.substr(1), name.substr(1));
}

/// "; the nearest are a, b, c"
std::string nearest(std::vector<std::string> names, const std::string& wanted) {
  std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return distance(a, wanted) < distance(b, wanted);
  });
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, names.size()); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return "; the nearest are " + text;
}

/// True at these positions of an axis of this extent, with as many axes of extent 1 behind it.
Mask chosen(const std::vector<Index>& positions, Index extent, int behind, const std::string& where) {
  Shape shape{extent};
  for (int i = 0; i < behind; ++i) shape = shape.insert(shape.rank(), 1);
  Mask mask(shape);
  for (const Index p : positions) {
    check_in("places", p < extent && p >= -extent, where, ": there are only ", extent);
    mask.mutate()[p < 0 ? p + extent : p] = 1;
  }
  return mask;
}

}  // namespace

Places::Places(const Module& model, const std::string& text) : text_(text) {
  static constexpr std::array values{"scores", "weights", "dropped_weights", "heads"};
  std::istringstream words(text);
  std::string layer, word;
  if (!text.empty() && text[0] != ' ') words >> layer;  // else it is the model itself
  std::vector<Index>* numbers = nullptr;
  const std::string form =
      "a layer's name, then scores, weights, dropped_weights or heads, with numbers of heads, then "
      "`at` with positions";
  while (words >> word) {
    const bool number = word.find_first_not_of("-0123456789") == word.npos;
    if (number && numbers)
      numbers->push_back(std::stoll(word));
    else if (word == "at" && numbers != &positions_)
      numbers = &positions_;
    else if (value_.empty() && !numbers && std::find(values.begin(), values.end(), word) != values.end())
      value_ = word, numbers = &heads_;
    else
      check_in("places", false, "'", text, "' should be ", form);
  }
  check_in("places", numbers != &positions_ || !positions_.empty(), "'", text, "' should be ", form);
  std::vector<std::string> names;
  const auto consider = [&](const Module& m, const std::string& name) {
    names.push_back(name);
    if (matches(layer, name)) layers_.emplace(&m, name);
  };
  if (layer.empty()) layers_.emplace(&model, "");
  each_field(model, [&](const ModuleField& f) {
    if (f.child) consider(*f.child, f.path);
  });
  check_in("places", !layers_.empty(), "no layer is named '", layer, "'", nearest(names, layer));
}

bool Places::include(const char* value) const {
  return thread_context.layer && value_ == value && layers_.contains(thread_context.layer->layer);
}

std::string Places::name(const char* value) const {
  const std::string layer = layers_.at(thread_context.layer->layer);
  return *value == '\0' ? layer : layer + (layer.empty() ? "" : " ") + value;
}

Tensor Places::put(const Tensor& x, const Tensor& with) const {
  const Tensor whole = with.shape() == x.shape() ? with : expand(with, x.shape());
  if (heads_.empty() && positions_.empty()) return whole;
  Mask mask;
  if (!heads_.empty()) mask = chosen(heads_, x.size(-3), 2, text_);
  if (!positions_.empty()) {
    check_in("places", x.dim() >= 2, text_, ": ", x.shape(), " has no positions");
    const Mask at = chosen(positions_, x.size(-2), 1, text_);
    mask = mask.defined() ? mask & at : at;
  }
  return where(mask, whole, x);
}

Record::Record(const Module& model, const std::vector<std::string>& places) {
  for (const std::string& p : places) places_.push_back({Places(model, p), false});
  watch();
}

Record::~Record() noexcept(false) {
  for (const auto& [places, reached] : places_)
    check_in("Record", reached || std::uncaught_exceptions() > failing_, "'", places.text(),
             "' was never computed during the scope");
}

const Tensor& Record::operator[](const std::string& name) const {
  const auto found = values_.find(name);
  std::vector<std::string> names;
  for (const auto& [known, value] : values_) names.push_back(known);
  check_in("Record", found != values_.end(), "nothing is named '", name, "'", nearest(names, name));
  return found->second;
}

bool Record::wants(const char* value) const {
  return std::any_of(places_.begin(), places_.end(), [&](const auto& p) { return p.first.include(value); });
}

bool Record::changes(const char* value) const {
  return (!NoGrad::active() || std::string_view(value) == "scores") && *value != '\0' && wants(value);
}

void Record::value_shown(const char* value, const Tensor& x) {
  for (auto& [places, reached] : places_)
    if (places.include(value)) reached = true, values_[places.name(value)] = x;
}

Change::Change(const Module& model, const std::string& places, std::function<Tensor(const Tensor&)> change)
    : places_(model, places), change_(std::move(change)) {
  watch();
}

Change::~Change() noexcept(false) {
  check_in("Change", reached_ || std::uncaught_exceptions() > failing_, "'", places_.text(),
           "' was never computed during the scope, so nothing was changed");
}

Tensor Change::changed(const char*, const Tensor& x) {
  reached_ = true;
  return places_.put(x, change_(x));
}

}  // namespace mote
