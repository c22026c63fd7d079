// DataLoader and random_split against torch (tests/vectors/data_loader.txt and torch_random.txt), where they leave the
// streams, errors.
#include "train/loop/data_loader.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "engine/ops/arithmetic.h"
#include "engine/ops/reduce.h"
#include "engine/ops/sample.h"
#include "tests/sentences.h"
#include "tests/tools.h"
#include "tests/torch_random.h"

namespace mote::test::data_loader_test {
namespace {

using Rows = std::vector<Index>;

/// The word that comes next, without taking it.
std::uint32_t next_of(const Generator& random) {
  Generator copy;
  copy.set_state(random.get_state());
  return copy.next_u32();
}

/// One line of settings of data_loader.txt, as its name says them.
struct Case {
  std::string name;
  Index rows, batch_size;
  bool plain = false, drop_last = false, generator = false, between = false;
  Index stop = 0;
  std::int64_t seed;

  explicit Case(const std::string& text) : name(text) {
    std::string words = text;
    std::replace(words.begin(), words.end(), '_', ' ');
    const std::size_t slash = words.find('/');
    seed = std::stoll(words.substr(slash + 1));
    std::istringstream in(words.substr(0, slash));
    Rows numbers;
    for (std::string word; in >> word;) {
      const bool known = word == "shuffle" || word == "plain" || word == "drop" || word == "last" ||
                         word == "generator" || word == "between" || word == "stop";
      if (!known) numbers.push_back(std::stoll(word));  // throws for a word that nobody knows
      plain = plain || word == "plain";
      drop_last = drop_last || word == "drop";
      generator = generator || word == "generator";
      between = between || word == "between";
    }
    rows = numbers.at(0);
    batch_size = numbers.at(1);
    if (numbers.size() > 2) stop = numbers.at(2);
  }
};

/// The batches of one epoch as the file writes them.
std::vector<std::string> epoch(const DataLoader& loader, const Case& c, const Generator& drawn_from) {
  std::vector<std::string> words;
  Index count = 0;
  auto it = loader.begin();
  if (c.between)
    for (int i = 0; i < 5; ++i) static_cast<void>(drawn_from.uniform_float());
  for (; it != loader.end(); ++it) {
    for (const Index row : *it) words.push_back(std::to_string(row));
    words.push_back("|");
    if (++count == c.stop) return words;
  }
  words.push_back("end");
  return words;
}

void check_words(const Vector& expected, const std::vector<std::string>& got) {
  CAPTURE(expected.name);
  CHECK(got == expected.texts);
}

std::vector<std::string> parts_as_words(const std::vector<Rows>& parts) {
  std::vector<std::string> words;
  for (const Rows& part : parts) {
    for (const Index row : part) words.push_back(std::to_string(row));
    words.push_back("|");
  }
  return words;
}

}  // namespace

TEST_CASE("DataLoader: equal to torch, batch by batch and in what it draws") {
  const VectorFile file("data_loader.txt");
  std::set<std::string> compared;
  const auto expected = [&](const std::string& name) -> const Vector& {
    compared.insert(name);
    return file[name];
  };
  for (const Vector& vector : file.all()) {
    const std::string& name = vector.name;
    if (!name.ends_with("/size")) continue;
    const Case c(name.substr(0, name.size() - 5));
    const Generator global(c.seed), own(c.seed + 1);
    DataLoaderOptions options{.batch_size = c.batch_size, .shuffle = !c.plain, .drop_last = c.drop_last};
    if (c.generator) options.generator = own;
    const DataLoader loader(c.rows, options, global);
    check_digits(expected(name), std::vector{loader.size()});
    for (int e = 0; file.has(c.name + "/epoch_" + std::to_string(e)); ++e) {
      const std::string here = c.name + "/epoch_" + std::to_string(e);
      check_words(expected(here), epoch(loader, c, c.generator ? own : global));
      std::vector<std::uint32_t> next{next_of(global)};
      if (c.generator) next.push_back(next_of(own));
      check_digits(expected(here + "/next"), next);
    }
  }
  for (const Vector& vector : file.all()) {
    if (!vector.name.starts_with("random_split_") || vector.name.ends_with("/next")) continue;
    const std::size_t slash = vector.name.find('/');
    std::string numbers = vector.name.substr(13, slash - 13);
    std::replace(numbers.begin(), numbers.end(), '_', ' ');
    std::istringstream in(numbers);
    Rows lengths;
    Index total = 0;
    for (Index length; in >> length; total += length) lengths.push_back(length);
    const Generator random(std::stoll(vector.name.substr(slash + 1)));
    check_words(expected(vector.name), parts_as_words(random_split(total, lengths, random)));
    check_digits(expected(vector.name + "/next"), std::vector{next_of(random)});
  }
  for (const Vector& vector : file.all())
    CHECK_MESSAGE(compared.contains(vector.name), vector.name, " was not compared");
}

TEST_CASE("DataLoader: the shuffles and splits of torch_random.txt") {
  check_torch_draws(
      {{"dataloader_shuffle_10_two_epochs",
        [](TorchDraw& d) {
          const DataLoader loader(10, {.batch_size = 1, .shuffle = true}, d.random);
          Rows all;
          for (int e = 0; e < 2; ++e)
            for (const Rows& rows : loader) all.insert(all.end(), rows.begin(), rows.end());
          check_digits(d.part(), all);
        }},
       {"random_split_7_3",
        [](TorchDraw& d) {
          const std::vector<Rows> parts = random_split(10, {7, 3}, d.random);
          REQUIRE(parts.size() == 2);
          CHECK(parts[0].size() == 7);
          Rows all = parts[0];
          all.insert(all.end(), parts[1].begin(), parts[1].end());
          check_digits(d.part(), all);
        }}},
      [](const std::string& name) { return name.starts_with("dataloader_") || name.starts_with("random_split_"); });
}

TEST_CASE("DataLoader: iterators, two epochs at once, a loader that is gone") {
  const Generator random(5);
  const auto fresh = [&] { return DataLoader(10, {.batch_size = 4, .shuffle = true}, random); };
  auto it = fresh().begin();  // the loader is no more
  CHECK(*it == *it);          // looked at twice, drawn once
  const Rows first = *it;
  CHECK((*it).size() == 4);
  auto copy = it;
  ++copy;
  CHECK(*it == *copy);
  CHECK(*it != first);
  ++it;
  ++it;
  CHECK(it == std::default_sentinel);
  ++it;
  CHECK(it == std::default_sentinel);

  random.manual_seed(5);
  auto skipped = fresh().begin();
  ++skipped;  // the first batch was not looked at, but drawn
  CHECK(*skipped == [&] {
    random.manual_seed(5);
    auto other = fresh().begin();
    static_cast<void>(*other);
    return *++other;
  }());

  const DataLoader loader(10, {.batch_size = 10, .shuffle = true}, random);
  random.manual_seed(5);
  auto a = loader.begin(), b = loader.begin();  // both base seeds, then both orders, as PyTorch would draw them
  const Rows order_a = *a, order_b = *b;
  const Generator same(5);
  static_cast<void>(same.random_int64());
  static_cast<void>(same.random_int64());
  CHECK(order_a == Generator(same.random_int64()).randperm(10));
  CHECK(order_b == Generator(same.random_int64()).randperm(10));
  CHECK(next_of(random) == next_of(same));
}

TEST_CASE("DataLoader: whoever leaves after the last full batch has not drawn what the end of an epoch draws") {
  const auto state_after = [](int most) {
    const Generator own(1);
    const DataLoader loader(4, {.batch_size = 2, .shuffle = true, .generator = own}, Generator(2));
    int count = 0;
    for ([[maybe_unused]] const auto& rows : loader)
      if (++count == most) break;
    return own.get_state();
  };
  CHECK(state_after(2) == state_after(1));
  CHECK(state_after(3) != state_after(2));
}

TEST_CASE("DataLoader: errors, and no rows") {
  const Generator random(1);
  const auto made = [&](Index size, const DataLoaderOptions& options) {
    return error_of([&] { DataLoader(size, options, random); });
  };
  CHECK(made(3, {.batch_size = 0}) == "data_loader: batch_size 0 must be at least 1");
  CHECK(made(3, {.batch_size = -1}) == "data_loader: batch_size -1 must be at least 1");
  CHECK(made(-1, {}) == "data_loader: dataset_size -1 must be at least 0");
  CHECK(made(0, {.shuffle = true}) == "data_loader: dataset_size 0 must be at least 1 for shuffle and replacement");
  REFUSES(DataLoader(3, {.shuffle = true}));
  const DataLoader none(0, {.batch_size = 2}, random);
  CHECK(none.size() == 0);
  CHECK(none.begin() == none.end());
  const Index most = std::numeric_limits<Index>::max();
  CHECK(DataLoader(3, {.batch_size = most}, random).size() == 1);
  CHECK((*DataLoader(3, {.batch_size = most}, random).begin()).size() == 3);
  CHECK(DataLoader(most, {.batch_size = 2}, random).size() == most / 2 + 1);  // in order, nothing is laid out
  CHECK(*DataLoader(most, {.batch_size = 2}, random).begin() == Rows{0, 1});

  const auto split = [&](Index rows, const Rows& lengths) {
    return error_of([&] { random_split(rows, lengths, random); });
  };
  CHECK(split(7, {8, -1}) == "random_split: lengths [8, -1] add up to more than the 7 rows of the dataset");
  CHECK(split(7, {-1, 8}) == "random_split: length -1 must be at least 0");
  CHECK(split(7, {3, 3}) == "random_split: lengths [3, 3] leave 1 of 7 rows without a part");
  CHECK(split(7, {most, most}).find("add up to more") != std::string::npos);
  CHECK(split(-1, {}).starts_with("random_split: lengths [] leave"));
  CHECK(random_split(0, {}, random).empty());
}

TEST_CASE("DataLoader with replacement: the rows that PyTorch's RandomSampler draws") {
  // torch.manual_seed(123); DataLoader(range(5), batch_size=4, sampler=RandomSampler(..., replacement=True,
  // num_samples=40)), read twice, of the second time the first batch; then torch.randint(1000, (1,))
  const Generator random(123);
  const DataLoader loader(5, {.batch_size = 4, .replacement = true, .num_samples = 40}, random);
  CHECK(loader.size() == 10);
  const std::vector<Rows> drawn{{3, 2, 1, 2}, {0, 2, 1, 2}, {3, 0, 1, 1}, {0, 0, 0, 4}, {1, 1, 2, 0},
                                {3, 2, 3, 4}, {0, 2, 1, 0}, {4, 4, 3, 0}, {2, 1, 1, 1}, {2, 3, 4, 4}};
  std::vector<Rows> first, second;
  for (const Rows& rows : loader) first.push_back(rows);
  for (const Rows& rows : loader) second.push_back(rows);
  CHECK(first == drawn);
  CHECK(second[0] == Rows{0, 1, 4, 4});
  CHECK(randint(0, 1000, {1}, random).item() == 699);

  // The same with generator=g of both, torch.Generator().manual_seed(7), 100 rows, batches of 20.
  const DataLoader own(100, {.batch_size = 20, .replacement = true, .num_samples = 40, .generator = Generator(7)});
  std::vector<Rows> of_own;
  for (const Rows& rows : own) of_own.push_back(rows);
  CHECK(of_own[0] == Rows{21, 86, 83, 47, 87, 79, 88, 61, 58, 31, 8, 17, 62, 30, 66, 72, 83, 18, 96, 40});
  CHECK(of_own[1] == Rows{95, 51, 8, 68, 43, 27, 30, 78, 51, 40, 16, 63, 5, 76, 16, 27, 65, 60, 79, 61});

  REFUSES(DataLoader(5, {.shuffle = true, .replacement = true}, random));
  REFUSES(DataLoader(5, {.num_samples = 3}, random));
  REFUSES(DataLoader(5, {.replacement = true, .num_samples = -1}, random));
  REFUSES(DataLoader(0, {.replacement = true}, random));
}

}  // namespace mote::test::data_loader_test
