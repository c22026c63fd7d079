// Names of checkpoints, and which of them stay.
#include "train/run_folder.h"

#include <algorithm>

namespace mote {
namespace {

const std::string begin = "step-", end = ".safetensors";
constexpr std::size_t digits = 8;

std::string made(const std::string& path) {
  make_folder(path);
  return path;
}

/// step-00000100.safetensors, so that names sort as steps do.
std::string name_of(Index steps) {
  const std::string number = std::to_string(steps);
  return begin + std::string(digits - std::min(digits, number.size()), '0') + number + end;
}

/// The number in such a name, or -1.
Index steps_of(const std::string& name) {
  if (!name.starts_with(begin) || !name.ends_with(end) || name.size() < begin.size() + digits + end.size()) return -1;
  const std::string number = name.substr(begin.size(), name.size() - begin.size() - end.size());
  if (number.size() > 18 || number.find_first_not_of("0123456789") != std::string::npos) return -1;
  return std::stoll(number);
}

}  // namespace

RunFolder::RunFolder(const std::string& path, Index keep) : path_(made(path)), keep_(keep), lock_(path) {
  check_in("run", keep >= 1, "keep ", keep, " must be at least 1");
}

/// Names, from the first step to the last.
std::vector<std::string> RunFolder::checkpoints() const {
  std::vector<std::string> names;
  for (const std::string& name : list_folder(path_))
    if (steps_of(name) >= 0) names.push_back(name);
  std::sort(names.begin(), names.end(),
            [](const std::string& a, const std::string& b) { return steps_of(a) < steps_of(b); });
  return names;
}

std::string RunFolder::newest() const {
  const std::vector<std::string> names = checkpoints();
  return names.empty() ? "" : file(names.back());
}

void RunFolder::save(const Checkpoint& run, Index steps, std::optional<double> score) {
  const std::string name = name_of(steps);
  const bool better = score && (!best_score || *score < *best_score);
  const std::optional<double> before = best_score;
  try {
    if (better) {
      best_score = score;
      run.save(best());
    }
    run.save(file(name));
  } catch (...) {
    best_score = before;
    throw;
  }
  std::vector<std::string> names = checkpoints();
  std::erase_if(names, [&](const std::string& other) { return steps_of(other) >= steps; });  // this, or a longer past
  for (std::size_t i = 0; i + static_cast<std::size_t>(keep_) <= names.size(); ++i) remove_file(file(names[i]));
}

}  // namespace mote
