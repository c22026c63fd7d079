// Files of torch.save: PyTorch's own, which tests/torch/torch_files.py makes and without it tests/vectors/torch_files
// holds; what is written and read back; damaged and hostile ones.
#include "engine/io/files/torch_file.h"

#include <cstdlib>
#include <set>

#include "engine/io/files/file.h"
#include "engine/io/files/zip.h"
#include "tests/sentences.h"
#include "tests/sources.h"
#include "tests/temp_folder.h"
#include "tests/tools.h"

namespace mote::test::torch_file_test {
namespace {

using namespace std::string_literals;

std::string setting(const char* name, const std::string& otherwise) {
  const char* const value = std::getenv(name);
  return value ? value : otherwise;
}
const std::string folder = setting("MOTE_TORCH_FILES", MOTE_SOURCE_DIR "/tests/vectors/torch_files") + "/";
const std::string output = setting("MOTE_TORCH_OUTPUT", "");

std::string torch_bytes(const TorchValue& value) {
  std::string bytes;
  detail::write_torch([&](const void* data, std::size_t n) { bytes.append(static_cast<const char*>(data), n); }, value);
  return bytes;
}
TorchValue parsed(const std::string& bytes) { return load_torch(text_source("x.pt", bytes)); }
std::string error(const std::string& bytes) {
  return error_of([&] { parsed(bytes); });
}
std::string zipped(const std::vector<ZipPart>& parts) {
  std::string bytes;
  write_zip([&](const void* data, std::size_t n) { bytes.append(static_cast<const char*>(data), n); }, parts);
  return bytes;
}
/// The archive of a pickle, without the two bytes of its protocol and its end, and of the storages "0", "1" and so on.
std::string with_pickle(const std::string& pickle, const std::vector<std::string>& storages = {}) {
  const std::string whole = "\x80\2" + pickle + ".";
  std::vector<ZipPart> parts{{"a/data.pkl", whole}};
  for (const std::string& bytes : storages) parts.push_back({"a/data/" + std::to_string(parts.size() - 1), bytes});
  return zipped(parts);
}
std::string pickle_error(const std::string& pickle, const std::vector<std::string>& storages = {}) {
  return error(with_pickle(pickle, storages));
}
/// Equal trees have equal bytes.
bool same(const TorchValue& a, const TorchValue& b) { return torch_bytes(a) == torch_bytes(b); }

TorchValue list(std::vector<TorchValue> items) { return {TorchList{std::move(items)}}; }
TorchValue tuple(std::vector<TorchValue> items) { return {TorchList{std::move(items), true}}; }
TorchValue number(Index n) { return {n}; }
TorchValue text(const std::string& t) { return {t}; }
TorchValue stored(const AnyArray& x, bool bytes = false) { return {TorchTensor{x, bytes}}; }

const TorchValue& at(const TorchValue& dict, const std::string& name) {
  const TorchValue* const found = std::get<TorchDict>(dict.value).find(name);
  REQUIRE_MESSAGE(found, "no ", std::string(name));
  return *found;
}
const TorchValue& at(const TorchValue& list, std::size_t i) { return std::get<TorchList>(list.value).items.at(i); }
const TorchTensor& tensor_of(const TorchValue& value) { return std::get<TorchTensor>(value.value); }
Array floats(const TorchValue& value) { return std::get<Array>(tensor_of(value).array); }
IntArray integers(const TorchValue& value) { return std::get<IntArray>(tensor_of(value).array); }

TorchValue all_kinds() {
  return {TorchDict{{{"none", {std::monostate()}},
                     {"flags", list({{true}, {false}})},
                     {Index{-3}, tuple({number(INT64_MIN), number(INT64_MAX), number(0), {0.1}, {-HUGE_VAL}})},
                     {"", tuple({})},
                     {"text", list({text("h\xc3\xa9\n"), text("")})},
                     {"x", stored(array({2, 3}, {1, 2, 3, 4, 5, 6}))},
                     {"scalar", stored(Array(real(2.5)))},
                     {"empty", stored(Array::zeros({0, 3}))},
                     {"ids", stored(ints({{-1, 1 << 20}}))},
                     {"state", stored(ints({0, 255}), true)},
                     {"mask", stored(mask({true, false}))}}}};
}

TEST_CASE("torch files: a state_dict with tied weights, buffers and attributes") {
  const TorchValue x = load_torch(folder + "tied.pt");
  REQUIRE(std::get<TorchDict>(x.value).items.size() == 7);
  const Array wte = floats(at(x, "wte.weight")), head = floats(at(x, "head.weight"));
  CHECK(same_bits(wte, array({3, 2}, {0, 0.25, 0.5, 0.75, 1, 1.25})));
  CHECK(wte.shares_storage(head));
  CHECK(same_bits(wte, head));
  CHECK(integers(at(x, "norm.num_batches_tracked")).item() == 0);
  CHECK(std::get<TorchDict>(x.value).find("_metadata") == nullptr);
  if (output.empty()) return;
  save_torch(output + "/tied.pt", x);
  save_torch(output + "/generator.pt", load_torch(folder + "generator.pt"));
}

TEST_CASE("torch files: the state of an optimizer") {
  const TorchValue x = load_torch(folder + "optimizer.pt");
  const TorchDict& state = std::get<TorchDict>(at(x, "state").value);
  REQUIRE(state.items.size() == 1);
  CHECK(state.items[0].key == decltype(TorchItem::key)(Index{0}));
  CHECK(floats(at(state.items[0].value, "step")).item() == 1);
  CHECK(same_bits(floats(at(state.items[0].value, "exp_avg")), array({2}, {0.5, -0.5})));
  const TorchValue& group = at(at(x, "param_groups"), 0);
  CHECK(std::get<double>(at(group, "lr").value) == 0.5);
  CHECK(same(at(group, "betas"), tuple({{0.5}, {0.75}})));
  CHECK(same(at(group, "amsgrad"), {false}));
  CHECK(same(at(group, "params"), list({number(0)})));
  if (!output.empty()) save_torch(output + "/optimizer.pt", x);
}

TEST_CASE("torch files: plain values") {
  const TorchValue x = load_torch(folder + "plain.pt");
  const TorchValue shared = list({number(1), number(2)});
  const TorchValue expected{TorchDict{
      {{"none", {std::monostate()}},
       {"bools", list({{true}, {false}})},
       {"ints", list({number(0), number(255), number(256), number(65535), number(65536), number(-1),
                      number(Index{1} << 31), number(INT64_MIN), number(INT64_MAX)})},
       {"floats", list({{0.0}, {-0.5}, {1e300}, {HUGE_VAL}})},
       {"text", text("h\xc3\xa9 \xf0\x9f\x98\x80")},
       {"tuples",
        tuple({tuple({}), tuple({number(1)}), tuple({number(1), number(2)}), tuple({number(1), number(2), number(3)}),
               tuple({number(1), number(2), number(3), number(4)})})},
       {Index{7}, text("seven")},
       {Index{-1}, {TorchDict{}}},
       {"size", tuple({number(2), number(3)})},
       {"one", list({list({})})},
       {"twice", list({shared, shared})}}}};
  CHECK(same(x, expected));
  if (!output.empty()) save_torch(output + "/plain.pt", x);
}

TEST_CASE("torch files: tensors of every type and stride") {
  const TorchValue x = load_torch(folder + "tensors.pt");
  std::vector<double> numbers(24);
  std::iota(numbers.begin(), numbers.end(), 0.0);
  const Array cube = array({2, 3, 4}, numbers);
  CHECK(same_bits(floats(at(x, "x")), cube));
  CHECK(same_bits(floats(at(x, "transposed")), cube.transpose(0, 2)));
  CHECK(same_bits(floats(at(x, "slice")), array({2, 2}, {13, 14, 21, 22})));
  CHECK(same_bits(floats(at(x, "row")), array({4}, {20, 21, 22, 23})));
  CHECK(floats(at(x, "row")).shares_storage(floats(at(x, "x"))));
  CHECK(same_bits(floats(at(x, "expanded")), cube.slice(1, 0, 1).slice(2, 0, 1).expand({2, 3, 4})));
  CHECK(floats(at(x, "scalar")).item() == 1.5);
  CHECK(floats(at(x, "empty")).shape() == Shape{0, 3});
  CHECK(std::get<Mask>(tensor_of(at(x, "bool")).array).to_vector() == std::vector<std::uint8_t>{1, 0});
  CHECK(same_bits(floats(at(x, "parameter")), array({1}, {2.5})));
  for (std::size_t i = 0; i < 8; ++i) {
    const TorchValue& t = at(at(x, "types"), i);
    CHECK(tensor_of(t).bytes == (i == 7));
    if (i < 3)
      CHECK(same_bits(floats(t), array({3}, {1, 2, 127})));
    else
      CHECK(equal(integers(t), ints({1, 2, 127})));
  }
  if (!output.empty()) save_torch(output + "/tensors.pt", x);
}

TEST_CASE("torch files: what mote does not read stays opaque, and takes nothing with it") {
  const TorchValue x = load_torch(folder + "objects.pt");
  const std::vector<std::pair<std::string, std::string>> classes{
      {"w", "torch.Tensor"},
      {"best", "numpy.core.multiarray.scalar"},
      {"array", "numpy.core.multiarray._reconstruct"},
      {"device", "torch.device"},
      {"dtype", "torch.float32"},
      {"class", "torch.FloatStorage"},
      {"storage", "torch.FloatStorage"},
      {"options", "argparse.Namespace"},
      {"bytes", "bytes"},
      {"set", "set"},
      {"counter", "collections.Counter"},
      {"default", "collections.defaultdict"},
      {"date", "datetime.date"},
      {"module", "torch.nn.modules.linear.Linear"},
      {"seed", "int of more than 64 bits"},
      {"huge", "int of more than 64 bits"},
      {"surrogate", "str that is not UTF-8"},
      {"range", "xrange"},
      {"complex", "torch.Tensor of torch.ComplexFloatStorage"},
      {"complex_parameter", "torch.Tensor of torch.ComplexFloatStorage"},
      {"sparse", "torch._utils._rebuild_sparse_tensor"},
      {"quantized", "torch._utils._rebuild_qtensor"},
      {"axes", "torch.Tensor of 9 axes"},
      {"keys", "dict"},
      {"empty", "torch.Tensor"},
      {"end", "torch.Tensor"},
      {"attribute", "torch.Tensor"},
      {"after", "list"}};
  CHECK(std::get<TorchDict>(x.value).items.size() == classes.size() + 1);  // and "third"
  for (const auto& entry : classes) CHECK_MESSAGE(class_of(at(x, entry.first)) == entry.second, entry.first);

  const Array w = array({2, 2}, {0, 1, 2, 3});
  CHECK(same_bits(floats(at(x, "w")), w));
  CHECK(same_bits(floats(at(at(x, "after"), 1)), array({2}, {2, 3})));
  CHECK(floats(at(at(x, "after"), 0)).shares_storage(floats(at(x, "w"))));
  CHECK(floats(at(x, "empty")).shape() == Shape{2, 0});
  CHECK(floats(at(x, "end")).shape() == Shape{0, 4});
  CHECK(same_bits(floats(at(x, "attribute")), array({1}, {1.5})));
  const std::string third = class_of(at(x, "third"));
  CHECK(third.starts_with(f64 ? "torch.Tensor" : "torch.Tensor of torch.DoubleStorage ("));
  CHECK((third.find("does not fit exactly into F32") != std::string::npos) != f64);

  const TorchDict& keys = std::get<TorchDict>(at(x, "keys").value);
  REQUIRE(keys.items.size() == 6);
  for (const auto& [i, expected] : {std::pair(0, "tuple"), {1, "float"}, {2, "NoneType"}, {3, "bool"}})
    CHECK(std::get<TorchObject>(keys.items[static_cast<std::size_t>(i)].key).name == expected);
  CHECK(class_of(at(at(x, "keys"), "s")) == "int");
  CHECK(keys.find(Index{7}) != nullptr);
  REFUSES(torch_bytes(x));
}

TEST_CASE("torch file: what is written is read back, and written again with the same bytes") {
  const std::string bytes = torch_bytes(all_kinds());
  const TorchValue x = parsed(bytes);
  CHECK(torch_bytes(x) == bytes);
  CHECK(same_bits(floats(at(x, "x")), array({2, 3}, {1, 2, 3, 4, 5, 6})));
  CHECK(equal(integers(at(x, "state")), ints({0, 255})));
  CHECK(tensor_of(at(x, "state")).bytes);
  CHECK(std::get<double>(at(std::get<TorchDict>(x.value).items[2].value, 3).value) == 0.1);

  const TempFolder temp;
  const std::string path = temp.path("x.pt");
  save_torch(path, all_kinds());
  CHECK(get_file(path) == bytes);
  CHECK(torch_bytes(load_torch(path)) == bytes);
  const Array special(Shape{static_cast<Index>(special_values().size())}, special_values());
  CHECK(same_bits(floats(parsed(torch_bytes(stored(special)))), special));
  const Array random = random_array({3, 100, 700}, 1);
  CHECK(same_bits(floats(parsed(torch_bytes(stored(random.transpose(0, 2))))), random.transpose(0, 2)));
}

TEST_CASE("torch file: tensors of the same elements are written once, and share them when read") {
  const Array w = random_array({40, 50}, 2);
  const auto pair = [](const Array& a, const Array& b) { return torch_bytes(list({stored(a), stored(b)})); };
  const std::size_t shared = pair(w, w).size(), apart = pair(w, copy_of(w)).size();
  CHECK(apart > shared + 40 * 50 * sizeof(real));
  CHECK(pair(w, w.transpose(0, 1)).size() > shared + 40 * 50 * sizeof(real));
  const TorchValue x = parsed(pair(w.transpose(0, 1), w.transpose(0, 1)));
  CHECK(floats(at(x, 0)).shares_storage(floats(at(x, 1))));
  CHECK(same_bits(floats(at(x, 1)), w.transpose(0, 1)));
}

TEST_CASE("torch file: what cannot be written") {
  const auto refused = [](const TorchValue& value) { return error_of([&] { torch_bytes(value); }); };
  CHECK_SENTENCE(refused(stored(Array())));
  CHECK_SENTENCE(refused(stored(ints({256}), true)));
  CHECK_SENTENCE(refused(stored(Array::zeros({1}), true)));
  CHECK_SENTENCE(refused(text("\xff")));
  CHECK_SENTENCE(refused({TorchDict{{{"a", {}}, {"a", {}}}}}));
  TorchValue deep = number(1);
  for (int i = 0; i < 64; ++i) deep = list({std::move(deep)});
  CHECK(torch_bytes(parsed(torch_bytes(deep))) == torch_bytes(deep));
  CHECK_SENTENCE(refused(list({deep})));
  deep = stored(ints({1}));
  for (int i = 0; i < 64; ++i) deep = tuple({std::move(deep)});
  CHECK(torch_bytes(parsed(torch_bytes(deep))) == torch_bytes(deep));

  const TempFolder temp;
  put_file(temp.path("x.pt"), "old");
  CHECK(error_of([&] { save_torch(temp.path("x.pt"), text("\xff")); }) != "(no error)");
  CHECK(get_file(temp.path("x.pt")) == "old");
  CHECK(temp.names() == "x.pt");
}

TEST_CASE("torch file: foreign archives") {
  const std::string pickle = "\x80\2N.";
  CHECK_SENTENCE(error(""));
  CHECK_SENTENCE(error("\x80\2\x8a\nl\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."));
  CHECK_SENTENCE(error("version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 123\n"));
  CHECK_SENTENCE(error("<!DOCTYPE html><html></html>"));
  CHECK_SENTENCE(error(zipped({})));
  CHECK(error(zipped({{"a/data.pkl", pickle}, {"a/byteorder", "little"}})) == "(no error)");
  CHECK_SENTENCE(error(zipped({{"a/data.pkl", pickle}, {"a/byteorder", "big"}})));
  CHECK_SENTENCE(error(zipped({{"a/data.pkl", "\x80\6N."}})));
  CHECK_SENTENCE(error(zipped({{"a/data.pkl", ""}})));
}

TEST_CASE("torch file: what pickle.dump writes, in every protocol from 2 on") {
  // {"vocab_size": 2, "itos": {0: "\n", 1: "\u00e9"}, "stoi": {"\n": 0, "\u00e9": 1}}, by Python's pickle.dumps.
  const std::string dumps[] = {
      "\200\002}q\000(X\012\000\000\000vocab_sizeq\001K\002X\004\000\000\000itosq\002}q\003(K\000X\001\000"s +
          "\000\000\012q\004K\001X\002\000\000\000\303\251q\005uX\004\000\000\000stoiq\006}q\007(h\004K\000h"s +
          "\005K\001uu."s,
      "\200\003}q\000(X\012\000\000\000vocab_sizeq\001K\002X\004\000\000\000itosq\002}q\003(K\000X\001\000"s +
          "\000\000\012q\004K\001X\002\000\000\000\303\251q\005uX\004\000\000\000stoiq\006}q\007(h\004K\000h"s +
          "\005K\001uu."s,
      "\200\004\225?\000\000\000\000\000\000\000}\224(\214\012vocab_size\224K\002\214\004itos\224}\224(K"s +
          "\000\214\001\012\224K\001\214\002\303\251\224u\214\004stoi\224}\224(h\004K\000h\005K\001uu."s,
      "\200\005\225?\000\000\000\000\000\000\000}\224(\214\012vocab_size\224K\002\214\004itos\224}\224(K"s +
          "\000\214\001\012\224K\001\214\002\303\251\224u\214\004stoi\224}\224(h\004K\000h\005K\001uu."s,
  };
  for (const std::string& bytes : dumps) {
    const TorchValue meta = detail::unpickled("meta.pkl", bytes);
    CHECK(std::get<Index>(at(meta, "vocab_size").value) == 2);
    CHECK(std::get<Index>(at(at(meta, "stoi"), "\xc3\xa9").value) == 1);
    CHECK(std::get<std::string>(std::get<TorchDict>(at(meta, "itos").value).find(Index{0})->value) == "\n");
  }
  REFUSES(detail::unpickled("meta.pkl", dumps[2].substr(0, 30)));
  CHECK(class_of(detail::unpickled("p", "\x80\4\x8c\2os\x94\x8c\6system\x94\x93."s)) == "os.system");
}

TEST_CASE("torch file: pickles that ask for what is no plain value") {
  const auto object = [](const std::string& pickle) { return class_of(parsed(with_pickle(pickle))); };
  CHECK(object("cos\nsystem\n(X\4\0\0\0truetR"s) == "os.system");
  CHECK(object("cbuiltins\neval\n") == "builtins.eval");
  CHECK(object("ctorch\nFloatStorage\n") == "torch.FloatStorage");
  CHECK(object("ctorch\nFloatStorage\n)R") == "torch.FloatStorage");
  CHECK(object("ctorch\nSize\n)R") == "torch.Size");
  CHECK(object("ca\nB\n)\x81(K\1K\2e(NNu}b") == "a.B");
  CHECK(object("N(K\1" + "1"s) == "NoneType");
  CHECK(object("NK\1" + "0"s) == "NoneType");
  CHECK(object("\x8b\x09\0\0\0"s + std::string(9, '\1')) == "int of more than 64 bits");
  CHECK(object("\x8a\x09" + std::string(9, '\0')) == "int of more than 64 bits");
  CHECK(object("X\1\0\0\0\xff"s) == "str that is not UTF-8");
  const std::string subclass = "ctorch._tensor\n_rebuild_from_type_v2\n(";
  CHECK(object(subclass + subclass.substr(0, subclass.size() - 1) + "ca\nB\n)}tR") == "a.B");
  CHECK(pickle_error("ctorch\nFloatStorage\n\n").find("opcode 0x0a") != std::string::npos);
  CHECK(pickle_error("ctorch\nSize") == "x.pt: the pickle is cut off");
  const std::string kind = "x.pt: the pickle is damaged: it has a value of the wrong kind",
                    container = "x.pt: the pickle is damaged: it has a container of the wrong kind",
                    missing = "x.pt: the pickle is damaged: it takes a value from an empty stack";
  for (const std::string& pickle : {"NQ"s, "NNa"s, "K\1)R"s, "NN)\x87Q"s})
    CHECK(pickle_error(pickle).starts_with("x.pt: the pickle "));
  CHECK(pickle_error("K\1)R") == kind);
  CHECK(pickle_error("}Na") == container);
  CHECK(pickle_error(")Q") == "x.pt: the pickle refers to something other than a storage");
  for (const std::string& pickle :
       {""s, "a"s, "]a"s, "t"s, "q\1"s, "h\1"s, "Nq\1h\2"s, "j\1\0\0\0"s, "K\1\x86"s, "](Na"s, "N(\x85"s, "](R"s, "u"s})
    CHECK(pickle_error(pickle) == missing);
  CHECK(pickle_error("}(Nu") == "x.pt: a dict has a key without a value");
  CHECK(pickle_error("}(K\1NJ\1\0\0\0Nu"s) == "x.pt: a dict has a key twice");
  CHECK(pickle_error("X\xff\xff\xff\xff") == "x.pt: the pickle is cut off");
  for (const char* const op : {"S", "I1\n", "i", "o", "P", "d", "l", "2", "U\1a", "\x8f"})
    CHECK(pickle_error(op).find(": torch.save writes none") != std::string::npos);
  CHECK(same(parsed(with_pickle("\x8a\0\x8a\1\xff\x8a\2\xff\0\x87"s)), tuple({number(0), number(-1), number(255)})));
}

TEST_CASE("torch file: what nests deeply, holds itself, or doubles") {
  const std::string deep = "x.pt: lists, tuples and dicts are nested deeper than 64";
  const auto times = [](std::size_t n, const std::string& piece) {
    std::string all;
    for (std::size_t i = 0; i < n; ++i) all += piece;
    return all;
  };
  CHECK(pickle_error("N" + times(64, "\x85")) == "(no error)");
  CHECK(pickle_error("N" + times(65, "\x85")) == deep);
  CHECK(pickle_error("N" + times(200'000, "\x85")) == deep);
  CHECK(pickle_error(times(200'000, "]") + times(199'999, "a")) == deep);
  CHECK(pickle_error("]q\1h\1a") == deep);
  CHECK(pickle_error("}q\1K\1h\1s") == deep);
  CHECK(pickle_error("]q\1(h\1\x85q\2h\2h\1e") == deep);
  const std::string many = "x.pt: the pickle makes more than 2621";
  std::string doubled = "Nq\1";
  for (int i = 0; i < 60; ++i) doubled += "h\1\x86q\1";
  CHECK(pickle_error("N" + times(40, "q\1h\1\x86")).starts_with(many));
  CHECK(pickle_error("]q\1" + times(40, "]q\2(h\1h\1eh\2q\1a")).starts_with("x.pt: "));
  CHECK(pickle_error("X" + "\0\0\1\0"s + std::string(65536, 'a') + "q\1" + times(12, "h\1h\1\x86q\1"))
            .starts_with("x.pt: "));
  CHECK(pickle_error("(" + times(300'000, "N") + "t").starts_with("x.pt: the pickle makes more than 27"));
  CHECK(pickle_error("](" + times(200'000, "N") + "e") == "(no error)");
}

std::string int_text(Index n) {
  std::string all = "\x8a\x08";
  for (int i = 0; i < 64; i += 8) all += static_cast<char>(n >> i & 255);
  return all;
}
/// A tensor of floats in storage "0", as torch.save writes it.
std::string tensor_pickle(Index count, Index offset, const std::vector<Index>& shape, const std::vector<Index>& strides,
                          const std::string& type = "Float") {
  std::string all = "ctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0\0storagectorch\n"s + type + "Storage\nX\1\0\0\0"s +
                    "0X\3\0\0\0cpu"s + int_text(count) + "tQ" + int_text(offset) + "(";
  for (const Index n : shape) all += int_text(n);
  all += "t(";
  for (const Index n : strides) all += int_text(n);
  return all + "t\x89" + "ccollections\nOrderedDict\n)RtR";
}

TEST_CASE("torch file: tensors that do not fit their storage") {
  const std::string four(16, '\0');
  const auto refused = [&](Index offset, const std::vector<Index>& shape, const std::vector<Index>& strides) {
    return pickle_error(tensor_pickle(4, offset, shape, strides), {four});
  };
  CHECK(refused(0, {2, 2}, {2, 1}) == "(no error)");
  CHECK(refused(3, {1, 1}, {1 << 30, 0}) == "(no error)");
  CHECK(refused(4, {0, 9}, {1, 1}) == "(no error)");
  CHECK(refused(5, {0}, {1}) == "(no error)");
  CHECK(refused(INT64_MAX, {3, 0}, {1, 1}) == "(no error)");
  CHECK(refused(0, std::vector<Index>(9, 1), std::vector<Index>(9, 1)) == "(no error)");
  CHECK(refused(0, {1024, 1024}, {0, 0}) == "(no error)");
  const std::string none = "x.pt: a tensor goes beyond its storage of 4 elements";
  const Index huge = Index{1} << 60, most = INT64_MAX;
  CHECK(refused(1, {2, 2}, {2, 1}) == none);
  CHECK(refused(-1, {2}, {1}) == none);
  CHECK(refused(4, {}, {}) == none);
  CHECK(refused(INT64_MIN, {}, {}) == none);
  CHECK(refused(most, {}, {}) == none);
  CHECK(refused(0, {2}, {}) == none);
  CHECK(refused(0, {2}, {-1}) == none);
  CHECK(refused(0, {-2}, {1}) == none);
  CHECK(refused(0, {2}, {most}) == none);
  CHECK(refused(0, {1 << 20}, {huge}) == none);
  CHECK(refused(0, {2, 2, 2, 2, 2, 2, 2, 2}, std::vector<Index>(8, most)) == none);
  CHECK(refused(0, {2, 2, 2}, {4, 4, 4}) == none);
  for (const auto& shape :
       std::vector<std::vector<Index>>{{huge}, {most}, {1 << 20, 1 << 20}, {0, most}, {most, most, 0}, {1 << 21}})
    CHECK_SENTENCE(refused(0, shape, std::vector<Index>(shape.size(), 0)));
  std::string many = "(";
  for (int i = 0; i < 100; ++i) many += tensor_pickle(4, 0, {100, 200}, {0, 0});
  CHECK(pickle_error(many + "t", {four}).starts_with("x.pt: the tensors have more than 1"));

  CHECK(pickle_error(tensor_pickle(5, 0, {1}, {1}), {four}) ==
        "x.pt: storage 0 has another type or number of elements than the pickle says");
  for (const Index n : {huge, most, INT64_MIN, Index{-4}, Index{0}, Index{3}})
    CHECK(pickle_error(tensor_pickle(n, 0, {1}, {1}), {four}).starts_with("x.pt: storage 0 has another "));
  CHECK(pickle_error(tensor_pickle(4, 0, {1}, {1}) + tensor_pickle(4, 0, {1}, {1}, "Int") + "\x86", {four})
            .starts_with("x.pt: storage 0 has another "));
  CHECK(pickle_error(tensor_pickle(4, 0, {1}, {1}, "Float"), {four + "x"}).find("checksum") != std::string::npos);
  CHECK(pickle_error(tensor_pickle(4, 0, {1}, {1})) == "x.pt: the archive has no member data/0: torch.save writes one");
  CHECK(pickle_error(tensor_pickle(2, 0, {2}, {1}, "Bool"), {"\1\2"}) ==
        "x.pt: member 'a/data/0': element 1, a boolean, must be 0 or 1");
  const std::string third("\x55\x55\x55\x55\x55\x55\xd5\x3f", 8);
  const std::string of_third = class_of(parsed(with_pickle(tensor_pickle(1, 0, {}, {}, "Double"), {third})));
  CHECK((of_third == "torch.Tensor") == f64);
  CHECK(floats(parsed(with_pickle(tensor_pickle(4, 1, {3, 1}, {1, 7}), {four}))).shape() == Shape{3, 1});
}

TEST_CASE(
    "torch file: cut anywhere it is refused; with any bit flipped it is refused or gives a tree that can be written") {
  const TorchValue small = list({stored(array({2}, {1, 2})), stored(ints({0, 255}), true), {0.5}});
  for (const std::string& bytes : {torch_bytes(small), get_file(folder + "tied.pt")}) {
    const Leaks leaks;
    const std::string expected = torch_bytes(parsed(bytes));
    int read = 0;
    for (std::size_t n = 0; n < bytes.size(); ++n) CHECK_SENTENCE(error(bytes.substr(0, n)));
    CHECK_SENTENCE(error(bytes + "x"));
    std::string flipped = bytes;
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      const char mask = static_cast<char>(1 << bit % 8), whole = flipped[bit / 8];
      flipped[bit / 8] = static_cast<char>(whole ^ mask);
      const std::string message = error_of([&] { CHECK(torch_bytes(parsed(flipped)) == expected), ++read; });
      CHECK((message == "(no error)" || message.starts_with("x.pt: ")));
      flipped[bit / 8] = whole;
    }
    CHECK(read > 0);
    CHECK(leaks.bytes() == 0);
  }
}

TEST_CASE("torch file: a pickle with any bit flipped, under the right checksum") {
  const std::string bytes = torch_bytes(list({all_kinds()}));
  const ZipMembers members = read_zip(text_source("x.pt", bytes));
  const ZipMember& m = members.at("archive/data.pkl");
  const std::string pickle = bytes.substr(m.offset, m.size);
  std::vector<ZipPart> parts{{"archive/data.pkl", {}}};
  for (const auto& [name, member] : members)
    if (name != "archive/data.pkl") parts.push_back({name, std::string_view(bytes).substr(member.offset, member.size)});
  for (std::size_t bit = 0; bit < 8 * pickle.size(); ++bit) {
    std::string flipped = pickle;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    parts[0].bytes = flipped;
    const std::string file = zipped(parts), message = error_of([&] { torch_bytes(parsed(file)); });
    if (message == "(no error)")
      CHECK(same(parsed(torch_bytes(parsed(file))), parsed(file)));
    else if (message.starts_with("torch: mote cannot write "))
      CHECK(error(file) == "(no error)");
    else
      CHECK(message.starts_with("x.pt: "));
  }
  for (std::size_t n = 0; n < pickle.size(); ++n) {
    parts[0].bytes = std::string_view(pickle).substr(0, n);
    CHECK_SENTENCE(error(zipped(parts)));
  }
}

}  // namespace
}  // namespace mote::test::torch_file_test
