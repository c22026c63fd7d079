// Reading tests/vectors/*.txt, numbers that PyTorch computed, and comparing mote's with them.
#pragma once

#include <doctest/doctest.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/array/array.h"

namespace mote::test {

/// One named row of numbers, as they stand in the file: floats with the 9 digits that tell every two of them apart.
struct Vector {
  std::string name;
  std::vector<std::string> texts;

  std::size_t size() const { return texts.size(); }
  double number(std::size_t i) const { return std::stod(texts[i]); }
  std::vector<double> numbers() const {
    std::vector<double> all;
    for (const std::string& text : texts) all.push_back(std::stod(text));
    return all;
  }
  Array array(const Shape& shape) const {
    const std::vector<double> wide = numbers();
    return Array(shape, std::vector<real>(wide.begin(), wide.end()));
  }
};

/// A file of vectors. A line is "name = number number ..." or goes on with more numbers; '#' opens a comment. The last
/// line is "# checksum" and the FNV-1a hash of all lines before it, so that a digit changed by mistake is noticed even
/// where a comparison has a tolerance. Throws when the file is missing, malformed or not what its checksum says.
class VectorFile {
 public:
  explicit VectorFile(const std::string& file) {
    std::ifstream in(std::string(MOTE_SOURCE_DIR "/tests/vectors/") + file);
    if (!in) throw std::runtime_error("tests/vectors/" + file + " cannot be read");
    std::uint64_t hash = 0xCBF29CE484222325;
    std::string found, line;
    while (std::getline(in, line)) {
      if (line.starts_with("# checksum ")) {
        found = line.substr(11);
        continue;
      }
      for (const char c : line + "\n") hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
      if (line.empty() || line[0] == '#') continue;
      const std::size_t equals = line.find(" = ");
      if (equals != std::string::npos) {
        vectors_.push_back({line.substr(0, equals), {}});
        if (!index_.emplace(vectors_.back().name, vectors_.size() - 1).second)
          throw std::runtime_error("tests/vectors/" + file + ": " + vectors_.back().name + " comes twice");
      }
      std::istringstream words(equals == std::string::npos ? line : line.substr(equals + 3));
      for (std::string word; words >> word;) vectors_.back().texts.push_back(word);
    }
    std::ostringstream computed;
    computed << std::hex << hash;
    if (found != computed.str())
      throw std::runtime_error("tests/vectors/" + file + " was changed: its lines have the checksum " + computed.str() +
                               ", the last one says '" + found + "'");
  }
  const std::vector<Vector>& all() const { return vectors_; }
  bool has(const std::string& name) const { return index_.contains(name); }
  const Vector& operator[](const std::string& name) const {
    const auto place = index_.find(name);
    if (place == index_.end()) throw std::runtime_error("no vector is called " + name);
    return vectors_[place->second];
  }

 private:
  std::vector<Vector> vectors_;
  std::map<std::string, std::size_t> index_;
};

/// 9 significant digits, as the files have them.
inline std::string digits_of(float x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", static_cast<double>(x));
  return text;
}
/// The shortest decimal that is this double.
inline std::string digits_of(double x) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, x).ptr);
}
inline std::string digits_of(std::int64_t x) { return std::to_string(x); }
inline std::string digits_of(std::uint32_t x) { return std::to_string(x); }
inline std::string digits_of(std::uint8_t x) { return std::to_string(x); }

/// Every number prints as the very digits of the file.
template <class T>
void check_digits(const Vector& expected, const T* got, std::size_t count) {
  CAPTURE(expected.name);
  REQUIRE(count == expected.size());
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (digits_of(got[i]) != expected.texts[i] && wrong++ == 0)
      MESSAGE(expected.name, " [", i, "]: ", digits_of(got[i]), " instead of ", expected.texts[i]);
  CHECK(wrong == 0);
}
template <class T>
void check_digits(const Vector& expected, const std::vector<T>& got) {
  check_digits(expected, got.data(), got.size());
}
/// Numbers that are float32 in both builds of the library.
inline void check_digits(const Vector& expected, const Array& got) {
  const std::vector<real> wide = got.to_vector();
  const std::vector<float> narrow(wide.begin(), wide.end());
  CHECK(std::vector<real>(narrow.begin(), narrow.end()) == wide);
  check_digits(expected, narrow);
}

/// Every number is within `tolerance` of the file's, absolutely.
inline void check_near(const Vector& expected, const Array& got, double tolerance) {
  CAPTURE(expected.name);
  const std::vector<real> numbers = got.to_vector();
  REQUIRE(numbers.size() == expected.size());
  double worst = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double off = std::abs(static_cast<double>(numbers[i]) - expected.number(i));
    if (!(off <= worst)) worst = off;  // NaN counts as worst
  }
  CHECK(worst <= tolerance);
}

/// compare(vector, computed[its name]) for every vector of the file. A vector that nothing was computed for, and a
/// result that the file does not have, fail: so none can be forgotten.
template <class Results, class Compare>
void compare_all(const VectorFile& file, Results& computed, const Compare& compare) {
  for (const Vector& v : file.all()) {
    if (computed.contains(v.name))
      compare(v, computed[v.name]);
    else
      FAIL_CHECK(v.name << " is in the file, and nothing is compared with it");
  }
  for (const auto& each : computed) CHECK_MESSAGE(file.has(each.first), each.first, " is not in the file");
}

}  // namespace mote::test
