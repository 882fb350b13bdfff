/* SPDX-License-Identifier: Apache-2.0
 *
 * The C interface: mutexes, reader-writer locks and condition variables that elide, with the calls
 * and the error numbers of POSIX threads. For C11 and later, and for C++.
 *
 *   static unlatch_mutex_t latch = UNLATCH_MUTEX_INITIALIZER;
 *   unlatch_mutex_lock(&latch);
 *   ...
 *   unlatch_mutex_unlock(&latch);
 *
 * Sections run in hardware transactions where the CPU has them, under the lock elsewhere
 * (elided.hpp). So a section may run several times until it commits; on hardware what it did before
 * is undone.
 *
 * RETURN VALUE. Every function that returns int returns 0 or an error number; none sets errno.
 * Besides the errors listed with a function, any may return ENOMEM if the calling thread's counters
 * cannot be allocated, which happens at its first call only. Errors are values; misuse is not:
 * unlocking what the caller does not hold and locking what it holds have undefined behaviour, and
 * abort the program with a message in checked builds of the library.
 *
 * THREAD SAFETY. All functions but the init and destroy ones may be called by any thread at any
 * time. None is async-signal-safe. Objects are for the threads of one process.
 *
 * OBJECTS may not be copied or moved. Their sizes are part of the interface.
 */
#pragma once

#include <stdint.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header. unlatch_version() returns that of the library. */
#define UNLATCH_VERSION "0.1.0"

/* The version of the library, as "major.minor.patch". A string constant. */
const char* unlatch_version(void);

/* ------------------------------------------------------------------------------------------------
 * Mutexes: unlatch::elided<unlatch::mutex>. Spin briefly, then park. Not recursive, not fair. */

typedef struct unlatch_mutex {
  uint64_t opaque[6];
} unlatch_mutex_t;

/* A free mutex without a name. So is one filled with zero bytes. */
#define UNLATCH_MUTEX_INITIALIZER \
  {                               \
    { 0 }                         \
  }

/* Makes `mutex` a free mutex that the statistics call `name`, or without a name if that is NULL.
 * The name is copied. Errors: ENOMEM. */
int unlatch_mutex_init(unlatch_mutex_t* mutex, const char* name);

/* Ends the use of a mutex that nobody holds or waits for and in which no unlock is still under way.
 * It may be initialized again. Returns 0. */
int unlatch_mutex_destroy(unlatch_mutex_t* mutex);

/* Enters a section, waiting if need be. */
int unlatch_mutex_lock(unlatch_mutex_t* mutex);

/* Enters a section if that is possible without waiting. Errors: EBUSY, the mutex is held (or,
 * rarely, could have been). */
int unlatch_mutex_trylock(unlatch_mutex_t* mutex);

/* Ends the section of the calling thread, which entered it. */
int unlatch_mutex_unlock(unlatch_mutex_t* mutex);

/* ------------------------------------------------------------------------------------------------
 * Reader-writer locks: unlatch::elided<unlatch::shared_mutex>. A waiting writer keeps new readers
 * out. Not recursive, not even for readers. */

typedef struct unlatch_rwlock {
  uint64_t opaque[10];
} unlatch_rwlock_t;

/* A free lock without a name. So is one filled with zero bytes. */
#define UNLATCH_RWLOCK_INITIALIZER \
  {                                \
    { 0 }                          \
  }

/* As for mutexes. */
int unlatch_rwlock_init(unlatch_rwlock_t* lock, const char* name);
int unlatch_rwlock_destroy(unlatch_rwlock_t* lock);

/* Enters a section that only reads; others may be in such sections at the same time. The try form:
 * if that is possible without waiting. Errors of the try form: EBUSY. */
int unlatch_rwlock_rdlock(unlatch_rwlock_t* lock);
int unlatch_rwlock_tryrdlock(unlatch_rwlock_t* lock);

/* Enters a section alone. The try form: if that is possible without waiting. Errors of the try
 * form: EBUSY. */
int unlatch_rwlock_wrlock(unlatch_rwlock_t* lock);
int unlatch_rwlock_trywrlock(unlatch_rwlock_t* lock);

/* Ends the section of the calling thread, of either kind. */
int unlatch_rwlock_unlock(unlatch_rwlock_t* lock);

/* ------------------------------------------------------------------------------------------------
 * Condition variables: unlatch::condition_variable. Waiters spin shortly, then park. All waiters of
 * one condition variable use one mutex. A wait may end without a signal: test the condition in a
 * loop.
 */

typedef struct unlatch_cond {
  uint64_t opaque[2];
} unlatch_cond_t;

/* A condition variable without waiters. So is one filled with zero bytes. */
#define UNLATCH_COND_INITIALIZER \
  {                              \
    { 0 }                        \
  }

/* Makes `cond` a condition variable without waiters. Returns 0. */
int unlatch_cond_init(unlatch_cond_t* cond);

/* Ends the use of a condition variable without waiters. Returns 0. */
int unlatch_cond_destroy(unlatch_cond_t* cond);

/* Ends the caller's section of `mutex`, waits for a signal, and enters it again. */
int unlatch_cond_wait(unlatch_cond_t* cond, unlatch_mutex_t* mutex);

/* The same, until `deadline` at the latest, an absolute time of CLOCK_MONOTONIC
 * (pthread_cond_timedwait takes CLOCK_REALTIME). Errors: ETIMEDOUT, the deadline has passed without
 * a signal; EINVAL, deadline->tv_nsec is not below 1 000 000 000. After ETIMEDOUT the caller is in
 * the section again; after EINVAL it has never left it. */
int unlatch_cond_timedwait(unlatch_cond_t* cond, unlatch_mutex_t* mutex,
                           const struct timespec* deadline);

/* Wakes at least one waiter, if there is one; or all. Inside a transaction: once it has committed.
 * */
int unlatch_cond_signal(unlatch_cond_t* cond);
int unlatch_cond_broadcast(unlatch_cond_t* cond);

/* The same from a section of `mutex`, the waiters' mutex, which the caller holds: sleepers are
 * woken once the section has ended, so that they do not run into it. The forms to use in a section.
 * */
int unlatch_cond_signal_after_unlock(unlatch_cond_t* cond, unlatch_mutex_t* mutex);
int unlatch_cond_broadcast_after_unlock(unlatch_cond_t* cond, unlatch_mutex_t* mutex);

/* ------------------------------------------------------------------------------------------------
 * Statistics (statistics.hpp). */

/* The counters of all locks as JSON: an array with one object for each lock name and call site.
 * Returns a string that the caller passes to free(), or NULL if there is no memory for it. */
char* unlatch_statistics_json(void);

/* Sets all counters to 0. Returns 0. */
int unlatch_statistics_reset(void);

#ifdef __cplusplus
}
#endif
