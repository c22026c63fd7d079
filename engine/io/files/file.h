// Reads and writes files, and lists and makes folders. Reading does not trust the size that the system reports. Writing
// leaves either the whole old file or the whole new file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/files/file_calls.h"

namespace mote {

/// Reads a regular file at any offset. Errors, in one sentence with the path: the file does not exist, may not be
/// read, or is not a regular file.
class FileReader {
 public:
  explicit FileReader(const std::string& path);

  std::uint64_t size() const { return size_; }  ///< when the file was opened
  /// Reads `bytes` bytes from byte `offset` on. Errors: the file has fewer bytes there, perhaps because it has shrunk
  /// since it was opened.
  void read(std::uint64_t offset, void* into, std::size_t bytes) const;

 private:
  std::string path_;
  detail::OpenFile file_;
  std::uint64_t size_ = 0;
};

/// The content of a whole file. A pipe or a device (/dev/stdin) is read up to its end. Errors: a file that cannot be
/// read, a folder, an empty pipe into which no program writes, more than `most` bytes.
std::string read_file(const std::string& path, std::uint64_t most);

/// Writes a file under a temporary name in the same folder and renames it in commit(). If the program ends at any
/// moment, the disk is full or the power fails, the path holds either the whole old file or the whole new file. Without
/// commit() the old file stays.
///
/// A symbolic link is followed, so the file that it points to is replaced and the link stays. The new file has the
/// permissions of the old one, less the umask. The new file belongs to the user who wrote it. A killed program leaves
/// its temporary file ".mote.<process>.<number>.part" behind.
/// Errors, in one sentence with the path and the system's message: a file or folder that may not be written; a path
/// that is a pipe, a device or a folder.
class FileWriter {
 public:
  explicit FileWriter(const std::string& path);
  FileWriter(const FileWriter&) = delete;
  ~FileWriter();

  void write(const void* from, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// Renames the new file to its path. The new file is on the disk when this returns. Errors: those of the class. After
  /// an error the old file is unchanged, unless the error says otherwise.
  void commit();

 private:
  [[noreturn]] void fail(int error);

  std::string path_, target_, temporary_;  // target_: path_ with links followed; temporary_: "" after the rename
  detail::OpenFile file_;
};

/// Writes a text as a file, whole or not at all, as FileWriter does.
void write_file(const std::string& path, std::string_view text);

/// Checks that a file can be written. A program calls this before its work begins. Errors: the file cannot be
/// written.
void check_output(const std::string& path);

/// Makes a folder and its missing parent folders. A folder that exists stays as it is.
void make_folder(const std::string& path);
/// The names in a folder, sorted byte by byte.
std::vector<std::string> list_folder(const std::string& path);
/// Whether a file or folder with this path exists.
bool file_exists(const std::string& path);
bool is_folder(const std::string& path);
/// Removes a file. A symbolic link is removed itself, not the file that it points to. It is no error if the file does
/// not exist.
void remove_file(const std::string& path);

namespace detail {
/// Opens a file. On failure returns an empty OpenFile and sets errno, to EINVAL if the path contains a NUL.
OpenFile open_path(const std::string& path, OpenFor what, unsigned mode = 0666);
/// Writes all bytes. Returns false and sets errno if that fails.
bool write_all(int file, const void* from, std::size_t bytes);
/// Throws "cannot <what> '<path>': <the system's words for the error>".
[[noreturn]] void fail_file(const char* what, const std::string& path, int error);
/// The folder part of a path ("." if there is none) and the name in that folder.
std::pair<std::string, std::string> split_path(const std::string& path);
/// Whether a file name is that of a FileWriter's temporary file.
bool is_temporary(std::string_view name);
}  // namespace detail

}  // namespace mote
