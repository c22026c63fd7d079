// The system's file calls on Linux, macOS and WebAssembly.
#include "engine/io/files/file_calls.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace mote::detail {

namespace {

constexpr std::size_t most_at_once = std::size_t{1} << 30;  // systems transfer at most about 2 GB in one call

int answer(const struct stat& s, FileStatus& status) {
  status.kind = S_ISREG(s.st_mode)    ? FileKind::regular
                : S_ISDIR(s.st_mode)  ? FileKind::folder
                : S_ISFIFO(s.st_mode) ? FileKind::pipe
                                      : FileKind::other;
  status.device = static_cast<std::uint64_t>(s.st_dev);
  status.inode = static_cast<std::uint64_t>(s.st_ino);
  status.size = static_cast<std::uint64_t>(s.st_size);
  status.links = static_cast<std::uint64_t>(s.st_nlink);
  status.mode = static_cast<unsigned>(s.st_mode) & 0777;
  return 0;
}

}  // namespace

namespace calls {

int open(const char* path, OpenFor what, unsigned mode) {
  const int flags = what == OpenFor::read     ? O_RDONLY
                    : what == OpenFor::write  ? O_WRONLY
                    : what == OpenFor::create ? O_RDWR | O_CREAT | O_EXCL
                                              : O_RDWR | O_CREAT | O_APPEND;
  const int file = ::open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, static_cast<mode_t>(mode));
  if (file >= 0) fcntl(file, F_SETFL, flags);  // without O_NONBLOCK, so that reads wait for data
  return file;
}

std::int64_t read(int file, void* into, std::size_t bytes) { return ::read(file, into, std::min(bytes, most_at_once)); }

std::int64_t read_at(int file, void* into, std::size_t bytes, std::uint64_t offset) {
  return ::pread(file, into, std::min(bytes, most_at_once), static_cast<off_t>(offset));
}

std::int64_t write(int file, const void* from, std::size_t bytes) {
  return ::write(file, from, std::min(bytes, most_at_once));
}

int truncate(int file, std::uint64_t size) {
  return uninterrupted([&] { return ftruncate(file, static_cast<off_t>(size)); });
}

int sync(int file) {
#ifdef F_FULLFSYNC
  if (fcntl(file, F_FULLFSYNC) == 0) return 0;  // on macOS fsync alone leaves the data in the disk's cache
#endif
  return fsync(file);
}

int close(int file) { return ::close(file) == 0 || errno == EINTR ? 0 : -1; }  // after EINTR the file is closed, too

int lock(int file) {
#ifdef __EMSCRIPTEN__
  (void)file;
  errno = ENOSYS;  // Emscripten's flock succeeds even if the file is locked
  return -1;
#else
  return uninterrupted([&] { return flock(file, LOCK_EX | LOCK_NB); });
#endif
}

int rename(const char* from, const char* to) { return ::rename(from, to); }
int remove(const char* path) { return ::unlink(path); }
int make_folder(const char* path) { return ::mkdir(path, 0777); }

int sync_folder(const char* path) {
  const int folder = uninterrupted([&] { return ::open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY); });
  if (folder < 0) return errno == EACCES ? 0 : -1;  // a folder that may be written but not read cannot be synced
  const bool done = uninterrupted([&] { return fsync(folder); }) == 0 || errno == EINVAL;  // EINVAL: unsupported
  const int error = errno;
  ::close(folder);
  errno = error;
  return done ? 0 : -1;
}

}  // namespace calls

int status_of(const char* path, FileStatus& status) {
  struct stat s;
  return ::stat(path, &s) == 0 ? answer(s, status) : -1;
}

int status_of(int file, FileStatus& status) {
  struct stat s;
  return fstat(file, &s) == 0 ? answer(s, status) : -1;
}

unsigned process_id() { return static_cast<unsigned>(getpid()); }

}  // namespace mote::detail
