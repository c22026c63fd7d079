// Two hundred first names, the text from which the lessons' models learn what a name sounds like.
#pragma once

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "engine/array/int_array.h"

inline constexpr const char* names_text =
    "olivia liam emma noah charlotte oliver amelia james sophia elijah mia william isabella henry ava lucas evelyn "
    "benjamin luna theodore harper mateo sofia levi camila sebastian eleanor daniel elizabeth jack violet michael "
    "scarlett alexander emily owen hazel asher lily samuel gianna ethan aurora leo penelope jackson aria mason nora "
    "ezra chloe john ellie hudson mila luca avery aiden layla joseph abigail david ella jacob isla logan eliana luke "
    "nova julian madison gabriel zoe grayson ivy wyatt grace matthew lucy maverick willow dylan emilia isaac riley "
    "elias naomi anthony victoria thomas stella jayden elena carter hannah santiago valentina ezekiel maya charles "
    "zoey josiah delilah caleb leah cooper lainey lincoln lillian miles paisley christopher genesis nathan madelyn "
    "isaiah sadie kai sophie joshua leilani andrew addison angel natalie adrian josephine cameron alice nolan ruby "
    "waylon claire jaxon kinsley roman everly eli emery wesley adeline aaron kennedy ian maeve christian audrey ryan "
    "autumn leonardo athena brooks eden axel iris walker anna jonathan eloise easton jade everett maria weston "
    "caroline bennett brooklyn robert quinn jameson aaliyah landon vivian silas liliana jose gabriella beau hailey "
    "micah sarah colton savannah jordan cora jeremiah madeline parker natalia greyson ariana rowan lydia adam lyla "
    "nicholas clara theo allison xavier";

inline std::vector<std::string> names() {
  std::istringstream text(names_text);
  std::vector<std::string> all;
  for (std::string name; text >> name;) all.push_back(name);
  return all;
}
/// The number of different symbols. A symbol is an id: a to z are 1 to 26, and 0 stands before the first letter and
/// after the last letter of a name.
inline constexpr int symbols = 27;
inline int symbol(char letter) { return letter - 'a' + 1; }
inline char letter(long long symbol) { return static_cast<char>('a' + symbol - 1); }

/// Returns all names as ids and targets, [200, T] each, for a model that reads T symbols. The ids of a name are a 0
/// and the letters. The target at each symbol is the next symbol, so the targets are the letters and a 0. After the
/// end of a name the targets are -1, which the loss ignores.
inline std::pair<mote::IntArray, mote::IntArray> name_rows(mote::Index T) {
  const std::vector<std::string> all = names();
  const mote::Shape shape{static_cast<mote::Index>(all.size()), T};
  mote::IntArray ids(shape), next = mote::IntArray::full(shape, -1);
  mote::Index* id = ids.mutate();
  mote::Index* target = next.mutate();
  for (const std::string& name : all) {
    for (std::size_t t = 0; t < name.size(); ++t) target[t] = id[t + 1] = symbol(name[t]);
    target[name.size()] = 0;
    id += T;
    target += T;
  }
  return {ids, next};
}
