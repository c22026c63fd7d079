// Files: read without trusting their size, and written so that a reader finds the old file or the new one, whole;
// folders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/files/file_calls.h"

namespace mote {

/// A regular file, read at any place. Errors (one sentence with the path): a file that does not exist, may not be read,
/// or is a folder, a pipe or a device.
class FileReader {
 public:
  explicit FileReader(const std::string& path);

  std::uint64_t size() const { return size_; }  ///< when it was opened
  /// Errors: it has fewer bytes there, perhaps because it has shrunk since it was opened.
  void read(std::uint64_t offset, void* into, std::size_t bytes) const;

 private:
  std::string path_;
  detail::OpenFile file_;
  std::uint64_t size_ = 0;
};

/// A whole file; a pipe or a device (/dev/stdin) up to its end. Errors: as above but for those, more than `most` bytes,
/// and a pipe that nobody wrote to.
std::string read_file(const std::string& path, std::uint64_t most);

/// Writes a file under a temporary name in the same folder and renames it in commit(): a program that ends at any
/// moment, a full disk or a power cut leaves the old file or the new one, whole. Without commit() nothing has happened.
///
/// A link is followed; permissions stay; a folder or file that may not be written is an error. What is no regular file
/// (a pipe, a terminal, /dev/null) is written to directly, and so is the file that this program prints to, as
/// /dev/stdout: what is written is appended. Temporaries that a killed program left in a folder are removed by the
/// first file that another writes there. On Windows by the C++ library alone: other programs see the old file or the
/// new one, whole; what a power cut leaves is not promised, nothing is locked, and the file that this program prints to
/// is like any other.
/// Errors: one sentence with the path and the system's words.
class FileWriter {
 public:
  explicit FileWriter(const std::string& path);
  FileWriter(const FileWriter&) = delete;
  ~FileWriter();

  void write(const void* from, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// The file is on the disk, under its name, when this returns. Errors: as above; the old file is as it was, unless
  /// the sentence says otherwise.
  void commit();

 private:
  void make_temporary(const detail::FileStatus* old);
  void flush();
  [[noreturn]] void fail(int error);

  std::string path_, target_, temporary_;  // the last two are empty when written to directly
  detail::OpenFile file_;
  std::unique_ptr<char[]> buffer_;
  std::size_t buffered_ = 0;
};

/// All of a text as a file, as FileWriter does it.
void write_file(const std::string& path, std::string_view text);

/// For a program to call before its work begins. Errors: the file cannot be written.
void check_output(const std::string& path);

/// Makes a folder, and those it lies in. One that exists is left as it is.
void make_folder(const std::string& path);
/// The names in a folder, sorted byte by byte.
std::vector<std::string> list_folder(const std::string& path);
/// Whether there is such a file or folder.
bool file_exists(const std::string& path);
bool is_folder(const std::string& path);
/// Removes a file, or a link instead of what it leads to. It may be gone already.
void remove_file(const std::string& path);

}  // namespace mote
