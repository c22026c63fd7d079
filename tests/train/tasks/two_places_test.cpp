// The two-places task: check_task, its targets at every position, what it refuses.
#include "train/tasks/two_places.h"

#include "tests/check_task.h"

namespace mote::test::two_places_test {
namespace {

TEST_CASE("two-places task") {
  const auto rule = [](Index modulus) -> Rule {
    return [modulus](const Sequence& x) { return Sequence{(x[x.size() - 2] + x[x.size() - 4]) % modulus}; };
  };
  check_task("two_places", rule(7));
  check_task("two_places", rule(5), {{"modulus", "5"}, {"length", "9"}});
}

TEST_CASE("two-places task: the target is the sum of the numbers one and three places back") {
  const TwoPlacesTask task({.modulus = 5, .length = 9});
  const Batch batch = task.batch(40, Split::train, Generator(1));
  REQUIRE(batch.ids.shape() == Shape{40, 9});
  REQUIRE(batch.targets.shape() == Shape{40, 9});
  std::set<Index> seen, answers;
  for (Index b = 0; b < 40; ++b) {
    const Sequence x = row_of(batch.ids, b), y = row_of(batch.targets, b);
    seen.insert(x.begin(), x.end());
    CHECK(Sequence(y.begin(), y.begin() + 3) == Sequence(3, -1));
    for (std::size_t t = 3; t < 9; ++t) CHECK(y[t] == (x[t - 1] + x[t - 3]) % 5);
    answers.insert(y.begin() + 3, y.end());
  }
  CHECK(seen == std::set<Index>{0, 1, 2, 3, 4});
  CHECK(answers == seen);
}

TEST_CASE("two-places task: what it refuses") {
  check_refused("two_places", {{{{"modulus", "1"}}, "TwoPlacesTask: modulus 1 must be 2 to 1000000"},
                               {{{"modulus", "1000000"}}, "(no error)"},
                               {{{"modulus", "1000001"}}, "TwoPlacesTask: modulus 1000001 must be 2 to 1000000"},
                               {{{"length", "1000000"}}, "(no error)"},
                               {{{"length", "1000001"}}, "TwoPlacesTask: length 1000001 must be 1 to 1000000"},
                               {{{"length", "3"}}, "TwoPlacesTask: length 3 must be 4 to 1000000"}});
}

}  // namespace
}  // namespace mote::test::two_places_test
