// SPDX-License-Identifier: Apache-2.0
#include "src/lab/source_lines.hpp"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace unlatch::lab {

namespace {

struct free_it {
  void operator()(void* memory) const { std::free(memory); }
};

std::string demangled(const char* name) {
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

std::string below_root(std::string_view path) {
  constexpr std::string_view root = UNLATCH_SOURCE_ROOT "/";
  if (path.starts_with(root)) path.remove_prefix(root.size());
  return std::string(path);
}

struct place {
  const char* file = nullptr;
  int line = 0;
};

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

/// Code of the C++ library that was inlined is told by the line that called it.
place outside_the_library(Dwfl_Module* module, std::uintptr_t code, place at) {
  const auto is_library = [](const place& p) {
    return p.file == nullptr || std::string_view(p.file).starts_with("/usr/");
  };
  Dwarf_Addr bias = 0;
  Dwarf_Die* const unit = dwfl_module_addrdie(module, code, &bias);
  if (unit == nullptr || !is_library(at)) return at;
  // dwarf_getscopes() leaves the innermost inlined function for where it is defined; we want the
  // functions that it was inlined into.
  Dwarf_Die* innermost = nullptr;
  if (dwarf_getscopes(unit, code - bias, &innermost) <= 0) return at;
  const std::unique_ptr<Dwarf_Die, free_it> owner_of_innermost(innermost);
  Dwarf_Die* scopes = nullptr;
  const int count = dwarf_getscopes_die(innermost, &scopes);
  const std::unique_ptr<Dwarf_Die, free_it> owner_of_scopes(scopes);
  place outer = at;
  for (int i = 0; i < count && is_library(outer); ++i)
    if (dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine) outer = call_of(&scopes[i]);
  return is_library(outer) ? at : outer;
}

char* debug_path = nullptr;
const Dwfl_Callbacks callbacks = {dwfl_build_id_find_elf, dwfl_standard_find_debuginfo,
                                  dwfl_offline_section_address, &debug_path};

}  // namespace

struct source_lines::session {
  session() : handle(dwfl_begin(&callbacks)) {
    if (handle == nullptr) return;
    dwfl_report_begin(handle);
    dwfl_report_elf(handle, "program", "/proc/self/exe", -1, 0, false);
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

  Dwfl* handle;
};

source_lines::source_lines() : open_(std::make_unique<session>()) {}
source_lines::~source_lines() = default;

std::string source_lines::line_of(std::uintptr_t code) const {
  if (Dwfl_Module* const module = open_->module_of(code)) {
    const place at = outside_the_library(module, code, line_at(module, code));
    if (at.file != nullptr) return below_root(at.file) + ':' + std::to_string(at.line);
  }
  return in_hexadecimal(code);
}

std::string source_lines::function_at(std::uintptr_t code) const {
  Dwfl_Module* const module = open_->module_of(code);
  const char* const name = module == nullptr ? nullptr : dwfl_module_addrname(module, code);
  return name == nullptr ? std::string() : demangled(name);
}

std::string source_lines::variable_at(std::uintptr_t address) const {
  Dwfl_Module* const module = open_->module_of(address);
  if (module == nullptr) return {};
  GElf_Off offset = 0;
  GElf_Sym symbol;
  const char* const name =
      dwfl_module_addrinfo(module, address, &offset, &symbol, nullptr, nullptr, nullptr);
  if (name == nullptr || GELF_ST_TYPE(symbol.st_info) != STT_OBJECT) return {};
  return offset == 0 ? demangled(name) : demangled(name) + " + " + std::to_string(offset);
}

}  // namespace unlatch::lab
