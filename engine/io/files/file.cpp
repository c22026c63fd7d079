// Reading and writing files, and folders.
#include "engine/io/files/file.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <system_error>

#include "engine/base/check.h"

namespace mote {

using namespace detail;

namespace {

OpenFile open_to_read(const std::string& path, FileStatus& status) {
  OpenFile file(open_path(path, OpenFor::read));
  if (!file || status_of(file.get(), status) != 0) fail_file("read", path, errno);
  if (status.kind == FileKind::folder) fail_file("read", path, EISDIR);
  return file;
}

/// Where links lead, to a file or to a name for one.
std::string followed(std::string path) {
  std::error_code none;
  for (int links = 0; links < 40; ++links) {
    const std::filesystem::path to = std::filesystem::read_symlink(path, none);
    if (none) break;
    path = (std::filesystem::path(path).parent_path() / to).string();
  }
  return path;
}

std::vector<std::string> names_in(const std::string& folder, std::error_code& error) {
  std::vector<std::string> names;
  do {  // again from the start if a signal came
    names.clear();
    for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
      names.push_back(at->path().filename().string());
  } while (error == std::errc::interrupted);
  return names;
}

constexpr std::size_t buffer_size = std::size_t{1} << 18;
constexpr const char *temporary_start = ".mote.", *temporary_end = ".part";

/// Removes temporaries of processes that are gone: who writes one holds its lock. Once for each folder, since listing a
/// folder for each of the files that are written to it takes the square of their number.
void remove_abandoned(const std::string& folder) {
  static std::mutex mutex;
  static std::set<std::string> done;
  {
    const std::lock_guard guard(mutex);
    if (!done.insert(folder).second) return;
  }
  std::error_code error;
  for (const std::string& name : names_in(folder, error)) {
    if (!name.starts_with(temporary_start) || !name.ends_with(temporary_end)) continue;
    const std::string path = folder + "/" + name;
    FileStatus status;
    if (status_of(path.c_str(), status) != 0 || status.kind != FileKind::regular) continue;
    OpenFile file(open_path(path, OpenFor::write));
    if (file && calls::lock(file.get(), false) == 0) remove_locked(file, path);
  }
}

/// The file that `status` is of, if it is where this program prints to: replaced, it would lose what is printed.
int printed_to(const FileStatus& status) {
  if (status.inode == 0) return -1;  // unknown
  FileStatus printed;
  for (const int file : {1, 2})
    if (status_of(file, printed) == 0 && printed.device == status.device && printed.inode == status.inode) return file;
  return -1;
}

}  // namespace

FileReader::FileReader(const std::string& path) : path_(path) {
  FileStatus status;
  file_ = open_to_read(path, status);
  check(status.kind == FileKind::regular, "cannot read '", path, "': it is ",
        status.kind == FileKind::pipe ? "a pipe" : "a device", ", not a file");
  size_ = status.size;
}

void FileReader::read(std::uint64_t offset, void* into, std::size_t bytes) const {
  check(offset <= size_ && bytes <= size_ - offset, "cannot read '", path_, "': ", bytes, " bytes from byte ", offset,
        " on are more than its ", size_);
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
  const auto too_long = [&](bool is) { check(!is, "cannot read '", path, "': it has more than ", most, " bytes"); };
  too_long(status.size > most);
  std::string text;
  for (std::size_t length = 0;; text.resize(length)) {
    // As much as the file said it has, and a byte more to find its end; then, or from a pipe, in growing pieces.
    const std::uint64_t room = status.size > length ? status.size - length : std::max<std::size_t>(65536, length / 8);
    text.resize(length + static_cast<std::size_t>(std::min(room, most - length)) + 1);
    const std::int64_t done =
        uninterrupted([&] { return calls::read(file.get(), text.data() + length, text.size() - length); });
    if (done < 0) fail_file("read", path, errno);
    length += static_cast<std::size_t>(done);
    too_long(length > most);
    if (done > 0) continue;
    check(length >= status.size || status.kind != FileKind::regular, "cannot read '", path, "': it had ", status.size,
          " bytes and ends now at byte ", length);
    check(length > 0 || status.kind != FileKind::pipe, "cannot read '", path,
          "': it is a pipe that nothing is written to");
    text.resize(length);
    return text;
  }
}

FileWriter::FileWriter(const std::string& path) : path_(path), buffer_(new char[buffer_size]) {
  FileStatus old;
  file_ = OpenFile(open_path(path, OpenFor::write));
  if (!file_ && errno != ENOENT) fail(errno);
  const bool exists = static_cast<bool>(file_);
  if (exists && status_of(file_.get(), old) != 0) fail(errno);
  const int printed = exists && old.kind == FileKind::regular ? printed_to(old) : -1;
  if (printed >= 0) file_ = OpenFile(calls::duplicate(printed));
  if (printed >= 0 || old.kind != FileKind::regular) {
    if (!file_ || calls::write(file_.get(), "", 0) < 0) fail(errno);  // it may be open for reading only
    return;
  }
  target_ = followed(path);
  if (split_path(target_).second.empty()) fail(ENOENT);  // "", or "folder/" without such a folder
  file_.close();
  make_temporary(exists ? &old : nullptr);
}

FileWriter::~FileWriter() {
  file_.close();
  if (!temporary_.empty()) calls::remove(temporary_.c_str());
}

void FileWriter::make_temporary(const FileStatus* old) {
  static std::atomic<unsigned> count{0};
  const std::string folder = split_path(target_).first, start = folder + "/" + temporary_start;
  remove_abandoned(folder);
  while (!file_) {
    std::string path = start + std::to_string(process_id()) + "." + std::to_string(++count) + temporary_end;
    OpenFile file(open_path(path, OpenFor::create, old ? old->mode : 0666));
    if (!file && errno == EEXIST) continue;
    if (!file) fail(errno);
    FileStatus status;
    calls::lock(file.get(), true);  // where there are no locks, nothing is taken for abandoned
    if (status_of(file.get(), status) == 0 && status.links == 0) continue;  // it was, before it had its lock
    temporary_ = std::move(path);
    file_ = std::move(file);
  }
  if (old && calls::keep_owner(file_.get(), *old) != 0) fail(errno);
}

void FileWriter::fail(int error) {
  file_.close();
  if (!temporary_.empty()) calls::remove(temporary_.c_str());
  temporary_.clear();
  fail_file("write", path_, error);
}

void FileWriter::flush() {
  check(static_cast<bool>(file_), "cannot write '", path_, "': it is finished, or has failed");
  if (temporary_.empty()) std::fflush(stdout);  // it may be where this goes, and what was printed first goes first
  const std::size_t bytes = std::exchange(buffered_, 0);
  if (!write_all(file_.get(), buffer_.get(), bytes)) fail(errno);
}

void FileWriter::write(const void* from, std::size_t bytes) {
  if (bytes > buffer_size - buffered_) flush();
  if (bytes >= buffer_size) {
    if (!write_all(file_.get(), from, bytes)) fail(errno);
  } else if (bytes > 0) {
    std::memcpy(buffer_.get() + buffered_, from, bytes);
    buffered_ += bytes;
  }
}

void FileWriter::commit() {
  flush();
  const bool direct = temporary_.empty();
  const OpenFile lock(direct ? -1 : calls::keep_lock(file_.get()));  // it is nobody else's before it has its name
  if (!direct && uninterrupted([&] { return calls::sync(file_.get()); }) != 0) fail(errno);
  if (file_.close() != 0) fail(errno);
  if (direct) return;
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

void check_output(const std::string& path) {
  FileStatus status;
  if (status_of(path.c_str(), status) == 0 && status.kind == FileKind::pipe) return;  // its reader would see an end
  const FileWriter test(path);
}

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
    const int error = errno;  // EEXIST: another process was faster, or it is a link to nothing
    if (status_of(path.c_str(), status) != 0 || status.kind != FileKind::folder)
      fail_file("make the folder", path, error);
  }
  if (calls::sync_folder(parent.c_str()) != 0) fail_file("make the folder", path, errno);
}

std::vector<std::string> list_folder(const std::string& path) {
  std::error_code error;
  std::vector<std::string> names = names_in(path, error);
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
