// What lectures compare with: lines to the last character or to rounding, Python's streams and texts.
#define MOTE_LECTURES ""  // no published lines are read here
#include "examples/lectures/lecture.h"

#include <doctest/doctest.h>

#include "examples/lectures/python.h"

namespace mote::test::lecture_test {

TEST_CASE("lecture: a line is equal, the same to rounding, or differs") {
  const auto rounding = [](const char* computed, const char* published) {
    CHECK_MESSAGE(compare_lines(computed, published) == "to rounding", computed, " and ", published);
  };
  const auto differs = [](const char* computed, const char* published) {
    CHECK_MESSAGE(compare_lines(computed, published) == "differs", computed, " and ", published);
  };
  CHECK(compare_lines("tensor([1.0000, 2.5000])", "tensor([1.0000, 2.5000])") == "equal");

  rounding("loss 2.4196", "loss 2.4197");
  differs("loss 2.4196", "loss 2.4198");
  rounding("tensor([7.4540e-05, 1.])", "tensor([7.4541e-05, 1.])");
  differs("tensor([7.4540e-05])", "tensor([7.4542e-05])");
  differs("5.9605e-08", "1.9868e-08");
  rounding("tensor(1.)", "tensor(1.0000)");
  rounding("tensor(0.9999)", "tensor(1.)");
  differs("tensor(0.9)", "tensor(1.)");
  rounding("[0.0000]", "[-0.0000]");
  rounding("[ 0.5]", "[0.5]");
  rounding("2.400296688079834", "2.400297641754150");  // four units in a float's last place
  differs("2.40029", "2.400297641754150");

  differs("step 10", "step 11");
  differs("27 names", "28 names");
  differs("kamon", "kamom");
  differs("[1.0, 2.0]", "[1.0, 2.0, 3.0]");
  differs("[1.0, 2.0, 3.0]", "[1.0, 2.0]");
  differs("", "1");
  differs("nan", "1.0");
  differs("inf", "1.0");
  CHECK(compare_lines("tensor([-inf])", "tensor([-inf])") == "equal");
}

TEST_CASE("lecture: numbers and texts as Python's repr") {
  for (const auto& [number, text] : {std::pair(0.0, "0.0"),
                                     {1e-5, "1e-05"},
                                     {1e-4, "0.0001"},
                                     {50.0, "50.0"},
                                     {-2.5, "-2.5"},
                                     {0.1, "0.1"},
                                     {9999999999999998.0, "9999999999999998.0"},
                                     {1e16, "1e+16"},
                                     {1e22, "1e+22"},
                                     {123456789012345680.0, "1.2345678901234568e+17"}})
    CHECK(repr(number) == text);
  CHECK(quoted("it") == "'it'");
  CHECK(quoted("it's") == "\"it's\"");
  CHECK(quoted("say \"it's\"") == "'say \"it\\'s\"'");
  CHECK(quoted("a\\b") == "'a\\\\b'");
  CHECK(list_text(std::vector<Index>{1, 2}) == "[1, 2]");
  CHECK(list_text(std::vector<std::string>{"a", ""}) == "['a', '']");
  CHECK(list_text(std::vector<Index>{}) == "[]");
  CHECK(size_text({2, 3}) == "torch.Size([2, 3])");
  CHECK(formatted("%03d %+.2f", 7, 1.5) == "007 +1.50");
}

TEST_CASE("lecture: Python's random and NumPy's legacy generator draw what they draw there") {
  PythonRandom python(42);
  CHECK(python.random() == 0.6394267984578837);
  CHECK(python.random() == 0.025010755222666936);
  CHECK(python.uniform(-1, 1) == -0.4499413632617615);
  for (const double z : {0.02188792052467065, 0.12880568755706856, -0.07504409771465873})
    CHECK(python.gauss(0, 0.08) == doctest::Approx(z).epsilon(1e-14));
  CHECK(python.choice({0.1, 0.2, 0.3, 0.4}) == 0);
  CHECK(python.choice({0.1, 0.2, 0.3, 0.4}) == 2);
  std::vector<int> order{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  python.shuffle(order);
  CHECK(order == std::vector<int>{6, 7, 2, 9, 5, 4, 8, 3, 1, 0});

  NumpyRandom numpy(1337);
  std::vector<int> other{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  numpy.shuffle(other);
  CHECK(other == std::vector<int>{6, 3, 0, 4, 5, 2, 1, 9, 8, 7});
  for (const double z : {-0.5572507081239421, 0.3372170084417056, 1.5488359716694058})
    CHECK(numpy.normal() == doctest::Approx(z).epsilon(1e-14));
}

}  // namespace mote::test::lecture_test
