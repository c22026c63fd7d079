// FolderLock, which locks a run's folder, and LogFile, which continues a log in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/io/files/file.h"

namespace mote {

/// Locks a folder for this object alone, until it is destroyed or the process ends in any way (SIGKILL included).
/// Errors: another FolderLock has the folder, in this process or another; the message names that process. On a file
/// system without locks (some network ones) nothing is locked, and two runs in one folder go unnoticed. Otherwise no
/// run could use such a folder.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder);
  FolderLock(FolderLock&&) noexcept = default;
  ~FolderLock();
  /// Checks that the path still leads to the locked folder. Errors: the folder was moved or replaced.
  void check_ours() const;

 private:
  std::string folder_, path_;
  detail::FileStatus ours_;  // of the locked folder
  detail::OpenFile file_;
};

/// A text file that grows at its end. The operating system has a line when append() returns, so the line survives the
/// end of this process. After sync() it survives a power cut.
class LogFile {
 public:
  /// Continues the file after its first `size` bytes, and removes the rest. 0 begins a new file. Errors: also a file
  /// that has fewer bytes.
  LogFile(const std::string& path, std::uint64_t size);

  std::uint64_t size() const { return size_; }  ///< the size with which to continue
  /// Appends one or more lines, and a newline. After an error nothing is appended.
  void append(std::string_view line);
  /// Syncs all lines to the disk. Errors: also a file that somebody has removed or changed meanwhile.
  void sync();

 private:
  std::string path_;
  detail::OpenFile file_;
  std::uint64_t size_;
};

}  // namespace mote
