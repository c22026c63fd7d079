// The names of checkpoints, and which of them are kept.
#include "train/run/run_folder.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace mote {
namespace {

const std::string prefix = "step-", suffix = ".safetensors", best_name = "best.safetensors", steps_note = "mote.steps";
constexpr std::size_t digits = 8;

std::string made_here(const std::string& path, Integer keep) {
  check_in("run", keep >= 1, "keep ", keep, " must be at least 1");
  make_folder(path);
  return path;
}

/// The name of a checkpoint, such as step-00000100.safetensors. With the leading zeros, the order of names is the
/// order of steps.
std::string name_of(Index steps) {
  const std::string number = std::to_string(steps);
  return prefix + std::string(digits - std::min(digits, number.size()), '0') + number + suffix;
}

/// The number of steps in the name of a checkpoint. -1 for every other name.
Index steps_of(const std::string& name) {
  Index steps = 0;
  if (!name.starts_with(prefix)) return -1;
  std::from_chars(name.data() + prefix.size(), name.data() + name.size(), steps);
  return steps >= 0 && name == name_of(steps) ? steps : -1;
}

/// The number of steps that is noted in a best checkpoint. -1 if it has no such note.
Index noted_steps(const std::string& path) {
  Index steps = -1;
  try {
    const SafetensorsFile file(path);
    if (const std::string* const text = file.find_metadata(steps_note)) detail::read_field("steps", *text, steps);
  } catch (const Error&) {
    return -1;  // not a readable checkpoint, so a run cannot be resumed from it
  }
  return steps;
}

bool succeeds(const auto& body) {
  try {
    body();
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

void check_checksums(const SafetensorsFile& file) {
  for (const TensorEntry& tensor : file.tensors())
    check(file.read_bytes(tensor, [](const void*, std::size_t) {}), file.name(), ": the checksum of ", tensor.name,
          " is wrong: the file was changed");
}

std::vector<std::string> checkpoint_names(const std::string& folder) {
  std::vector<std::string> names;
  if (!file_exists(folder)) return names;
  for (const std::string& name : list_folder(folder))
    if (steps_of(name) >= 0) names.push_back(name);
  std::sort(names.begin(), names.end(),
            [](const std::string& a, const std::string& b) { return steps_of(a) < steps_of(b); });
  return names;
}

std::string newest_checkpoint(const std::string& folder) {
  const std::vector<std::string> names = checkpoint_names(folder);
  const std::string best = best_checkpoint(folder);
  if (names.empty() || (!best.empty() && noted_steps(best) > steps_of(names.back()))) return best;
  return folder + "/" + names.back();
}

std::string best_checkpoint(const std::string& folder) {
  const std::string path = folder + "/" + best_name;
  return file_exists(path) ? path : "";
}

SafetensorsFile open_newest_checkpoint(const std::string& folder) {
  const std::string newest = newest_checkpoint(folder);
  check(!newest.empty(), "there is no run in ", folder);
  const FileReader readable(newest);  // a file that may not be read is not damaged, so no other one is looked for
  try {
    SafetensorsFile file(newest);
    check_checksums(file);
    return file;
  } catch (const Error& e) {
    std::string good, closed;
    std::vector<std::string> names = checkpoint_names(folder);
    names.push_back(best_name);
    for (const std::string& name : names) {
      const std::string path = folder + "/" + name;
      if (path == newest || !file_exists(path)) continue;
      if (!succeeds([&] { FileReader{path}; }))
        closed += (closed.empty() ? "" : ", ") + name;
      else if (succeeds([&] { check_checksums(SafetensorsFile(path)); }))
        good += (good.empty() ? "" : ", ") + name;
    }
    const std::string others = !good.empty()     ? "remove it to go on from the newest of these: " + good
                               : !closed.empty() ? "no other checkpoint is whole, but these cannot be read: " + closed
                                                 : "no other checkpoint in " + folder + " is whole";
    throw Error(std::string(e.what()) + "; " + others);
  }
}

RunFolder::RunFolder(const std::string& path, Integer keep, Integer interval)
    : keep_(keep), interval_(interval), path_(made_here(path, keep)), lock_(path) {
  for (const std::string& name : list_folder(path))  // no other run writes here, because this one has the lock
    if (detail::is_temporary(name)) remove_file(file(name));
}

void RunFolder::write(const std::string& name, std::string_view text) const {
  lock_.check_ours();
  write_file(file(name), text);
}

std::string RunFolder::save_best(const Checkpoint& run, Real score, Integer steps) {
  const std::optional<double> before = best_score;
  if (std::isnan(score) || (before && score >= *before)) return "";
  lock_.check_ours();
  best_score = score;
  try {
    run.save(file(best_name), {{steps_note, std::to_string(steps)}});
  } catch (...) {
    best_score = before;
    throw;
  }
  return file(best_name);
}

std::string RunFolder::save(const Checkpoint& run, Integer steps) {
  check_in("run", steps >= 0, "steps ", steps, " must be at least 0");
  lock_.check_ours();
  const std::string path = file(name_of(steps));
  run.save(path);
  remove_earlier(steps);
  return path;
}

void RunFolder::remove_earlier(Integer steps) {
  std::vector<std::string> earlier = checkpoint_names(path_);
  std::erase_if(earlier, [&](const std::string& name) { return steps_of(name) >= steps; });  // this one and later stay
  const auto between = [&](const std::string& name) {
    const Index at = steps_of(name);
    return interval_ > 0 ? at % interval_ != 0 : at != 0;
  };
  for (const std::string& name : earlier)
    if (between(name)) remove_file(file(name));
  std::erase_if(earlier, between);
  for (std::size_t i = 0; i + static_cast<std::size_t>(keep_) <= earlier.size(); ++i) remove_file(file(earlier[i]));
}

}  // namespace mote
