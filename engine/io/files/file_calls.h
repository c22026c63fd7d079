// The few POSIX calls on files that reading, writing, logs and locks need.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace mote::detail {

enum class FileKind { regular, folder, pipe, other };

struct FileStatus {
  FileKind kind = FileKind::regular;
  std::uint64_t device = 0, inode = 0;  // the two identify a file
  std::uint64_t size = 0, links = 0;    // links: the number of names that the file has
  unsigned mode = 0;                    // permissions
};

/// How to open a file. write: the file must exist, and is not truncated. create: the file must not exist. append: the
/// file is created if it does not exist, and every write goes to its end. To open never waits, also not for the program
/// that writes into a pipe. Reads and writes wait.
enum class OpenFor { read, write, create, append };

/// Repeats a system call as long as a signal interrupts it.
template <class Call>
auto uninterrupted(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// Calls that can fail for reasons outside the program. They are in an object file of their own, so that a test can
/// link its own calls instead. On failure they return -1 and set errno. Reads and writes may transfer fewer bytes
/// than asked.
namespace calls {
int open(const char* path, OpenFor what, unsigned mode);
std::int64_t read(int file, void* into, std::size_t bytes);
std::int64_t read_at(int file, void* into, std::size_t bytes, std::uint64_t offset);
std::int64_t write(int file, const void* from, std::size_t bytes);
int truncate(int file, std::uint64_t size);
int sync(int file);  // waits until the data are on the disk
int close(int file);
int lock(int file);                            // the lock ends when the file is closed or the process ends
int rename(const char* from, const char* to);  // replaces `to`
int remove(const char* path);
int make_folder(const char* path);
int sync_folder(const char* path);  // waits until the names in the folder are on the disk
}  // namespace calls

// Questions to the system. status_of returns -1 and sets errno on failure.
int status_of(const char* path, FileStatus& status);  ///< follows links
int status_of(int file, FileStatus& status);
unsigned process_id();

/// Owns an open file, which the destructor closes.
class OpenFile {
 public:
  explicit OpenFile(int file = -1) : file_(file) {}
  OpenFile(OpenFile&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  OpenFile& operator=(OpenFile&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~OpenFile() { close(); }

  explicit operator bool() const { return file_ >= 0; }
  int get() const { return file_; }
  int close() { return file_ < 0 ? 0 : calls::close(std::exchange(file_, -1)); }

 private:
  int file_;
};

}  // namespace mote::detail
