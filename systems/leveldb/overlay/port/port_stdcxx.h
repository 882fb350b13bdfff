// SPDX-License-Identifier: Apache-2.0
//
// LevelDB's port layer on unlatch: the only header that stands between the unmodified sources and
// the library. The compiler finds it before LevelDB's own header of this name (-iquote). It takes
// everything from that header by #include_next, with its Mutex and CondVar renamed out of the way,
// and puts an elided mutex and the matching condition variable in their place.
//
// LevelDB signals a condition variable only while it holds the variable's mutex. So every wake-up
// can be deferred until that mutex is released, and the woken thread does not run into a held lock.
#pragma once

#include "port/thread_annotations.h"
#include "unlatch/condition_variable.hpp"
#include "unlatch/elided.hpp"
#include "unlatch/mutex.hpp"

#define Mutex StdMutex
#define CondVar StdCondVar
#include_next "port/port_stdcxx.h"
#undef Mutex
#undef CondVar

/// How the mutex is elided, and how threads wait. Another build may choose what was published, to
/// compare with.
#ifndef UNLATCH_LEVELDB_POLICY
#define UNLATCH_LEVELDB_POLICY unlatch::policy::adaptive
#endif
#ifdef UNLATCH_LEVELDB_XSYNC_CONDITION
#include "port/xsync_condition_variable.h"
#endif

namespace leveldb {
namespace port {

class CondVar;
using ElidedMutex = unlatch::elided<unlatch::mutex, UNLATCH_LEVELDB_POLICY>;
#ifdef UNLATCH_LEVELDB_XSYNC_CONDITION
using Condition = XsyncConditionVariable;
#else
using Condition = unlatch::condition_variable;
#endif

/// A mutual exclusion lock. Its statistics are counted under the name "leveldb".
class LOCKABLE Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  /// REQUIRES: the calling thread holds the mutex.
  void Unlock() UNLOCK_FUNCTION() { mutex_.unlock(); }
  /// Tells the static analysis, and nobody else, that the calling thread holds the mutex.
  void AssertHeld() ASSERT_EXCLUSIVE_LOCK() {}

 private:
  friend class CondVar;
  ElidedMutex mutex_{"leveldb"};
};

/// REQUIRES, for every member: the calling thread holds the mutex given to the constructor.
class CondVar {
 public:
  explicit CondVar(Mutex* mutex) : mutex_(&mutex->mutex_) {}
  CondVar(const CondVar&) = delete;
  CondVar& operator=(const CondVar&) = delete;

  /// Releases the mutex, waits for a signal, takes the mutex again. May return without a signal.
  void Wait() { condition_.wait(*mutex_); }
  /// Wakes one waiting thread, and all of them, once the mutex is released.
  void Signal() { condition_.notify_one(*mutex_); }
  void SignalAll() { condition_.notify_all(*mutex_); }

 private:
  Condition condition_;
  ElidedMutex* const mutex_;
};

}  // namespace port
}  // namespace leveldb
