// Every allocation from the n-th on fails, for every n: always std::bad_alloc or its sentence, all but gradients and
// random streams as before or after the call, and the next call as if nothing had been.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "engine/base/env.h"
#include "models/gpt.h"
#include "models/names.h"
#include "nn/attention_weights.h"
#include "nn/trace.h"
#include "train/train.h"

namespace {

std::atomic<long> left{-1};    // allocations that still succeed; below 0: all do
std::atomic<long> budget{-1};  // bytes that may be live; below 0: any number
std::atomic<long> live{0};

void* counted(std::size_t bytes, std::size_t alignment) {
  for (long n = left.load(); n >= 0;) {
    if (n == 0) return nullptr;
    if (left.compare_exchange_weak(n, n - 1)) break;
  }
  const long size = static_cast<long>(bytes);
  if (const long most = budget.load(); most >= 0 && live.load() + size > most) return nullptr;
  const std::size_t head = alignment < 16 ? 16 : alignment;  // room for the size, and the block stays aligned
  char* const block = static_cast<char*>(std::aligned_alloc(head, (bytes + head + head - 1) / head * head));
  if (!block) return nullptr;
  std::memcpy(block, &size, sizeof size);
  live += size;
  return block + head;
}
void give_back(void* p, std::size_t alignment) {
  if (!p) return;
  char* const block = static_cast<char*>(p) - (alignment < 16 ? 16 : alignment);
  long size = 0;
  std::memcpy(&size, block, sizeof size);
  live -= size;
  std::free(block);
}
void* or_throw(void* p) { return p ? p : throw std::bad_alloc(); }

}  // namespace

void* operator new(std::size_t n) { return or_throw(counted(n, 16)); }
void* operator new[](std::size_t n) { return or_throw(counted(n, 16)); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return counted(n, 16); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return counted(n, 16); }
void* operator new(std::size_t n, std::align_val_t a) { return or_throw(counted(n, static_cast<std::size_t>(a))); }
void operator delete(void* p) noexcept { give_back(p, 16); }
void operator delete[](void* p) noexcept { give_back(p, 16); }
void operator delete(void* p, std::size_t) noexcept { give_back(p, 16); }
void operator delete[](void* p, std::size_t) noexcept { give_back(p, 16); }
void operator delete(void* p, const std::nothrow_t&) noexcept { give_back(p, 16); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { give_back(p, 16); }
void operator delete(void* p, std::align_val_t a) noexcept { give_back(p, static_cast<std::size_t>(a)); }
void operator delete(void* p, std::size_t, std::align_val_t a) noexcept { give_back(p, static_cast<std::size_t>(a)); }

namespace mote::test::allocation_test {
namespace {

/// All that a state consists of, as bytes.
struct Bytes {
  std::vector<unsigned char> all;
  template <class T>
  void add(const T* x, Index count) {
    const auto* const first = reinterpret_cast<const unsigned char*>(x);
    all.insert(all.end(), first, first + static_cast<std::size_t>(count) * sizeof(T));
  }
  template <class T>
  void add(const T& x) {
    add(&x, 1);
  }
  void add_array(const Array& x) {
    add(x.defined());
    if (!x.defined()) return;
    const Array in = x.contiguous();
    add(in.data(), in.numel());
  }
  friend bool operator==(const Bytes&, const Bytes&) = default;
};

/// A small model with dropout, an optimizer that has taken a step, and gradients to add to.
struct State {
  GPT model;
  AdamW optimizer;
  Generator sampler{5};
  IntArray ids = ints({{1, 2, 3, 4}, {4, 0, 2, 1}}), targets = ints({{2, 3, 4, 0}, {0, 2, 1, -1}});

  static GPTConfig config() {
    GPTConfig c;
    c.block_size = 6;
    c.vocab_size = 5;
    c.n_layer = 1;
    c.n_head = 2;
    c.n_embd = 8;
    c.dropout = 0.2;
    return c;
  }
  State() : model(config(), Generator(1)), optimizer(decay_groups(model, 0.1), {.lr = 1e-2}) {
    train(1);
    model.loss(ids, targets).backward();
  }
  double train(Index steps) {
    return fit(optimizer, [this](Index) { return model.loss(ids, targets); },
               {.steps = steps, .grad_clip = 0.1, .schedule = [](Index step) {
                  return 1e-2 / static_cast<double>(step + 1);
                }});
  }
  std::vector<Generator> streams() const {
    std::vector<Generator> all{sampler};
    for (const NamedStream& s : named_streams(model)) all.push_back(s.stream);
    return all;
  }
  /// Gives gradients and random streams those of another State.
  void take_over(const State& other) {
    const std::vector<Parameter> to = parameters(model), from = parameters(other.model);
    for (std::size_t i = 0; i < to.size(); ++i) to[i].set_grad(copy_of(from[i].grad()));
    const std::vector<Generator> mine = streams(), others = other.streams();
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i].set_state(others[i].get_state());
  }
  Bytes bytes(bool gradients = true) {
    Bytes b;
    for (const Parameter& p : parameters(model)) {
      b.add_array(p.value());
      if (gradients) b.add_array(p.grad());
    }
    for (const Generator& s : streams()) {
      const GeneratorState state = s.get_state();
      b.add(state.words);
      b.add(state.used);
    }
    const OptimizerState kept = optimizer.state();
    for (const auto& [name, count] : kept.counts) b.add(count);
    for (const auto& [name, array] : kept.arrays) b.add_array(array);
    b.add(optimizer.learning_rate());
    b.add(optimizer.steps());
    apply(model, [&](Module& m) { b.add(m.training()); });
    return b;
  }
};

/// Runs body() with every allocation from the n-th on failing, for n = 0, 1, ... until none fails. After a failure the
/// state is as after the call, or as before it and the call then succeeds. An error does not put back gradients and
/// random streams, so this test does. No block of memory stays behind.
template <class Act>
void sweep(const char* name, Act body, bool gradients = true) {
  INFO(name);
  const auto act = [&](State& s) {
    if constexpr (std::is_void_v<decltype(body(s))>)
      return body(s), Bytes();
    else
      return body(s);
  };
  State undisturbed;
  const State fresh;
  const Bytes before = undisturbed.bytes(gradients), result = act(undisturbed), after = undisturbed.bytes(gradients);
  const Index blocks = memory_stats().live_blocks;
  for (long n = 0;; ++n) {
    CHECK(memory_stats().live_blocks == blocks);
    State s;
    release_memory();
    Bytes got;
    bool failed = false;
    left = n;
    try {
      got = act(s);
    } catch (const std::bad_alloc&) {  // also where there is no memory for the sentence
      failed = true;
    } catch (const Error& e) {
      left = -1;
      failed = true;
      CHECK(std::string(e.what()).find("no memory for shape [") != std::string::npos);
    } catch (...) {
      left = -1;
      FAIL_CHECK("something else than a lack of memory with n = " << n);
      return;
    }
    left = -1;
    INFO("n = " << n);
    if (!failed) {
      CHECK(got == result);
      CHECK(s.bytes(gradients) == after);
      MESSAGE(std::string(name) << ": " << n << " allocations, each failed once");
      CHECK(n > 5);
      break;
    }
    if (s.bytes(gradients) == after) continue;
    s.take_over(fresh);
    REQUIRE(s.bytes(gradients) == before);
    REQUIRE(act(s) == result);
    REQUIRE(s.bytes(gradients) == after);
  }
}

Bytes of(const Array& x) {
  Bytes b;
  b.add_array(x);
  return b;
}

TEST_CASE("allocation: forward") {
  sweep("forward", [](State& s) { return of(s.model.loss(s.ids, s.targets).array()); });
}

TEST_CASE("allocation: forward and backward, into gradients that are there") {
  sweep("backward", [](State& s) { s.model.loss(s.ids, s.targets).backward(); });
  sweep("backward, gradients held elsewhere too", [](State& s) {
    std::vector<Array> held;
    for (const Parameter& p : parameters(s.model)) held.push_back(p.grad());
    s.model.loss(s.ids, s.targets).backward();
  });
}

TEST_CASE("allocation: an op whose rule keeps a list") {
  sweep("concat", [](State& s) { return of(concat(std::vector<Tensor>(2, parameters(s.model)[0])).array()); });
}

TEST_CASE("allocation: one step of fit") {
  sweep(
      "fit", [](State& s) { return of(Array(s.train(1))); }, false);
}

TEST_CASE("allocation: an optimizer's first step, its state, clipping, what acts on a whole module") {
  sweep("step", [](State& s) { SGD(all_parameters(s.model), {.lr = 0.1, .momentum = 0.9}).step(); });
  sweep("step of Muon", [](State& s) { Muon(muon_groups(s.model, 0.1), {.lr = 0.1}).step(); });
  sweep("averaged weights", [](State& s) {
    EMA ema(s.model);
    ema.update();
    for (const Parameter& p : parameters(s.model)) p.set(p.value() * 1);
    ema.update();
    const AveragedWeights averaged(ema);
    return of(parameters(s.model)[0].value());
  });
  sweep("clip and step", [](State& s) { return of(Array(clip_grad_norm(parameters(s.model), 1e-3))); });
  sweep("set_state", [](State& s) {
    OptimizerState state = s.optimizer.state();
    for (auto& [name, array] : state.arrays) array = array * 2;
    s.optimizer.set_state(state);
  });
  sweep("copy_weights", [](State& s) { copy_weights(GPT(State::config(), Generator(9)), s.model); });
  sweep("load_state_dict", [](State& s) {
    const GPT other(State::config(), Generator(9));
    load_state_dict(s.model, state_dict(other, nanogpt_names(other)), {.names = nanogpt_names(s.model)});
  });
  sweep("eval", [](State& s) { s.model.eval(); });
}

TEST_CASE("allocation: generate, of every kind, leaves the model in its mode") {
  for (const GenerateOptions& options :
       {GenerateOptions{.temperature = 0}, GenerateOptions{.temperature = 0.9, .top_k = 3, .top_p = 0.9},
        GenerateOptions{.temperature = 1, .use_cache = false}})
    sweep("generate", [&](State& s) {
      const IntArray text = s.model.generate(ints({{1, 2}, {3, 4}}), 3, options, s.sampler);
      Bytes b;
      b.add(text.data(), text.numel());
      return b;
    });
}

TEST_CASE("allocation: observers, a forward and a backward pass under them") {
  sweep("trace", [](State& s) {
    const Trace trace;
    const AttentionWeights seen;
    s.model.loss(s.ids, s.targets).backward();
  });
}

TEST_CASE("allocation: a deep and wide graph is dropped without memory") {
  Tensor x = Tensor(Array::full({2}, 1)).requires_grad_();
  std::vector<Tensor> row(9, x);
  for (int i = 0; i < 20'000; ++i)
    row[static_cast<std::size_t>(i % 9)] = row[static_cast<std::size_t>(i * 7 % 9)] + row[0];
  Tensor y = concat(row);
  row.clear();
  const Index nodes = live_nodes();
  left = 0;
  y = Tensor();
  left = -1;
  CHECK(nodes > 100);
  CHECK(live_nodes() == 1);
}

TEST_CASE("allocation: what is cached is returned before memory is refused") {
  if (settings().system_alloc) return;  // nothing is cached
  release_memory();
  { const Storage large(60'000'000); }
  REQUIRE(memory_stats().cached_bytes >= 60'000'000);
  for (const bool cached : {true, false}) {
    bool failed = false;
    budget = live.load() + 30'000'000;
    try {
      const Storage another(80'000'000);  // fits the budget only in place of what is cached
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    budget = -1;
    CHECK(failed != cached);
    release_memory();
  }
}

}  // namespace
}  // namespace mote::test::allocation_test
