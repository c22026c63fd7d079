// The system's calls on files as a table that a test changes: file_calls.cpp beside this is linked in their place.
#pragma once

#include "engine/io/files/file_calls.h"

namespace mote::test {

struct FileCalls {
  int (*open)(const char* path, detail::OpenFor what, unsigned mode);
  std::int64_t (*read)(int file, void* into, std::size_t bytes);
  std::int64_t (*read_at)(int file, void* into, std::size_t bytes, std::uint64_t offset);
  std::int64_t (*write)(int file, const void* from, std::size_t bytes);
  int (*truncate)(int file, std::uint64_t size);
  int (*sync)(int file);
  int (*close)(int file);
  int (*lock)(int file);
  int (*rename)(const char* from, const char* to);
  int (*remove)(const char* path);
  int (*make_folder)(const char* path);
  int (*sync_folder)(const char* path);
};

extern const FileCalls system_file_calls;
/// The table in use. A test that replaces it does so while nothing else works with files.
extern const FileCalls* file_calls;

}  // namespace mote::test
