// Places, which parses and matches names of values, and the observers that record and change these values.
#include "nn/reach.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>
#include <string_view>

#include "engine/base/words.h"
#include "engine/ops/compare.h"
#include "engine/ops/create.h"
#include "engine/ops/view.h"

namespace mote {
namespace {

/// Whether `name` matches `form`, in which * stands for any characters. If the text after a star does not fit, only
/// this last star takes one more character. Earlier stars need not change, because their text was matched where it
/// first occurs.
bool matches(std::string_view form, std::string_view name) {
  // `star` is the last star in `form`, and `taken` is the end of the characters in `name` that this star stands for.
  std::size_t f = 0, n = 0, star = form.npos, taken = 0;
  while (n < name.size()) {
    if (f < form.size() && form[f] == '*') {
      star = f++;
      taken = n;
    } else if (f < form.size() && form[f] == name[n]) {
      ++f;
      ++n;
    } else if (star != form.npos) {
      f = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  return form.find_first_not_of('*', f) == form.npos;
}

/// The text "; the nearest are a, b, c", with the three names most similar to `wanted`. Names are compared by the part
/// after the last dot, and then as a whole.
std::string nearest(std::vector<std::string> names, const std::string& wanted) {
  const auto far = [&](const std::string& name) {
    const auto last = [](const std::string& path) { return path.substr(path.rfind('.') + 1); };
    return std::pair(distance(last(name), last(wanted)), distance(name, wanted));
  };
  std::stable_sort(names.begin(), names.end(), [&](const auto& a, const auto& b) { return far(a) < far(b); });
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, names.size()); ++i)
    text += (i == 0 ? "; the nearest are " : ", ") + names[i];
  return text;
}

/// Returns x with the elements at `positions` of the axis replaced by those of `value`. No positions means all of them.
Tensor chosen(const std::vector<Index>& positions, int axis, const Tensor& x, const Tensor& value,
              const std::string& where) {
  if (positions.empty()) return value;
  const char* const what = axis == -3 ? "head" : "position";
  check_in("places", x.dim() >= -axis, "'", where, "': the value there, ", x.shape(), ", has no axis of ", what, "s");
  const Index extent = x.size(axis);
  Mask mask(axis == -3 ? Shape{extent, 1, 1} : Shape{extent, 1});
  for (const Index p : positions) {
    check_in("places", p < extent && p >= -extent, "'", where, "': ", what, " ", p,
             " is out of range for the value there, ", x.shape(), ", whose ", what, "s are 0 to ", extent - 1);
    mask.mutate()[p < 0 ? p + extent : p] = 1;
  }
  return mote::where(mask, value, x);
}

}  // namespace

Places::Places(const std::vector<NamedModule>& layers, const std::string& text)
    : text_(text), model_(layers[0].module) {
  static constexpr std::array values{"scores", "weights", "dropped_weights", "heads", "scale"};
  const auto is_value = [](const std::string& w) { return std::find(values.begin(), values.end(), w) != values.end(); };
  std::istringstream words(text);
  std::string layer, word;
  const auto is_layer = [&](const NamedModule& m) { return m.name == layer; };
  if (words >> layer && is_value(layer) && std::none_of(layers.begin(), layers.end(), is_layer)) {
    layer.clear();
    words.seekg(0);  // a value of the model itself
  }
  std::vector<Index>* numbers = nullptr;
  std::string misplaced;  // the first word that does not fit
  while (words >> word) {
    Index number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (numbers && error == std::errc() && end == word.data() + word.size())
      numbers->push_back(number);
    else if (word == "at" && numbers != &positions_)
      numbers = &positions_;
    else if (value_.empty() && !numbers && is_value(word)) {
      value_ = word;
      numbers = word == "scale" ? nullptr : &heads_;
    } else if (misplaced.empty()) {
      misplaced = word;
    }
  }
  if (numbers == &positions_ && positions_.empty()) misplaced = "at";
  check_in("places", misplaced.empty(), "'", misplaced, "' is out of place in '", text,
           "', which must be LAYER [VALUE [HEADS]] [at POSITIONS], such as '*.attn heads 0 at -1': VALUE is scores, ",
           "weights, dropped_weights, heads or scale, and scale has no HEADS");
  for (const NamedModule& m : layers)
    if (m.name.empty() ? layer.empty() : matches(layer, m.name)) layers_.emplace(m.module, m.name);
  if (!layers_.empty()) return;
  std::vector<std::string> names;
  for (std::size_t i = 1; i < layers.size(); ++i) names.push_back(layers[i].name);
  check_in("places", false, "no layer is named '", layer, "'", nearest(names, layer));
}

bool Places::include(std::string_view value) const {
  return thread_context.layer && value_ == value && layers_.contains(thread_context.layer->layer);
}

std::string Places::name(std::string_view value) const {
  std::string name = layers_.at(thread_context.layer->layer);
  if (!value.empty()) name.append(name.empty() ? "" : " ").append(value);
  return name;
}

Tensor Places::put(const Tensor& x, const Tensor& with) const {
  check_in("places", with.defined(), "'", text_, "': the value to put there is an empty Tensor()");
  check_in("places", with.array().layout().expands_to(x.shape()), "'", text_, "': ", with.shape(),
           " does not broadcast to the value there, ", x.shape());
  const Tensor value = with.shape() == x.shape() ? with : expand(with, x.shape());
  return chosen(heads_, -3, x, chosen(positions_, -2, x, value, text_), text_);
}

void Places::check_reached(const char* who, const Event& e) const {
  const bool call_ends = e.kind == Event::value_shown && e.name.empty() && thread_context.layer->layer == model_;
  check_in(who, reached || !call_ends, "'", text_,
           "' was not computed when the model was called: no such layer ran, or it has no such value");
}

Record::Record(const Module& model, const std::vector<std::string>& places) {
  const std::vector<NamedModule> layers = named_modules(model);
  for (const std::string& text : places) {
    const Places& p = places_.emplace_back(layers, text);
    check_in("Record", p.whole(), "'", text,
             "' asks for single heads or positions, but Record keeps whole values: leave the numbers out, and select() "
             "from the value");
  }
  watch();
}

const Tensor& Record::operator[](const std::string& name) const& {
  const auto found = values_.find(name);
  std::vector<std::string> names;
  for (const auto& [known, value] : values_) names.push_back(known);
  check_in("Record", found != values_.end(), "no value is recorded as '", name, "'", nearest(names, name));
  return found->second;
}

void Record::event(const Event& e) {
  if (e.kind != Event::value_asked && e.kind != Event::value_shown) return;
  for (Places& p : places_) {
    if (!p.include(e.name)) continue;
    if (e.kind == Event::value_shown) {
      p.reached = true;
      values_[p.name(e.name)] = *e.value;
    } else {
      // With gradients, the recorded values must be Tensors of the graph. The fused op of attention has none, so
      // attention is asked to run as its formula (Want::to_change). The scale of a norm is recorded without the graph,
      // because the gradients of a norm's formula have other bits.
      e.answer(NoGrad::active() || e.name == "scale" ? Want::to_see : Want::to_change);
    }
  }
  for (const Places& p : places_) p.check_reached("Record", e);
}

Change::Change(const Module& model, const std::string& places, std::function<Tensor(const Tensor&)> change)
    : places_(named_modules(model), places), change_(std::move(change)) {
  watch();
}

void Change::event(const Event& e) {
  if (e.kind == Event::value_asked && places_.include(e.name)) e.answer(Want::to_change);
  if (e.kind == Event::value_offered && places_.include(e.name)) {
    places_.reached = true;
    *e.value = places_.put(*e.value, change_(*e.value));
  }
  places_.check_reached("Change", e);
}

}  // namespace mote
