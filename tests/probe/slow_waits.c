// SPDX-License-Identifier: Apache-2.0
//
// Waits on conditions that begin late, so that signals come before the condition knows the waiter
// in a test, and not once in a million: an object to be loaded before the system's.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <time.h>

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  static int (*next)(pthread_cond_t*, pthread_mutex_t*);
  if (next == 0) *(void**)&next = dlvsym(RTLD_NEXT, "pthread_cond_wait", "GLIBC_2.3.2");
  const struct timespec nap = {0, 200000};
  nanosleep(&nap, 0);
  return next(condition, mutex);
}
