// Reads and writes the pickle in a file of torch.save. The reader knows only the opcodes and functions that plain
// values and tensors need.
#include "engine/io/files/torch_file.h"

#include <algorithm>
#include <array>
#include <deque>
#include <set>

#include "engine/io/files/file.h"
#include "engine/io/files/zip.h"
#include "engine/io/text/json.h"
#include "engine/io/text/utf8.h"

namespace mote {
namespace {

/// A Python global that mote knows, with its name in a pickle. `arguments` is the number of arguments of a function.
/// `type` is the element type of a class of storages. Any other global becomes a TorchObject.
struct TorchGlobal {
  const char* name;
  std::size_t arguments = 0;
  DType type = {};
};
constexpr auto torch_globals = std::to_array<TorchGlobal>({
    {"collections.OrderedDict", 0},
    {"torch.Size", 1},
    {"torch._utils._rebuild_parameter", 3},
    {"torch._utils._rebuild_parameter_with_state", 4},
    {"torch._tensor._rebuild_from_type_v2", 4},
    {"torch._utils._rebuild_tensor_v2", 6},
    {"torch.FloatStorage", 0, DType::f32},
    {"torch.DoubleStorage", 0, DType::f64},
    {"torch.HalfStorage", 0, DType::f16},
    {"torch.BFloat16Storage", 0, DType::bf16},
    {"torch.LongStorage", 0, DType::i64},
    {"torch.IntStorage", 0, DType::i32},
    {"torch.ShortStorage", 0, DType::i16},
    {"torch.CharStorage", 0, DType::i8},
    {"torch.ByteStorage", 0, DType::u8},
    {"torch.BoolStorage", 0, DType::boolean},
});
/// Positions in torch_globals.
enum TorchGlobals : std::size_t {
  ordered_dict,
  torch_size,
  rebuild_parameter,
  rebuild_with_state,
  rebuild_subclass,
  rebuild_tensor,
  first_storage
};

// Rules for containers, both read and written.
constexpr int most_depth = 64;
constexpr const char* too_deep = "lists, tuples and dicts are nested deeper than 64";
void check_keys(const std::string& what, const TorchDict& dict) {
  std::set<TorchKey> keys;
  for (const TorchItem& item : dict.items) {
    const bool known = !std::holds_alternative<TorchObject>(item.key);
    check(!known || keys.insert(item.key).second, what, ": a dict has a key twice");
  }
}

/// The positions of values in Unpickler's nodes_. A container holds positions and not values, so a container that
/// holds itself does no harm here.
using PickleIds = std::vector<std::uint32_t>;
struct PickleItems {
  char kind;  ///< as in pickle: ']' list, ')' tuple, '}' dict, whose ids are its keys and values in turn
  PickleIds ids;
};
struct TorchStorage {
  std::size_t global = 0;
  AnyArray row;
};
/// A value while the pickle is read. A known global is given by its position in torch_globals.
using PickleNode = std::variant<std::monostate, bool, Index, double, std::string, TorchTensor, PickleItems,
                                const TorchStorage*, TorchGlobals, TorchObject>;

class Unpickler {
 public:
  explicit Unpickler(const ByteSource& source) : source_(source) {}

  TorchValue of_archive() {
    members_ = read_zip(source_);
    for (const auto& [name, member] : members_)
      if (name.ends_with("/data.pkl")) folder_ = name.substr(0, name.size() - 8);
    rule(!members_.contains(folder_ + "byteorder") || text_in("byteorder") == "little",
         "the file was written on a big-endian machine: mote reads little-endian files");
    return of_pickle(text_in("data.pkl"));
  }
  TorchValue of_pickle(const std::string& pickle) {
    rest_ = pickle;
    const std::string_view begin = take(2);
    rule(begin[0] == '\x80' && begin[1] >= 2 && begin[1] <= 5, "the pickle does not have protocol 2 to 5");
    for (;;) {
      const char op = take(1)[0];
      if (op == '.') return tree(top(1)[0], 0);
      step(op);
    }
  }

 private:
  void rule(bool holds, const auto&... parts) const { check(holds, source_.name, ": ", parts...); }
  void count(std::size_t values) const {
    const auto most = static_cast<std::size_t>(source_.size / 32) + (1 << 18);
    rule(values <= most, "the pickle makes more than ", most, " values, the most that a file of this size may make");
  }
  AnyArray elements(const std::string& name, DType type) const {
    const auto found = members_.find(folder_ + name);
    rule(found != members_.end(), "the archive has no member ", detail::shortened(name), ": torch.save writes one");
    return read_member(source_, found->first, found->second, type);
  }
  std::string text_in(const std::string& name) const {
    const IntArray bytes = std::get<IntArray>(elements(name, DType::u8));
    return {bytes.data(), bytes.data() + bytes.numel()};
  }

  std::string_view take(std::size_t n) {
    rule(n <= rest_.size(), "the pickle is cut off");
    const std::string_view taken = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return taken;
  }
  std::uint64_t number(std::size_t n) { return little_endian(take(n)); }
  std::string line() {
    const std::string_view text = take(std::min(rest_.find('\n'), rest_.size()) + 1);
    return std::string(text.substr(0, text.size() - 1));
  }

  void push(PickleNode node) {
    nodes_.push_back(std::move(node));
    count(nodes_.size());
    stack_.push_back(static_cast<std::uint32_t>(nodes_.size() - 1));
  }
  void has(bool it) const { rule(it, "the pickle is damaged: it takes a value from an empty stack"); }
  /// Takes the last n values from the stack. No value from before the last mark may be taken.
  PickleIds top(std::size_t n) {
    has(n <= stack_.size() - (marks_.empty() ? 0 : marks_.back()));
    const PickleIds taken(stack_.end() - static_cast<std::ptrdiff_t>(n), stack_.end());
    stack_.resize(stack_.size() - n);
    return taken;
  }
  PickleIds from_mark() {
    has(!marks_.empty());
    const PickleIds taken = top(stack_.size() - marks_.back());
    marks_.pop_back();
    return taken;
  }
  std::uint32_t last() { return stack_.emplace_back(top(1)[0]); }
  template <class T>
  T& as(std::uint32_t id) {
    T* const held = std::get_if<T>(&nodes_[id]);
    rule(held, "the pickle is damaged: it has a value of the wrong kind");
    return *held;
  }
  bool is_object(std::uint32_t id) const { return std::holds_alternative<TorchObject>(nodes_[id]); }
  /// The name of a class or a function.
  std::string name_of(std::uint32_t id) {
    if (is_object(id)) return as<TorchObject>(id).name;
    return torch_globals[as<TorchGlobals>(id)].name;
  }
  PickleIds& items(char kind, std::uint32_t id) {
    PickleItems& held = as<PickleItems>(id);
    rule(held.kind == kind, "the pickle is damaged: it has a container of the wrong kind");
    return held.ids;
  }
  void append(char kind, const PickleIds& more) {
    const std::uint32_t to = last();
    if (is_object(to)) return;  // an object of a class derived from list or dict; its items are dropped
    PickleIds& ids = items(kind, to);
    ids.insert(ids.end(), more.begin(), more.end());
  }

  void step(char op) {
    if (op == 'N') return push(std::monostate());
    if (op == '\x88' || op == '\x89') return push(op == '\x88');
    if (op == 'K' || op == 'M') return push(static_cast<Index>(number(op == 'K' ? 1 : 2)));
    if (op == 'J' || op == '\x8a' || op == '\x8b') {
      const std::uint64_t n = op == 'J' ? 4 : number(op == '\x8a' ? 1 : 4);
      if (n > 8) {
        take(n);
        return push(TorchObject{"int of more than 64 bits"});
      }
      const std::uint64_t shift = n > 0 ? 64 - 8 * n : 0;  // moves the sign to the highest bit
      return push(static_cast<Index>(number(n) << shift) >> shift);
    }
    if (op == 'G') {  // big-endian
      const std::string_view bytes = take(8);
      return push(__builtin_bit_cast(double, little_endian(std::string(bytes.rbegin(), bytes.rend()))));
    }
    if (op == 'X' || op == '\x8c') {
      const std::string_view text = take(number(op == 'X' ? 4 : 1));
      if (!detail::is_utf8(text)) return push(TorchObject{"str that is not UTF-8"});
      return push(std::string(text));
    }
    if (op == ']' || op == ')' || op == '}') return push(PickleItems{op, {}});
    if (op == '(') return marks_.push_back(stack_.size());
    if (op == 't') return push(PickleItems{')', from_mark()});
    if (op >= '\x85' && op <= '\x87') return push(PickleItems{')', top(static_cast<std::size_t>(op - '\x84'))});
    if (op == 'a' || op == 'e') return append(']', op == 'a' ? top(1) : from_mark());
    if (op == 's' || op == 'u') return append('}', op == 's' ? top(2) : from_mark());
    if (op == 'q' || op == 'r') return void(memo_[number(op == 'q' ? 1 : 4)] = last());
    if (op == '\x94') return void(memo_[memo_.size()] = last());
    if (op == 'h' || op == 'j') {
      const auto found = memo_.find(number(op == 'h' ? 1 : 4));
      has(found != memo_.end());
      return stack_.push_back(found->second);
    }
    if (op == 'c' || op == '\x93') {
      const PickleIds parts = op == 'c' ? PickleIds() : top(2);
      const std::string module = op == 'c' ? line() : as<std::string>(parts[0]);
      const std::string name = detail::shortened(module + "." + (op == 'c' ? line() : as<std::string>(parts[1])));
      const auto* const known = std::find_if(torch_globals.begin(), torch_globals.end(),
                                             [&](const TorchGlobal& g) { return g.name == name; });
      if (known != torch_globals.end()) return push(static_cast<TorchGlobals>(known - torch_globals.begin()));
      return push(TorchObject{name.starts_with("__builtin__.") ? name.substr(12) : name});
    }
    if (op == 'R' || op == '\x81') {
      const PickleIds called = top(2);
      return call(op == 'R', called[0], items(')', called[1]));
    }
    if (op == 'b') {  // drops the attributes of an OrderedDict or of an object
      top(1);
      last();
      return;
    }
    if (op == 'Q') return push(storage(items(')', top(1)[0])));
    if (op == '\x95') return void(take(8));  // drops the length of a frame
    if (op == '0') return void(top(1));
    if (op == '1') return void(from_mark());
    rule(false, "the pickle has opcode 0x", detail::hex_text(static_cast<unsigned char>(op), 2),
         ": torch.save writes none");
  }

  /// Pushes the result of calling a function or a class. The result is a TorchObject unless mote knows the function.
  void call(bool function, std::uint32_t called, const PickleIds& arguments) {
    const auto* const global = std::get_if<TorchGlobals>(&nodes_[called]);
    const bool known = function && global && *global < first_storage;
    if (!known || arguments.size() != torch_globals[*global].arguments) {
      const std::string name = name_of(called);
      return push(TorchObject{name == "_codecs.encode" ? "bytes" : name});
    }
    if (*global == ordered_dict) return push(PickleItems{'}', {}});
    if (*global == rebuild_tensor) return push(tensor(arguments));
    if (*global == rebuild_subclass) {
      const PickleIds& inner = items(')', arguments[2]);
      const bool plain = name_of(arguments[0]) == torch_globals[rebuild_tensor].name && inner.size() == 6;
      return push(plain ? tensor(inner) : TorchObject{name_of(arguments[1])});
    }
    stack_.push_back(arguments[0]);
  }

  /// The storage with this persistent id, a tuple of five parts: ("storage", type, key, device, number of elements).
  PickleNode storage(const PickleIds& id) {
    rule(id.size() == 5 && as<std::string>(id[0]) == "storage", "the pickle refers to something other than a storage");
    if (is_object(id[1])) return as<TorchObject>(id[1]);
    const TorchGlobals type = as<TorchGlobals>(id[1]);
    const std::string& key = as<std::string>(id[2]);
    rule(type >= first_storage, "storage ", detail::shortened(key), " has the type ", torch_globals[type].name,
         ", which is none of a storage");
    auto at = storages_.find(key);
    if (at == storages_.end()) {
      try {
        at = storages_.emplace(key, TorchStorage{type, elements("data/" + key, torch_globals[type].type)}).first;
      } catch (const Error& e) {
        if (torch_globals[type].type != DType::f64 || real_dtype == DType::f64) throw;
        return TorchObject{std::string(torch_globals[type].name) + " (" + e.what() + ")"};
      }
    }
    rule(type == at->second.global && as<Index>(id[4]) == shape_of(at->second.row).numel(), "storage ",
         detail::shortened(key), " has another type or number of elements than the pickle says");
    return static_cast<const TorchStorage*>(&at->second);
  }

  /// The tensor with these arguments: (storage, offset, shape, strides, requires_grad, hooks).
  PickleNode tensor(const PickleIds& arguments) {
    if (is_object(arguments[0])) return TorchObject{"torch.Tensor of " + as<TorchObject>(arguments[0]).name};
    const TorchStorage& from = *as<const TorchStorage*>(arguments[0]);
    const Index there = shape_of(from.row).numel(), offset = as<Index>(arguments[1]);
    const PickleIds &extents = items(')', arguments[2]), &steps = items(')', arguments[3]);
    const auto fits = [&](bool does) { rule(does, "a tensor goes beyond its storage of ", there, " elements"); };
    fits(steps.size() == extents.size() && offset >= 0);
    if (extents.size() > Shape::max_rank)
      return TorchObject{"torch.Tensor of " + std::to_string(extents.size()) + " axes"};
    const Index most = static_cast<Index>(source_.size) + (1 << 20);
    std::vector<Index> shape;
    Strides strides{};
    // The number of elements, `product`, and the end of the tensor in the storage, `end`, are computed as if no extent
    // were 0. `there` is the number of elements in the storage. Each axis adds at most `there` to `end`, so that no sum
    // overflows. An `end` above `there` may be too small, but it still shows that the tensor does not fit.
    Index product = 1, end = std::min(offset, there) + 1;
    for (std::size_t i = 0; i < extents.size(); ++i) {
      const Index extent = as<Index>(extents[i]), step = as<Index>(steps[i]), more = std::max<Index>(extent, 1) - 1;
      fits(extent >= 0 && step >= 0);
      rule(more < most / product, "the tensors have more than ", most,
           " elements, the most that a file of this size may expand to");
      product *= more + 1;
      end += more == 0 || step <= there / more ? more * step : there;
      shape.push_back(extent);
      strides[static_cast<int>(i)] = step;
    }
    const Layout layout(Shape(shape), strides);
    fits(layout.numel() == 0 || end <= there);
    const auto view = [&](const auto& x) -> AnyArray {
      if (layout.numel() == 0) return x.empty(layout.shape());  // an empty tensor may begin beyond the storage's end
      if (layout.is_contiguous()) return x.slice(0, offset, offset + layout.numel()).reshape(layout.shape());
      rule((copied_ += layout.numel()) <= most, "the tensors have more than ", most,
           " elements, the most that a file of this size may expand to");
      auto copy = x.empty(layout.shape());
      detail::copy_elements(x.data() + offset, layout, copy.mutate());
      return copy;
    };
    return TorchTensor{std::visit(view, from.row), torch_globals[from.global].type == DType::u8};
  }

  TorchValue tree(std::uint32_t id, int depth) {
    const auto make = [&](const auto& held) -> TorchValue {
      using T = std::decay_t<decltype(held)>;
      count(++values_);
      if constexpr (std::is_same_v<T, std::string>) values_ += held.size() / 64;
      if constexpr (!std::is_enum_v<T> && std::is_constructible_v<decltype(TorchValue::value), T>) return {held};
      if constexpr (std::is_same_v<T, PickleItems>) return container(held, depth);
      if constexpr (std::is_same_v<T, TorchGlobals>) return {TorchObject{torch_globals[held].name}};
      if constexpr (std::is_same_v<T, const TorchStorage*>) return {TorchObject{torch_globals[held->global].name}};
      __builtin_unreachable();
    };
    return std::visit(make, nodes_[id]);
  }
  TorchValue container(const PickleItems& held, int depth) {
    rule(depth < most_depth, too_deep);
    std::vector<TorchValue> values;
    for (const std::uint32_t id : held.ids) values.push_back(tree(id, depth + 1));
    if (held.kind != '}') return {TorchList{std::move(values), held.kind == ')'}};
    rule(values.size() % 2 == 0, "a dict has a key without a value");
    TorchDict dict;
    for (auto at = values.begin(); at != values.end(); at += 2) {
      const auto* const text = std::get_if<std::string>(&at->value);
      const auto* const number = std::get_if<Index>(&at->value);
      TorchKey key = TorchObject{class_of(*at)};
      if (text) key = *text;
      if (number) key = *number;
      dict.items.push_back({std::move(key), std::move(at[1])});
    }
    check_keys(source_.name, dict);
    return {std::move(dict)};
  }

  const ByteSource& source_;
  ZipMembers members_;
  std::string folder_;
  std::string_view rest_;  // the part of the pickle that has not been read
  std::deque<PickleNode> nodes_;
  PickleIds stack_;
  std::vector<std::size_t> marks_;
  std::map<std::uint64_t, std::uint32_t> memo_;
  std::map<std::string, TorchStorage> storages_;
  std::size_t values_ = 0;  // values in the tree so far
  Index copied_ = 0;        // elements of tensors that were copied
};

/// Writes a pickle, and collects the storages of its tensors.
struct Pickler {
  std::string pickle = "\x80\2";
  std::vector<AnyArray> storages;
  std::map<std::string, std::size_t> places = {};  ///< positions in storages, by address and layout of the elements
  int depth = 0;

  explicit Pickler(const TorchValue& value) { put(value), pickle += '.'; }
  void put(const TorchGlobal& x) {
    pickle.append("c").append(x.name).append("\n");
    pickle[pickle.rfind('.')] = '\n';
  }
  void number(std::uint64_t bits, int n) {
    for (; n-- > 0; bits >>= 8) pickle += static_cast<char>(bits & 255);
  }
  void put(std::monostate) { pickle += 'N'; }
  void put(bool x) { pickle += x ? '\x88' : '\x89'; }
  void put(Index x) { pickle += "\x8a\x08", number(static_cast<std::uint64_t>(x), 8); }
  void put(double x) {
    pickle += 'G';
    number(__builtin_bit_cast(std::uint64_t, x), 8);
    std::reverse(pickle.end() - 8, pickle.end());
  }
  void put(const std::string& x) {
    check_in("torch", std::in_range<std::uint32_t>(x.size()), "a str of ", x.size(),
             " bytes is too long: a pickle holds less than 2^32");
    check_in("torch", detail::is_utf8(x), "a str must be UTF-8");
    pickle += 'X';
    number(x.size(), 4);
    pickle += x;
  }
  void put(const TorchObject& x) { check_in("torch", false, "mote cannot write a ", x.name); }
  void put(const TorchValue& x) { visit(x.value); }
  void put(const TorchItem& x) { visit(x.key), put(x.value); }
  void put(const TorchList& x) { x.tuple ? put_all("(", x.items, "t") : put_all("](", x.items, "e"); }
  void put(const TorchDict& x) { check_keys("torch", x), put_all("}(", x.items, "u"); }
  void put(const TorchTensor& x) {
    const auto place = [&](const auto& a) {
      a.require("torch");
      const std::span strides(a.strides().items, a.shape().size());
      return text_of(__builtin_bit_cast(std::uintptr_t, a.data())) + text_of(a.shape()) + text_of(strides) +
             text_of(x.bytes);
    };
    const auto at = places.emplace(std::visit(place, x.array), storages.size());
    if (at.second) storages.push_back(stored(x));
    const Layout layout(shape_of(x.array));
    const auto is_type = [type = x.bytes ? DType::u8 : dtype_of(x.array)](auto& g) { return g.type == type; };
    put(torch_globals[rebuild_tensor]);
    pickle += "((";
    put(std::string("storage"));
    put(*std::find_if(torch_globals.begin() + first_storage, torch_globals.end(), is_type));
    put(text_of(at.first->second));
    put(std::string("cpu"));
    put(layout.numel());
    pickle += "tQ";
    put(Index{0});
    pickle += '(';
    for (const Index extent : layout.shape()) put(extent);
    pickle += "t(";
    for (int axis = 0; axis < layout.rank(); ++axis) put(layout.stride(axis));
    pickle += 't';
    put(false);
    put(torch_globals[ordered_dict]);
    pickle += ")RtR";
  }
  void visit(const auto& any) {
    std::visit([&](const auto& x) { put(x); }, any);
  }
  void put_all(const char* open, const auto& items, const char* close) {
    check_in("torch", depth++ < most_depth, too_deep);
    pickle += open;
    for (const auto& item : items) put(item);
    pickle += close;
    --depth;
  }
  /// The tensor as a contiguous array for the file. Integers that are bytes in the file become a Mask, because the
  /// elements of a Mask are bytes.
  static AnyArray stored(const TorchTensor& x) {
    if (!x.bytes) return std::visit([](const auto& a) -> AnyArray { return a.contiguous(); }, x.array);
    check_in("torch", std::holds_alternative<IntArray>(x.array), "a tensor of bytes must be an IntArray");
    const IntArray ints = std::get<IntArray>(x.array).contiguous();
    Mask narrow = Mask::empty(ints.shape());
    for (std::uint8_t* to = narrow.mutate(); const Index i : ints.values()) {
      check_in("torch", std::in_range<std::uint8_t>(i), i, " does not fit into torch.uint8, 0 to 255");
      *to++ = static_cast<std::uint8_t>(i);
    }
    return narrow;
  }
};

}  // namespace

std::string class_of(const TorchValue& value) {
  constexpr const char* names[] = {"NoneType", "bool", "int", "float", "str", "list", "dict"};
  if (const auto* const object = std::get_if<TorchObject>(&value.value)) return object->name;
  if (const auto* const list = std::get_if<TorchList>(&value.value); list && list->tuple) return "tuple";
  if (const auto* const tensor = std::get_if<TorchTensor>(&value.value)) {
    constexpr const char* kinds[] = {"", " of integers", " of booleans"};
    return std::string("torch.Tensor") + kinds[tensor->array.index()];
  }
  return names[value.value.index()];
}

const TorchValue* TorchDict::find(const TorchKey& key) const {
  for (const TorchItem& item : items)
    if (item.key == key) return &item.value;
  return nullptr;
}

TorchValue load_torch(const ByteSource& source) { return Unpickler(source).of_archive(); }
TorchValue load_torch(const std::string& path) { return load_torch(file_source(path)); }

TorchValue detail::unpickled(const std::string& name, const std::string& pickle) {
  const ByteSource source{name, pickle.size(), {}};
  return Unpickler(source).of_pickle(pickle);
}

std::string detail::pickled(const TorchValue& value) { return Pickler(value).pickle; }

void detail::write_torch(const std::function<void(const void*, std::size_t)>& put, const TorchValue& value) {
  const Pickler made(value);
  std::vector<ZipPart> parts{{"archive/data.pkl", made.pickle}};
  for (const AnyArray& x : made.storages)
    parts.push_back({"archive/data/" + std::to_string(parts.size() - 1), bytes_of(x)});
  parts.push_back({"archive/version", "3\n"});
  write_zip(put, parts);
}

void save_torch(const std::string& path, const TorchValue& value) {
  FileWriter file(path);
  detail::write_torch([&](const void* data, std::size_t bytes) { file.write(data, bytes); }, value);
  file.commit();
}

}  // namespace mote
