// Arrays that were never filled or were moved from: not defined in every respect.

#include "engine/array/array.h"
#include "engine/array/int_array.h"
#include "engine/array/mask.h"
#include "tests/tools.h"

namespace mote::test::undefined_test {
namespace {

/// Whatever asks for elements or for a shape is the same error.
template <class A>
void check_undefined(const A& x) {
  const std::string error = std::string("array: ") + A::not_defined;
  CHECK_FALSE(x.defined());
  CHECK(error_of([&] { x.require(); }) == error);
  CHECK(error_of([&] { x.shape(); }) == error);
  CHECK(error_of([&] { x.layout(); }) == error);
  CHECK(error_of([&] { x.rank(); }) == error);
  CHECK(error_of([&] { x.numel(); }) == error);
  CHECK(error_of([&] { x.stride(0); }) == error);
  CHECK(error_of([&] { x.strides(); }) == error);
  CHECK(error_of([&] { x.is_contiguous(); }) == error);
  CHECK(error_of([&] { x.data(); }) == error);
  CHECK(error_of([&] { x.at({0}); }) == error);
  CHECK(error_of([&] { x.at({}); }) == error);
  CHECK(error_of([&] { x.item(); }) == error);
  CHECK(error_of([&] { x.values(); }) == error);
  CHECK(error_of([&] { x.to_vector(); }) == error);
  CHECK(error_of([&] { x.contiguous(); }) == error);
  CHECK(error_of([&] { copy_of(x); }) == error);
  CHECK(error_of([&] {
          A copy(x);
          copy.mutate();
        }) == error);
  CHECK(error_of([&] { x.reshape({1}); }) == error);
  CHECK(error_of([&] { x.view({1}); }) == error);
  CHECK(error_of([&] { x.transpose(0, 1); }) == error);
  CHECK(error_of([&] { x.permute({0}); }) == error);
  CHECK(error_of([&] { x.slice(0, 0, 1); }) == error);
  CHECK(error_of([&] { x.select(0, 0); }) == error);
  CHECK(error_of([&] { x.expand({2}); }) == error);
  CHECK(error_of([&] { x.squeeze(0); }) == error);
  CHECK(error_of([&] { x.unsqueeze(0); }) == error);
}

TEST_CASE_TEMPLATE("undefined: never filled, moved from, filled again", A, Array, IntArray, Mask) {
  check_undefined(A());
  CHECK_FALSE(A().moved_from());
  A x = A::full({2, 3}, 1);
  A y = std::move(x);
  check_undefined(x);
  CHECK(x.moved_from());
  CHECK((y.shape() == Shape{2, 3} && !y.moved_from()));
  const A copy = x;
  check_undefined(copy);
  CHECK(copy.moved_from());
  A z;
  z = std::move(y);
  check_undefined(y);
  CHECK((y.moved_from() && z.at({1, 2}) == 1));
  x = z;
  CHECK((x.defined() && !x.moved_from() && x.shares_storage(z)));
  A& same = z;
  z = std::move(same);
  CHECK((z.defined() && z.shape() == Shape{2, 3}));
  A nothing;
  A more = std::move(nothing);
  CHECK_FALSE((nothing.moved_from() || more.moved_from()));  // there was nothing to move
}

}  // namespace
}  // namespace mote::test::undefined_test
