// The calls of Linux, macOS and WebAssembly.
#ifndef _WIN32
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "engine/io/files/file_calls.h"

namespace mote::detail {

namespace {

constexpr std::size_t most_at_once = std::size_t{1} << 30;  // systems take no more than some 2 GB in one call

/// A write beyond the limit on file sizes sends SIGXFSZ, which ends a program that does not expect it. Held back here,
/// so that only the error EFBIG is left of it, without changing what the program itself does about the signal.
class NoFileSizeSignal {
 public:
#ifdef __EMSCRIPTEN__
  void forget() {}
#else
  NoFileSizeSignal() {
    sigset_t pending;
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
    was_pending_ = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
  }
  ~NoFileSizeSignal() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  void forget() {
    sigset_t pending;
    int which = 0;
    if (!was_pending_ && sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1) sigwait(&signal_, &which);
  }

 private:
  sigset_t signal_{}, before_{};
  bool was_pending_ = false;
#endif
};

/// Makes a call again for as long as a signal interrupts it.
template <class Call>
auto uninterrupted(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

int open_file(const char* path, OpenFor what, unsigned mode) {
  const int flags = what == OpenFor::read     ? O_RDONLY | O_NONBLOCK  // else a pipe waits until somebody writes to it
                    : what == OpenFor::write  ? O_WRONLY
                    : what == OpenFor::create ? O_RDWR | O_CREAT | O_EXCL
                                              : O_RDWR | O_CREAT | O_APPEND;
  const int file = uninterrupted([&] { return ::open(path, flags | O_CLOEXEC | O_NOCTTY, static_cast<mode_t>(mode)); });
  if (file >= 0 && what == OpenFor::read) fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
  return file;
}

int duplicate(int file) { return fcntl(file, F_DUPFD_CLOEXEC, 3); }

std::int64_t read_some(int file, void* into, std::size_t bytes) {
  return ::read(file, into, std::min(bytes, most_at_once));
}

std::int64_t read_at(int file, void* into, std::size_t bytes, std::uint64_t offset) {
  return ::pread(file, into, std::min(bytes, most_at_once), static_cast<off_t>(offset));
}

std::int64_t write_some(int file, const void* from, std::size_t bytes) {
  NoFileSizeSignal signal;
  const ssize_t done = ::write(file, from, std::min(bytes, most_at_once));
  const int error = errno;
  if (done < 0 && error == EFBIG) signal.forget();
  if (done < 0 && error == EAGAIN) {  // somebody has made this pipe or terminal one that does not wait
    pollfd ready{file, POLLOUT, 0};
    poll(&ready, 1, -1);
    errno = EINTR;
    return -1;
  }
  errno = error;
  return done;
}

int truncate_file(int file, std::uint64_t size) {
  return uninterrupted([&] { return ftruncate(file, static_cast<off_t>(size)); });
}

int keep_owner(int file, const FileStatus& as) {
  FileStatus now;
  if (status_of(file, now) != 0) return -1;
  // Only an administrator may give a file away: else it belongs to who wrote it.
  if (now.user != as.user || now.group != as.group) (void)!fchown(file, as.user, as.group);
  return now.mode == as.mode && now.user == as.user ? 0 : fchmod(file, static_cast<mode_t>(as.mode));
}

int sync_file(int file) {
#ifdef F_FULLFSYNC
  if (fcntl(file, F_FULLFSYNC) == 0) return 0;  // there fsync leaves the data in the disk's own memory
#endif
  return fsync(file);
}

int close_file(int file) { return ::close(file) == 0 || errno == EINTR ? 0 : -1; }  // it is closed then, too

int lock_file(int file, bool wait) {
#ifdef __EMSCRIPTEN__
  (void)file, (void)wait;
  errno = ENOSYS;  // its flock agrees to everything
  return -1;
#else
  return uninterrupted([&] { return flock(file, wait ? LOCK_EX : LOCK_EX | LOCK_NB); });
#endif
}

int make_folder(const char* path) { return mkdir(path, 0777); }

int sync_folder(const char* path) {
  const int folder = uninterrupted([&] { return ::open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY); });
  if (folder < 0) return errno == EACCES ? 0 : -1;  // a folder that may be written but not read
  const bool done = uninterrupted([&] { return fsync(folder); }) == 0 || errno == EINVAL;  // EINVAL: it need not
  const int error = errno;
  ::close(folder);
  errno = error;
  return done ? 0 : -1;
}

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
  status.user = s.st_uid;
  status.group = s.st_gid;
  return 0;
}

/// The number of the file that this process has open and that name `name` of `folder` stands for, or -1.
int open_file_of(const std::string& folder, const std::string& name) {
  if (name.empty() || name.size() > 6 ||
      !std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; }))
    return -1;
  const auto real = [](const char* path) {
    char* const found = realpath(path, nullptr);
    const std::string text = found ? found : "";
    std::free(found);
    return text;
  };
  const std::string where = real(folder.c_str());
  for (const char* list : {"/proc/self/fd", "/proc/thread-self/fd", "/dev/fd"})
    if (!where.empty() && where == real(list)) return std::atoi(name.c_str());
  return -1;
}

}  // namespace

const FileCalls system_file_calls{open_file,     duplicate,  read_some, read_at,     write_some,
                                  truncate_file, keep_owner, sync_file, close_file,  lock_file,
                                  duplicate,     ::rename,   ::unlink,  make_folder, sync_folder};

int status_of(const char* path, FileStatus& status) {
  struct stat s;
  return ::stat(path, &s) == 0 ? answer(s, status) : -1;
}

int status_of(int file, FileStatus& status) {
  struct stat s;
  return fstat(file, &s) == 0 ? answer(s, status) : -1;
}

bool names_in(const char* folder, std::vector<std::string>& names) {
  DIR* list;
  do list = opendir(folder);
  while (!list && errno == EINTR);
  if (!list) return false;
  for (errno = 0; const dirent* entry = readdir(list); errno = 0) names.push_back(entry->d_name);
  const int error = errno;
  closedir(list);
  errno = error;
  return error == 0;
}

bool target_of(const std::string& path, Target& target) {
  target = {path, -1};
  std::string next(4096, '\0');
  for (int links = 0; links <= 40; ++links) {
    const auto [folder, name] = split_path(target.path);
    target.open_file = open_file_of(folder, name);
    if (target.open_file >= 0) return true;
    const ssize_t length = readlink(target.path.c_str(), next.data(), next.size());
    if (length < 0) return true;
    const std::string to = next.substr(0, static_cast<std::size_t>(length));
    target.path = to.starts_with('/') ? to : folder + "/" + to;
  }
  errno = ELOOP;
  return false;
}

unsigned process_id() { return static_cast<unsigned>(getpid()); }

}  // namespace mote::detail
#endif
