// SPDX-License-Identifier: Apache-2.0
//
// The objects that the dynamic linker has loaded, at first and later, in all of its namespaces.
//
// The linker has a function that does nothing but be called whenever it has loaded or unloaded
// objects, so that debuggers stop there (r_brk in <link.h>); so does this. Interposing dlopen()
// would not do: it finds files and namespaces by who calls it.
//
// The calls below are made before the program has threads, or by who holds the linker's lock.
#pragma once

#include <link.h>

#include <cstdint>

namespace unlatch::probe::engine {

struct loaded_object {
  std::uint64_t bias;  ///< what addresses in the headers lack
  const ElfW(Phdr) * headers;
  unsigned header_count;

  [[nodiscard]] std::uint64_t begin_of(const ElfW(Phdr) & segment) const noexcept {
    return bias + segment.p_vaddr;
  }
};

/// Calls `visit` for every object, but this one, that was not there at the last call. Without the
/// linker's own locks, but for the one that the caller holds.
void visit_new_objects(void (*visit)(const loaded_object& object)) noexcept;

/// Lets `changed` be called when objects have been loaded, before code of theirs runs, or unloaded:
/// by the thread that did it, as a function that the linker calls. False where the linker does not
/// work as expected. Once.
[[nodiscard]] bool watch_objects(void (*changed)()) noexcept;

/// Where a SIGTRAP of the watch leaves the thread, and where it goes on from there.
[[nodiscard]] bool is_object_watch(std::uint64_t ip) noexcept;
extern "C" __attribute__((visibility("hidden"))) void unlatch_objects_changed() noexcept;

}  // namespace unlatch::probe::engine
