// Folders, their locks, and logs.
#include "engine/io/folder.h"

#include <algorithm>
#include <cerrno>

#include "engine/base/check.h"

namespace mote {

using namespace detail;

void make_folder(const std::string& path) {
  FileStatus status;
  if (path.find('\0') != std::string::npos) fail_file("make the folder", path, EINVAL);
  if (status_of(path.c_str(), status) == 0) {
    if (status.kind != FileKind::folder) fail_file("make the folder", path, EEXIST);
    return;
  }
  const std::string whole = path.substr(0, path.find_last_not_of('/') + 1), parent = split_path(whole).first;
  if (errno == ENOENT && parent != whole && !path.empty()) make_folder(parent);
  if (file_calls->make_folder(path.c_str()) != 0) {
    const int error = errno;  // EEXIST: another process was faster, or it is a link to nothing
    if (status_of(path.c_str(), status) != 0 || status.kind != FileKind::folder)
      fail_file("make the folder", path, error);
  }
  if (file_calls->sync_folder(parent.c_str()) != 0) fail_file("make the folder", path, errno);
}

std::vector<std::string> list_folder(const std::string& path) {
  std::vector<std::string> names;
  if (!names_in(path.c_str(), names)) fail_file("list the folder", path, errno);
  std::erase_if(names, [](const std::string& name) { return name == "." || name == ".."; });
  std::sort(names.begin(), names.end());
  return names;
}

bool file_exists(const std::string& path) {
  FileStatus status;
  return status_of(path.c_str(), status) == 0;
}

void remove_file(const std::string& path) {
  if (file_calls->remove(path.c_str()) != 0 && errno != ENOENT) fail_file("remove", path, errno);
}

FolderLock::FolderLock(const std::string& folder) : path_(folder + "/.mote.lock") {
  while (true) {
    file_ = OpenFile(open_path(path_, OpenFor::append));
    if (!file_) fail_file("lock the folder", folder, errno);
    if (file_calls->lock(file_.get(), false) != 0) {
      if (errno != EAGAIN) break;  // a network file system without locks: better a run there than none
      char text[16];
      const std::int64_t length = file_calls->read_at(file_.get(), text, sizeof text, 0);
      check(false, "the folder '", folder, "' is in use by ", length > 0 ? "process " : "another process",
            std::string_view(text, static_cast<std::size_t>(std::max<std::int64_t>(length, 0))));
    }
    FileStatus status;
    if (status_of(file_.get(), status) != 0) fail_file("lock the folder", folder, errno);
    if (status.links > 0) break;  // else its last owner removed it in the meantime
  }
  const std::string id = std::to_string(process_id());  // for the sentence above, whether or not there is room for it
  file_calls->truncate(file_.get(), 0);
  write_all(file_.get(), id.data(), id.size());
}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  path_.swap(other.path_);
  file_ = std::move(other.file_);
  return *this;
}

FolderLock::~FolderLock() {
  if (file_) remove_locked(file_, path_);
}

LogFile::LogFile(const std::string& path, std::uint64_t size) : path_(path), size_(size) {
  const bool is_new = !file_exists(path);
  if (is_new && size > 0) fail_file("continue", path, ENOENT);
  file_ = OpenFile(open_path(path, OpenFor::append));
  FileStatus status;
  if (!file_ || status_of(file_.get(), status) != 0) fail_file("write", path, errno);
  check(status.size >= size, "cannot continue '", path, "' after byte ", size, ": it has ", status.size);
  if (status.size > size && file_calls->truncate(file_.get(), size) != 0) fail_file("write", path, errno);
  if (is_new && file_calls->sync_folder(split_path(path).first.c_str()) != 0) fail_file("write", path, errno);
}

void LogFile::append(std::string_view line) {
  const std::string text = std::string(line) + "\n";
  if (!write_all(file_.get(), text.data(), text.size())) {
    const int error = errno;
    file_calls->truncate(file_.get(), size_);  // no half line stays
    fail_file("write", path_, error);
  }
  size_ += text.size();
}

void LogFile::sync() {
  FileStatus status;
  if (status_of(file_.get(), status) == 0 && status.links == 0) fail_file("write", path_, ENOENT);
  while (file_calls->sync(file_.get()) != 0)
    if (errno != EINTR) fail_file("write", path_, errno);
}

}  // namespace mote
