// FileWriter: the one way in which a file comes to be.
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "engine/base/check.h"
#include "engine/io/files/file.h"

namespace mote {

using namespace detail;

namespace {

constexpr std::size_t buffer_size = std::size_t{1} << 18;
constexpr const char *temporary_start = ".mote.", *temporary_end = ".part";

/// Removes temporaries of processes that are gone: who writes one holds its lock.
void remove_abandoned(const std::string& folder) {
  std::vector<std::string> names;
  names_in(folder.c_str(), names);
  for (const std::string& name : names) {
    if (!name.starts_with(temporary_start) || !name.ends_with(temporary_end)) continue;
    const std::string path = folder + "/" + name;
    FileStatus status;
    if (status_of(path.c_str(), status) != 0 || status.kind != FileKind::regular) continue;
    OpenFile file(open_path(path, OpenFor::write));
    if (file && file_calls->lock(file.get(), false) == 0) remove_locked(file, path);
  }
}

/// The file that `status` is of, if it is where this program prints to: replaced, it would lose what is printed.
int printed_to(const FileStatus& status) {
  FileStatus printed;
  for (const int file : {1, 2})
    if (status_of(file, printed) == 0 && printed.device == status.device && printed.inode == status.inode) return file;
  return -1;
}

}  // namespace

FileWriter::FileWriter(const std::string& path) : path_(path), buffer_(new char[buffer_size]) {
  Target target;
  if (!target_of(path, target)) fail(errno);
  target_ = target.path;
  FileStatus old;
  OpenFile file;
  if (target.open_file < 0) {
    file = OpenFile(open_path(target_, OpenFor::write));
    if (!file && errno != ENOENT) fail(errno);
    if (!file && split_path(target_).second.empty()) fail(ENOENT);  // "", or "folder/" without such a folder
    if (file && status_of(file.get(), old) != 0) fail(errno);
    if (file && old.kind == FileKind::regular) target.open_file = printed_to(old);
    if (target.open_file < 0 && old.kind == FileKind::regular) {
      make_temporary(file ? &old : nullptr);
      return;
    }
  }
  file_ = target.open_file < 0 ? std::move(file) : OpenFile(file_calls->duplicate(target.open_file));
  if (!file_ || file_calls->write(file_.get(), "", 0) < 0) fail(errno);  // it may be open for reading only
}

FileWriter::~FileWriter() {
  file_.close();
  if (!temporary_.empty()) file_calls->remove(temporary_.c_str());
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
    file_calls->lock(file.get(), true);  // where there are no locks, nothing is taken for abandoned
    if (status_of(file.get(), status) == 0 && status.links == 0) continue;  // it was, before it had its lock
    temporary_ = std::move(path);
    file_ = std::move(file);
  }
  if (old && file_calls->keep_owner(file_.get(), *old) != 0) fail(errno);
}

void FileWriter::fail(int error) {
  file_.close();
  if (!temporary_.empty()) file_calls->remove(temporary_.c_str());
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
  size_ += bytes;
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
  const OpenFile lock(direct ? -1 : file_calls->keep_lock(file_.get()));  // it is nobody else's before it has its name
  while (!direct && file_calls->sync(file_.get()) != 0)
    if (errno != EINTR) fail(errno);
  if (file_.close() != 0) fail(errno);
  if (direct) return;
  if (file_calls->rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  temporary_.clear();
  if (file_calls->sync_folder(split_path(target_).first.c_str()) != 0)
    check(false, "'", path_,
          "' is written, but may be the old file again after a power cut: ", std::generic_category().message(errno));
}

void write_file(const std::string& path, std::string_view text) {
  FileWriter file(path);
  file.write(text);
  file.commit();
}

}  // namespace mote
