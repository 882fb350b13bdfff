// SPDX-License-Identifier: Apache-2.0
#include "src/probe/engine/loaded_objects.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <features.h>

#include "src/probe/engine/patch.hpp"
#include "src/probe/engine/program_memory.hpp"

namespace unlatch::probe::engine {
namespace {

struct known_object {
  loaded_object object;
  std::uint32_t listing;  ///< the last that showed it; 0: not used
  bool is_new;
};

constexpr unsigned most_objects = 4096;
known_object known[most_objects];
std::uint32_t listing;

void (*when_changed)();
std::uint64_t watched;  ///< the linker's function; 0: not watched

bool holds_this_code(const loaded_object& object) noexcept {
  const auto here = reinterpret_cast<std::uint64_t>(&holds_this_code);
  for (unsigned i = 0; i < object.header_count; ++i) {
    const auto& segment = object.headers[i];
    if (segment.p_type == PT_LOAD && here - object.begin_of(segment) < segment.p_memsz) return true;
  }
  return false;
}

/// Notes that the linker lists the object.
void list(const loaded_object& object) noexcept {
  known_object* place = nullptr;
  for (known_object& each : known) {
    const bool there = each.listing != 0 && each.listing + 1 >= listing;
    if (there && each.object.headers == object.headers) {
      each.listing = listing;
      return;
    }
    if (!there && place == nullptr) place = &each;
    if (each.listing == 0) break;
  }
  if (place != nullptr) *place = {object, listing, !holds_this_code(object)};
}

int list_in_first_namespace(dl_phdr_info* object, std::size_t, void*) noexcept {
  list({object->dlpi_addr, object->dlpi_phdr, object->dlpi_phnum});
  return 0;
}

/// What the linker tells debuggers: they find it by the program's dynamic section. Null if it tells
/// nothing.
const r_debug* told_to_debuggers() noexcept {
  if (_r_debug.r_map == nullptr) return nullptr;
  const ElfW(Dyn)* entry = _r_debug.r_map->l_ld;
  while (entry->d_tag != DT_NULL && entry->d_tag != DT_DEBUG) ++entry;
  return entry->d_tag == DT_DEBUG ? reinterpret_cast<const r_debug*>(entry->d_un.d_ptr) : nullptr;
}

void list_in_other_namespaces() noexcept {
#if __GLIBC_PREREQ(2, 35)
  const auto* const first = told_to_debuggers();
  if (first == nullptr || first->r_version < 2) return;
  const auto* space = reinterpret_cast<const r_debug_extended*>(first)->r_next;
  for (; space != nullptr; space = space->r_next) {
    for (const link_map* map = space->base.r_map; map != nullptr; map = map->l_next) {
      Dl_info found;
      if (dladdr(map->l_ld, &found) == 0) continue;
      const auto* const header = static_cast<const ElfW(Ehdr)*>(found.dli_fbase);
      if (*reinterpret_cast<const std::uint32_t*>(header) != 0x464c'457f) continue;  // "\177ELF"
      const auto headers = reinterpret_cast<std::uint64_t>(header) + header->e_phoff;
      list({map->l_addr, reinterpret_cast<const ElfW(Phdr)*>(headers), header->e_phnum});
    }
  }
#endif
}

}  // namespace

void visit_new_objects(void (*visit)(const loaded_object& object)) noexcept {
  ++listing;
  dl_iterate_phdr(list_in_first_namespace, nullptr);
  list_in_other_namespaces();
  for (known_object& each : known) {
    if (each.listing == 0) break;
    if (each.listing == listing && each.is_new) visit(each.object);
    each.is_new = false;
  }
}

bool watch_objects(void (*changed)()) noexcept {
  // Nothing but RET, perhaps behind ENDBR64. It traps instead and the thread returns from here.
  const auto* const told = told_to_debuggers();
  if (told == nullptr || told->r_brk == 0) return false;
  const auto* code = reinterpret_cast<const std::uint8_t*>(told->r_brk);
  constexpr std::uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
  if (same_code(told->r_brk, endbr64, sizeof endbr64)) code += sizeof endbr64;
  constexpr std::uint8_t ret = 0xc3, int3 = 0xcc;
  if (*code != ret) return false;
  when_changed = changed;
  watched = reinterpret_cast<std::uint64_t>(code);
  if (!write_code(watched, &int3, 1)) watched = 0;
  return watched != 0;
}

bool is_object_watch(std::uint64_t ip) noexcept { return watched != 0 && ip == watched + 1; }

void unlatch_objects_changed() noexcept { when_changed(); }

}  // namespace unlatch::probe::engine
