// The calls of this system under another name, and mote's calls as what a test's table says.
#include "tests/file_calls.h"

#define calls system_calls  // of the source that is included here
#include "engine/io/files/file_calls.cpp"
#undef calls

namespace mote {

namespace real = detail::system_calls;
const test::FileCalls test::system_file_calls{real::open,     real::read,   real::read_at,     real::write,
                                              real::truncate, real::sync,   real::close,       real::lock,
                                              real::rename,   real::remove, real::make_folder, real::sync_folder};
const test::FileCalls* test::file_calls = &system_file_calls;

namespace detail::calls {

using test::file_calls;
int open(const char* path, OpenFor what, unsigned mode) { return file_calls->open(path, what, mode); }
std::int64_t read(int file, void* into, std::size_t bytes) { return file_calls->read(file, into, bytes); }
std::int64_t read_at(int file, void* into, std::size_t bytes, std::uint64_t offset) {
  return file_calls->read_at(file, into, bytes, offset);
}
std::int64_t write(int file, const void* from, std::size_t bytes) { return file_calls->write(file, from, bytes); }
int truncate(int file, std::uint64_t size) { return file_calls->truncate(file, size); }
int sync(int file) { return file_calls->sync(file); }
int close(int file) { return file_calls->close(file); }
int lock(int file) { return file_calls->lock(file); }
int rename(const char* from, const char* to) { return file_calls->rename(from, to); }
int remove(const char* path) { return file_calls->remove(path); }
int make_folder(const char* path) { return file_calls->make_folder(path); }
int sync_folder(const char* path) { return file_calls->sync_folder(path); }

}  // namespace detail::calls

}  // namespace mote
