// JSON values: construction, access, errors that name the value.
#include "engine/io/text/json.h"

#include <algorithm>
#include <limits>
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

/// Sets `path` to the way from `at` to `to`; false, and `path` as it was, if `to` is not in there.
bool find_path(const Json& at, const Json& to, std::size_t depth, std::string& path) {
  if (&at == &to) return true;
  if (depth == 0) return false;
  const auto put = [&](const std::string& piece) {
    if (!path.empty() && path[0] != '[') path.insert(0, 1, '.');
    path.insert(0, piece);
    return true;
  };
  if (at.is(Json::Kind::array))
    for (const Json& item : at.items())
      if (find_path(item, to, depth - 1, path))
        return put(std::string("[").append(std::to_string(&item - at.items().data())).append("]"));
  if (at.is(Json::Kind::object))
    for (const JsonMember& m : at.members())
      if (find_path(m.value, to, depth - 1, path)) return put(detail::shown_name(m.name));
  return false;
}

}  // namespace

Json::Json() = default;
Json::Json(std::string text) {
  if (text.empty())
    value_ = Box<std::string>();
  else
    value_ = Box<std::string>(std::move(text));
}
Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(const Json&) = default;
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;

Json Json::array() { return array(std::vector<Json>()); }
Json Json::object() { return object(std::vector<JsonMember>()); }

Json Json::array(std::vector<Json> items) {
  Json made;
  made.value_ = items.empty() ? Box<std::vector<Json>>() : Box<std::vector<Json>>(std::move(items));
  return made;
}

Json Json::object(std::vector<JsonMember> members) {
  Json made;
  made.value_ = members.empty() ? Box<std::vector<JsonMember>>() : Box<std::vector<JsonMember>>(std::move(members));
  return made;
}

Json::Value Json::held(bool value) { return value; }
Json::Value Json::held(std::int64_t value) { return value; }
Json::Value Json::held(std::uint64_t value) {
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return value;
  return static_cast<std::int64_t>(value);
}
Json::Value Json::held(double value) { return value; }

Json::Kind Json::kind() const {
  static constexpr Kind kinds[] = {Kind::null,   Kind::boolean, Kind::integer, Kind::integer,
                                   Kind::number, Kind::string,  Kind::array,   Kind::object};
  return kinds[value_.index()];
}

bool Json::equals(const Json& other) const {
  if (value_.index() != other.value_.index()) return false;
  const auto same = [](auto a, auto b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); };
  switch (kind()) {
    case Kind::string:
      return as_string() == other.as_string();
    case Kind::array:
      return same(items(), other.items());
    case Kind::object:
      return same(members(), other.members());
    case Kind::boolean:
      return std::get<bool>(value_) == std::get<bool>(other.value_);
    case Kind::number:
      return std::get<double>(value_) == std::get<double>(other.value_);
    case Kind::integer:
      return value_.index() == 2 ? std::get<2>(value_) == std::get<2>(other.value_)
                                 : std::get<3>(value_) == std::get<3>(other.value_);
    case Kind::null:
      break;
  }
  return true;
}

Json& Json::push_back(Json value) {
  items();  // for its error
  std::get<Box<std::vector<Json>>>(value_).write().push_back(std::move(value));
  return *this;
}

Json& Json::add(std::string name, Json value) {
  members();
  std::get<Box<std::vector<JsonMember>>>(value_).write().push_back({std::move(name), std::move(value)});
  return *this;
}

bool Json::as_bool() const { return JsonPlace(*this).as_bool(); }
Index Json::as_integer() const { return JsonPlace(*this).as_integer(); }
std::uint64_t Json::as_unsigned() const { return JsonPlace(*this).as_unsigned(); }
double Json::as_number() const { return JsonPlace(*this).as_number(); }
const std::string& Json::as_string() const { return JsonPlace(*this).as_string(); }
std::span<const Json> Json::items() const { return JsonPlace(*this).items(); }
std::span<const JsonMember> Json::members() const { return JsonPlace(*this).members(); }
const Json* Json::find(std::string_view name) const { return JsonPlace(*this).find(name); }
JsonPlace Json::at(std::string_view name) const { return JsonPlace(*this).at(name); }
JsonPlace Json::at(std::size_t position) const { return JsonPlace(*this).at(position); }

template <class T>
const T& JsonPlace::held(const char* kind) const {
  const T* const value = std::get_if<T>(&value_->value_);
  if (!value) fail("must be " + std::string(kind) + ", not " + name_of(value_->kind()));
  return *value;
}

bool JsonPlace::as_bool() const { return held<bool>("a boolean"); }

Index JsonPlace::as_integer() const {
  if (const auto* const large = std::get_if<std::uint64_t>(&value_->value_))
    fail("is " + std::to_string(*large) + ", above the largest integer, 2^63 - 1");
  return held<std::int64_t>("an integer");
}

std::uint64_t JsonPlace::as_unsigned() const {
  if (const auto* const large = std::get_if<std::uint64_t>(&value_->value_)) return *large;
  const std::int64_t value = held<std::int64_t>("an integer");
  if (value < 0) fail("must not be negative, as " + std::to_string(value) + " is");
  return static_cast<std::uint64_t>(value);
}

double JsonPlace::as_number() const {
  if (const auto* const large = std::get_if<std::uint64_t>(&value_->value_)) return static_cast<double>(*large);
  if (const auto* const integer = std::get_if<std::int64_t>(&value_->value_)) return static_cast<double>(*integer);
  return held<double>("a number");
}

const std::string& JsonPlace::as_string() const {
  static const std::string empty;
  const std::string* const text = held<Json::Box<std::string>>("a string").get();
  return text ? *text : empty;
}

std::span<const Json> JsonPlace::items() const {
  const std::vector<Json>* const list = held<Json::Box<std::vector<Json>>>("an array").get();
  return list ? std::span<const Json>(*list) : std::span<const Json>();
}

std::span<const JsonMember> JsonPlace::members() const {
  const std::vector<JsonMember>* const list = held<Json::Box<std::vector<JsonMember>>>("an object").get();
  return list ? std::span<const JsonMember>(*list) : std::span<const JsonMember>();
}

const Json* JsonPlace::find(std::string_view name) const {
  for (const JsonMember& m : members())
    if (m.name == name) return &m.value;
  return nullptr;
}

JsonPlace JsonPlace::at(std::string_view name) const {
  const Json* const found = find(name);
  if (!found) {
    const std::string outer = path();
    throw Error(std::string(what_) + ": " + outer + (outer.empty() ? "" : ".") + detail::shown_name(name) +
                " is missing");
  }
  return to(*found);
}

JsonPlace JsonPlace::at(std::size_t position) const {
  const std::span<const Json> list = items();
  if (position >= list.size())
    fail("has " + std::to_string(list.size()) + " items, too few for one at position " + std::to_string(position));
  return to(list[position]);
}

std::string JsonPlace::path() const {
  std::string path;
  find_path(*document_, *value_, detail::json_depth, path);
  return path;
}

void JsonPlace::fail(std::string_view rule) const {
  const std::string where = path();
  throw Error(std::string(what_) + ": " + (where.empty() ? "the document" : where) + " " + std::string(rule));
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
