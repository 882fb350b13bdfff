// SPDX-License-Identifier: Apache-2.0
//
// Mutexes of a C library that does not exist: an object to be loaded before the one that is there.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  static int (*next)(pthread_mutex_t*);
  if (next == 0) *(void**)&next = dlsym(RTLD_NEXT, "pthread_mutex_lock");
  const int result = next(mutex);
  mutex->__data.__elision = 7;
  return result;
}
