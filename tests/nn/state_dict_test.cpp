// States: into a file and back in all bits, ties, strict and not, errors that list everything and change nothing, names
// of another library, parameters that have no memory of their own yet.
#include "nn/state_dict.h"

#include "nn/nn.h"
#include "tests/module_tools.h"
#include "tests/sentences.h"
#include "tests/state_tools.h"
#include "tests/temp_folder.h"
#include "train/optim/adamw.h"

namespace mote::test::state_dict_test {
namespace {

/// Two tied matrices, a bias that may be absent, a buffer, layers in a list.
struct Model : Layer<Model> {
  Embedding table;
  std::vector<Linear> h;
  Linear head;
  Array seen = Array::zeros({2});
  explicit Model(std::uint64_t seed, Index layers = 2, bool tied = true, bool bias = false)
      : Model(Init(Generator(seed)), layers, tied, bias) {}
  Model(const Init& init, Index layers, bool tied, bool bias) : table(5, 4, init), head(4, 5, init, bias) {
    for (Index i = 0; i < layers; ++i) h.emplace_back(4, 4, init);
    if (tied) head.weight = table.weight;
  }
  Tensor forward(const IntArray& ids) const {
    Tensor x = table(ids);
    for (const Linear& layer : h) x = relu(layer(x));
    return head(x);
  }
  void visit(Visitor& v) override {
    v("table", table);
    v("h", h);
    v("head", head);
    v.buffer("seen", seen);
  }
};

std::string joined(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& item : list) text += (text.empty() ? "" : " ") + item;
  return text;
}

TEST_CASE("save and load: every bit, NaN and -0 too, ties once and tied again, buffers, equal files") {
  const TempFolder folder;
  Model from(1), to(2);
  from.seen.mutate()[1] = 3;
  const std::vector<real> odd = special_values();
  std::copy_n(odd.begin(), 16, from.h[0].weight.mutate());  // infinities, NaN, -0, the smallest ...
  CHECK(names_of(state_dict(from)) == "table.weight h.0.weight h.0.bias h.1.weight h.1.bias seen");
  save(from, folder.path("a"));
  const LoadReport report = load(to, folder.path("a"));
  CHECK((report.missing.empty() && report.unexpected.empty()));
  CHECK(bits_of(to) == bits_of(from));
  CHECK((to.head.weight.same_as(to.table.weight) && to.seen.data()[1] == 3));
  CHECK(!to.seen.shares_storage(from.seen));
  save(to, folder.path("b"));
  CHECK(get_file(folder.path("a")) == get_file(folder.path("b")));
  CHECK(SafetensorsFile(folder.path("a")).tensors().size() == 6);
}

TEST_CASE("load: one name of a tie is enough, two must hold the same bits") {
  Model m(1);
  const Array w = random_array({5, 4}, 9, -1, 1);
  StateDict state = state_dict(m);
  state[0] = state_entry("head.weight", w);
  load_state_dict(m, state);
  CHECK((same_bits(m.table.weight.value(), w) && m.head.weight.same_as(m.table.weight)));
  state.push_back(state_entry("table.weight", w));
  load_state_dict(m, state);
  const std::string before = bits_of(m);
  Array minus = w;
  minus.mutate()[7] = 0;
  state.back() = state_entry("table.weight", minus);
  minus.mutate()[7] = real(-0.0);
  state[0] = state_entry("head.weight", minus);
  REFUSES(load_state_dict(m, state, {}, "old.safetensors"));
  CHECK(bits_of(m) == before);
  Model apart(3, 2, false);
  REFUSES(load_state_dict(apart, state_dict(m)));
}

TEST_CASE("load: strict names every difference at once and changes nothing; otherwise they are reported") {
  const TempFolder folder;
  Model small(1, 1, true, true), large(2, 2);
  small.h[0] = Linear(4, 3, Generator(5));
  save(small, folder.path("x"));
  const std::string before = bits_of(large), path = folder.path("x");
  const std::string wrong_shapes =
      "\n  'h.0.weight' is [3, 4], the model needs [4, 4]"
      "\n  'h.0.bias' is [3], the model needs [4]";
  CHECK(error_of([&] { load(large, path); }) == "load: " + path + " does not fit this Model:" + wrong_shapes +
                                                    "\n  'h.1.weight' is missing\n  'h.1.bias' is missing"
                                                    "\n  'head.bias' is not in the model");
  CHECK(error_of([&] { load(large, path, {.strict = false}); }) ==
        "load: " + path + " does not fit this Model:" + wrong_shapes);
  CHECK(bits_of(large) == before);
  small.h[0] = Linear(4, 4, Generator(5));
  save(small, path);
  const Array kept = large.h[1].weight.value();
  const LoadReport report = load(large, path, {.strict = false});
  CHECK(joined(report.missing) == "h.1.weight h.1.bias");
  CHECK(joined(report.unexpected) == "head.bias");
  CHECK(same_bits(large.h[1].weight.value(), kept));
  CHECK(same_bits(large.h[0].weight.value(), small.h[0].weight.value()));
  CHECK(same_bits(large.head.weight.value(), small.table.weight.value()));
}

TEST_CASE("load: a checksum wrong in the last tensor of 100, a failed read: the model is untouched") {
  const TempFolder folder;
  const Model from(1, 49);
  Model to(2, 49);
  const std::string path = folder.path("x"), before = bits_of(to);
  CHECK(state_dict(to).size() == 100);
  save(from, path);
  std::string bytes = get_file(path);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  put_file(path, bytes);
  const std::string last = SafetensorsFile(path).tensors().back().name;
  CHECK(error_of([&] { load(to, path); }).find(path + ": tensor '" + last + "': the checksum is wrong") !=
        std::string::npos);
  CHECK(bits_of(to) == before);
  StateDict state = state_dict(from);
  state[3].read = [] { return Array::zeros({3}); };
  REFUSES(load_state_dict(to, state));
  state = state_dict(from);
  state.back().read = []() -> Array { throw Error("cannot read"); };
  REFUSES(load_state_dict(to, state));
  CHECK(bits_of(to) == before);
}

TEST_CASE("names of another library: rules in both directions, parts, transposes, what is ignored") {
  const TempFolder folder;
  struct Heads : Layer<Heads> {
    Linear q, k, square;
    explicit Heads(std::uint64_t seed)
        : q(3, 2, Init(Generator(seed))), k(3, 2, Init(Generator(seed + 1))), square(3, 3, Init(Generator(seed + 2))) {}
    void visit(Visitor& v) override {
      v("q", q);
      v("k", k);
      v("square", square);
    }
  };
  const NameTable table{{{"qk", "q.weight", true, 2},
                         {"qk", "k.weight", true, 2, 0, 2},
                         {"qk_bias", "q.bias", false, 2},
                         {"qk_bias", "k.bias", false, 2, 0, 2},
                         {"s", "square.weight", true},
                         {.there = "old_s", .here = "square.weight", .transposed = true, .read_only = true},
                         {"b", "square.bias"}},
                        {".mask"}};
  const Heads from(1);
  Heads to(7);
  StateDict state = state_dict(from, table);
  CHECK(names_of(state) == "qk qk_bias s b");
  CHECK((state[0].shape == Shape{3, 4} && state[1].shape == Shape{4}));
  CHECK(state[2].read().at({0, 2}) == from.square.weight.value().at({2, 0}));
  CHECK(state[0].read().at({2, 3}) == from.k.weight.value().at({1, 2}));
  state.push_back(state_entry("h.mask", Array(1)));
  load_state_dict(to, state, {.names = table});
  CHECK(bits_of(to) == bits_of(from));
  save(Heads(4), folder.path("x"), table);
  load(to, folder.path("x"), {.names = table});
  CHECK(bits_of(to) == bits_of(Heads(4)));
  state[2] = state_entry("old_s", copy_of(state[2].read()));
  load_state_dict(to, state, {.names = table});
  CHECK(bits_of(to) == bits_of(from));
  // In errors every name and shape is the other side's; mote's own names have no place there.
  state[0] = state_entry("qk", Array::zeros({4, 3}));
  state[2] = state_entry("square.weight", Array::zeros({3, 3}));
  REFUSES(load_state_dict(to, state, {.names = table}));
  CHECK(bits_of(to) == bits_of(from));
  NameTable mixed = table;  // parts are joined in their order, not in that of the rules
  std::swap(mixed.rules[0], mixed.rules[1]);
  CHECK(state_dict(from, mixed)[0].read().at({2, 3}) == from.k.weight.value().at({1, 2}));
  const std::string not_once =
      " cannot be made in this Heads: the rules of the NameTable must give each part of it once";
  for (const Index row : {0, 1, 3}) {
    mixed.rules[0].from_there = row;
    CHECK(error_of([&] { state_dict(from, mixed); }).ends_with(not_once));
  }
  REFUSES(load_state_dict(to, state_dict(from, table), {.names = mixed}));
  CHECK(bits_of(to) == bits_of(from));
  NameTable half = table;
  half.rules.erase(half.rules.begin() + 1);
  REFUSES(state_dict(from, half));
  Heads without(1);
  without.k.bias = Parameter();
  CHECK(error_of([&] { state_dict(without, table); }) == "state_dict: 'qk_bias' [4]" + not_once);
}

TEST_CASE("names of another library: rows of ours under names of their own, in both directions") {
  const NameTable table{{{"first", "weight", false, 1, 0},
                         {"rest", "weight", true, 2, 1},
                         {"b", "bias", false, 2, 1, 1},
                         {"b", "bias", false, 1, 0, 0},
                         {.there = "old", .here = "weight", .rows = 1, .read_only = true}},
                        {}};
  const Linear from(2, 3, Generator(1));
  StateDict state = state_dict(from, table);
  CHECK(names_of(state) == "first rest b");
  CHECK((state[0].shape == Shape{1, 2} && state[1].shape == Shape{2, 2} && state[2].shape == Shape{3}));
  CHECK(state[1].read().at({1, 0}) == from.weight.value().at({1, 1}));
  Linear to(2, 3, Generator(7));
  load_state_dict(to, state, {.names = table});
  CHECK(bits_of(to) == bits_of(from));
  state.push_back(state_entry("old", copy_of(state[0].read())));
  load_state_dict(to, state, {.names = table});
  state.back() = state_entry("old", Array::zeros({1, 2}));
  REFUSES(load_state_dict(to, state, {.names = table}));
  // Each part that is missing is named, and an array of which one is keeps all its rows.
  Linear kept(2, 3, Generator(9));
  const Array before = kept.weight.value();
  state = {state[0], state[2]};
  REFUSES(load_state_dict(kept, state, {.names = table}));
  REFUSES(load_state_dict(kept, {}, {.names = table}));
  const LoadReport report = load_state_dict(kept, state, {.strict = false, .names = table});
  CHECK((joined(report.missing) == "weight" && same_bits(kept.weight.value(), before)));
  CHECK(same_bits(kept.bias.value(), from.bias.value()));
  state.push_back(state_entry("rest", Array::zeros({2, 3})));
  REFUSES(load_state_dict(kept, state, {.names = table}));
  // Tables for other shapes.
  NameTable wrong = table;
  wrong.rules.pop_back();
  wrong.rules.erase(wrong.rules.begin());
  REFUSES(state_dict(from, wrong));
  wrong.rules[0].rows = 3;
  REFUSES(state_dict(from, wrong));
  REFUSES(load_state_dict(kept, state, {.names = wrong}));
}

TEST_CASE("load: parameters keep their handles, their flags and their gradients' place") {
  Model from(1), m(2);
  m.h[0].bias.set_trainable(false);
  const Parameter handle = m.h[0].weight;
  load_state_dict(m, state_dict(from));
  CHECK((same_bits(handle.value(), from.h[0].weight.value()) && !m.h[0].bias.trainable()));
  m.h[0].weight.mutate()[0] = 100;  // the two stay independent
  CHECK(from.h[0].weight.value().data()[0] != 100);
}

TEST_CASE("Init::none: zeros without memory, on which everything works as on zeros") {
  const Index before = memory_stats().live_bytes;
  const Linear wide(3000, 3000, Init::none(Generator(1)));
  CHECK(memory_stats().live_bytes - before < 2000);

  const IntArray ids(Shape{2, 3}, std::vector<Index>{0, 1, 2, 3, 4, 0});
  const auto train = [&](const Model& m, auto&& optimizer) {
    std::string all;
    for (int i = 0; i < 2; ++i) {
      const Tensor y = m(ids);
      y.backward(random_array(y.shape(), 5));
      optimizer.step();
      zero_grad(m);
      all += bits_of(m);
    }
    return all;
  };
  const auto none = [] { return Model(Init::none(Generator(1)), 2, true, true); };
  const auto zeros = [] {
    Model m(1, 2, true, true);
    for (const Parameter& p : parameters(m)) p.set(Array::zeros(p.shape()));
    return m;
  };
  Model a = none(), b = zeros();
  CHECK((bits_of(a) == bits_of(b) && summary(a) == summary(b) && parameter_count(a) == parameter_count(b)));
  CHECK(same_bits(a(ids).array(), b(ids).array()));
  CHECK((bits_of(a.clone()) == bits_of(b) && same_bits(a.clone()(ids).array(), b(ids).array())));
  CHECK(train(a, AdamW(all_parameters(a))) == train(b, AdamW(all_parameters(b))));
  const Model filled(4, 2, true, true);
  Model copied = none(), target = Model(5, 2, true, true);
  copy_weights(filled, copied);
  copy_weights(none(), target);
  CHECK((bits_of(copied) == bits_of(filled) && bits_of(target) == bits_of(zeros())));
  const TempFolder folder;
  save(none(), folder.path("none"));
  save(zeros(), folder.path("zeros"));
  CHECK(get_file(folder.path("none")) == get_file(folder.path("zeros")));
  // Every layer that draws weights computes with them, forward and backward.
  const auto compare = [](const auto& make, const Array& x) {
    const auto m = make(Init::none(Generator(1)));
    auto same = make(Init(Generator(1)));
    for (const NamedParameter& p : named_parameters(m))
      for (const NamedParameter& q : named_parameters(same))
        if (p.name == q.name) q.parameter.set(copy_of(p.parameter.value()));
    const Run one([&](In in) { return m(in[0]); }, {x}), two([&](In in) { return same(in[0]); }, {x});
    CHECK_MESSAGE(one == two, m.type_name());
    for (std::size_t i = 0; i < parameters(m).size(); ++i)
      CHECK_MESSAGE(same_bits(parameters(m)[i].grad(), parameters(same)[i].grad()), m.type_name());
  };
  const Array x = random_array({2, 3, 4}, 8);
  compare([](const Init& init) { return Linear(4, 5, init); }, x);
  compare([](const Init& init) { return SelfAttention(4, 2, init); }, x);
  compare([](const Init& init) { return MultiHeadAttention(4, 2, init, {}, {.torch_init = true}); }, x);
  compare([](const Init& init) { return FeedForward(4, 6, init, Activation::swiglu); }, x);
  compare([](const Init& init) { return TransformerBlock(4, 2, init); }, x);
  const Embedding table(5, 4, Init::none(Generator(1)), 2);
  CHECK((same_bits(table(ids).array(), Array::zeros({2, 3, 4})) && table.weight.value().stride(0) == 0));
  CHECK(same_bits(LearnedPositions(5, 4, Init::none(Generator(1)))(3).array(), Array::zeros({3, 4})));
}

TEST_CASE("load_state_dict: a file with 100,000 of others' names is refused soon, in a message of fifty lines") {
  Linear layer(2, 3, Generator(1));
  StateDict state = state_dict(layer);
  for (int i = 0; i < 100'000; ++i) state.push_back(state_entry("x" + std::to_string(i), Array::zeros({0})));
  const std::string error = error_of([&] { load_state_dict(layer, state); });
  CHECK(std::count(error.begin(), error.end(), '\n') == 51);
  CHECK(error.ends_with("\n  and 99950 more"));
}

TEST_CASE("a rule with rows beyond any array is no rule that fits") {
  constexpr Index most = std::numeric_limits<Index>::max();
  Linear layer(2, 3, Generator(1), false);
  const StateDict state{state_entry("w", Array::zeros({3, 2}))};
  for (const NameRule& rule :
       {NameRule{.there = "w", .here = "weight", .rows = 2, .from_here = most, .from_there = most},
        NameRule{.there = "w", .here = "weight", .rows = most, .from_here = 1}}) {
    const NameTable names{.rules = {rule}, .ignored = {}};
    CHECK_THROWS_AS(load_state_dict(layer, state, {.names = names}), Error);
    CHECK_THROWS_AS(state_dict(layer, names), Error);
  }
}

}  // namespace
}  // namespace mote::test::state_dict_test
