// The system's calls on files: those of POSIX, as few as reading, writing, logs and locks need.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace mote::detail {

enum class FileKind { regular, folder, other };

struct FileStatus {
  FileKind kind = FileKind::regular;
  std::uint64_t device = 0, inode = 0;  // which file it is
  std::uint64_t size = 0, links = 0;    // links: how many names it has
  unsigned mode = 0;                    // permissions
};

/// write: the file exists, and stays as it is. create: it must not exist. append: it is made if there is none; what is
/// written goes to its end.
enum class OpenFor { read, write, create, append };

/// Makes a call again for as long as a signal interrupts it.
template <class Call>
auto uninterrupted(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// Calls that can fail for reasons outside the program: an object of their own, for which a test links another. All
/// return -1 and set errno then; read and write may transfer less than they were asked to.
namespace calls {
int open(const char* path, OpenFor what, unsigned mode);
std::int64_t read(int file, void* into, std::size_t bytes);
std::int64_t read_at(int file, void* into, std::size_t bytes, std::uint64_t offset);
std::int64_t write(int file, const void* from, std::size_t bytes);
int truncate(int file, std::uint64_t size);
int sync(int file);  // waits until the data are on the disk
int close(int file);
int lock(int file);                            // until the file is closed, or the process ends in whatever way
int rename(const char* from, const char* to);  // replaces `to`
int remove(const char* path);
int make_folder(const char* path);
int sync_folder(const char* path);  // waits until the names in it are on the disk
}  // namespace calls

// Questions to the system. -1 and errno: it has no answer.
int status_of(const char* path, FileStatus& status);  ///< of what links lead to
int status_of(int file, FileStatus& status);
unsigned process_id();

/// A file that is open, and closed with this.
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
