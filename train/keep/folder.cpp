// Locks of folders, and logs.
#include "train/keep/folder.h"

#include <algorithm>
#include <cerrno>

#include "engine/base/check.h"

namespace mote {

using namespace detail;

FolderLock::FolderLock(const std::string& folder) : folder_(folder), path_(folder + "/.mote.lock") {
  while (true) {
    file_ = open_path(path_, OpenFor::append);
    if (!file_) fail_file("lock the folder", folder, errno);
    if (calls::lock(file_.get()) != 0) {
      if (errno != EAGAIN) break;  // a network file system without locks: a run without a lock is better than none
      char text[16];
      const std::int64_t length = calls::read_at(file_.get(), text, sizeof text, 0);
      check(false, "the folder '", folder, "' is in use by ", length > 0 ? "process " : "another process",
            std::string_view(text, static_cast<std::size_t>(std::max<std::int64_t>(length, 0))));
    }
    FileStatus status;
    if (status_of(file_.get(), status) != 0) fail_file("lock the folder", folder, errno);
    if (status.links > 0) break;  // otherwise the last owner has just removed the file, so try again
  }
  if (status_of(folder_.c_str(), ours_) != 0) fail_file("lock the folder", folder_, errno);
  const std::string id = std::to_string(process_id());  // for the error message; absent if the disk is full
  calls::truncate(file_.get(), 0);
  write_all(file_.get(), id.data(), id.size());
}

FolderLock::~FolderLock() {
  if (file_) calls::remove(path_.c_str());  // before unlocking, so that no other process loses its lock file
}

void FolderLock::check_ours() const {
  FileStatus now;
  if (status_of(folder_.c_str(), now) != 0) return;  // the next write reports it
  check(now.inode == ours_.inode && now.device == ours_.device, "cannot write into '", folder_,
        "': it was moved or replaced since this run began");
}

LogFile::LogFile(const std::string& path, std::uint64_t size) : path_(path), size_(size) {
  const bool is_new = !file_exists(path);
  if (is_new && size > 0) fail_file("continue", path, ENOENT);
  file_ = open_path(path, OpenFor::append);
  FileStatus status;
  if (!file_ || status_of(file_.get(), status) != 0) fail_file("write", path, errno);
  check(status.size >= size, "cannot continue '", path, "' after byte ", size, ": it has only ", status.size, " bytes");
  if (status.size > size && calls::truncate(file_.get(), size) != 0) fail_file("write", path, errno);
  if (is_new && calls::sync_folder(split_path(path).first.c_str()) != 0) fail_file("write", path, errno);
}

void LogFile::append(std::string_view line) {
  const std::string text = std::string(line) + "\n";
  if (!write_all(file_.get(), text.data(), text.size())) {
    const int error = errno;
    calls::truncate(file_.get(), size_);  // no half line stays
    fail_file("write", path_, error);
  }
  size_ += text.size();
}

void LogFile::sync() {
  FileStatus status;
  if (status_of(file_.get(), status) == 0) {
    if (status.links == 0) fail_file("write", path_, ENOENT);
    check(status.size == size_, "somebody has changed '", path_, "': it has ", status.size,
          " bytes, and this run wrote ", size_);
  }
  if (uninterrupted([&] { return calls::sync(file_.get()); }) != 0) fail_file("write", path_, errno);
}

}  // namespace mote
