// What the calls of every system share: sentences, whole writes, parts of a path.
#include "engine/io/files/file_calls.h"

#include <cerrno>
#include <system_error>

#include "engine/base/check.h"

namespace mote::detail {

int open_path(const std::string& path, OpenFor what, unsigned mode) {
  if (path.find('\0') == std::string::npos) return calls::open(path.c_str(), what, mode);
  errno = EINVAL;
  return -1;
}

void fail_file(const char* what, const std::string& path, int error) {
  std::string shown = path;  // a sentence ends at a NUL
  for (std::size_t at; (at = shown.find('\0')) != std::string::npos;) shown.replace(at, 1, "\\0");
  fail_with(nullptr, "cannot ", what, " '", shown, "': ", std::generic_category().message(error));
}

void remove_locked(OpenFile& file, const std::string& path) {
  if (calls::remove(path.c_str()) == 0) return;
  file.close();  // Windows removes no file that is open: not before this, and not after somebody else has opened it
  calls::remove(path.c_str());
}

bool write_all(int file, const void* from, std::size_t bytes) {
  for (const char* at = static_cast<const char*>(from); bytes > 0;) {
    const std::int64_t done = uninterrupted([&] { return calls::write(file, at, bytes); });
    if (done == 0) errno = EIO;
    if (done <= 0) return false;
    at += done;
    bytes -= static_cast<std::size_t>(done);
  }
  return true;
}

std::pair<std::string, std::string> split_path(const std::string& path) {
#ifdef _WIN32
  const std::size_t end = path.find_last_of("/\\");
#else
  const std::size_t end = path.rfind('/');
#endif
  if (end == std::string::npos) return {".", path};
  return {path.substr(0, end == 0 ? 1 : end), path.substr(end + 1)};
}

}  // namespace mote::detail
