// FolderLock, which locks a run's folder, and LogFile, which continues a log in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/io/files/file.h"

namespace mote {

/// Locks a folder for this object alone, until the object is destroyed or the process ends in any way (SIGKILL
/// included). Errors: another FolderLock has the folder, in this process or another; the message names that process.
/// On a file system that does not support locks, such as some network file systems, nothing is locked and two runs in
/// one folder go unnoticed. This is not an error, because otherwise no run could use such a file system.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder);
  FolderLock(FolderLock&&) noexcept = default;
  ~FolderLock();
  /// Checks that the path still leads to the locked folder. Errors: the folder was moved or replaced.
  void check_ours() const;

 private:
  std::string folder_, path_;
  detail::FileStatus ours_;  // status of the locked folder
  detail::OpenFile file_;
};

/// A text file that grows at its end. The operating system has a line when append() returns, so the line survives the
/// end of this process. After sync() it survives a power cut.
class LogFile {
 public:
  /// Continues the file after its first `size` bytes, and removes all bytes after them. A `size` of 0 begins a new
  /// file. Errors: the file has fewer bytes or cannot be written.
  LogFile(const std::string& path, std::uint64_t size);

  std::uint64_t size() const { return size_; }  ///< the `size` with which another LogFile can continue
  /// Appends a line and a newline. `line` may also be several lines with newlines between them. After an error nothing
  /// is appended.
  void append(std::string_view line);
  /// Syncs all lines to the disk. Errors: the file cannot be synced, or somebody has removed or changed it meanwhile.
  void sync();

 private:
  std::string path_;
  detail::OpenFile file_;
  std::uint64_t size_;
};

}  // namespace mote
