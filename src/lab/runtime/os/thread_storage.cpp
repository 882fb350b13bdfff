// SPDX-License-Identifier: Apache-2.0
#include "lab/runtime/os/thread_storage.hpp"

#include <pthread.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include "lab/runtime/os/interpose.hpp"
#include "lab/runtime/os/memory_access.hpp"

namespace unlatch::lab::os::thread_storage {
namespace {

constexpr unsigned most_keys = 128;   // what POSIX promises
constexpr int destructor_rounds = 4;  // likewise: a destructor may set values again

/// A key that glibc made for us. `uses` tells a key from an earlier one of the same number.
struct key {
  void (*destructor)(void*);
  std::uintptr_t uses;
};
key keys[most_keys];

struct value {
  std::uintptr_t uses;
  void* pointer;
};
thread_local value values[most_keys];

/// A thread_local object that has been constructed.
struct object {
  void (*destructor)(void*);
  void* self;
  object* before;
};
thread_local object* objects;

void destroy_objects() noexcept {
  for (object* last = read(objects); last != nullptr; last = read(objects)) {
    const object copy = *last;
    write(objects, copy.before);
    copy.destructor(copy.self);
    std::free(last);
  }
}

bool destroy_values() noexcept {
  bool any = false;
  for (unsigned i = 0; i < most_keys; ++i) {
    if (values[i].pointer == nullptr || values[i].uses != keys[i].uses) continue;
    void* const pointer = read(values[i].pointer);
    write<void*>(values[i].pointer, nullptr);
    if (keys[i].destructor == nullptr) continue;
    any = true;
    keys[i].destructor(pointer);
  }
  return any;
}

}  // namespace

void destroy() noexcept {
  destroy_objects();
  for (int round = 0; round < destructor_rounds && destroy_values(); ++round) {
  }
  destroy_objects();
}

}  // namespace unlatch::lab::os::thread_storage

using namespace unlatch::lab;      // NOLINT(google-build-using-namespace): definitions only
using namespace unlatch::lab::os;  // NOLINT(google-build-using-namespace)
using namespace unlatch::lab::os::thread_storage;  // NOLINT(google-build-using-namespace)

UNLATCH_LAB_INTERPOSE int pthread_key_create(pthread_key_t* result,
                                             void (*destructor)(void*)) noexcept {
  leave_transaction();
  pthread_key_t made;
  if (const int error = UNLATCH_LAB_HOST(pthread_key_create)(&made, destructor)) return error;
  if (made >= most_keys) {
    UNLATCH_LAB_HOST(pthread_key_delete)(made);
    return EAGAIN;
  }
  keys[made].destructor = destructor;
  ++keys[made].uses;
  if (!host_mode()) will_write(result, sizeof *result);
  *result = made;
  return 0;
}

UNLATCH_LAB_INTERPOSE int pthread_key_delete(pthread_key_t which) noexcept {
  leave_transaction();
  if (which < most_keys) ++keys[which].uses;
  return UNLATCH_LAB_HOST(pthread_key_delete)(which);
}

UNLATCH_LAB_INTERPOSE void* pthread_getspecific(pthread_key_t which) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_getspecific)(which);
  if (which >= most_keys || values[which].uses != keys[which].uses) return nullptr;
  return read(values[which].pointer);
}

UNLATCH_LAB_INTERPOSE int pthread_setspecific(pthread_key_t which, const void* pointer) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_setspecific)(which, pointer);
  if (which >= most_keys || keys[which].uses == 0) return EINVAL;
  write(values[which].uses, keys[which].uses);
  write(values[which].pointer, const_cast<void*>(pointer));
  return 0;
}

/// How the compiler's code registers the destructor of a thread_local object.
UNLATCH_LAB_INTERPOSE int __cxa_thread_atexit_impl(void (*destructor)(void*), void* self,
                                                   void* library) {
  using function = int (*)(void (*)(void*), void*, void*);
  if (host_mode()) {
    static const auto host = reinterpret_cast<function>(host_symbol("__cxa_thread_atexit_impl"));
    return host(destructor, self, library);
  }
  auto* const added = static_cast<object*>(std::malloc(sizeof(object)));
  if (added == nullptr) return ENOMEM;
  will_write(added, sizeof *added);
  *added = {destructor, self, read(objects)};
  write(objects, added);
  return 0;
}
