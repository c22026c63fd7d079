// Safetensors written and read: the reference's bytes, every array and name, checksums, the file on the disk.
#include "engine/io/files/safetensors.h"
#include "tests/sentences.h"
#include "tests/sources.h"

#include <bit>
#include <filesystem>

#include "engine/io/files/crc32.h"
#include "tests/engine/io/safetensors_tools.h"
#include "tests/temp_folder.h"

namespace mote::test::safetensors_test {
namespace {

template <class A, class T>
bool same_memory(const A& a, const std::vector<T>& values) {
  return a.is_contiguous() && a.numel() == static_cast<Index>(values.size()) &&
         (values.empty() || std::memcmp(a.data(), values.data(), values.size() * sizeof(T)) == 0);
}

/// Reals that arithmetic would not keep: NaN of several kinds, -0, denormals.
std::vector<real> delicate_values() {
  using Bits = std::conditional_t<f64, std::uint64_t, std::uint32_t>;
  std::vector<real> values = special_values();
  const Bits quiet = std::bit_cast<Bits>(nan), sign = Bits(1) << (sizeof(real) * 8 - 1),
             infinite = std::bit_cast<Bits>(inf);
  for (const Bits b : {quiet | 5, quiet | sign | 77, infinite | 1, infinite | sign | 3, Bits(1), sign | 2})
    values.push_back(std::bit_cast<real>(b));
  return values;
}

/// One of everything that mote writes.
std::vector<NamedArray> one_of_each() {
  const std::vector<real> values = delicate_values();
  return {{"weights", random_array({2, 3}, 1)},
          {"rank 0", Array(real(1.5))},
          {"none", Array::zeros({2, 0, 3})},
          {"delicate", Array({static_cast<Index>(values.size())}, values)},
          {"ids", ints({{1, -2}, {std::numeric_limits<Index>::min(), std::numeric_limits<Index>::max()}})},
          {"no ids", IntArray(Shape{0})},
          {"mask", mask({true, false, true})},
          {"quote \" backslash \\ slash / tab \t bell \a", Array(real(2))},
          {"ключ 键 🔑 é", Array(real(3))},
          {"\xc2\x80\xef\xbf\xbf\x7f", Array(real(4))},
          {"__metadata__ ", Array(real(5))},
          {"", Array(real(6))}};
}

TEST_CASE("safetensors: the reference implementation's bytes") {
  if (f64) return;
  CHECK(file_of({}, {}, false) == std::string("\10\0\0\0\0\0\0\0{}      ", 16));
  const std::string one = R"({"attn.0":{"dtype":"F32","shape":[1,2,3],"data_offsets":[0,24]}})";
  CHECK(one.size() == 64);
  CHECK(file_of({{"attn.0", Array::zeros({1, 2, 3})}}, {}, false) == file_with(one, std::string(24, '\0')));
  const std::string padded = R"({"attn0":{"dtype":"F32","shape":[1,1,2,3],"data_offsets":[0,24]}})";
  CHECK(padded.size() == 65);
  CHECK(file_of({{"attn0", Array::zeros({1, 1, 2, 3})}}, {}, false) ==
        file_with(padded + "       ", std::string(24, '\0')));
}

TEST_CASE("safetensors: by element type, the largest first, then by name; metadata first and by name") {
  const std::string header =
      R"({"__metadata__":{"a":"1","b":"\"2\""},"y":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},)"
      R"("B":{"dtype":"F32","shape":[],"data_offsets":[8,12]},"a":{"dtype":"F32","shape":[],"data_offsets":[12,16]},)"
      R"("a.b":{"dtype":"F32","shape":[0],"data_offsets":[16,16]},)"
      R"("x":{"dtype":"BOOL","shape":[2],"data_offsets":[16,18]}})";
  const std::vector<NamedArray> tensors{
      {"x", mask({true, false})}, {"a.b", Array::zeros({0})}, {"a", Array(0)}, {"y", ints({2})}, {"B", Array(0)}};
  const std::string file = file_of(tensors, {{"b", "\"2\""}, {"a", "1"}}, false);
  if (!f64)
    CHECK(file == file_with(header + std::string(7 - (header.size() + 7) % 8, ' '),
                            std::string("\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0", 18)));
  std::string order;
  const SafetensorsFile read = opened(file);
  for (const TensorEntry& t : read.tensors()) order += t.name + " ";
  CHECK(order == "y B a a.b x ");
  CHECK((!read.has_checksums() && !read.tensors().front().crc32));
}

TEST_CASE("safetensors: every array and every name comes back in the same bits, and gives the same file again") {
  const std::vector<NamedArray> tensors = one_of_each();
  const std::string bytes = file_of(tensors, {{"épée", "a\nb\"\\"}, {"", ""}});
  const SafetensorsFile file = opened(bytes);
  CHECK(file.tensors().size() == tensors.size());
  for (const NamedArray& t : tensors) {
    INFO(t.name);
    const TensorEntry* const entry = file.find(t.name);
    REQUIRE(entry);
    CHECK(entry->name == t.name);
    CHECK(entry->dtype == dtype_of(t.value));
    CHECK(entry->shape == shape_of(t.value));
    if (const Array* const x = std::get_if<Array>(&t.value)) CHECK(same_memory(file.array(*entry), x->to_vector()));
    if (const IntArray* const x = std::get_if<IntArray>(&t.value))
      CHECK(same_memory(file.int_array(*entry), x->to_vector()));
    if (const Mask* const x = std::get_if<Mask>(&t.value)) CHECK(same_memory(file.mask(*entry), x->to_vector()));
  }
  CHECK(file.metadata() == Metadata{{"", ""}, {"format", "pt"}, {"épée", "a\nb\"\\"}});
  CHECK(*file.find_metadata("format") == "pt");
  CHECK(!file.find_metadata("forma"));
  CHECK(!file.find("weight"));
  CHECK(!file.find("zz"));
  CHECK(file.has_checksums());
  check_all(file);
  CHECK(file_of(all_of(file), file.metadata()) == bytes);
  std::vector<NamedArray> other_order(tensors.rbegin(), tensors.rend());
  CHECK(file_of(other_order, {{"", ""}, {"épée", "a\nb\"\\"}}) == bytes);
}

TEST_CASE("safetensors: views are written as what they show") {
  const Array x = random_array({3, 4}, 5);
  for (const Array& view : {x.transpose(0, 1), x.slice(1, 1, 4, 2), x.slice(0, 0, 1).expand({3, 4})})
    CHECK(file_of({{"x", view}}) == file_of({{"x", copy_of(view)}}));
}

TEST_CASE("safetensors: checksums are those of the elements") {
  const std::string text = file_of({{"b", mask({true, false})}, {"a", mask({true})}}, {{"format", "np"}});
  const SafetensorsFile file = opened(text);
  CHECK(file.tensors()[0].crc32 == crc32("\1", 1));
  CHECK(file.tensors()[1].crc32 == crc32("\1\0", 2));
  CHECK(text.find(R"("mote.crc32.tensors":"a505df1b 58c223be")") != std::string::npos);
  CHECK(*file.find_metadata("format") == "np");
  const std::string long_text = file_of({{"long", Mask(Shape{600'000})}});
  const SafetensorsFile pieces = opened(long_text);
  CHECK(pieces.mask(pieces.tensors()[0]).numel() == 600'000);
}

TEST_CASE("safetensors: what cannot be written, in a sentence") {
  const auto error = [](std::vector<NamedArray> tensors, Metadata metadata = {}) {
    return error_of([&] { file_of(tensors, metadata); });
  };
  const Array x(1);
  CHECK_SENTENCE(error({{"a", x}, {"b", x}, {"a", ints({1})}}));
  CHECK_SENTENCE(error({}, {{"a", ""}, {"a", "b"}}));
  CHECK_SENTENCE(error({{"__metadata__", x}}));
  CHECK(error({{"a", Array()}}) == std::string("safetensors: tensor 'a': ") + Array::not_defined);
  CHECK_SENTENCE(error({{"a\xff", x}}));
  CHECK_SENTENCE(error({{std::string("a\0b", 3), x}}));
  CHECK_SENTENCE(error({}, {{"a", "\xc0\x80"}}));
  Metadata many;
  for (int i = 0; i < 2'000; ++i) many.emplace_back(std::to_string(i), "");
  CHECK_SENTENCE(error({}, many));
  many.resize(1'997);  // and the two checksums and the format
  CHECK(opened(file_of({}, many)).metadata().size() == 1'998);
  CHECK_SENTENCE(error({}, {{"mote.crc32.header", ""}}));
  CHECK_SENTENCE(error({}, {{"a", std::string(100'000'000, ' ')}}));
}

TEST_CASE("safetensors: on the disk") {
  const TempFolder folder;
  const std::string path = folder.path("model.safetensors");
  save_safetensors(path, one_of_each(), {{"step", "7"}});
  const std::string bytes = get_file(path);
  CHECK(bytes == file_of(one_of_each(), {{"step", "7"}}));
  const SafetensorsFile file(path);
  CHECK(file.name() == path);
  CHECK(*file.find_metadata("step") == "7");
  REFUSES(save_safetensors(path, {{"a", Array()}}));
  CHECK(get_file(path) == bytes);
  CHECK(folder.names() == "model.safetensors");
  save_safetensors(path, {{"a", Array(real(1))}});
  check_all(file);  // opened before, and still whole
  std::filesystem::resize_file(path, 100);
  CHECK(error_of([&] { SafetensorsFile{path}; }).starts_with(path + ": the header of "));
  CHECK(error_of([&] { SafetensorsFile{folder.path("none")}; }).starts_with("cannot read '" + folder.path("none")));
  CHECK(error_of([&] { SafetensorsFile{folder.path()}; }).starts_with("cannot read '" + folder.path()));
}

}  // namespace
}  // namespace mote::test::safetensors_test
