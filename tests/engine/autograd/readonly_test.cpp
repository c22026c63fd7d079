// Kernels on memory that may only be read, ending at the edge of a page that may not be touched at all.

#include "engine/kernels/gemm.h"
#include "tests/support.h"

#ifdef __unix__
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace mote::test::readonly_test {
namespace {

#ifdef __unix__
/// `count` numbers that end exactly where an unreadable page begins. After seal() a write to them ends the program.
class Sealed {
 public:
  explicit Sealed(Index count) : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(real);
    size_ = (bytes + page_ - 1) / page_ * page_;
    base_ =
        static_cast<char*>(mmap(nullptr, size_ + page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(base_ != MAP_FAILED);
    REQUIRE(mprotect(base_ + size_, page_, PROT_NONE) == 0);
    data = reinterpret_cast<real*>(base_ + size_ - bytes);
    for (Index i = 0; i < count; ++i) data[i] = static_cast<real>(i % 7) + real(0.5);
  }
  ~Sealed() { munmap(base_, size_ + page_); }
  Sealed(const Sealed&) = delete;
  void seal() { REQUIRE(mprotect(base_, size_, PROT_READ) == 0); }
  real* data;

 private:
  std::size_t page_, size_;
  char* base_;
};

TEST_CASE("kernels read only what they are given and write only their output") {
  for (const kernels::Table* t : kernels::available_tables())
    for (const Index n : {1, 3, 15, 16, 17, 33}) {
      CAPTURE(t->name);
      CAPTURE(n);
      Sealed x(n), y(n), out(n), stats(2), d_weight(n);
      x.seal();
      y.seal();
      for (const auto f : {t->exp, t->log, t->tanh, t->gelu, t->relu}) f(x.data, 1, out.data, n);
      for (const auto f : {t->add, t->mul, t->div, t->pow, t->gelu_backward}) f(x.data, 1, y.data, 1, out.data, n);
      CHECK(t->sum(x.data, n) > 0);
      CHECK(t->max(x.data, n) >= real(0.5));
      t->softmax(x.data, nullptr, out.data, stats.data, n);
      t->layer_norm(x.data, {y.data, y.data, real(1e-5)}, out.data, stats.data, 1, n);
      t->layer_norm_backward({x.data, y.data, nullptr, stats.data}, {out.data, d_weight.data, nullptr}, 1, n);
      t->sum_columns(x.data, 1, n, out.data, n);
    }
}

TEST_CASE("gemm reads only its operands, packed or not") {
  on_all_hardware({1}, [&] {
    for (const Index n : {1, 5, 16, 33, 100}) {
      const Index m = 19, k = 23;
      Sealed a(m * k), b(k * n), c(m * n);
      a.seal();
      b.seal();
      kernels::gemm(m, n, k, {a.data, k, 1}, {b.data, n, 1}, c.data, n);
      const real first = c.data[0];
      kernels::gemm(m, n, k, {a.data, 1, m}, {b.data, 1, k}, c.data, n);  // the same memory as transposes
      CHECK(first > 0);
      CHECK(c.data[m * n - 1] > 0);
    }
  });
}
#endif

}  // namespace
}  // namespace mote::test::readonly_test
