// JSON values: construction, access, and errors that say where in a document a value is.
#include "engine/io/text/json.h"

#include <algorithm>

#include "engine/base/check.h"
#include "engine/io/text/utf8.h"

namespace mote {
namespace {

/// The names of the kinds in errors, in the order of Json::Kind.
constexpr const char* kind_names[] = {"null",     "a boolean", "an integer", "a number with a fraction or an exponent",
                                      "a string", "an array",  "an object"};

}  // namespace

Json::Json() = default;
Json::Json(std::string text) : value_(std::move(text)) {}
Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;
Json::~Json() = default;

Json& Json::operator=(Json other) noexcept {
  value_ = std::move(other.value_);
  depth_ = other.depth_;
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
  const auto depth = std::max(depth_, inner.depth_ + 1);
  if (depth > most_depth) throw Error("JSON: arrays and objects are nested deeper than " + std::to_string(most_depth));
  depth_ = depth;
}

bool operator==(const Json& a, const Json& b) { return a.value_ == b.value_; }

Json& Json::push_back(Json value) {
  JsonPlace(*this).items();  // an error unless this is an array
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
  if (!found) fail("must be " + std::string(kind) + ", not " + kind_names[value_->value().index()]);
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

JsonPlace JsonPlace::below(std::string_view name, const Json& value) const {
  return JsonPlace(value, what_, path_ + (path_.empty() ? "" : ".") + detail::shown_name(name));
}

JsonPlace JsonPlace::at(const JsonMember& member) const { return below(member.name, member.value); }

JsonPlace JsonPlace::at(std::string_view name) const {
  if (const Json* const found = find(name)) return below(name, *found);
  below(name, *value_).fail("is missing");
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

std::string detail::shortened(std::string_view name) {
  constexpr std::size_t longest = 80;
  std::string shown;
  std::size_t i = 0;
  while (i < name.size() && shown.size() < longest) {
    const auto [length, code] = character_at(name, i);
    shown += !code || is_control(*code) ? "?" : std::string(name.substr(i, length));
    i += length;
  }
  return i < name.size() ? shown + "..." : shown;
}

std::string detail::shown_name(std::string_view name) {
  const auto in_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  const std::string shown = shortened(name);
  return !shown.empty() && std::all_of(shown.begin(), shown.end(), in_word) ? shown : '"' + shown + '"';
}

}  // namespace mote
