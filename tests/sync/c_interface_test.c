/* SPDX-License-Identifier: Apache-2.0
 *
 * The C interface, compiled as C11. Its one argument is the version that the build says it has. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "unlatch/unlatch.h"

#define CHECK(condition)                                                                  \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      fprintf(stderr, "%s:%d: this does not hold: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                            \
    }                                                                                     \
  } while (0)

enum { threads = 3, rounds = 2000 };

static void run_together(void* (*body)(void*), void* argument) {
  pthread_t ids[threads];
  for (int i = 0; i < threads; ++i) CHECK(pthread_create(&ids[i], NULL, body, argument) == 0);
  for (int i = 0; i < threads; ++i) CHECK(pthread_join(ids[i], NULL) == 0);
}

static struct timespec in_milliseconds(long ms) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  t.tv_nsec += ms * 1000000;
  t.tv_sec += t.tv_nsec / 1000000000;
  t.tv_nsec %= 1000000000;
  return t;
}

/* --- mutexes -----------------------------------------------------------------------------------
 */

static unlatch_mutex_t static_mutex = UNLATCH_MUTEX_INITIALIZER;
static long count;

static void* increment(void* mutex) {
  for (int i = 0; i < rounds; ++i) {
    CHECK(unlatch_mutex_lock(mutex) == 0);
    ++count;
    CHECK(unlatch_mutex_unlock(mutex) == 0);
  }
  return NULL;
}

static void* expect_busy_mutex(void* mutex) {
  CHECK(unlatch_mutex_trylock(mutex) == EBUSY);
  return NULL;
}

static void mutexes_exclude(unlatch_mutex_t* mutex) {
  count = 0;
  run_together(increment, mutex);
  CHECK(count == threads * rounds);
  CHECK(unlatch_mutex_trylock(mutex) == 0);
  run_together(expect_busy_mutex, mutex);
  CHECK(unlatch_mutex_unlock(mutex) == 0);
}

/* --- reader-writer locks -----------------------------------------------------------------------
 */

static unlatch_rwlock_t static_rwlock = UNLATCH_RWLOCK_INITIALIZER;
static long a, b;

static void* read_and_write(void* lock) {
  for (int i = 0; i < rounds; ++i) {
    if (i % 4 == 0) {
      CHECK(unlatch_rwlock_wrlock(lock) == 0);
      ++a;
      ++b;
    } else {
      CHECK(unlatch_rwlock_rdlock(lock) == 0);
      CHECK(a == b);
    }
    CHECK(unlatch_rwlock_unlock(lock) == 0);
  }
  return NULL;
}

static void* expect_readers_only(void* lock) {
  CHECK(unlatch_rwlock_trywrlock(lock) == EBUSY);
  CHECK(unlatch_rwlock_tryrdlock(lock) == 0);
  CHECK(unlatch_rwlock_unlock(lock) == 0);
  return NULL;
}

static void* expect_busy_rwlock(void* lock) {
  CHECK(unlatch_rwlock_tryrdlock(lock) == EBUSY);
  CHECK(unlatch_rwlock_trywrlock(lock) == EBUSY);
  return NULL;
}

static void rwlocks_exclude_writers(unlatch_rwlock_t* lock) {
  a = b = 0;
  run_together(read_and_write, lock);
  CHECK(a == threads * rounds / 4);
  CHECK(unlatch_rwlock_rdlock(lock) == 0);
  run_together(expect_readers_only, lock);
  CHECK(unlatch_rwlock_unlock(lock) == 0);
  CHECK(unlatch_rwlock_trywrlock(lock) == 0);
  run_together(expect_busy_rwlock, lock);
  CHECK(unlatch_rwlock_unlock(lock) == 0);
}

/* --- condition variables -----------------------------------------------------------------------
 */

struct turns {
  unlatch_mutex_t mutex;
  unlatch_cond_t changed;
  long taken, tickets;
};

/* Each thread waits for its turns; the four ways to signal take turns, too. */
static void* take_turns(void* argument) {
  struct turns* t = argument;
  CHECK(unlatch_mutex_lock(&t->mutex) == 0);
  const long me = t->tickets++;
  for (int i = 0; i < rounds / 4; ++i) {
    while (t->taken % threads != me) CHECK(unlatch_cond_wait(&t->changed, &t->mutex) == 0);
    switch (t->taken++ % 2) {
      case 0:
        CHECK(unlatch_cond_broadcast(&t->changed) == 0);
        break;
      default:
        CHECK(unlatch_cond_broadcast_after_unlock(&t->changed, &t->mutex) == 0);
        break;
    }
  }
  CHECK(unlatch_mutex_unlock(&t->mutex) == 0);
  return NULL;
}

/* One sleeper, woken by the forms that wake one. */
static void* wait_for_two(void* argument) {
  struct turns* t = argument;
  CHECK(unlatch_mutex_lock(&t->mutex) == 0);
  for (long seen = 1; seen <= 2; ++seen)
    while (t->taken < seen) CHECK(unlatch_cond_wait(&t->changed, &t->mutex) == 0);
  CHECK(unlatch_mutex_unlock(&t->mutex) == 0);
  return NULL;
}

static void signals_wake_one(struct turns* t) {
  pthread_t sleeper;
  t->taken = 0;
  CHECK(pthread_create(&sleeper, NULL, wait_for_two, t) == 0);
  CHECK(unlatch_mutex_lock(&t->mutex) == 0);
  ++t->taken;
  CHECK(unlatch_cond_signal_after_unlock(&t->changed, &t->mutex) == 0);
  CHECK(unlatch_mutex_unlock(&t->mutex) == 0);
  CHECK(unlatch_mutex_lock(&t->mutex) == 0);
  ++t->taken;
  CHECK(unlatch_mutex_unlock(&t->mutex) == 0);
  CHECK(unlatch_cond_signal(&t->changed) == 0);
  CHECK(pthread_join(sleeper, NULL) == 0);
}

static void timed_waits_end(struct turns* t) {
  const struct timespec soon = in_milliseconds(2), past = {0, 0}, wrong = {0, 1000000000};
  CHECK(unlatch_mutex_lock(&t->mutex) == 0);
  CHECK(unlatch_cond_timedwait(&t->changed, &t->mutex, &soon) == ETIMEDOUT);
  CHECK(unlatch_cond_timedwait(&t->changed, &t->mutex, &past) == ETIMEDOUT);
  CHECK(unlatch_cond_timedwait(&t->changed, &t->mutex, &wrong) == EINVAL);
  CHECK(unlatch_mutex_unlock(&t->mutex) == 0);
}

/* --- statistics --------------------------------------------------------------------------------
 */

static void statistics_name_the_locks(void) {
  char* json = unlatch_statistics_json();
  CHECK(json != NULL);
  CHECK(strstr(json, "\"lock\":\"named in C\"") != NULL ||
        strstr(json, "\"lock\": \"named in C\"") != NULL);
  free(json);
  CHECK(unlatch_statistics_reset() == 0);
  json = unlatch_statistics_json();
  CHECK(strcmp(json, "[]") == 0);
  free(json);
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  CHECK(strcmp(unlatch_version(), argv[1]) == 0);
  CHECK(strcmp(unlatch_version(), UNLATCH_VERSION) == 0);

  unlatch_mutex_t mutex;
  CHECK(unlatch_mutex_init(&mutex, "named in C") == 0);
  mutexes_exclude(&static_mutex);
  mutexes_exclude(&mutex);
  CHECK(unlatch_mutex_destroy(&mutex) == 0);

  unlatch_rwlock_t rwlock;
  CHECK(unlatch_rwlock_init(&rwlock, NULL) == 0);
  rwlocks_exclude_writers(&static_rwlock);
  rwlocks_exclude_writers(&rwlock);
  CHECK(unlatch_rwlock_destroy(&rwlock) == 0);

  static struct turns turns = {UNLATCH_MUTEX_INITIALIZER, UNLATCH_COND_INITIALIZER, 0, 0};
  run_together(take_turns, &turns);
  CHECK(turns.taken == threads * (rounds / 4));
  signals_wake_one(&turns);
  timed_waits_end(&turns);
  CHECK(unlatch_cond_destroy(&turns.changed) == 0);
  CHECK(unlatch_cond_init(&turns.changed) == 0);
  signals_wake_one(&turns);

  statistics_name_the_locks();
  return 0;
}
