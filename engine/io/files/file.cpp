// Reading and writing files, and folders.
#include "engine/io/files/file.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "engine/base/check.h"

namespace mote {

using namespace detail;

namespace {

constexpr std::string_view temporary_start = ".mote.", temporary_end = ".part";

OpenFile open_to_read(const std::string& path, FileStatus& status) {
  OpenFile file = open_path(path, OpenFor::read);
  if (!file || status_of(file.get(), status) != 0) fail_file("read", path, errno);
  if (status.kind == FileKind::folder) fail_file("read", path, EISDIR);
  return file;
}

/// Follows the symbolic links that begin at `path`, and returns the path to which they lead. No file need exist there.
std::string followed(std::string path) {
  std::error_code none;
  for (int links = 0; links < 40; ++links) {
    const std::filesystem::path to = std::filesystem::read_symlink(path, none);
    if (none) break;
    path = (std::filesystem::path(path).parent_path() / to).string();
  }
  return path;
}

}  // namespace

OpenFile detail::open_path(const std::string& path, OpenFor what, unsigned mode) {
  if (path.find('\0') == std::string::npos) {
    return OpenFile(uninterrupted([&] { return calls::open(path.c_str(), what, mode); }));
  }
  errno = EINVAL;
  return OpenFile();
}

bool detail::write_all(int file, const void* from, std::size_t bytes) {
  for (const char* at = static_cast<const char*>(from); bytes > 0;) {
    const std::int64_t done = uninterrupted([&] { return calls::write(file, at, bytes); });
    if (done == 0) errno = EIO;
    if (done <= 0) return false;
    at += done;
    bytes -= static_cast<std::size_t>(done);
  }
  return true;
}

void detail::fail_file(const char* what, const std::string& path, int error) {
  const bool zero = path.find('\0') != std::string::npos;
  std::string shown = path;  // a NUL would end the error's text early
  for (std::size_t at; (at = shown.find('\0')) != std::string::npos;) shown.replace(at, 1, "\\0");
  fail_with(nullptr, "cannot ", what, " '", shown,
            "': ", zero ? "a path cannot have a zero byte" : std::generic_category().message(error));
}

std::pair<std::string, std::string> detail::split_path(const std::string& path) {
  const std::size_t end = path.rfind('/');
  if (end == std::string::npos) return {".", path};
  return {path.substr(0, end == 0 ? 1 : end), path.substr(end + 1)};
}

bool detail::is_temporary(std::string_view name) {
  return name.starts_with(temporary_start) && name.ends_with(temporary_end);
}

FileReader::FileReader(const std::string& path) : path_(path) {
  FileStatus status;
  file_ = open_to_read(path, status);
  check(status.kind == FileKind::regular, "cannot read '", path, "': it is not a regular file");
  size_ = status.size;
}

void FileReader::read(std::uint64_t offset, void* into, std::size_t bytes) const {
  check(offset <= size_ && bytes <= size_ - offset, "cannot read '", path_, "': ", bytes, " bytes from byte ", offset,
        " on go beyond the end at byte ", size_);
  for (char* to = static_cast<char*>(into); bytes > 0;) {
    const std::int64_t done = uninterrupted([&] { return calls::read_at(file_.get(), to, bytes, offset); });
    if (done < 0) fail_file("read", path_, errno);
    check(done > 0, "cannot read '", path_, "': it had ", size_, " bytes and ends now at byte ", offset);
    to += done;
    offset += static_cast<std::uint64_t>(done);
    bytes -= static_cast<std::size_t>(done);
  }
}

std::string read_file(const std::string& path, std::uint64_t most) {
  FileStatus status;
  const OpenFile file = open_to_read(path, status);
  std::string text;
  std::size_t length = 0;
  std::size_t piece = static_cast<std::size_t>(std::min(status.size, most)) + 1;  // one byte more detects the end
  while (true) {
    text.resize(length + piece);
    const std::int64_t done = uninterrupted([&] { return calls::read(file.get(), text.data() + length, piece); });
    if (done < 0) fail_file("read", path, errno);
    length += static_cast<std::size_t>(done);
    check(length <= most, "cannot read '", path, "': it has more than ", most, " bytes");
    if (done == 0) break;
    piece = std::max<std::size_t>(65536, length / 8);
  }
  check(length > 0 || status.kind != FileKind::pipe, "cannot read '", path,
        "': the pipe is empty and no program writes into it: start that program first");
  text.resize(length);
  return text;
}

FileWriter::FileWriter(const std::string& path) : path_(path) {
  FileStatus old;
  old.mode = 0666;
  if (path.find('\0') != std::string::npos) fail(EINVAL);
  if (status_of(path.c_str(), old) == 0) {
    if (old.kind == FileKind::folder) fail(EISDIR);
    check(old.kind == FileKind::regular, "cannot write '", path, "': it is not a regular file");
    if (!open_path(path, OpenFor::write)) fail(errno);  // rename() would replace even a write-protected file
  } else if (errno != ENOENT) {
    fail(errno);
  }
  target_ = followed(path);
  const auto [folder, name] = split_path(target_);
  if (name.empty()) fail(ENOENT);  // the path is "", or "folder/" and there is no such folder

  static std::atomic<unsigned> count{0};
  do {
    temporary_ = folder + "/";
    temporary_.append(temporary_start).append(std::to_string(process_id())).append(".");
    temporary_.append(std::to_string(++count)).append(temporary_end);
    file_ = open_path(temporary_, OpenFor::create, old.mode);
  } while (!file_ && errno == EEXIST);
  if (!file_) {
    temporary_.clear();
    fail(errno);
  }
}

FileWriter::~FileWriter() {
  file_.close();
  if (!temporary_.empty()) calls::remove(temporary_.c_str());
}

void FileWriter::fail(int error) {
  file_.close();
  if (!temporary_.empty()) calls::remove(temporary_.c_str());
  temporary_.clear();
  fail_file("write", path_, error);
}

void FileWriter::write(const void* from, std::size_t bytes) {
  check(static_cast<bool>(file_), "cannot write '", path_, "': commit() was called, or an earlier write failed");
  if (!write_all(file_.get(), from, bytes)) fail(errno);
}

void FileWriter::commit() {
  check(static_cast<bool>(file_), "cannot write '", path_, "': commit() was called, or an earlier write failed");
  if (uninterrupted([&] { return calls::sync(file_.get()); }) != 0) fail(errno);
  if (file_.close() != 0) fail(errno);
  if (calls::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  temporary_.clear();
  if (calls::sync_folder(split_path(target_).first.c_str()) != 0)
    check(false, "'", path_,
          "' is written, but may be the old file again after a power cut: ", std::generic_category().message(errno));
}

void write_file(const std::string& path, std::string_view text) {
  FileWriter file(path);
  file.write(text);
  file.commit();
}

void check_output(const std::string& path) { const FileWriter test(path); }

void make_folder(const std::string& path) {
  FileStatus status;
  if (path.find('\0') != std::string::npos) fail_file("make the folder", path, EINVAL);
  if (status_of(path.c_str(), status) == 0) {
    if (status.kind != FileKind::folder) fail_file("make the folder", path, EEXIST);
    return;
  }
  const std::string whole = path.substr(0, path.find_last_not_of('/') + 1), parent = split_path(whole).first;
  if (errno == ENOENT && parent != whole && !path.empty()) make_folder(parent);
  if (calls::make_folder(path.c_str()) != 0) {
    const int error = errno;  // EEXIST: another process was faster, or the path is a dangling link
    check(error != EEXIST || file_exists(path), "cannot make the folder '", path, "': it is a symbolic link to '",
          followed(whole), "', which does not exist: make that folder, or remove the link");
    if (!is_folder(path)) fail_file("make the folder", path, error);
  }
  if (calls::sync_folder(parent.c_str()) != 0) fail_file("make the folder", path, errno);
}

std::vector<std::string> list_folder(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  do {  // starts again if a signal interrupts the listing
    names.clear();
    for (std::filesystem::directory_iterator at(path, error), end; !error && at != end; at.increment(error))
      names.push_back(at->path().filename().string());
  } while (error == std::errc::interrupted);
  if (error) fail_file("list the folder", path, error.default_error_condition().value());
  std::sort(names.begin(), names.end());
  return names;
}

bool file_exists(const std::string& path) {
  FileStatus status;
  return status_of(path.c_str(), status) == 0;
}

bool is_folder(const std::string& path) {
  FileStatus status;
  return status_of(path.c_str(), status) == 0 && status.kind == FileKind::folder;
}

void remove_file(const std::string& path) {
  if (calls::remove(path.c_str()) != 0 && errno != ENOENT) fail_file("remove", path, errno);
}

}  // namespace mote
