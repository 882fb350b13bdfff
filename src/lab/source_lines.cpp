// SPDX-License-Identifier: Apache-2.0
#include "src/lab/source_lines.hpp"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>

#include "src/lab/source_text.hpp"

namespace unlatch::lab {

struct place {
  const char* file = nullptr;
  int line = 0;
};

struct symbol_place {
  std::string name;
  std::uint64_t offset = 0;
};

namespace {

struct free_it {
  void operator()(void* memory) const { std::free(memory); }
};

std::string demangled(const char* name) {
  // The name of a variable in C may be that of a type in mangled form: "i" is no "int".
  // Behind an '@' is the version of a symbol.
  if (!std::string_view(name).starts_with("_Z")) return std::string(name, std::strcspn(name, "@"));
  int status = 0;
  const std::unique_ptr<char, free_it> readable(
      abi::__cxa_demangle(name, nullptr, nullptr, &status));
  return status == 0 && readable != nullptr ? readable.get() : name;
}

std::string in_hexadecimal(std::uintptr_t address) {
  std::array<char, 2 + 16> text = {'0', 'x'};
  const auto end = std::to_chars(text.data() + 2, text.data() + text.size(), address, 16).ptr;
  return {text.data(), end};
}

std::string_view below_root(std::string_view path) {
  constexpr std::string_view root = UNLATCH_SOURCE_ROOT "/";
  if (path.starts_with(root)) path.remove_prefix(root.size());
  return path;
}

/// Headers that stand between a section and what it reads and writes: no line of theirs tells a
/// reader which of his own it was.
constexpr std::array<std::string_view, 9> wrappers = {
    "include/unlatch/access.hpp",      "include/unlatch/elide.hpp",
    "include/unlatch/elided.hpp",      "include/unlatch/guard.hpp",
    "include/unlatch/htm.hpp",         "include/unlatch/section.hpp",
    "include/unlatch/speculation.hpp", "include/unlatch/structures/plain_tx.hpp",
    "include/unlatch/platform.hpp"};

/// Whether a file is such a header, or one of the C++ library.
bool is_wrapper(std::string_view path) {
  const auto ours = below_root(path);
  if (ours.size() == path.size()) return path.starts_with("/usr/");
  return std::ranges::find(wrappers, ours) != wrappers.end();
}

/// Whether a file is part of the library that serves sections, or stands below it.
bool is_library(std::string_view path) {
  const auto ours = below_root(path);
  if (ours.size() == path.size()) return path.starts_with("/usr/");
  if (ours.starts_with("include/unlatch/structures/")) return false;
  return ours.starts_with("include/unlatch/") || ours.starts_with("src/");
}

place line_at(Dwfl_Module* module, std::uintptr_t code) {
  place at;
  if (Dwfl_Line* const line = dwfl_module_getsrc(module, code))
    at.file = dwfl_lineinfo(line, nullptr, &at.line, nullptr, nullptr, nullptr);
  return at;
}

/// Where the inlined function `scope` is called.
place call_of(Dwarf_Die* scope) {
  Dwarf_Die unit;
  Dwarf_Files* files = nullptr;
  Dwarf_Attribute attribute;
  Dwarf_Word file = 0;
  Dwarf_Word line = 0;
  if (dwarf_diecu(scope, &unit, nullptr, nullptr) == nullptr ||
      dwarf_getsrcfiles(&unit, &files, nullptr) != 0 ||
      dwarf_formudata(dwarf_attr(scope, DW_AT_call_file, &attribute), &file) != 0 ||
      dwarf_formudata(dwarf_attr(scope, DW_AT_call_line, &attribute), &line) != 0)
    return {};
  return {dwarf_filesrc(files, file, nullptr, nullptr), static_cast<int>(line)};
}

/// Goes out from `at` through what `code` was inlined into, while `further` wants to.
template <class Predicate>
place outwards(Dwfl_Module* module, std::uintptr_t code, place at, Predicate further) {
  Dwarf_Addr bias = 0;
  Dwarf_Die* const unit = dwfl_module_addrdie(module, code, &bias);
  if (unit == nullptr || !further(at)) return at;
  // dwarf_getscopes() leaves the innermost inlined function for where it is defined; we want the
  // functions that it was inlined into.
  Dwarf_Die* innermost = nullptr;
  if (dwarf_getscopes(unit, code - bias, &innermost) <= 0) return at;
  const std::unique_ptr<Dwarf_Die, free_it> owner_of_innermost(innermost);
  Dwarf_Die* scopes = nullptr;
  const int count = dwarf_getscopes_die(innermost, &scopes);
  const std::unique_ptr<Dwarf_Die, free_it> owner_of_scopes(scopes);
  for (int i = 0; i < count && further(at); ++i) {
    if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine) continue;
    const place outer = call_of(&scopes[i]);
    if (outer.file != nullptr && outer.line != 0) at = outer;
  }
  return at;
}

/// Code that was inlined from a wrapper is told by the line that called it: the first outside all
/// wrappers or, in a function that is one itself, the outermost.
place outside_wrappers(Dwfl_Module* module, std::uintptr_t code, place at) {
  return outwards(module, code, at,
                  [](const place& p) { return p.file == nullptr || is_wrapper(p.file); });
}

/// When the running program was built.
std::filesystem::file_time_type built() {
  std::error_code ignored;
  return std::filesystem::last_write_time("/proc/self/exe", ignored);
}

char* debug_path = nullptr;
const Dwfl_Callbacks callbacks = {dwfl_build_id_find_elf, dwfl_standard_find_debuginfo,
                                  dwfl_offline_section_address, &debug_path};

}  // namespace

struct source_lines::session {
  session() : handle(dwfl_begin(&callbacks)), text(built()) {
    if (handle == nullptr) return;
    dwfl_report_begin(handle);
    dwfl_report_elf(handle, "program", "/proc/self/exe", -1, 0, false);
    dwfl_report_end(handle, nullptr, nullptr);
  }
  explicit session(std::span<const loaded_object> objects)
      : handle(dwfl_begin(&callbacks)), text(std::filesystem::file_time_type::max()) {
    if (handle == nullptr) return;
    dwfl_report_begin(handle);
    for (const auto& object : objects) {
      dwfl_report_elf(handle, object.file.c_str(), object.file.c_str(), -1, object.begin, false);
    }
    dwfl_report_end(handle, nullptr, nullptr);
  }
  ~session() {
    if (handle != nullptr) dwfl_end(handle);
  }
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  Dwfl_Module* module_of(std::uintptr_t address) const {
    return handle == nullptr ? nullptr : dwfl_addrmodule(handle, address);
  }

  /// The symbol of this type that `address` lies in, demangled; without a name if there is none.
  symbol_place symbol_at(std::uintptr_t address, int type) const {
    Dwfl_Module* const module = module_of(address);
    if (module == nullptr) return {};
    GElf_Off offset = 0;
    GElf_Sym symbol;
    const char* const name =
        dwfl_module_addrinfo(module, address, &offset, &symbol, nullptr, nullptr, nullptr);
    if (name == nullptr || GELF_ST_TYPE(symbol.st_info) != type || offset >= symbol.st_size) {
      return {};
    }
    return {demangled(name), offset};
  }

  /// Looks up each address once.
  const place& place_of(std::uintptr_t code) {
    const auto [found, is_new] = places.try_emplace(code);
    Dwfl_Module* const module = is_new ? module_of(code) : nullptr;
    if (module != nullptr) found->second = outside_wrappers(module, code, line_at(module, code));
    return found->second;
  }

  Dwfl* handle;
  source_text text;
  std::map<std::uintptr_t, place> places;
};

source_lines::source_lines() : open_(std::make_unique<session>()) {}
source_lines::source_lines(std::span<const loaded_object> objects)
    : open_(std::make_unique<session>(objects)) {}
source_lines::~source_lines() = default;

std::string source_lines::line_of(std::uintptr_t code) const {
  std::string line = known_line_of(code);
  return line.empty() ? in_hexadecimal(code) : line;
}

std::string source_lines::known_line_of(std::uintptr_t code) const {
  const place& at = open_->place_of(code);
  if (at.file == nullptr) return {};
  return std::string(below_root(at.file)) + ':' + std::to_string(at.line);
}

std::string source_lines::outermost_line_of(std::uintptr_t code) const {
  Dwfl_Module* const module = open_->module_of(code);
  if (module == nullptr) return {};
  place found;
  const place last = outwards(module, code, line_at(module, code), [&found](const place& at) {
    if (at.file != nullptr && !is_wrapper(at.file)) found = at;
    return true;
  });
  if (last.file != nullptr && !is_wrapper(last.file)) found = last;
  if (found.file == nullptr) found = last;
  if (found.file == nullptr) return {};
  return std::string(below_root(found.file)) + ':' + std::to_string(found.line);
}

std::uintptr_t source_lines::outside_library(std::span<const std::uintptr_t> returns) const {
  for (const std::uintptr_t each : returns) {
    if (each == 0) break;
    const place& at = open_->place_of(call_before(each));
    if (at.file != nullptr && !is_library(at.file)) return each;
  }
  return returns.front();
}

std::string source_lines::text_of(std::uintptr_t code) const {
  const place& at = open_->place_of(code);
  return at.file == nullptr ? std::string() : open_->text.line(at.file, at.line);
}

std::string source_lines::function_at(std::uintptr_t code) const {
  return open_->symbol_at(code, STT_FUNC).name;
}

std::string source_lines::place_in_function(std::uintptr_t code) const {
  const auto found = open_->symbol_at(code, STT_FUNC);
  return found.name.empty() ? std::string() : found.name + '+' + in_hexadecimal(found.offset);
}

std::string source_lines::variable_at(std::uintptr_t address) const {
  const auto found = open_->symbol_at(address, STT_OBJECT);
  return found.offset == 0 ? found.name : found.name + " + " + std::to_string(found.offset);
}

}  // namespace unlatch::lab
