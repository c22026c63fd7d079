// The calls of Windows, by its C library and std::filesystem. There are no locks: nothing is taken for abandoned, and
// two runs in one folder go unnoticed.
#ifdef _WIN32
#include <direct.h>
#include <fcntl.h>
#include <io.h>
#include <process.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <mutex>

#include "engine/io/files/file_calls.h"

namespace mote::detail {

namespace {

int answer(const struct _stat64& s, FileStatus& status) {
  status = {};  // no inode: the C library has no number for which file it is
  status.kind = s.st_mode & _S_IFDIR   ? FileKind::folder
                : s.st_mode & _S_IFREG ? FileKind::regular
                : s.st_mode & _S_IFIFO ? FileKind::pipe
                                       : FileKind::other;
  status.size = static_cast<std::uint64_t>(s.st_size);
  status.links = 1;
  status.mode = s.st_mode & _S_IWRITE ? 0666 : 0444;
  return 0;
}

}  // namespace

namespace calls {

int open(const char* path, OpenFor what, unsigned mode) {
  FileStatus status;
  if (what != OpenFor::create && status_of(path, status) == 0 && status.kind == FileKind::folder) {
    errno = EISDIR;
    return -1;
  }
  const int flags = what == OpenFor::read     ? _O_RDONLY
                    : what == OpenFor::write  ? _O_WRONLY
                    : what == OpenFor::create ? _O_RDWR | _O_CREAT | _O_EXCL
                                              : _O_RDWR | _O_CREAT | _O_APPEND;
  return _open(path, flags | _O_BINARY | _O_NOINHERIT, mode & 0200 ? _S_IREAD | _S_IWRITE : _S_IREAD);
}

int duplicate(int file) { return _dup(file); }

std::int64_t read(int file, void* into, std::size_t bytes) {
  return _read(file, into, static_cast<unsigned>(std::min(bytes, most_at_once)));
}

std::int64_t read_at(int file, void* into, std::size_t bytes, std::uint64_t offset) {
  static std::mutex mutex;  // a file has one position for all threads
  const std::lock_guard guard(mutex);
  return _lseeki64(file, static_cast<long long>(offset), SEEK_SET) < 0 ? -1 : read(file, into, bytes);
}

std::int64_t write(int file, const void* from, std::size_t bytes) {
  return _write(file, from, static_cast<unsigned>(std::min(bytes, most_at_once)));
}

int truncate(int file, std::uint64_t size) {
  return (errno = _chsize_s(file, static_cast<long long>(size))) == 0 ? 0 : -1;
}

int keep_owner(int, const FileStatus&) { return 0; }  // of permissions there is one, which open has seen to
int sync(int file) { return _commit(file); }
int close(int file) { return _close(file); }

int lock(int, bool) {
  errno = ENOSYS;
  return -1;
}

int keep_lock(int) { return -1; }

int rename(const char* from, const char* to) {
  std::error_code error;
  std::filesystem::rename(from, to, error);
  if (error) errno = error.default_error_condition().value();
  return error ? -1 : 0;
}

int remove(const char* path) { return _unlink(path); }
int make_folder(const char* path) { return _mkdir(path); }
int sync_folder(const char*) { return 0; }  // there is no such call

}  // namespace calls

int status_of(const char* path, FileStatus& status) {
  struct _stat64 s;
  return _stat64(path, &s) == 0 ? answer(s, status) : -1;
}

int status_of(int file, FileStatus& status) {
  struct _stat64 s;
  return _fstat64(file, &s) == 0 ? answer(s, status) : -1;
}

unsigned process_id() { return static_cast<unsigned>(_getpid()); }

}  // namespace mote::detail
#endif
