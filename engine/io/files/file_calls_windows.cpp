// The calls of Windows. Paths are text of the current code page, as the arguments of a program are.
#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <direct.h>
#include <fcntl.h>
#include <io.h>
#include <process.h>
#include <share.h>
#include <sys/stat.h>
#include <windows.h>

#include <algorithm>
#include <cerrno>

#include "engine/io/files/file_calls.h"

namespace mote::detail {

namespace {

constexpr std::size_t most_at_once = std::size_t{1} << 30;
constexpr DWORD lock_place = 0x7FFFFFFF;  // high half of an offset beyond all data: a locked byte may not be read

int failed() {
  const DWORD error = GetLastError();
  errno = error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND     ? ENOENT
          : error == ERROR_ACCESS_DENIED || error == ERROR_SHARING_VIOLATION ? EACCES
          : error == ERROR_ALREADY_EXISTS || error == ERROR_FILE_EXISTS      ? EEXIST
          : error == ERROR_DISK_FULL || error == ERROR_HANDLE_DISK_FULL      ? ENOSPC
          : error == ERROR_LOCK_VIOLATION || error == ERROR_IO_PENDING       ? EAGAIN
          : error == ERROR_INVALID_NAME || error == ERROR_DIRECTORY          ? EINVAL
                                                                             : EIO;
  return -1;
}

HANDLE handle(int file) { return reinterpret_cast<HANDLE>(_get_osfhandle(file)); }

int open_file(const char* path, OpenFor what, unsigned mode) {
  const int flags = what == OpenFor::read     ? _O_RDONLY
                    : what == OpenFor::write  ? _O_WRONLY
                    : what == OpenFor::create ? _O_RDWR | _O_CREAT | _O_EXCL
                                              : _O_RDWR | _O_CREAT | _O_APPEND;
  FileStatus status;
  if (what != OpenFor::create && status_of(path, status) == 0 && status.kind == FileKind::folder) {
    errno = EISDIR;
    return -1;
  }
  return _open(path, flags | _O_BINARY | _O_NOINHERIT, mode & 0200 ? _S_IREAD | _S_IWRITE : _S_IREAD);
}

int duplicate(int file) { return _dup(file); }

std::int64_t read_some(int file, void* into, std::size_t bytes) {
  return _read(file, into, static_cast<unsigned>(std::min(bytes, most_at_once)));
}

std::int64_t read_at(int file, void* into, std::size_t bytes, std::uint64_t offset) {
  OVERLAPPED from{};
  from.Offset = static_cast<DWORD>(offset);
  from.OffsetHigh = static_cast<DWORD>(offset >> 32);
  DWORD done = 0;
  if (ReadFile(handle(file), into, static_cast<DWORD>(std::min(bytes, most_at_once)), &done, &from)) return done;
  return GetLastError() == ERROR_HANDLE_EOF ? 0 : failed();
}

std::int64_t write_some(int file, const void* from, std::size_t bytes) {
  return _write(file, from, static_cast<unsigned>(std::min(bytes, most_at_once)));
}

int truncate_file(int file, std::uint64_t size) {
  return (errno = _chsize_s(file, static_cast<long long>(size))) == 0 ? 0 : -1;
}

int keep_owner(int, const FileStatus&) { return 0; }  // of permissions there is one, which open has seen to

int lock_file(int file, bool wait) {
  OVERLAPPED at{};
  at.OffsetHigh = lock_place;
  const DWORD how = LOCKFILE_EXCLUSIVE_LOCK | (wait ? 0 : LOCKFILE_FAIL_IMMEDIATELY);
  return LockFileEx(handle(file), how, 0, 1, 0, &at) ? 0 : failed();
}

int keep_lock(int) { return -1; }  // a file that is open is not renamed

int rename_file(const char* from, const char* to) {
  return MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) ? 0 : failed();
}

int make_folder(const char* path) { return _mkdir(path); }
int sync_folder(const char*) { return 0; }  // MOVEFILE_WRITE_THROUGH has waited

int answer(HANDLE file, FileStatus& status) {
  BY_HANDLE_FILE_INFORMATION info;
  status = {};
  status.kind = FileKind::other;
  if (GetFileType(file) == FILE_TYPE_PIPE) status.kind = FileKind::pipe;
  if (GetFileType(file) != FILE_TYPE_DISK) return 0;
  if (!GetFileInformationByHandle(file, &info)) return failed();
  const auto join = [](DWORD high, DWORD low) { return static_cast<std::uint64_t>(high) << 32 | low; };
  status.kind = info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? FileKind::folder : FileKind::regular;
  status.device = info.dwVolumeSerialNumber;
  status.inode = join(info.nFileIndexHigh, info.nFileIndexLow);
  status.size = join(info.nFileSizeHigh, info.nFileSizeLow);
  status.links = info.nNumberOfLinks;
  status.mode = info.dwFileAttributes & FILE_ATTRIBUTE_READONLY ? 0444 : 0666;
  return 0;
}

}  // namespace

const FileCalls system_file_calls{open_file,     duplicate,   read_some, read_at,     write_some,
                                  truncate_file, keep_owner,  _commit,   _close,      lock_file,
                                  keep_lock,     rename_file, _unlink,   make_folder, sync_folder};

int status_of(const char* path, FileStatus& status) {
  const DWORD share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  const HANDLE file =
      CreateFileA(path, FILE_READ_ATTRIBUTES, share, nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
  if (file == INVALID_HANDLE_VALUE) return failed();
  const int result = answer(file, status);
  CloseHandle(file);
  return result;
}

int status_of(int file, FileStatus& status) {
  if (_get_osfhandle(file) != -1) return answer(handle(file), status);
  errno = EBADF;
  return -1;
}

bool names_in(const char* folder, std::vector<std::string>& names) {
  WIN32_FIND_DATAA entry;
  const HANDLE list = FindFirstFileA((std::string(folder) + "\\*").c_str(), &entry);
  if (list == INVALID_HANDLE_VALUE) return failed() == 0;
  do names.push_back(entry.cFileName);
  while (FindNextFileA(list, &entry));
  const bool all = GetLastError() == ERROR_NO_MORE_FILES;
  if (!all) failed();
  FindClose(list);
  return all;
}

bool target_of(const std::string& path, Target& target) {
  target = {path, -1};
  return true;
}

unsigned process_id() { return static_cast<unsigned>(_getpid()); }

}  // namespace mote::detail
#endif
