// RunFolder, the folder of one run: its checkpoints, of which the newest and the best are kept, and a lock.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/io/folder.h"
#include "train/checkpoint.h"

namespace mote {

/// A folder that belongs to one run, and meanwhile to this process alone. Checkpoints are step-00000100.safetensors and
/// the like; best.safetensors is a copy of the one with the lowest score.
class RunFolder {
 public:
  /// Makes the folder if need be. `keep` is how many of the newest checkpoints stay.
  /// Errors: it cannot be made or written, another process trains in it, keep below 1.
  explicit RunFolder(const std::string& path, Index keep = 3);

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  /// The newest checkpoint, "" if there is none; and the best.
  std::string newest() const;
  std::string best() const { return file("best.safetensors"); }

  /// Saves `run` after so many steps, also as best.safetensors if `score` is the lowest so far (`best_score`, which is
  /// part of the run: add it), and then removes what is no longer among the newest. A checkpoint is removed only after
  /// its successor is on the disk.
  void save(const Checkpoint& run, Index steps, std::optional<double> score = {});
  std::optional<double> best_score = {};

 private:
  std::vector<std::string> checkpoints() const;

  std::string path_;
  Index keep_;
  FolderLock lock_;
};

}  // namespace mote
