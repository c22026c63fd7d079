// Every call on files fails in turn, is interrupted, does half of what it should, or is followed by a power cut.
#include <sys/stat.h>
#ifdef __linux__
#include <sched.h>
#include <sys/mount.h>
#endif

#include <cerrno>
#include <csignal>
#include <map>
#include <set>

#include "engine/io/files/file.h"
#include "tests/file_calls.h"
#include "tests/process.h"
#include "tests/temp_folder.h"
#include "tests/tools.h"
#include "train/keep/folder.h"

namespace mote::test::file_faults_test {
namespace {

using detail::FileStatus;
using detail::OpenFor;
const FileCalls& real = system_file_calls;

/// Uses a table of calls for one scope.
class Use {
 public:
  explicit Use(const FileCalls& calls) { file_calls = &calls; }
  ~Use() { file_calls = &real; }
  Use(const Use&) = delete;
};

// What goes wrong: the n-th call, or every second that a signal may interrupt.
struct Faults {
  int calls = 0, fail_at = 0, error = EIO;
  bool storm = false, interrupted = false;
  const char* failed = "";

  bool hits(const char* name) {
    if (++calls != fail_at) return false;
    failed = name;
    errno = error;
    return true;
  }
  bool interrupts() {
    interrupted = storm && !interrupted;
    if (interrupted) errno = EINTR;
    return interrupted;
  }
  std::size_t part(std::size_t bytes) const { return storm ? (bytes + 2) / 3 : bytes; }
} faults;

const FileCalls faulty{
    [](const char* path, OpenFor what, unsigned mode) {
      return faults.hits("open") ? -1 : real.open(path, what, mode);
    },
    [](int file, void* into, std::size_t bytes) {
      const bool fails = faults.hits("read") || faults.interrupts();
      return fails ? -1 : real.read(file, into, faults.part(bytes));
    },
    [](int file, void* into, std::size_t bytes, std::uint64_t offset) {
      const bool fails = faults.hits("read_at") || faults.interrupts();
      return fails ? -1 : real.read_at(file, into, faults.part(bytes), offset);
    },
    [](int file, const void* from, std::size_t bytes) {
      const bool fails = faults.hits("write") || (bytes > 0 && faults.interrupts());
      return fails ? -1 : real.write(file, from, faults.part(bytes));
    },
    [](int file, std::uint64_t size) { return faults.hits("truncate") ? -1 : real.truncate(file, size); },
    [](int file) { return faults.hits("sync") || faults.interrupts() ? -1 : real.sync(file); },
    [](int file) {
      real.close(file);  // it is closed in any case
      return faults.hits("close") ? -1 : 0;
    },
    [](int file) { return faults.hits("lock") ? -1 : real.lock(file); },
    [](const char* from, const char* to) { return faults.hits("rename") ? -1 : real.rename(from, to); },
    [](const char* path) { return faults.hits("remove") ? -1 : real.remove(path); },
    [](const char* path) { return faults.hits("make_folder") ? -1 : real.make_folder(path); },
    [](const char* path) { return faults.hits("sync_folder") ? -1 : real.sync_folder(path); },
};

const std::string new_content = std::string(600'000, 'n') + "end";

void write_new(const std::string& path) {
  FileWriter file(path);
  file.write("nnn");
  file.write(std::string(599'997, 'n'));
  file.write("end");
  file.commit();
}

TEST_CASE("file: the n-th call fails, for every n: the old file or the new one, nothing else, and an error") {
  for (const bool replaces : {true, false})
    for (const int error : {EIO, ENOSPC, EROFS, EINVAL}) {
      std::set<std::string> failed, told;
      for (int n = 1;; ++n) {
        const TempFolder folder;
        const std::string path = folder.path("a");
        if (replaces) put_file(path, "old");
        faults = {.fail_at = n, .error = error};
        std::string text;
        {
          const Use use(faulty);
          text = error_of([&] { write_new(path); });
        }
        if (faults.calls < n) break;  // none failed
        INFO(faults.failed << ", call " << n << ": " << text);
        failed.insert(faults.failed);
        if (text != "(no error)") told.insert(faults.failed);
        const bool done = text == "(no error)" || std::string(faults.failed) == "sync_folder";
        CHECK(get_file(path) == (done ? new_content : replaces ? "old" : ""));
        CHECK(folder.names() == (done || replaces ? "a" : ""));
        CHECK((text == "(no error)" || text.find(path) != std::string::npos));
        // A file that was only looked at is closed, or not.
        const bool must_be_told =
            std::set<std::string>{"open", "write", "sync", "rename", "sync_folder"}.contains(faults.failed);
        if (must_be_told) CHECK(text != "(no error)");
      }
      for (const char* name : {"open", "write", "sync", "close", "rename", "sync_folder"}) CHECK(failed.contains(name));
      CHECK(told.contains("close"));  // of the file that is written
    }
}

TEST_CASE("folder: the n-th call fails, for every n: whole lines, a lock that is free again, and an error") {
  for (int n = 1;; ++n) {
    const TempFolder folder;
    const std::string run = folder.path("a/b"), log = run + "/log";
    faults = {.fail_at = n};
    std::string text;
    {
      const Use use(faulty);
      text = error_of([&] {
        make_folder(run);
        const FolderLock lock(run);
        LogFile(log, 0).append("one");
        LogFile again(log, 4);
        again.append("two");
        again.sync();
        LogFile(log, 4).append("three");
        remove_file(run + "/none");
      });
    }
    if (faults.calls < n) break;
    INFO(faults.failed << ", call " << n << ": " << text);
    const std::string left = file_exists(log) ? get_file(log) : "";
    CHECK(std::set<std::string>{"", "one\n", "one\ntwo\n", "one\nthree\n"}.contains(left));
    if (text == "(no error)")
      CHECK(left == "one\nthree\n");
    else
      CHECK(text.find(run.substr(0, run.size() - 2)) != std::string::npos);
    make_folder(run);
    const FolderLock free_again(run);
  }
}

TEST_CASE("file: calls that are interrupted or do a part of their work") {
  const TempFolder folder;
  const std::string path = folder.path("a");
  faults = {.storm = true};
  const Use use(faulty);
  write_new(path);
  CHECK(get_file(path) == new_content);
  CHECK(read_file(path, new_content.size()) == new_content);
  std::string text(new_content.size(), ' ');
  FileReader(path).read(0, text.data(), text.size());
  CHECK(text == new_content);
  LogFile log(folder.path("log"), 0);
  for (int i = 0; i < 10; ++i) log.append("a line of some length");
  log.sync();
  CHECK(get_file(folder.path("log")).size() == log.size());
}

TEST_CASE("file: a disk that is full, and one that is read-only") {
  const TempFolder folder;
  const std::string disk = folder.path("disk"), path = disk + "/a";
  ::mkdir(disk.c_str(), 0700);
  const std::string result = in_child([&] {
#ifdef __linux__
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=256k") != 0)
      return 77;
    write_file(path, "old");
    const auto is_full = [](const std::string& text) { return text.ends_with("': No space left on device"); };
    if (!is_full(error_of([&] { write_new(path); })) || get_file(path) != "old") return 1;
    {
      LogFile log(disk + "/log", 0);
      const std::string text = error_of([&] {
        while (true) log.append(std::string(100, 'x'));
      });
      if (!is_full(text)) return 2;
      if (get_file(disk + "/log").size() != log.size() || log.size() % 101 != 0) return 3;
    }
    LogFile(disk + "/log", 101).append("y");
    if (list_folder(disk) != std::vector<std::string>{"a", "log"}) return 4;
    write_file(path, "new");
    if (::mount(nullptr, disk.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) != 0) return 5;
    const std::string text = error_of([&] { write_file(path, "newer"); });
    return text == "cannot write '" + path + "': Read-only file system" && get_file(path) == "new" ? 0 : 6;
#else
    return 77;
#endif
  });
  if (result == "exit 77")
    MESSAGE("left out: this needs the right to mount a file system");
  else
    CHECK(result == "exit 0");
}

TEST_CASE("file: what is written to a file that others may not read is at no moment theirs to read") {
  static unsigned created = 0777;
  const TempFolder folder;
  put_file(folder.path("a"), "old");
  ::chmod(folder.path("a").c_str(), 0600);
  FileCalls calls = real;
  calls.open = [](const char* path, OpenFor what, unsigned mode) {
    if (what == OpenFor::create) created = mode;
    return real.open(path, what, mode);
  };
  const Use use(calls);
  write_file(folder.path("a"), "new");
  CHECK(created == 0600);
}

TEST_CASE("folder: a log's line that cannot be written leaves no half of it") {
  const TempFolder folder;
  LogFile log(folder.path("log"), 0);
  log.append("first");
  CHECK(in_child([&] {
          FileCalls half = real;
          half.write = [](int file, const void* from, std::size_t bytes) -> std::int64_t {
            static int n = 0;
            if (n++ > 0) return errno = ENOSPC, -1;
            return real.write(file, from, bytes / 2);
          };
          const Use use(half);
          return error_of([&] { log.append("second"); }).ends_with("No space left on device") ? 0 : 1;
        }) == "exit 0");
  log.append("third");
  CHECK(get_file(folder.path("log")) == "first\nthird\n");
}

/// What would be on the disk after a power cut. Two extremes: of the names in the folder all changes, or those that the
/// folder was synced after; of the contents always only what was synced.
struct Disk {
  struct Inode {
    std::string written, synced;
  };
  std::map<std::uint64_t, Inode> inodes;                // by the system's number
  std::map<std::string, std::uint64_t> names, on_disk;  // of the folder
  std::string target;
  bool sync_lies = false, sync_folder_lies = false;
  std::set<std::string> found;  // contents of the target after a cut at any moment so far

  void cut() {
    for (const auto& now : {names, on_disk}) {
      const auto place = now.find(target);
      found.insert(place == now.end() ? "(none)" : inodes[place->second].synced);
    }
  }
  std::string durable() { return inodes[on_disk[target]].synced; }
} disk;

std::uint64_t inode_of(int file) {
  FileStatus status;
  detail::status_of(file, status);
  return status.inode;
}

FileCalls recorded() {
  FileCalls calls = real;
  calls.open = [](const char* path, OpenFor what, unsigned mode) {
    const int file = real.open(path, what, mode);
    if (file >= 0 && what == OpenFor::create) {
      disk.names[path] = inode_of(file);
      disk.inodes[inode_of(file)] = {};
    }
    disk.cut();
    return file;
  };
  calls.write = [](int file, const void* from, std::size_t bytes) {
    const std::int64_t done = real.write(file, from, bytes);
    if (done > 0) disk.inodes[inode_of(file)].written.append(static_cast<const char*>(from), std::size_t(done));
    disk.cut();
    return done;
  };
  calls.sync = [](int file) {
    if (!disk.sync_lies) disk.inodes[inode_of(file)].synced = disk.inodes[inode_of(file)].written;
    disk.cut();
    return real.sync(file);
  };
  calls.rename = [](const char* from, const char* to) {
    disk.names[to] = disk.names[from];
    disk.names.erase(from);
    disk.cut();
    return real.rename(from, to);
  };
  calls.remove = [](const char* path) {
    disk.names.erase(path);
    disk.cut();
    return real.remove(path);
  };
  calls.sync_folder = [](const char* path) {
    if (!disk.sync_folder_lies) disk.on_disk = disk.names;
    disk.cut();
    return real.sync_folder(path);
  };
  return calls;
}

/// Writes over an old file, after `lie` has changed the disk.
template <class Lie>
void write_on_disk(const Lie& lie) {
  const TempFolder folder;
  const std::string path = folder.path("a");
  put_file(path, "old");
  FileStatus status;
  REQUIRE(detail::status_of(path.c_str(), status) == 0);
  disk = {};
  disk.target = path;
  disk.names[path] = disk.on_disk[path] = status.inode;
  disk.inodes[status.inode] = {"old", "old"};
  lie();
  const FileCalls calls = recorded();
  const Use use(calls);
  write_new(path);
}

TEST_CASE("file: a power cut at any moment leaves the old file or the new one, and after commit() the new one") {
  write_on_disk([] {});
  CHECK(disk.found == std::set<std::string>{"old", new_content});
  CHECK(disk.durable() == new_content);
  // That this test would notice a call that is left out.
  write_on_disk([] { disk.sync_lies = true; });
  CHECK(disk.found == std::set<std::string>{"old", ""});
  write_on_disk([] { disk.sync_folder_lies = true; });
  CHECK(disk.durable() == "old");
}

}  // namespace
}  // namespace mote::test::file_faults_test
