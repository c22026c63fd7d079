// torch's layouts: a generator's state byte for byte, AdamW's state and weights there and back, what is refused.
#include "train/keep/exchange.h"

#include "engine/io/files/crc32.h"
#include "models/gpt.h"
#include "tests/models/gpt_tools.h"
#include "tests/sentences.h"
#include "tests/state_tools.h"
#include "tests/temp_folder.h"
#include "train/optim/sgd.h"

namespace mote::test::exchange_test {
namespace {

std::uint32_t checksum(const Generator& random) {
  std::string bytes;
  for (const Index byte : std::get<IntArray>(torch_rng_state(random.get_state()).array).to_vector())
    bytes += static_cast<char>(byte);
  CHECK(bytes.size() == 5056);
  return crc32(bytes.data(), bytes.size());
}

TEST_CASE("exchange: a stream's state has the bytes of torch.get_rng_state() after the same draws (torch 1.13)") {
  const struct {
    Index seed, drawn;
    std::uint32_t crc;
  } recorded[] = {
      {5, 0, 0xe2922ed1}, {5, 1, 0xfaf81514}, {5, 624, 0x48dae3a3}, {5, 1000, 0x0b12063b}, {-1, 3, 0x67edf508}};
  for (const auto& r : recorded) {
    const Generator random(r.seed);
    for (Index i = 0; i < r.drawn; ++i) random.uniform_float();
    CHECK(checksum(random) == r.crc);
  }
  const Generator random(5);
  float normals[3];
  random.normal(normals);
  CHECK(checksum(random) == 0x906277ce);  // half of a pair is kept
}

TEST_CASE("exchange: a stream comes back and draws on, whatever it has drawn") {
  for (const Index drawn : {0, 1, 623, 624, 625, 2000}) {
    const Generator random(9);
    for (Index i = 0; i < drawn; ++i) random.next_u32();
    float normals[3];
    if (drawn % 2) random.normal(normals);
    const GeneratorState state = random.get_state();
    GeneratorState back = generator_state({torch_rng_state(state)});
    back.build = state.build;
    CHECK(back == state);
    const Generator other(1);
    other.set_state(back);
    CHECK(other.next_u64() == random.next_u64());
  }
  TorchTensor bytes = torch_rng_state(Generator(3).get_state());
  REFUSES(generator_state({Index(3)}));
  REFUSES(generator_state({TorchTensor{IntArray({5})}}));
  for (const Index at : {8, 12, 17}) {  // left, seeded, next
    IntArray wrong = copy_of(std::get<IntArray>(bytes.array));
    wrong.mutate()[at] += 7;
    REFUSES(generator_state({TorchTensor{wrong}}));
  }
}

void train(GPT& model, Optimizer& optimizer, Index steps) {
  for (Index step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    model.loss(ints({{1, 2, 3}, {4, 0, 6}}), ints({{2, 3, 1}, {0, 6, 4}})).backward();
    optimizer.step();
  }
}

/// Queries, keys and values apart, matrices transposed; a norm's weight and bias in one.
NameTable rows_apart(const GPT& model) {
  NameTable names;
  for (const auto& [name, p] : named_parameters(model)) {
    const bool matrix = p.shape().rank() == 2;
    const std::string layer = name.substr(0, name.rfind('.'));
    if (layer.ends_with("c_attn"))
      for (const Index part : {2, 0, 1}) names.rules.push_back({name + char('0' + part), name, matrix, 24, 24 * part});
    else if (layer.ends_with("ln_1"))
      names.rules.push_back({layer, name, false, 24, 0, name.ends_with("bias") ? 24 : 0});
    else
      names.rules.push_back({name, name, matrix});
  }
  return names;
}

TEST_CASE("exchange: AdamW's state by rows has numbers in the table's order, each number of steps once") {
  GPT model(toy(), Generator(1));
  AdamW optimizer(decay_groups(model, 0.1));
  train(model, optimizer, 2);
  const NameTable names = rows_apart(model);
  const OptimizerState state = optimizer.state();
  TorchValue there = torch_optimizer_state(state, optimizer.groups(), {}, names);
  TorchDict& all = std::get<TorchDict>(std::get<TorchDict>(there.value).items[0].value.value);
  const auto moment = [&](std::size_t number) -> TorchTensor& {
    return std::get<TorchTensor>(std::get<TorchDict>(all.items[number].value.value).items[1].value.value);
  };
  const Array whole = state.arrays.at("transformer.h.0.attn.c_attn.weight.exp_avg");
  for (const Index part : {0, 1, 2}) {  // behind the two tables of vectors
    const Array mine = whole.slice(0, 24 * part, 24 * (part + 1)).transpose(0, 1);
    CHECK(same_bits(std::get<Array>(moment(static_cast<std::size_t>(2 + (part + 1) % 3)).array), mine.contiguous()));
  }
  moment(2) = {Array::zeros({24, 25})};
  REFUSES(set_torch_optimizer_state(optimizer, there, names));
  const auto uneven = [](const std::string& name, const std::string& who) {
    return "torch: parts of " + name + " have had different numbers of steps, but " + who +
           " keeps one number for all of them";
  };
  moment(2) = {Array::zeros({24, 24})};
  std::get<TorchDict>(all.items[3].value.value).items[0].value = {Index(3)};
  CHECK(error_of([&] { set_torch_optimizer_state(optimizer, there, names); }) ==
        uneven("transformer.h.0.attn.c_attn.weight", "mote"));
  all.items.erase(all.items.begin() + 3);
  REFUSES(set_torch_optimizer_state(optimizer, there, names));
  CHECK(optimizer.state().arrays.size() == state.arrays.size());
  OptimizerState half = state;
  half.counts["transformer.h.0.ln_1.bias.step"] = 1;
  CHECK(error_of([&] { torch_optimizer_state(half, optimizer.groups(), {}, names); }) ==
        uneven("transformer.h.0.ln_1", "torch"));
}

TEST_CASE("exchange: AdamW's state and the weights, through a file, and both go on in every bit") {
  const TempFolder folder;
  GPT model(toy(), Generator(1)), other(toy(), Generator(2));
  AdamW here(decay_groups(model, 0.1)), there(decay_groups(other, 0.1));
  train(model, here, 3);
  NameTable names;
  for (const NamedParameter& p : named_parameters(model))
    names.rules.push_back({"x." + p.name, p.name, p.parameter.shape().rank() == 2});
  for (const NameTable& table : {NameTable{}, names, rows_apart(model)}) {
    const TorchValue state = torch_optimizer_state(here.state(), here.groups(), {.lr = 0.5}, table);
    save_torch(folder.path("both"), {TorchDict{{{"model", torch_state_dict(model, table)}, {"optimizer", state}}}});
    const TorchValue both = load_torch(folder.path("both"));
    load_state_dict(other, state_dict(detail::at(both, "model")), {.names = table});
    set_torch_optimizer_state(there, detail::at(both, "optimizer"), table);
    CHECK(there.state().counts == here.state().counts);
    GPT a = model.clone(), b = other.clone();
    CHECK(bits_of(a) == bits_of(b));
    for (const auto& [name, array] : here.state().arrays) CHECK(same_bits(array, there.state().arrays.at(name)));
  }
  train(model, here, 2);
  train(other, there, 2);
  CHECK(bits_of(model) == bits_of(other));
}

TEST_CASE("exchange: another trainer's AdamW is read by its list of parameters; what mote's does not have is refused") {
  GPT model(toy(), Generator(1)), other(toy(), Generator(1));
  AdamW optimizer(decay_groups(model, 0.1)), there(decay_groups(other, 0.1));
  train(model, optimizer, 2);
  const TorchValue state = torch_optimizer_state(optimizer.state(), optimizer.groups(), {});
  const auto entries = [](TorchValue& s) -> std::vector<TorchItem>& {
    return std::get<TorchDict>(std::get<TorchDict>(s.value).items[0].value.value).items;
  };
  const auto group = [](TorchValue& s, std::size_t g) -> std::vector<TorchItem>& {
    auto& groups = std::get<TorchList>(std::get<TorchDict>(s.value).items[1].value.value).items;
    return std::get<TorchDict>(groups[g].value).items;
  };
  const auto params = [&](TorchValue& s, std::size_t g) -> std::vector<TorchValue>& {
    return std::get<TorchList>(group(s, g).back().value.value).items;
  };
  const auto changed = [&](const auto& change) {
    TorchValue copy = state;
    change(copy);
    return error_of([&] { set_torch_optimizer_state(there, copy); });
  };

  // Numbers from 100, in another order.
  CHECK(changed([&](TorchValue& s) {
          for (TorchItem& e : entries(s)) e.key = 100 + std::get<Index>(e.key);
          std::reverse(entries(s).begin(), entries(s).end());
          for (const std::size_t g : {std::size_t{0}, std::size_t{1}})
            for (TorchValue& number : params(s, g)) number = {100 + std::get<Index>(number.value)};
        }) == "(no error)");
  for (const auto& [name, array] : optimizer.state().arrays) CHECK(same_bits(array, there.state().arrays.at(name)));

  for (const char* const option : {"amsgrad", "maximize"})
    CHECK(changed([&](TorchValue& s) {
            for (TorchItem& e : group(s, 1))
              if (e.key == decltype(e.key)(option)) e.value = {true};
          }) == std::string("torch: the optimizer uses ") + option + ": mote's AdamW does not have it");
  CHECK(changed([&](TorchValue& s) { params(s, 0)[1] = params(s, 0)[0]; }) ==
        "torch: the optimizer has parameter 0 twice");
  CHECK(changed([&](TorchValue& s) {
          entries(s).push_back({Index(77), entries(s)[0].value});
        }) == "torch: the optimizer has a state of parameter 77, which no group lists");
  CHECK(changed([&](TorchValue& s) {
          auto& first = std::get<TorchDict>(entries(s)[0].value.value).items;
          first.erase(first.begin() + 1);
        }) == "torch: the optimizer has no exp_avg of transformer.wte.weight");
  CHECK(changed([&](TorchValue& s) {
          std::get<TorchDict>(entries(s)[0].value.value).items[0].value = {5.5};
        }).ends_with(" must be a whole number from 0 to 1e15, not 5.5"));
}

TEST_CASE("exchange: what does not fit is named, and nothing has changed") {
  GPT model(toy(), Generator(1));
  AdamW optimizer(decay_groups(model, 0.1)), one(all_parameters(model));
  train(model, optimizer, 1);
  const TorchValue state = torch_optimizer_state(optimizer.state(), optimizer.groups(), {});
  REFUSES(set_torch_optimizer_state(one, state));
  CHECK(one.state().arrays.empty());
  REFUSES(set_torch_optimizer_state(optimizer, {Index(1)}));
  const TorchObject best{"numpy.core.multiarray.scalar"};
  CHECK(error_of([&] { detail::count_of({best}, "n"); }) == "torch: n must be a number, not " + best.name);
  CHECK(detail::count_of({TorchTensor{Array(3)}}, "n") == 3);
  for (const double n : {-1.0, 1e300, std::nan(""), 5.5}) REFUSES(detail::count_of({n}, "n"));
  REFUSES(detail::count_of({TorchTensor{Array::zeros({2})}}, "n"));

  const Linear linear(2, 1, Init::none(Generator()));
  const TorchTensor weight{linear.weight.value()};
  const TorchTensor bias{linear.bias.value()};
  Linear other(2, 1, Init::none(Generator()));
  const auto loaded = [&](const TorchValue& third, const TorchValue& b, bool strict = true) {
    const StateDict there = state_dict({TorchDict{{{"weight", {weight}}, {"bias", b}, {"best", third}}}});
    return error_of([&] { load_state_dict(other, there, {.strict = strict}); });
  };
  CHECK(loaded({best}, {bias}, false) == "(no error)");
  CHECK(loaded({best}, {bias}).ends_with("\n  'best' is not in the model"));
  CHECK(
      loaded({1.0}, {best}, false).ends_with("\n  'bias' is of class " + best.name + ", the model needs a tensor [1]"));
  CHECK(loaded({1.0}, {TorchTensor{IntArray({1})}}, false)
            .ends_with("\n  'bias' is of class torch.Tensor of integers, the model needs a tensor [1]"));
  SGD sgd(decay_groups(model, 0), {.momentum = 0.9});
  train(model, sgd, 1);
  REFUSES(torch_optimizer_state(sgd.state(), sgd.groups(), {}));
}

}  // namespace
}  // namespace mote::test::exchange_test
