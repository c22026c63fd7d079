// on_fork: what is done about fork(), which copies the whole memory of a process but only one of its threads.
#pragma once

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace mote {

/// Keeps a lock usable in a forked child, which has no thread that could release what another one held: `lock` is
/// called before every fork() from now on, then `unlock` in the parent and `in_child` in the child. Locks registered
/// later are taken earlier: one that is taken while others are held, as the memory cache's is, must be registered
/// before them. So register where a lock is first used, once: `static const bool registered = on_fork(...)`.
inline bool on_fork(void (*lock)(), void (*unlock)(), void (*in_child)()) {
#if defined(__unix__) || defined(__APPLE__)
  return pthread_atfork(lock, unlock, in_child) == 0;
#else
  return lock && unlock && in_child;  // nothing forks here
#endif
}
inline bool on_fork(void (*lock)(), void (*unlock)()) { return on_fork(lock, unlock, unlock); }

}  // namespace mote
