// Selects the kernel table for this processor.
#include <atomic>
#include <string>

#include "engine/base/check.h"
#include "engine/base/env.h"
#include "engine/kernels/kernels.h"

namespace mote::kernels {

// Each is there if it was built.
const Table& portable_table();
const Table& avx2_table();
const Table& avx512_table();
const Table& neon_table();

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
  tables.push_back(&neon_table());  // every 64-bit ARM has it
#endif
  return tables;
}

namespace {

std::atomic<const Table*> chosen{nullptr};

/// Not inlined: table() is asked before every kernel and would save registers for this each time.
[[gnu::noinline]] const Table& choose() {
  const std::vector<const Table*> tables = available_tables();
  const std::string& wanted = settings().simd;
  if (tables.empty()) throw Error("this processor has no instruction set of this build (MOTE_LIGHT)");
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
