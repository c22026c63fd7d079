// RunFolder, the folder of one run: its checkpoints, of which the newest and the best are kept, and a lock.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/io/files/safetensors.h"
#include "train/keep/checkpoint.h"
#include "train/keep/folder.h"

namespace mote {

/// The paths of the newest and of the best checkpoint in a run's folder, "" if there is none. The best checkpoint is
/// saved after an evaluation. If the last regular checkpoint is older, the best checkpoint is the newest as well. Both
/// files may be read while the run goes on.
std::string newest_checkpoint(const std::string& folder);
std::string best_checkpoint(const std::string& folder);
/// Reads a whole file and verifies all its checksums. Errors: the checksum of a tensor is wrong.
void check_checksums(const SafetensorsFile& file);
/// Opens the newest checkpoint and verifies all its checksums. Errors: there is none; it cannot be read; it is damaged.
/// The message says what to do.
SafetensorsFile open_newest_checkpoint(const std::string& folder);
/// The names of a folder's regular checkpoints, step-00000100.safetensors and so on, in the order of their steps.
std::vector<std::string> checkpoint_names(const std::string& folder);

/// The folder of one run, which is locked so that no other process can use it meanwhile. Checkpoints are named
/// step-00000100.safetensors and so on. best.safetensors is the checkpoint with the lowest score.
class RunFolder {
 public:
  /// Makes the folder if it does not exist, and removes the temporary files that a killed run left in it. A run saves
  /// every `interval` steps (0: never), and when it ends or is stopped. `keep` is how many of the newest checkpoints
  /// are kept. Errors: the folder cannot be made or written, another process trains in it, keep below 1. Errors of all
  /// functions that write: the folder was moved or replaced, or the file to write is a pipe or the like.
  explicit RunFolder(const std::string& path, Integer keep = 3, Integer interval = 1);

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  /// Writes a file in the folder.
  void write(const std::string& name, std::string_view text) const;
  /// Saves `run`, which has taken `steps` steps, calls remove_earlier(), and returns the path of the checkpoint.
  std::string save(const Checkpoint& run, Integer steps);
  /// Removes earlier checkpoints, after the checkpoint of `steps` steps has been saved. Only the newest are kept.
  /// Checkpoints between two multiples of `interval` are removed as well, because a run that was never stopped would
  /// not have them. A run that is resumed calls this function, because it may have been killed between saving a
  /// checkpoint and removing the earlier ones.
  void remove_earlier(Integer steps);
  /// Saves `run`, which has taken `steps` steps, as best.safetensors if `score` is the lowest so far. Returns the path
  /// of the file, or "" if it was not saved. A NaN is never the lowest.
  std::string save_best(const Checkpoint& run, Real score, Integer steps);
  std::optional<double> best_score = {};  ///< lowest score so far, which must be added to the run's Checkpoint

 private:
  Index keep_, interval_;
  std::string path_;
  FolderLock lock_;
};

}  // namespace mote
