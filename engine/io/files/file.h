// Files: read without trusting their size, and written so that a reader finds the old file or the new one, whole;
// folders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/files/file_calls.h"

namespace mote {

/// A regular file, read at any place. Errors (one sentence with the path): a file that does not exist, may not be read,
/// or is no regular file.
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

/// A whole file; a pipe or a device (/dev/stdin) up to its end. Errors: a file that cannot be read, a folder, more than
/// `most` bytes.
std::string read_file(const std::string& path, std::uint64_t most);

/// Writes a file under a temporary name in the same folder and renames it in commit(). A program that ends at any
/// moment, a full disk or a power cut leaves the old file or the new one, whole. Without commit() nothing has happened.
///
/// A symbolic link is followed: the file that it leads to is replaced, and the link stays. The new file has the old
/// one's permissions, less the umask. It belongs to whoever wrote it. A killed program leaves its temporary
/// ".mote.<process>.<number>.part" behind.
/// Errors (one sentence with the path and the system's words): a file or folder that may not be written; a pipe, a
/// device or a folder.
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
  [[noreturn]] void fail(int error);

  std::string path_, target_, temporary_;  // target_: where links lead; temporary_: empty once it has its name
  detail::OpenFile file_;
};

/// All of a text as a file, as FileWriter does it.
void write_file(const std::string& path, std::string_view text);

/// For a program to call before its work begins. Errors: the file cannot be written.
void check_output(const std::string& path);

/// Makes a folder and its missing parent folders. A folder that exists stays as it is.
void make_folder(const std::string& path);
/// The names in a folder, sorted byte by byte.
std::vector<std::string> list_folder(const std::string& path);
/// Whether there is such a file or folder.
bool file_exists(const std::string& path);
bool is_folder(const std::string& path);
/// Removes a file, or a link instead of what it leads to. It may be gone already.
void remove_file(const std::string& path);

namespace detail {
/// Opens a path that may be any text.
OpenFile open_path(const std::string& path, OpenFor what, unsigned mode = 0666);
/// Writes all of it; false and errno if that fails.
bool write_all(int file, const void* from, std::size_t bytes);
/// Throws "cannot <what> '<path>': <the system's words for the error>".
[[noreturn]] void fail_file(const char* what, const std::string& path, int error);
/// The folder that a path's file lies in ("." for a bare name), and its name there.
std::pair<std::string, std::string> split_path(const std::string& path);
/// Whether a name in a folder is that of a FileWriter's temporary.
bool is_temporary(std::string_view name);
}  // namespace detail

}  // namespace mote
