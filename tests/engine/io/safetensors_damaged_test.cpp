// Safetensors files that mote wrote and something changed: cut, extended, a bit flipped, a checksum lost. And files of
// others, in which data may lie at any address.

#include "engine/io/files/crc32.h"
#include "engine/io/files/safetensors_header.h"
#include "tests/engine/io/safetensors_tools.h"

namespace mote::test::safetensors_damaged_test {
namespace {

std::string small_file() {
  return file_of({{"wte.weight", random_array({5, 7}, 1)},
                  {"h.0.attn \"x\"", random_array({3}, 2)},
                  {"scalar", Array(real(0.5))},
                  {"empty", Array::zeros({0, 4})},
                  {"ids", ints({7, 8, 9})},
                  {"mask", mask({{true, false}, {true, true}})}},
                 {{"step", "100"}, {"config", R"({"n_layer":2})"}});
}

/// Whether the file is refused in one sentence that opens with its name.
bool refused(const std::string& bytes) {
  const std::string error = read_error(bytes);
  return error.starts_with("f: ") && error.find('\n') == std::string::npos && error.size() < 300;
}

TEST_CASE("safetensors, damaged: cut at every length, and extended") {
  const std::string file = small_file();
  CHECK(read_error(file) == "(no error)");
  for (std::size_t length = 0; length < file.size(); ++length)
    if (!refused(file.substr(0, length))) FAIL_CHECK("cut to " << length << " bytes");
  CHECK(read_error(file.substr(0, file.size() - 1)).starts_with("f: the file is cut off: "));
  const std::string more = "f: the file must end with the last tensor, but more bytes follow: ";
  CHECK(read_error(file + '\0') == more + "1");
  CHECK(read_error(file + std::string(1 << 20, '\0')) == more + "1048576");
  CHECK(read_error(file + std::string("PK\5\6", 4) + std::string(18, '\0')) == more + "22");
  CHECK(refused(file + file));
}

TEST_CASE("safetensors, damaged: every bit flipped, in files with and without tensors") {
  for (std::string file : {small_file(), file_of({}), file_of({{"x", Array::zeros({3})}})}) {
    CHECK(read_error(file) == "(no error)");
    for (std::size_t i = 0; i < file.size(); ++i)
      for (int bit = 0; bit < 8; ++bit) {
        file[i] = static_cast<char>(file[i] ^ (1 << bit));
        if (!refused(file)) FAIL_CHECK("bit " << bit << " of byte " << i);
        file[i] = static_cast<char>(file[i] ^ (1 << bit));
      }
  }
}

TEST_CASE("safetensors, damaged: what the checksums say") {
  std::string file = file_of({{"a", mask({true, false})}, {"b", mask({true})}}, {{"step", "3"}});
  file.back() ^= 1;
  CHECK(read_error(file) == "f: tensor 'b': the checksum is wrong: the file was changed");
  const SafetensorsFile opened_file = opened(file);
  CHECK(opened_file.mask(*opened_file.find("a")).to_vector() == std::vector<std::uint8_t>{1, 0});
  CHECK(error_of([&] { opened_file.mask(*opened_file.find("b")); }) == read_error(file));
  CHECK(error_of([&] { opened_file.array(*opened_file.find("b")); }) == read_error(file));
  file.back() ^= 1;
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string other = file;
    return other.replace(other.find(from), from.size(), to);
  };
  CHECK(read_error(changed("\"step\":\"3\"", "\"step\":\"4\"")) ==
        "f: the header's checksum is wrong: the file was changed");
  CHECK(read_error(changed("mote.crc32.header", "Mote.crc32.header")) ==
        "f: the file is damaged: it has checksums of its tensors, but none of its header");
  CHECK(read_error(changed("mote.crc32.tensors", "mote.crc32.Tensors")) ==
        "f: the file is damaged: it has a checksum of its header, but none of its tensors");
  // A header whose own checksum is right.
  const auto with_tensor_crcs = [](const std::string& crcs) {
    std::string header = R"({"__metadata__":{"mote.crc32.header":"00000000","mote.crc32.tensors":")" + crcs +
                         R"("},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
    const std::size_t at = detail::header_crc_at(header);
    header.replace(at, 8, detail::crc_text(detail::header_crc(header, at)));
    return file_with(header, "\1");
  };
  CHECK(read_error(with_tensor_crcs("a505df1b")) == "(no error)");
  for (const char* const wrong : {"", "a505df1", "A505DF1B", "a505df1/", "a505df1b a505df1b"})
    CHECK(read_error(with_tensor_crcs(wrong)) == "f: metadata mote.crc32.tensors must have 1 checksums");
}

TEST_CASE("safetensors: files of others") {
  // Names in any order, spaces, no checksums, and data at an odd address, as in the most famous file.
  const std::string header =
      R"({ "b":{"shape":[2],"data_offsets":[8,16],"dtype":"F32"},"__metadata__":{"format":"pt"},)"
      R"("a" : {"dtype":"I64","shape":[],"data_offsets":[0, 8]},)"
      R"("h":{"data_offsets":[16,20],"dtype":"BF16","shape":[1,2]} })";
  for (std::size_t pad = 0; pad < 8; ++pad) {
    const std::string file = file_with(header + std::string(pad, ' '),
                                       std::string("\7\0\0\0\0\0\0\0\0\0\x80\x3f\0\0\xc0\xff\x80\x3f\x40\xc0", 20));
    const SafetensorsFile f = opened(file);
    CHECK(!f.has_checksums());
    CHECK(f.tensors()[0].name + f.tensors()[1].name + f.tensors()[2].name == "abh");
    CHECK(f.int_array(*f.find("a")).item() == 7);
    const std::vector<real> b = f.array(*f.find("b")).to_vector();
    CHECK((b[0] == 1 && std::isnan(b[1])));
    CHECK(f.array(*f.find("h")).to_vector() == std::vector<real>{1, -3});
  }
}

}  // namespace
}  // namespace mote::test::safetensors_damaged_test
