// Selects the kernel table for this processor.
#include <atomic>
#include <string>

#include "engine/base/check.h"
#include "engine/base/env.h"
#include "engine/kernels/kernels.h"

namespace mote::kernels {

// The kernel tables of all instruction sets. A function is defined only if this build contains its instruction set.
const Table& portable_table();
const Table& avx2_table();
const Table& avx512_table();
const Table& neon_table();
const Table& simd128_table();
const Table& relaxed_table();

namespace {

/// Whether the table's multiply-add is fused, which means that product and sum are rounded only once. WebAssembly's
/// relaxed SIMD leaves this to the machine. The test makes lerp compute (1 + h)^2 - (1 + 2 h) with h = 2^-12, times a
/// power of two in each lane. A fused multiply-add gives h^2. If the square is rounded first, the result is 0.
[[maybe_unused]] bool rounds_once(const Table& t) {
  constexpr Index n = 16;
  constexpr real h = real(1) / 4096;
  real x[n], y[n];
  for (Index i = 0; i < n; ++i) {
    const real scale = static_cast<real>(1 << i);
    x[i] = -(1 + 2 * h) * scale;
    y[i] = x[i] - (1 + h) * scale;
  }
  t.lerp(x, 2 + h, y, n);
  for (Index i = 0; i < n; ++i)
    if (y[i] != h * h * static_cast<real>(1 << i)) return false;
  return true;
}

}  // namespace

std::vector<const Table*> available_tables() {
  std::vector<const Table*> tables;
#if defined(MOTE_WITH_PORTABLE)
  tables.push_back(&portable_table());
#endif
#if defined(MOTE_WITH_AVX2)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) tables.push_back(&avx2_table());
#endif
#if defined(MOTE_WITH_AVX512)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl"))
    tables.push_back(&avx512_table());
#endif
#if defined(MOTE_WITH_NEON)
  tables.push_back(&neon_table());  // every 64-bit ARM processor has NEON
#endif
#if defined(MOTE_WITH_SIMD128)
  tables.push_back(&simd128_table());
#endif
#if defined(MOTE_WITH_RELAXED)
  if (rounds_once(relaxed_table())) tables.push_back(&relaxed_table());
#endif
  return tables;
}

namespace {

std::atomic<const Table*> chosen{nullptr};

/// Chooses the table that MOTE_SIMD names, or the fastest one if MOTE_SIMD is not set. Not inlined, because otherwise
/// table(), which is called before every kernel, would save registers for this code on every call.
[[gnu::noinline]] const Table& choose() {
  const std::vector<const Table*> tables = available_tables();
  const std::string& wanted = settings().simd;
  if (tables.empty()) {
    throw Error(
        "no kernels of this build run on this processor: it lacks their instruction set (build without MOTE_LIGHT), or "
        "its multiply-add is not fused");
  }
  if (wanted.empty()) return *tables.back();
  std::string names;
  for (const Table* t : tables) {
    if (wanted == t->name) return *t;
    names += (names.empty() ? "" : ", ") + std::string(t->name);
  }
  throw Error("MOTE_SIMD=" + wanted + " is not available here: this processor and build support " + names);
}

}  // namespace

const Table& table() {
  const Table* t = chosen.load(std::memory_order_acquire);
  if (!t) chosen.store(t = &choose(), std::memory_order_release);
  return *t;
}

void use_table(const Table& t) { chosen.store(&t, std::memory_order_release); }

}  // namespace mote::kernels
