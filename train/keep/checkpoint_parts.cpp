// How fields are saved and restored by their type, and how loading notes problems.
#include <cmath>
#include <set>

#include "train/keep/checkpoint.h"

namespace mote {
namespace {

/// The state of a random stream as integers. First come the words of the Mersenne Twister, and how many of them are
/// used. Then comes whether the second number of a normal pair is cached, and the bits of this number. At last come the
/// seed and the two fields of the TorchBuild.
IntArray numbers_of(const GeneratorState& s) {
  std::vector<Index> all(s.words.begin(), s.words.end());
  for (const Index x :
       {static_cast<Index>(s.used), static_cast<Index>(s.has_normal), __builtin_bit_cast(Index, s.cached_normal),
        static_cast<Index>(s.seed), static_cast<Index>(s.build.mkl), static_cast<Index>(s.build.version)})
    all.push_back(x);
  return IntArray({static_cast<Index>(all.size())}, all);
}

GeneratorState stream_of(const IntArray& numbers) {
  GeneratorState s;
  const Index* x = numbers.data();
  for (std::uint32_t& word : s.words) word = static_cast<std::uint32_t>(*x++);
  s.used = static_cast<std::uint32_t>(*x++);
  s.has_normal = *x++ != 0;
  s.cached_normal = __builtin_bit_cast(double, *x++);
  s.seed = static_cast<std::uint64_t>(*x++);
  s.build.mkl = *x++ != 0;
  s.build.version = static_cast<int>(*x);
  return s;
}

}  // namespace

template <class A>
A detail::Transfer::elements(const std::string& name, A (SafetensorsFile::*read)(const TensorEntry&) const) {
  asked_.push_back(name);
  const TensorEntry* const found = file_->find(name);
  if (!found) problem("'" + name + "' is missing in the file");
  try {
    return found ? (file_->*read)(*found) : A();
  } catch (const Error& e) {
    problem(e.what());
    return A();
  }
}

const std::string* detail::Transfer::text(const std::string& name) {
  asked_.push_back(name);
  const std::string* const found = file_->find_metadata(name);
  if (!found) problem("'" + name + "' is missing in the file");
  return found;
}

void detail::Transfer::require(const std::string& name, const std::string& here) {
  const std::string* const there = text(name);
  if (there && *there != here) problem("'" + name + "' is " + *there + " in the file, but " + here + " in this run");
}

Array detail::Transfer::array(const std::string& name) { return elements(name, &SafetensorsFile::array); }
IntArray detail::Transfer::ints(const std::string& name) { return elements(name, &SafetensorsFile::int_array); }

void detail::Transfer::finish() {
  std::set<std::string> known(asked_.begin(), asked_.end());
  known.insert("format");
  for (const TensorEntry& t : file_->tensors())
    if (!known.contains(t.name)) problem("'" + t.name + "' is in the file, but not in this run");
  for (const auto& [name, text] : file_->metadata())
    if (!known.contains(name) && !name.starts_with("mote."))
      problem("'" + name + "' is in the file, but not in this run");
  check_in("checkpoint", problems_.empty(), file_->name(), " does not fit this run:", problems_);
  for (const auto& make : changes_) make();
}

void detail::read_saved(const char* name, const std::string& text, double& x) {
  for (const double odd : {HUGE_VAL, -HUGE_VAL, std::nan("")})
    if (text == field_text(odd)) return void(x = odd);
  read_field(name, text, x);
}

void detail::Transfer::array(const std::string& name, const Shape& shape, const std::function<void(Array)>& set) {
  const Array x = array(name);
  if (!x.defined()) return;
  if (x.shape() != shape)
    return problem("'" + name + "' is " + text_of(x.shape()) + " in the file, but " + text_of(shape) + " in this run");
  change([set, x] { set(x); });
}

void detail::keep(Transfer& t, const std::string& name, Array& x) {
  if (!t.file()) return t.write(name, x);
  t.change([&x, value = t.array(name)]() mutable { x = std::move(value); });
}
void detail::keep(Transfer& t, const std::string& name, IntArray& x) {
  if (!t.file()) return t.write(name, x);
  t.change([&x, value = t.ints(name)]() mutable { x = std::move(value); });
}
void detail::keep(Transfer& t, const std::string& name, std::vector<Index>& x) {
  if (!t.file()) return t.write(name, IntArray({static_cast<Index>(x.size())}, x));
  const IntArray value = t.ints(name);
  if (!value.defined()) return;
  t.change([&x, list = value.to_vector()]() mutable { x = std::move(list); });
}
void detail::keep(Transfer& t, const std::string& name, const Parameter& x) {
  if (!t.file()) return t.write(name, x.value());
  t.array(name, x.shape(), [x](Array value) { x.set(std::move(value)); });
}
void detail::keep(Transfer& t, const std::string& name, const Generator& stream) {
  if (!t.file()) return t.write(name, numbers_of(stream.get_state()));
  const IntArray numbers = t.ints(name);
  if (!numbers.defined()) return;
  const Shape expected = numbers_of(GeneratorState()).shape();
  if (!(numbers.shape() == expected))
    return t.problem("'" + name + "' is " + text_of(numbers.shape()) + " in the file, but a random stream is " +
                     text_of(expected));
  const GeneratorState state = stream_of(numbers);
  try {
    Generator(0).set_state(state);
  } catch (const Error& e) {
    return t.problem("'" + name + "': " + e.what());
  }
  t.change([stream, state] { stream.set_state(state); });
}

}  // namespace mote
