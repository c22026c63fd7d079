// StreamGuard: what an error puts back, and what stays.
#include "engine/array/stream_guard.h"

#include <stdexcept>

#include "tests/support.h"

namespace mote::test::stream_guard_test {
namespace {

/// act() within a guard, which then ends by an exception.
template <class Act>
void fails_after(const Act& act) {
  try {
    const StreamGuard guard;
    act();
    throw std::runtime_error("after the draws");
  } catch (const std::runtime_error&) {
  }
}

TEST_CASE("stream guard: an exception puts every stream back, its half of a normal pair included") {
  const Generator a(1), b(2);
  std::vector<float> x(3);
  a.normal(x);  // leaves a half
  const GeneratorState first = a.get_state(), second = b.get_state();
  fails_after([&] {
    a.normal(std::span(x).first(1));  // takes the half, and no word
    b.next_u32();
    for (int i = 0; i < 1000; ++i) a.next_u32();  // past the end of a block
    b.set_build({.mkl = true});
    Generator(a).manual_seed(7);
  });
  CHECK((a.get_state() == first && b.get_state() == second));
  fails_after([&] { b.set_state(first); });
  CHECK(b.get_state() == second);
}

TEST_CASE("stream guard: without an exception, or before it, nothing changes") {
  const Generator a(1), same(1);
  {
    const StreamGuard guard;
    a.next_u64();
  }
  same.next_u64();
  CHECK(a.get_state() == same.get_state());
  a.next_u32(), same.next_u32();  // no guard watches any more
  fails_after([] {});
  CHECK(a.get_state() == same.get_state());
  try {
    { const StreamGuard guard; }
    a.next_u32(), same.next_u32();
    throw std::runtime_error("outside");
  } catch (const std::runtime_error&) {
  }
  CHECK(a.get_state() == same.get_state());
}

TEST_CASE("stream guard: the outermost decides, and an exception that was caught inside counts as nothing") {
  const Generator a(1), same(1);
  {
    const StreamGuard outer;
    fails_after([&] { a.next_u32(); });
    a.next_u32();
  }
  same.next_u64();
  CHECK(a.get_state() == same.get_state());
  fails_after([&] {
    const StreamGuard inner;
    a.next_u32();
  });
  CHECK(a.get_state() == same.get_state());
}

TEST_CASE("stream guard: in a destructor that an exception runs, only an exception of its own counts") {
  const Generator a(1), same(1);
  struct DrawsAtTheEnd {
    const Generator& stream;
    ~DrawsAtTheEnd() {
      const StreamGuard guard;
      stream.next_u32();
    }
  };
  try {
    const DrawsAtTheEnd last{a};
    throw std::runtime_error("outside");
  } catch (const std::runtime_error&) {
  }
  same.next_u32();
  CHECK(a.get_state() == same.get_state());
}

TEST_CASE("stream guard: an exception of its own counts, though an earlier one that was caught made the first draw") {
  const Generator a(1), same(1);
  struct DrawsAtTheEnd {
    const Generator& stream;
    ~DrawsAtTheEnd() { stream.next_u32(); }
  };
  fails_after([&] {
    const StreamGuard guard;
    try {
      const DrawsAtTheEnd last{a};
      throw std::runtime_error("caught");
    } catch (const std::runtime_error&) {
    }
    throw std::runtime_error("its own");
  });
  CHECK(a.get_state() == same.get_state());
}

TEST_CASE("stream guard: one that ended well is forgotten, also by the next at its address") {
  const Generator a(1);
  for (const bool fails : {false, true, false, true}) {
    const GeneratorState before = a.get_state();
    try {
      const StreamGuard guard;
      a.next_u32();
      if (fails) throw std::runtime_error("after the draw");
    } catch (const std::runtime_error&) {
    }
    CHECK((a.get_state() == before) == fails);
  }
}

TEST_CASE("stream guard: a stream may be dropped, or be another guard's next") {
  const Generator kept(1);
  fails_after([] { Generator(3).next_u32(); });
  for (int i = 0; i < 3; ++i) {
    const GeneratorState before = kept.get_state();
    fails_after([&] { kept.next_u32(); });
    CHECK(kept.get_state() == before);
  }
}

}  // namespace
}  // namespace mote::test::stream_guard_test
