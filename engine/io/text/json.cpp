// JSON values: construction, access, errors that name the value.
#include "engine/io/text/json.h"

#include <algorithm>
#include <numeric>

#include "engine/base/check.h"
#include "engine/io/text/utf8.h"

namespace mote {
namespace {

const char* name_of(Json::Kind kind) {
  switch (kind) {
    case Json::Kind::null:
      return "null";
    case Json::Kind::boolean:
      return "a boolean";
    case Json::Kind::integer:
      return "an integer";
    case Json::Kind::number:
      return "a number with a fraction or an exponent";
    case Json::Kind::string:
      return "a string";
    case Json::Kind::array:
      return "an array";
    case Json::Kind::object:
      return "an object";
  }
  return "nothing";
}

}  // namespace

Json::Json() = default;
Json::Json(std::string text) : value_(std::move(text)) {}
Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;
Json::~Json() = default;

Json& Json::operator=(Json other) noexcept {
  std::swap(value_, other.value_);
  std::swap(depth_, other.depth_);
  return *this;
}

Json Json::array(std::vector<Json> items) {
  Json made;
  made.depth_ = 1;
  for (const Json& item : items) made.holds(item);
  made.value_ = std::move(items);
  return made;
}

Json Json::object(std::vector<JsonMember> members) {
  Json made;
  made.depth_ = 1;
  for (const JsonMember& m : members) made.holds(m.value);
  made.value_ = std::move(members);
  return made;
}

Json Json::array() { return array(std::vector<Json>()); }
Json Json::object() { return object(std::vector<JsonMember>()); }

void Json::holds(const Json& inner) {
  depth_ = std::max(depth_, inner.depth_ + 1);
  if (depth_ > most_depth) throw Error("JSON: arrays and objects are nested deeper than " + std::to_string(most_depth));
}

bool operator==(const Json& a, const Json& b) { return a.value_ == b.value_; }

Json& Json::push_back(Json value) {
  JsonPlace(*this).items();  // for its error
  holds(value);
  std::get<std::vector<Json>>(value_).push_back(std::move(value));
  return *this;
}

Json& Json::add(std::string name, Json value) {
  JsonPlace(*this).members();
  holds(value);
  std::get<std::vector<JsonMember>>(value_).push_back({std::move(name), std::move(value)});
  return *this;
}

template <class T>
const T& JsonPlace::held(const char* kind) const {
  const T* const found = std::get_if<T>(&value_->value());
  if (!found) fail("must be " + std::string(kind) + ", not " + name_of(value_->kind()));
  return *found;
}

bool JsonPlace::as_bool() const { return held<bool>("a boolean"); }

Index JsonPlace::as_integer() const { return held<Index>("an integer"); }

double JsonPlace::as_number() const {
  if (const auto* const integer = std::get_if<Index>(&value_->value())) return static_cast<double>(*integer);
  return held<double>("a number");
}

const std::string& JsonPlace::as_string() const { return held<std::string>("a string"); }
const std::vector<Json>& JsonPlace::items() const { return held<std::vector<Json>>("an array"); }
const std::vector<JsonMember>& JsonPlace::members() const { return held<std::vector<JsonMember>>("an object"); }

const Json* JsonPlace::find(std::string_view name) const {
  for (const JsonMember& m : members())
    if (m.name == name) return &m.value;
  return nullptr;
}

JsonPlace JsonPlace::at(const JsonMember& member) const {
  return JsonPlace(member.value, what_, path_ + (path_.empty() ? "" : ".") + detail::shown_name(member.name));
}

JsonPlace JsonPlace::at(std::string_view name) const {
  for (const JsonMember& m : members())
    if (m.name == name) return at(m);
  throw Error(std::string(what_) + ": " + path_ + (path_.empty() ? "" : ".") + detail::shown_name(name) +
              " is missing");
}

JsonPlace JsonPlace::at(std::size_t position) const {
  const std::vector<Json>& list = items();
  if (position >= list.size())
    fail("has " + std::to_string(list.size()) + " items, too few for one at position " + std::to_string(position));
  return JsonPlace(list[position], what_, path_ + "[" + std::to_string(position) + "]");
}

void JsonPlace::fail(std::string_view rule) const {
  throw Error(std::string(what_) + ": " + (path_.empty() ? "the document" : path_) + " " + std::string(rule));
}

std::size_t detail::repeated_name(std::span<const JsonMember> members) {
  if (members.size() <= 8) {  // needs no memory
    for (std::size_t i = 1; i < members.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (members[i].name == members[j].name) return i;
    return members.size();
  }
  const auto shorter = [&](std::size_t a, std::size_t b) {  // any order does; this one is soon decided
    const std::string &x = members[a].name, &y = members[b].name;
    if (x.size() != y.size()) return x.size() < y.size();
    const int order = x.compare(y);
    return order != 0 ? order < 0 : a < b;
  };
  std::vector<std::size_t> order(members.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::sort(order.begin(), order.end(), shorter);
  std::size_t first = members.size();
  for (std::size_t i = 1; i < order.size(); ++i)
    if (members[order[i - 1]].name == members[order[i]].name) first = std::min(first, order[i]);
  return first;
}

std::string detail::shown_name(std::string_view name) {
  const auto in_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  constexpr std::size_t longest = 80;
  std::string shown;
  for (std::size_t i = 0; i < name.size() && shown.size() < longest;) {
    const auto [length, code] = character_at(name, i);
    shown += !code || is_control(*code) ? "?" : std::string(name.substr(i, length));
    i += length;
  }
  if (name.size() > longest) return "\"" + shown + "...\"";
  return !name.empty() && std::all_of(name.begin(), name.end(), in_word) ? shown : "\"" + shown + "\"";
}

}  // namespace mote
