// Files as a user meets them: read, written, followed, refused.
#include "engine/io/files/file.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <thread>

#include "tests/process.h"
#include "tests/sentences.h"
#include "tests/temp_folder.h"
#include "tests/tools.h"

namespace mote::test::file_test {
namespace {

namespace fs = std::filesystem;

/// f in a child whom permissions hold back, unlike root.
template <class F>
std::string as_nobody(const TempFolder& folder, F f) {
  fs::permissions(folder.path(), fs::perms::all, fs::perm_options::add);
  return in_child([&] { return ::geteuid() == 0 && ::seteuid(65534) != 0 ? 98 : f(); });
}

unsigned mode_of(const std::string& path) {
  struct stat s {};
  REQUIRE(::stat(path.c_str(), &s) == 0);
  return s.st_mode & 07777;
}

TEST_CASE("file: reads at any place, and no further than the file goes") {
  const TempFolder folder;
  put_file(folder.path("a"), "0123456789");
  const FileReader file(folder.path("a"));
  CHECK(file.size() == 10);
  char text[4] = "---";
  file.read(2, text, 3);
  CHECK(std::string(text) == "234");
  file.read(10, nullptr, 0);
  CHECK(error_of([&] { file.read(8, text, 3); }) ==
        "cannot read '" + folder.path("a") + "': 3 bytes from byte 8 on go beyond the end at byte 10");
  REFUSES(file.read(~std::uint64_t{0}, text, 3));
  CHECK(read_file(folder.path("a"), 10) == "0123456789");
  CHECK(error_of([&] { read_file(folder.path("a"), 9); }) ==
        "cannot read '" + folder.path("a") + "': it has more than 9 bytes");
  CHECK(read_file(folder.path("a"), ~std::uint64_t{0}) == "0123456789");

  fs::resize_file(folder.path("a"), 5);  // it shrinks under the reader's hands
  CHECK(error_of([&] { file.read(3, text, 3); }) ==
        "cannot read '" + folder.path("a") + "': it had 10 bytes and ends now at byte 5");
  put_file(folder.path("empty"), "");
  CHECK(read_file(folder.path("empty"), 0).empty());
}

TEST_CASE("file: what is not read") {
  const TempFolder folder;
  const auto refusal = [&](const std::string& name) {
    const std::string path = name.empty() || name[0] == '/' ? name : folder.path(name);
    const std::string by_reader = error_of([&] { FileReader{path}; });
    CHECK(by_reader.starts_with("cannot read '" + path + "': "));
    return by_reader.substr(("cannot read '" + path + "': ").size());
  };
  fs::create_symlink("loop", folder.path("loop"));
  CHECK(refusal("nowhere") == "No such file or directory");
  CHECK(refusal("") == "No such file or directory");
  REFUSES(FileReader{std::string("a\0b", 3)});
  CHECK(refusal("loop") == "Too many levels of symbolic links");
  CHECK(refusal(std::string(300, 'x')) == "File name too long");
  CHECK(refusal("/") == "Is a directory");
  CHECK(refusal("/dev/zero") == "it is not a regular file");
  CHECK(error_of([&] { read_file(folder.path(), 9); }) == "cannot read '" + folder.path() + "': Is a directory");
  REFUSES(read_file("/dev/zero", 100'000));
  CHECK(read_file("/dev/null", 9).empty());
  CHECK(read_file("/proc/self/stat", 100'000).size() > 10);  // a regular file whose size is said to be 0

  const std::string pipe = folder.path("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(refusal("pipe") == "it is not a regular file");  // without waiting for the other end
  CHECK(error_of([&] { read_file(pipe, 9); }) ==
        "cannot read '" + pipe + "': the pipe is empty and no program writes into it: start that program first");
  const int end = ::open(pipe.c_str(), O_RDWR);
  REQUIRE(end >= 0);
  std::thread writer([&] {
    ::usleep(20'000);  // a program that has opened the pipe is waited for
    for (int i = 0; i < 300; ++i) CHECK(::write(end, std::string(1000, 'x').data(), 1000) == 1000);
    ::close(end);
  });
  CHECK(read_file(pipe, 1'000'000) == std::string(300'000, 'x'));
  writer.join();

  put_file(folder.path("secret"), "x");
  fs::permissions(folder.path("secret"), fs::perms::none);
  CHECK(as_nobody(folder, [&] { return refusal("secret") == "Permission denied" ? 0 : 1; }) == "exit 0");
}

TEST_CASE("file: nothing has happened before commit(), and all of it after") {
  const TempFolder folder;
  const std::string path = folder.path("a");
  put_file(path, "old");
  const std::string large(700'000, 'y');
  {
    FileWriter file(path);
    file.write("abc");
    file.write(large);
    CHECK(get_file(path) == "old");
  }
  CHECK(folder.names() == "a");
  CHECK(get_file(path) == "old");
  {
    FileWriter file(path);
    file.write("abc");
    file.write(large);
    for (int i = 0; i < 1000; ++i) file.write("12345");
    file.commit();
    CHECK(error_of([&] { file.commit(); }) ==
          "cannot write '" + path + "': commit() was called, or an earlier write failed");
  }
  CHECK(folder.names() == "a");
  const std::string content = get_file(path);
  CHECK(content.size() == 705'003);
  CHECK(content.starts_with("abcyyy"));
  CHECK(content.ends_with("1234512345"));
  write_file(path, "");
  CHECK(get_file(path).empty());
}

TEST_CASE("file: names, permissions and links are kept") {
  const TempFolder folder;
  const mode_t mask = ::umask(027);
  write_file(folder.path("new"), "x");
  CHECK(mode_of(folder.path("new")) == 0640);
  for (const unsigned mode : {0600u, 0640u, 0750u}) {
    ::chmod(folder.path("new").c_str(), mode);
    write_file(folder.path("new"), "y");
    CHECK(mode_of(folder.path("new")) == mode);
  }
  ::umask(mask);
  for (const std::size_t length : {250u, 255u}) {
    const std::string name = folder.path(std::string(length, 'x'));
    write_file(name, "long");
    CHECK(get_file(name) == "long");
    fs::remove(name);
  }
  fs::create_directory(folder.path("sub"));
  fs::create_symlink("sub/real", folder.path("link"));  // dangles
  fs::create_symlink(folder.path("link"), folder.path("sub/to_link"));
  for (const std::string text : {"first", "second"}) {
    write_file(folder.path("sub/to_link"), text);
    CHECK(get_file(folder.path("sub/real")) == text);
  }
  CHECK(fs::is_symlink(folder.path("link")));
  CHECK(fs::is_symlink(folder.path("sub/to_link")));
  CHECK(folder.names() == "link new sub");
}

TEST_CASE("file: what cannot be written says why, and stays") {
  const TempFolder folder;
  put_file(folder.path("old"), "old");
  const auto refusal = [&](const std::string& name) {
    const std::string path = name.empty() || name[0] == '/' ? name : folder.path(name);
    const std::string text = error_of([&] { write_file(path, "new"); });
    CHECK(error_of([&] { check_output(path); }) == text);
    CHECK(text.starts_with("cannot write '" + path + "': "));
    return text.substr(("cannot write '" + path + "': ").size());
  };
  fs::create_symlink("loop", folder.path("loop"));
  fs::create_symlink("nowhere/file", folder.path("dangling"));
  CHECK(refusal("") == "No such file or directory");
  CHECK(refusal("nowhere/file") == "No such file or directory");
  CHECK(refusal("nowhere/") == "No such file or directory");
  CHECK(refusal("dangling") == "No such file or directory");
  CHECK(refusal("old/file") == "Not a directory");
  CHECK(refusal("loop") == "Too many levels of symbolic links");
  CHECK(refusal(std::string(300, 'x')) == "File name too long");
  REFUSES(write_file(std::string("a\0b", 3), "x"));
  CHECK(refusal("/") == "Is a directory");
  CHECK(refusal("/dev/null") == "it is not a regular file");
  CHECK(fs::is_character_file("/dev/null"));
  REQUIRE(::mkfifo(folder.path("pipe").c_str(), 0600) == 0);
  CHECK(refusal("pipe") == "it is not a regular file");
  CHECK(folder.names() == "dangling loop old pipe");

  fs::permissions(folder.path("old"), fs::perms::owner_read | fs::perms::others_read);
  fs::create_directory(folder.path("closed"));
  put_file(folder.path("closed/old"), "old");
  fs::permissions(folder.path("closed/old"), fs::perms::all);
  fs::permissions(folder.path("closed"), fs::perms(0555));
  CHECK(as_nobody(folder, [&] {
          const bool file = refusal("old") == "Permission denied",
                     in_folder = refusal("closed/old") == "Permission denied";
          return (::geteuid() == 65534 || ::getuid() != 0) && file && in_folder ? 0 : 1;
        }) == "exit 0");
  CHECK(get_file(folder.path("old")) + get_file(folder.path("closed/old")) == "oldold");

  fs::permissions(folder.path("closed"), fs::perms(0755));
  FileWriter orphan(folder.path("closed/other"));  // its folder goes away
  fs::remove_all(folder.path("closed"));
  CHECK(error_of([&] { orphan.commit(); }) ==
        "cannot write '" + folder.path("closed/other") + "': No such file or directory");
}

TEST_CASE("file: a limit on file sizes is an error, not the end of the program") {
  const TempFolder folder;
  put_file(folder.path("a"), "old");
  CHECK(in_child([&] {
          const rlimit limit{1000, 1000};
          ::signal(SIGXFSZ, SIG_IGN);  // as run_program() has it
          ::setrlimit(RLIMIT_FSIZE, &limit);
          const std::string text = error_of([&] { write_file(folder.path("a"), std::string(5000, 'x')); });
          return text == "cannot write '" + folder.path("a") + "': File too large" ? 0 : 1;
        }) == "exit 0");
  CHECK(get_file(folder.path("a")) == "old");
  CHECK(folder.names() == "a");
}

TEST_CASE("file: many writers of one file at once, each whole") {
  const TempFolder folder;
  std::vector<std::thread> all;
  for (char c = 'a'; c < 'g'; ++c)
    all.emplace_back([&folder, c] {
      for (int i = 0; i < 20; ++i) write_file(folder.path("a"), std::string(5000, c));
    });
  for (std::thread& t : all) t.join();
  const std::string content = get_file(folder.path("a"));
  CHECK(content == std::string(5000, content[0]));
  CHECK(folder.names() == "a");
}

}  // namespace
}  // namespace mote::test::file_test
