// What a run does with its folder: locks it, and continues a log in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/io/files/file.h"

namespace mote {

/// Keeps a folder for this object alone, until it is destroyed or the process ends in whatever way (SIGKILL included).
/// Errors: another has it, in this process or another; the sentence names that process. On a file system without locks
/// (some network ones) nothing is kept, and two runs in one folder go unnoticed: better a run there than none.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder);
  FolderLock(FolderLock&&) noexcept = default;
  ~FolderLock();
  /// Errors: the folder's name is that of another folder by now.
  void check_ours() const;

 private:
  std::string folder_, path_;
  detail::FileStatus ours_;  // of the folder
  detail::OpenFile file_;
};

/// A text file that grows at its end. Every line is with the system when append() returns, and so survives the end of
/// this process; after sync() it survives a power cut.
class LogFile {
 public:
  /// Continues the file after its first `size` bytes: what lies beyond is removed. 0 begins a new one.
  /// Errors: also a file that has fewer bytes.
  LogFile(const std::string& path, std::uint64_t size);

  std::uint64_t size() const { return size_; }  ///< from where to continue
  /// Appends a line, or several, and a newline. Errors: nothing is appended then.
  void append(std::string_view line);
  /// Errors: also a file that somebody has removed or changed meanwhile.
  void sync();

 private:
  std::string path_;
  detail::OpenFile file_;
  std::uint64_t size_;
};

}  // namespace mote
