// Reading files, which paths lead to one file, and folders.
#include "engine/io/files/file.h"

#include <algorithm>
#include <cerrno>

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

/// Where a path leads: to a file that exists, or to a name in a folder.
struct Place {
  FileStatus status;
  bool exists = false;
  std::string name;
};

bool place_of(const std::string& path, Place& place) {
  Target target;
  if (!target_of(path, target)) return false;
  place.exists = (target.open_file >= 0 ? status_of(target.open_file, place.status)
                                        : status_of(target.path.c_str(), place.status)) == 0;
  if (place.exists) return true;
  const auto [folder, name] = split_path(target.path);
  place.name = name;
  return status_of(folder.c_str(), place.status) == 0;
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
    const std::int64_t done = file_calls->read_at(file_.get(), to, bytes, offset);
    if (done < 0 && errno == EINTR) continue;
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
    std::int64_t done;
    do done = file_calls->read(file.get(), text.data() + length, text.size() - length);
    while (done < 0 && errno == EINTR);
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

bool same_file(const std::string& a, const std::string& b) {
  Place x, y;
  return place_of(a, x) && place_of(b, y) && x.exists == y.exists && x.status.device == y.status.device &&
         x.status.inode == y.status.inode && x.name == y.name;
}

void check_output(const std::string& output, std::initializer_list<std::string> inputs) {
  Place place;
  const bool in_place = place_of(output, place) && place.exists && place.status.kind != FileKind::regular;
  for (const std::string& input : inputs)
    check(in_place || input.empty() || !same_file(output, input), "cannot write '", output, "': it is '", input,
          "', which is read");
  if (in_place && place.status.kind == FileKind::pipe) return;  // who reads it would take the end of a test for the end
  const FileWriter test(output);
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

}  // namespace mote
