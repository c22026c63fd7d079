// What a run does with its folder: makes it, locks it, lists it, removes old files, and continues a log.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/file_calls.h"

namespace mote {

// Errors, here as below: one sentence with the path and the system's words.

/// Makes a folder, and those it lies in. One that exists is left as it is.
void make_folder(const std::string& path);
/// The names in a folder, sorted by their bytes.
std::vector<std::string> list_folder(const std::string& path);
/// Whether there is such a file or folder.
bool file_exists(const std::string& path);
/// Removes a file, or a link instead of what it leads to. It may be gone already.
void remove_file(const std::string& path);

/// Keeps a folder for this object alone, until it is destroyed or the process ends in whatever way (SIGKILL included).
/// Errors: another has it, in this process or another; the sentence names that process. On a file system without locks
/// (some network ones) nothing is kept, and two runs in one folder go unnoticed: better a run there than none.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder);
  FolderLock(FolderLock&&) noexcept = default;
  FolderLock& operator=(FolderLock&&) noexcept;
  ~FolderLock();

 private:
  std::string path_;
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
  /// Errors: also a file that somebody has removed meanwhile.
  void sync();

 private:
  std::string path_;
  detail::OpenFile file_;
  std::uint64_t size_;
};

}  // namespace mote
