// What Array, IntArray and Mask share: values in and out, copy on write, every view, the errors.

#include <functional>

#include "engine/array/array.h"
#include "engine/array/int_array.h"
#include "engine/array/mask.h"
#include "tests/sentences.h"
#include "tests/tools.h"

namespace mote::test::views_test {
namespace {

template <class A>
using Element = typename decltype(std::declval<const A&>().to_vector())::value_type;

/// 0, 1, 2, ... as `shape`; below 256, so that a Mask's bytes tell all of them apart.
template <class A>
A counting(const Shape& shape) {
  std::vector<Element<A>> numbers(static_cast<std::size_t>(shape.numel()));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<Element<A>>(i);
  A x = A::empty(shape);
  std::copy(numbers.begin(), numbers.end(), x.mutate());
  return x;
}

/// Whether a view begins where the array begins.
template <class A>
bool starts_with(const A& array, const A& view) {
  return view.data() == array.data();
}

template <class A>
std::vector<int> elements(const A& x) {
  std::vector<int> list;
  for (const auto e : x.to_vector()) list.push_back(static_cast<int>(e));
  return list;
}
using Ints = std::vector<int>;

/// What every index of x holds, read with at(), not through the walk that to_vector() takes.
template <class A>
Ints by_index(const A& x) {
  Ints list;
  std::vector<Index> index(static_cast<std::size_t>(x.rank()), 0);
  for (Index n = 0; n < x.numel(); ++n) {
    Index left = n;
    for (int a = x.rank() - 1; a >= 0; left /= x.shape()[a--]) index[static_cast<std::size_t>(a)] = left % x.shape()[a];
    list.push_back(static_cast<int>(x.at(index)));
  }
  return list;
}

#define FOR_EACH_ARRAY(name) TEST_CASE_TEMPLATE(name, A, Array, IntArray, Mask)

FOR_EACH_ARRAY("views: made from values, filled, read") {
  CHECK_FALSE(A().defined());

  const std::vector<Element<A>> list{0, 0, 1, 0};
  CHECK(A(Shape{2, 2}, list).at({1, -2}) == 1);
  CHECK(A(Shape{2, 2}, list).to_vector() == list);
  CHECK(elements(A::full({2}, 1)) == Ints{1, 1});
  CHECK(A::full({}, 1).item() == 1);
  CHECK(A::full({0, 3}, 1).to_vector().empty());
  REFUSES(A(Shape{3}, list));
  REFUSES(A::full({0}, 1).item());
  REFUSES(A::full({2}, 1).item());
  REFUSES(A::full({2, 3}, 1).at({0}));
  REFUSES(A::full({2, 3}, 1).at({0, 3}));
  REFUSES(A::full({2, 3}, 1).at({-3, 0}));
}

template <class A>
std::vector<A> views_of(const A& x) {  // x [3, 4]
  return {x,
          x.reshape({4, 3}),
          x.view({2, 6}),
          x.transpose(0, 1),
          x.permute({1, 0}),
          x.slice(1, 1, 3),
          x.slice(1, 0, 4, 2),
          x.select(0, 2),
          x.select(1, -1),
          x.unsqueeze(0),
          x.slice(0, 0, 1).squeeze(0),
          x.slice(0, 0, 1).expand({5, 4}),
          x.slice(1, 1, 2).expand({2, 3, 4}),
          x.transpose(0, 1).slice(0, 1, 4, 2).unsqueeze(1)};
}

FOR_EACH_ARRAY("views: each shares storage, and reads the same by index, as a list and as a copy") {
  const A x = counting<A>({3, 4});
  for (const A& view : views_of(x)) {
    CAPTURE(text_of(view.shape()));
    CHECK(view.shares_storage(x));
    CHECK(by_index(view) == elements(view));
    CHECK(elements(view.contiguous()) == elements(view));
    CHECK(view.contiguous().is_contiguous());
    CHECK(view.contiguous().shares_storage(x) == view.is_contiguous());
    CHECK_FALSE(copy_of(view).shares_storage(x));
    CHECK(elements(copy_of(view)) == elements(view));
  }
  CHECK(elements(x.transpose(0, 1)) == Ints{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
  CHECK(elements(x.select(1, -1)) == Ints{3, 7, 11});
  CHECK(elements(x.slice(1, 1, 2).expand({2, 3, 2})) == Ints{1, 1, 5, 5, 9, 9, 1, 1, 5, 5, 9, 9});
}

FOR_EACH_ARRAY("views: writing to one never changes another, whatever view the other is") {
  for (std::size_t i = 0; i < views_of(counting<A>({3, 4})).size(); ++i) {
    CAPTURE(i);
    A base = counting<A>({3, 4});
    const A view = views_of(base)[i];
    const Ints seen = elements(view);
    base.mutate()[0] = 99;
    base.mutate()[9] = 99;
    CHECK(elements(view) == seen);  // the view keeps what it saw
    CHECK(base.at({0, 0}) == 99);

    const A original = counting<A>({3, 4});
    A written = views_of(original)[i];
    Element<A>* const out = written.mutate();
    CHECK(written.is_contiguous());
    for (Index k = 0; k < written.numel(); ++k) out[k] = 77;
    CHECK(elements(original) == elements(counting<A>({3, 4})));  // and the other way round
    CHECK(elements(written) == Ints(static_cast<std::size_t>(written.numel()), 77));
  }
}

FOR_EACH_ARRAY("views: a sole owner writes in place, a shared one copies first") {
  A a = counting<A>({4});
  const auto* const before = a.data();
  CHECK(a.mutate() == before);
  A b = a;
  CHECK(b.data() == before);
  CHECK(b.mutate() != before);
  CHECK(a.mutate() == before);
  A part = counting<A>({4, 4}).slice(0, 1, 3);  // its base is gone: contiguous and alone, it may write where it lies
  CHECK(part.mutate()[0] == 4);
  A wide = A::full({}, 2).expand({3});  // one element repeated three times
  wide.mutate()[1] = 5;
  CHECK(elements(wide) == Ints{2, 5, 2});
}

FOR_EACH_ARRAY("views: values() is a span of what lies in order, and an error for what does not") {
  const A x = counting<A>({2, 3}), row = x.select(0, 1), turned = x.transpose(0, 1), whole = turned.contiguous();
  CHECK(x.values().data() == x.data());
  CHECK(x.values().size() == 6);
  CHECK(row.values().front() == 3);
  CHECK(whole.values()[1] == 3);
  REFUSES(turned.values());
}

FOR_EACH_ARRAY("views: transposing twice, permuting back: the same storage") {
  const A a = counting<A>({2, 3, 4});
  const A back = a.transpose(0, 2).transpose(0, -1);
  CHECK(back.data() == a.data());
  CHECK(back.is_contiguous());
  const A turned = a.permute({1, 2, 0});
  CHECK(turned.shape() == Shape{3, 4, 2});
  CHECK(turned.at({2, 3, 1}) == a.at({1, 2, 3}));
  CHECK(turned.permute({2, 0, 1}).is_contiguous());
  REFUSES(a.permute({0, 0, 1}));
  REFUSES(a.permute({0, 1}));
  REFUSES(a.transpose(0, 3));
  const Index long_row = Index(1) << 40;  // its square would be no shape
  CHECK(A::full({}, 1).expand({long_row, 2}).transpose(0, 1).shape() == Shape{2, long_row});
  CHECK(A::full({}, 1).expand({2, long_row}).transpose(0, 1).shape() == Shape{long_row, 2});
  CHECK(A::full({}, 1).expand({1, 2, long_row}).permute({2, 0, 1}).shape() == Shape{long_row, 1, 2});
}

FOR_EACH_ARRAY("views: reshape shares storage where the strides allow it, and copies where not") {
  const A a = counting<A>({2, 3, 4}), turned = a.transpose(1, 2), every_other = a.slice(2, 0, 4, 2);
  CHECK(starts_with(a, a.reshape({-1, 6})));
  CHECK(a.reshape({-1, 6}).shape() == Shape{4, 6});
  CHECK(turned.view({2, 2, 2, 3}).to_vector() == turned.to_vector());  // splitting an axis needs no copy
  CHECK(starts_with(a, turned.view({2, 2, 2, 3})));
  CHECK(every_other.view({6, 2}).to_vector() == every_other.to_vector());  // joining what lies in order neither
  CHECK(starts_with(a, every_other.view({1, 2, 1, 3, 2, 1})));
  CHECK(starts_with(a, every_other.unsqueeze(2).view({2, 6})));  // an extent of 1 between them is no gap
  CHECK(starts_with(a, every_other.unsqueeze(0).transpose(0, 1).view({6, 2})));  // whatever its stride
  CHECK(turned.reshape({2, 12}).to_vector() == turned.to_vector());
  CHECK(!starts_with(a, turned.reshape({2, 12})));
  REFUSES(turned.view({2, 12}));
  REFUSES(every_other.view({12, 1, 2}));
  const A row = counting<A>({4}).expand({3, 4});
  CHECK(row.view({3, 2, 2}).at({2, 1, 1}) == 3);
  CHECK(row.reshape({12}).at({7}) == 3);
  CHECK(elements(A::full({}, 3).expand({2, 2}).reshape({4})) == Ints(4, 3));
  CHECK(A::full({2, 0, 3}, 0).reshape({0, 7}).shape() == Shape{0, 7});
  CHECK(A::full({2, 0, 3}, 0).transpose(0, 2).reshape({3, -1}).shape() == Shape{3, 0});
  CHECK(A::full({}, 1).reshape({1, -1}).shape() == Shape{1, 1});
  REFUSES(a.reshape({-1, -1}));
  REFUSES(a.reshape({-2, 3}));
  REFUSES(a.reshape({5}));
  REFUSES(a.reshape(Shape{5}));
  REFUSES(a.reshape({1, 1, 1, 1, 1, 1, 1, 1, 24}));
}

FOR_EACH_ARRAY("views: slices are clamped as in Python") {
  const A a = counting<A>({5});
  CHECK(elements(a.slice(0, 1, 4)) == Ints{1, 2, 3});
  CHECK(elements(a.slice(0, 0, 5, 2)) == Ints{0, 2, 4});
  CHECK(elements(a.slice(0, -2, 5)) == Ints{3, 4});
  CHECK(elements(a.slice(0, 0, -1)) == Ints{0, 1, 2, 3});
  CHECK(elements(a.slice(0, -100, 100)) == Ints{0, 1, 2, 3, 4});
  CHECK(a.slice(0, 3, 3).shape() == Shape{0});
  CHECK(a.slice(0, 4, 1).shape() == Shape{0});
  CHECK(a.slice(0, 7, 9).shape() == Shape{0});
  CHECK(a.slice(0, 5, 5).layout().offset() == 0);  // an empty slice begins nowhere, least of all at the end
  constexpr Index far = std::numeric_limits<Index>::max();
  CHECK(a.slice(0, std::numeric_limits<Index>::min(), far).shape() == Shape{5});
  CHECK(elements(a.slice(0, 2, 5, far)) == Ints{2});
  CHECK(elements(a.slice(0, 0, 5, far)) == Ints{0});
  CHECK(counting<A>({2, 3}).slice(0, 0, 2, far).stride(0) == 6);  // in elements: what is not reached overflows nothing
  REFUSES(a.slice(0, 0, 5, 0));
  REFUSES(a.slice(1, 0, 5));
  CHECK(elements(a.slice(0, 1, 5, 2).slice(0, 1, 2)) == Ints{3});  // a slice of a slice
  CHECK(elements(counting<A>({2, 3}).select(1, -1)) == Ints{2, 5});
  REFUSES(a.select(0, 5));
  REFUSES(a.select(0, -6));
}

FOR_EACH_ARRAY("views: expand, squeeze, unsqueeze") {
  const A a = counting<A>({3, 1});
  CHECK(a.expand({2, 3, 2}).at({1, 2, 1}) == 2);
  CHECK(starts_with(a, a.expand({2, 3, 2})));
  CHECK(a.expand({3, 0}).shape() == Shape{3, 0});
  CHECK(a.squeeze(1).shape() == Shape{3});
  CHECK(a.squeeze(0).shape() == Shape{3, 1});
  CHECK(a.slice(0, 0, 0).squeeze(0).shape() == Shape{0, 1});
  CHECK(a.unsqueeze(-1).shape() == Shape{3, 1, 1});
  CHECK(a.unsqueeze(-1).is_contiguous());
  REFUSES(a.expand({4, 2}));
  REFUSES(a.expand({3}));
}

FOR_EACH_ARRAY("views: long copies, in parallel, of every kind of row") {
  A x = A::empty({300, 70, 5});
  Element<A>* const out = x.mutate();
  for (Index i = 0; i < x.numel(); ++i) out[i] = static_cast<Element<A>>(i * 7 % 251);
  for (const A& view : {x.transpose(0, 1), x.transpose(1, 2), x.slice(0, 1, 299, 3), x.slice(2, 0, 5, 2),
                        x.select(0, 7).expand({90, 70, 5}), x.slice(2, 1, 2).expand({300, 70, 80})}) {
    CAPTURE(text_of(view.shape()));
    CHECK(by_index(view) == elements(view));
  }
}

}  // namespace
}  // namespace mote::test::views_test
