// One fixed run (draws, the repeat demo with dropout, GPTs of every kind, the tutorial's classes, a user's layer) and a
// checksum of all its numbers. Every build, instruction set and number of threads must print the same one.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <exception>

#include "models/models.h"
#include "train/loop/fit.h"
#include "train/optim/adamw.h"
#include "train/tasks/repeat.h"

using namespace mote;

namespace {

#ifdef MOTE_REAL_DOUBLE
constexpr std::uint64_t expected = 0x00c913f7ce39e114;
#else
constexpr std::uint64_t expected = 0xf791561fce9d9eb2;
#endif

/// FNV-1a over the bytes of numbers of any type.
template <class T>
void hash_numbers(const T* numbers, Index count, std::uint64_t& hash) {
  unsigned char bytes[sizeof(T)];
  for (Index i = 0; i < count; ++i) {
    std::memcpy(bytes, numbers + i, sizeof(T));
    for (const unsigned char b : bytes) hash = (hash ^ b) * 1099511628211u;
  }
}
void hash_array(const Array& x, std::uint64_t& hash) {
  const Array a = x.contiguous();
  hash_numbers(a.data(), a.numel(), hash);
}
void hash_tokens(const IntArray& x, std::uint64_t& hash) { hash_numbers(x.data(), x.numel(), hash); }
/// Every parameter in visit order.
void hash_weights(const Module& module, std::uint64_t& hash) {
  for (const Parameter& p : parameters(module)) hash_array(p.value(), hash);
}

template <class T>
void draw(const Generator& random, std::uint64_t& hash) {
  for (const std::size_t n : {5u, 37u}) {
    std::vector<T> out(n);
    random.uniform(std::span<T>(out), -0.3, 0.7);
    hash_numbers(out.data(), static_cast<Index>(n), hash);
    random.normal(std::span<T>(out), 1.5, 0.3);
    hash_numbers(out.data(), static_cast<Index>(n), hash);
    random.exponential(std::span<T>(out), 2);
    hash_numbers(out.data(), static_cast<Index>(n), hash);
  }
}

void draws(std::uint64_t& hash) {
  for (const bool mkl : {false, true}) {
    const Generator random(123);
    random.set_build({.mkl = mkl, .version = mkl ? 204 : 207});
    draw<float>(random, hash);
    draw<double>(random, hash);
    hash_tokens(randint(0, Index(1) << 33, {9}, random), hash);
    hash_tokens(randperm(30, random), hash);
    hash_array(dropout(ones({7, 9}), 0.3, random).array(), hash);
    const Tensor p = rand({3, 11}, random);
    hash_tokens(multinomial(p, 4, random), hash);
    hash_tokens(multinomial(p, 20, true, random), hash);
  }
}

/// Output and gradients of the book's classes, dropout on.
void tutorial_classes(std::uint64_t& hash) {
  const Generator random(123);
  const tutorials::book::MultiHeadAttentionWrapper wrapper(37, 19, 23, 0.2, 3, random);
  const tutorials::book::MultiHeadAttention split(57, 54, 23, 0.2, 3, random, true);
  const Tensor x = randn({2, 21, 37}, random);
  const Tensor y = split(wrapper(x));
  const Tensor loss = mean(y * y);
  loss.backward();
  hash_array(y.array(), hash);
  for (const Parameter& p : parameters(wrapper)) hash_array(p.grad(), hash);
  for (const Parameter& p : parameters(split)) hash_array(p.grad(), hash);
}

void repeat_demo(std::uint64_t& hash) {
  const Generator random(42), data(42);
  AttentionLMConfig config;
  config.dropout = 0.1;
  AttentionLM model(config, random);
  Adam optimizer(all_parameters(model), {.lr = 5e-3});
  const RepeatTask task({.symbols = config.vocab_size, .length = config.block_size});
  fit(optimizer,
      [&](Index) {
        const Batch batch = task.batch(16, Split::train, data);
        return model.loss(batch.ids, batch.targets);
      },
      {.steps = 20});
  hash_weights(model, hash);
}

void small_gpt(std::uint64_t& hash) {
  const Generator random(7), data(8);
  GPTConfig config;
  config.block_size = 33;
  config.vocab_size = 29;
  config.n_layer = 2;
  config.n_head = 3;
  config.n_embd = 48;
  config.dropout = 0.1;
  GPT model(config, random);
  AdamW optimizer(decay_groups(model, 0.1), {.lr = 1e-3});
  const RepeatTask task({.symbols = config.vocab_size, .length = config.block_size});
  fit(optimizer,
      [&](Index) {
        const Batch batch = task.batch(9, Split::train, data);
        return model.loss(batch.ids, batch.targets);
      },
      {.steps = 5});
  hash_weights(model, hash);
  hash_tokens(model.generate(ints({{1, 2}, {3, 4}}), 40, {.temperature = 0.8, .top_k = 20}, Generator(0)), hash);
}

/// Every way to tell positions, with grouped heads, a window, RMSNorm, SwiGLU and dropout; and text past block_size.
void variants(std::uint64_t& hash) {
  for (const Position position :
       {Position::learned, Position::sinusoidal, Position::rotary, Position::alibi, Position::none}) {
    const Generator random(11), data(12);
    GPTConfig config = GPTConfig::llama();
    config.block_size = 19;
    config.vocab_size = 23;
    config.n_layer = 2;
    config.n_head = 4;
    config.n_embd = 40;
    config.dropout = 0.1;
    config.position = position;
    config.block.projections.n_kv_head = 2;
    config.block.attention.window = 9;
    GPT model(config, random);
    AdamW optimizer(decay_groups(model, 0.1), {.lr = 1e-3});
    fit(optimizer,
        [&](Index) {
          const IntArray rows = randint(0, 23, {5, 20}, data);
          return model.loss(rows.slice(1, 0, 19), rows.slice(1, 1, 20));
        },
        {.steps = 3});
    hash_weights(model, hash);
    hash_tokens(model.generate(ints({{1, 2}, {3, 4}}), 40, {.top_p = 0.9}, Generator(0)), hash);
  }
}

/// Three projections of one input, as a user would write it: the order of the statements is the order of the graph.
struct Mixer : Layer<Mixer> {
  Linear a, b, c;
  Mixer(Index width, const Generator& random) : a(width, width, random), b(width, width, random), c(width, 5, random) {}
  Tensor forward(const Tensor& x) const {
    const Tensor left = tanh(a(x));
    const Tensor right = gelu(b(x), GeluForm::tanh);
    return c(left * right + x);
  }
  void visit(Visitor& v) override { v("a", a), v("b", b), v("c", c); }
};

void user_layer(std::uint64_t& hash) {
  Generator random(3);
  Mixer mixer(37, random);
  Adam optimizer(all_parameters(mixer), {.lr = 1e-2});
  const Tensor x = randn({11, 37}, random);
  const IntArray targets = randint(0, 5, {11}, random);
  fit(optimizer,
      [&](Index) {
        const Tensor logits = mixer(x);
        const Tensor loss = cross_entropy(logits, targets, {.label_smoothing = real(0.1)});
        const Tensor spread = sqrt(mean(exp(sin(logits))));
        return loss + spread * real(0.01);
      },
      {.steps = 10});
  hash_weights(mixer, hash);
}

}  // namespace

int main() try {
#if defined(__x86_64__) && defined(__FMA__)
  if (!__builtin_cpu_supports("fma")) return std::printf("a fused multiply-add is not available here\n"), 1;
#endif
  std::uint64_t hash = 14695981039346656037u;
  draws(hash);
  tutorial_classes(hash);
  repeat_demo(hash);
  small_gpt(hash);
  variants(hash);
  user_layer(hash);
  std::printf("fingerprint %016" PRIx64 " (%s, %d threads)\n", hash, kernels::table().name, threads());
  if (hash == expected) return 0;
  std::printf("expected    %016" PRIx64 "\n", expected);
  return 1;
} catch (const std::exception& e) {  // a MOTE_SIMD, say, that this processor does not have
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
