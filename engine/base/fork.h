// on_fork: what is done about fork(), which copies the whole memory of a process but only one of its threads.
#pragma once

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace mote {

/// Keeps a lock usable in a forked child, which has no thread that could release what another one held: `lock` is
/// called before every fork() from now on, then `unlock` in the parent and `in_child`, if it is another, in the child.
/// Call it before main, from the initialiser of a global variable: a child forked meanwhile would find it half done.
/// Locks are taken in the reverse order of registration; the memory cache's, taken while others are, is the first.
inline bool on_fork([[maybe_unused]] void (*lock)(), [[maybe_unused]] void (*unlock)(),
                    [[maybe_unused]] void (*in_child)() = nullptr) {
#if defined(__unix__) || defined(__APPLE__)
  return pthread_atfork(lock, unlock, in_child ? in_child : unlock) == 0;
#else
  return true;  // nothing forks here
#endif
}

}  // namespace mote
