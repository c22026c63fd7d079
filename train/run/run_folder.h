// RunFolder, the folder of one run: its checkpoints, of which the newest and the best are kept, and a lock.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/io/files/safetensors.h"
#include "train/keep/checkpoint.h"
#include "train/keep/folder.h"

namespace mote {

/// The newest and the best checkpoint in a run's folder, "" if there is none. The best is saved after an evaluation,
/// perhaps later than the last regular one: then it is the newest as well. They may be read while the run goes on.
std::string newest_checkpoint(const std::string& folder);
std::string best_checkpoint(const std::string& folder);
/// The newest one, read through and found whole. Errors: there is none; it is damaged, and what to do then.
SafetensorsFile open_newest_checkpoint(const std::string& folder);
/// step-00000100.safetensors and the like, from the first step to the last.
std::vector<std::string> checkpoint_names(const std::string& folder);

/// A folder that belongs to one run, and meanwhile to this process alone. Checkpoints are step-00000100.safetensors and
/// the like; best.safetensors is the run when it had the lowest score.
class RunFolder {
 public:
  /// Makes the folder if need be, and removes the temporary files that a killed run left in it. A run saves every
  /// `interval` steps (0: never) and where it ends or is stopped; `keep` is how many of the newest checkpoints stay.
  /// Errors: it cannot be made or written, another process trains in it, keep below 1. Of all that writes: the name is
  /// that of another folder by now, or one of its files a pipe or the like.
  explicit RunFolder(const std::string& path, Integer keep = 3, Integer interval = 1);

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  /// Writes a file in it.
  void write(const std::string& name, std::string_view text) const;
  /// Saves `run` after so many steps, calls remove_earlier(), and returns the file's path.
  std::string save(const Checkpoint& run, Integer steps);
  /// With a checkpoint after so many steps on the disk: removes what is no longer among the newest. Also removes what a
  /// run that was never stopped would not have: earlier checkpoints between two multiples of `interval`. A run that is
  /// resumed calls it, because a kill may have come between a checkpoint and this.
  void remove_earlier(Integer steps);
  /// Saves `run`, after so many steps, as best.safetensors if `score` is the lowest so far: the file's path then, else
  /// "". NaN is no score.
  std::string save_best(const Checkpoint& run, Real score, Integer steps);
  std::optional<double> best_score = {};  ///< part of the run: add it

 private:
  Index keep_, interval_;
  std::string path_;
  FolderLock lock_;
};

}  // namespace mote
