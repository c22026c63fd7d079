// Folders of runs: made, listed, locked; logs that continue.
#include "train/keep/folder.h"

#include <sys/stat.h>

#include <cerrno>
#include <csignal>

#include "engine/io/files/file.h"
#include "tests/file_calls.h"
#include "tests/process.h"
#include "tests/sentences.h"
#include "tests/temp_folder.h"
#include "tests/tools.h"

namespace mote::test::folder_test {
namespace {

namespace fs = std::filesystem;

TEST_CASE("folder: made with those it lies in, listed in order, files removed") {
  const TempFolder folder;
  make_folder(folder.path("a/b/c/"));
  make_folder(folder.path("a/b"));
  CHECK(fs::is_directory(folder.path("a/b/c")));
  for (const char* name : {"b", "B", "10", "9", ".hidden"}) put_file(folder.path(name), "x");
  CHECK(list_folder(folder.path()) == std::vector<std::string>{".hidden", "10", "9", "B", "a", "b"});
  CHECK(file_exists(folder.path("9")));
  fs::create_symlink("B", folder.path("link"));
  for (const char* name : {"9", "9", "link"}) remove_file(folder.path(name));
  CHECK(folder.names() == ".hidden 10 B a b");
  fs::create_symlink("nothing", folder.path("link"));

  const auto refused = [](const std::string& what, const std::string& path, const std::string& why, auto f) {
    CHECK(error_of([&] { f(path); }) == "cannot " + what + " '" + path + "': " + why);
  };
  const auto make = [](const std::string& path) { make_folder(path); };
  refused("make the folder", folder.path("b"), "File exists", make);
  const std::string nowhere = "it is a symbolic link to '" + folder.path("nothing") +
                              "', which does not exist: make that folder, or remove the link";
  refused("make the folder", folder.path("link"), nowhere, make);
  refused("make the folder", folder.path("link/"), nowhere, make);
  refused("make the folder", folder.path("b/c"), "Not a directory", make);
  refused("make the folder", "", "No such file or directory", make);
  refused("list the folder", folder.path("b"), "Not a directory", [](const std::string& path) { list_folder(path); });
  refused("remove", folder.path("a"), "Is a directory", [](const std::string& path) { remove_file(path); });
}

TEST_CASE("folder: locked for one at a time, until it is done or killed") {
  const TempFolder folder;
  const std::string in_use = "the folder '" + folder.path() + "' is in use by process ";
  {
    const FolderLock lock(folder.path());
    const std::string expected = in_use + std::to_string(::getpid());
    CHECK(error_of([&] { FolderLock{folder.path()}; }) == expected);
    CHECK(in_child([&] { return error_of([&] { FolderLock{folder.path()}; }) == expected ? 0 : 1; }) == "exit 0");
  }
  CHECK(folder.names().empty());
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const FolderLock lock(folder.path());
    if (::write(ends[1], "x", 1) == 1) ::pause();
    std::_Exit(0);
  }
  char text;
  REQUIRE(::read(ends[0], &text, 1) == 1);
  CHECK(error_of([&] { FolderLock{folder.path()}; }) == in_use + std::to_string(child));
  ::kill(child, SIGKILL);
  CHECK(outcome(child) == "signal 9");
  FolderLock lock(folder.path());
  const FolderLock moved(std::move(lock));
  CHECK(error_of([&] { FolderLock{folder.path()}; }).starts_with(in_use));
  CHECK(error_of([&] { FolderLock{folder.path("nowhere")}; }) ==
        "cannot lock the folder '" + folder.path("nowhere") + "': No such file or directory");
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("folder: of many that want a lock at once one has it") {
  const TempFolder folder;
  std::vector<pid_t> all;
  for (int i = 0; i < 8; ++i) {
    all.push_back(::fork());
    if (all.back() != 0) continue;
    for (int alone = 0; alone < 20; ::usleep(100)) try {
        const FolderLock lock(folder.path());
        const bool first = ::mkdir(folder.path("inside").c_str(), 0700) == 0;
        if (!first || ::rmdir(folder.path("inside").c_str()) != 0) std::_Exit(1);
        ++alone;
      } catch (const Error&) {
      }
    std::_Exit(0);
  }
  for (const pid_t child : all) CHECK(outcome(child) == "exit 0");
  CHECK(folder.names().empty());
}

TEST_CASE("folder: a log continues after a byte position") {
  const TempFolder folder;
  const std::string path = folder.path("log");
  std::uint64_t second = 0;
  {
    LogFile log(path, 0);
    log.append("one");
    log.append("two");
    second = log.size();
    log.append("three\nfour");
    log.sync();
    CHECK(log.size() == 19);
  }
  CHECK(get_file(path) == "one\ntwo\nthree\nfour\n");
  {
    LogFile log(path, second);
    CHECK(get_file(path) == "one\ntwo\n");
    log.append("five");
  }
  CHECK(get_file(path) == "one\ntwo\nfive\n");
  CHECK(error_of([&] { LogFile(path, 100); }) == "cannot continue '" + path + "' after byte 100: it has only 13 bytes");
  CHECK(get_file(path) == "one\ntwo\nfive\n");
  CHECK(error_of([&] { LogFile(folder.path("none"), 1); }) ==
        "cannot continue '" + folder.path("none") + "': No such file or directory");
  REFUSES(LogFile("/dev/full", 0).append("x"));
  LogFile(path, 0);
  CHECK(get_file(path).empty());
  CHECK(folder.names() == "log");
}

TEST_CASE("folder: a new log's name is on the disk before its first line") {
  const TempFolder folder;
  FileCalls calls = system_file_calls;
  calls.sync_folder = [](const char*) { return errno = EIO, -1; };
  file_calls = &calls;
  const std::string path = folder.path("log"), error = error_of([&] { LogFile(path, 0); });
  CHECK(error_of([&] { LogFile(path, 0); }) == "(no error)");  // it is no longer new
  file_calls = &system_file_calls;
  CHECK(error == "cannot write '" + path + "': Input/output error");
}

}  // namespace
}  // namespace mote::test::folder_test
