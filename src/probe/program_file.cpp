// SPDX-License-Identifier: Apache-2.0
#include "src/probe/program_file.hpp"

#include <elf.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace unlatch::probe {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
  throw program_error(file.string() + ": " + why);
}

/// Reads the object at `offset` of a file; false if the file ends before.
template <class T>
bool read_at(std::ifstream& from, std::uint64_t offset, T& into) {
  from.clear();
  from.seekg(static_cast<std::streamoff>(offset));
  from.read(reinterpret_cast<char*>(&into), sizeof into);
  return from.gcount() == sizeof into;
}

bool names_an_interpreter(std::ifstream& from, const Elf64_Ehdr& header) {
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!read_at(from, header.e_phoff + i * std::uint64_t{header.e_phentsize}, segment)) break;
    if (segment.p_type == PT_INTERP) return true;
  }
  return false;
}

void require_dynamic_x86_64(const fs::path& file, std::ifstream& from) {
  Elf64_Ehdr header;
  if (!read_at(from, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    refuse(file, "neither an ELF program nor a script with a #! line");
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64) {
    refuse(file, header.e_ident[EI_CLASS] == ELFCLASS32
                     ? "a 32-bit program; only 64-bit programs for x86-64 can be emulated"
                     : "not a program for x86-64");
  }
  if (!names_an_interpreter(from, header)) {
    refuse(file,
           "statically linked, so nothing can be loaded into it; link it dynamically (without "
           "-static)");
  }
}

void require_ordinary_rights(const fs::path& file) {
  struct stat status = {};
  if (stat(file.c_str(), &status) != 0) refuse(file, std::strerror(errno));
  if ((status.st_mode & (S_ISUID | S_ISGID)) != 0) {
    refuse(file,
           "runs as another user or group (setuid or setgid), so the system loads nothing into it; "
           "copy it and run the copy");
  }
  if (getxattr(file.c_str(), "security.capability", nullptr, 0) > 0) {
    refuse(file,
           "has file capabilities, so the system loads nothing into it; copy it and run the copy");
  }
}

/// The program of a script's first line; empty if the file is no script.
std::string interpreter_of_script(std::ifstream& from) {
  std::string line;
  from.clear();
  from.seekg(0);
  if (!std::getline(from, line) || !line.starts_with("#!")) return {};
  std::istringstream words(line.substr(2));
  std::string program;
  words >> program;
  return program;
}

void require_preloadable(const fs::path& file, int scripts_left) {
  require_executable(file);
  require_ordinary_rights(file);
  std::ifstream from(file, std::ios::binary);
  if (!from) refuse(file, std::string("cannot be read: ") + std::strerror(errno));
  const std::string interpreter = interpreter_of_script(from);
  if (interpreter.empty()) return require_dynamic_x86_64(file, from);
  if (scripts_left == 0) refuse(file, "a script of a script of a script …");
  require_preloadable(interpreter, scripts_left - 1);
}

}  // namespace

fs::path find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* const path = std::getenv("PATH");
  std::istringstream directories(path != nullptr ? path : "/bin:/usr/bin");
  for (std::string directory; std::getline(directories, directory, ':');) {
    const fs::path file = fs::path(directory.empty() ? "." : directory) / name;
    std::error_code ignored;
    if (fs::is_regular_file(file, ignored) && access(file.c_str(), X_OK) == 0) return file;
  }
  throw program_error(name + ": no program of that name in PATH; give its file with a '/'");
}

void require_executable(const fs::path& file) {
  std::error_code failed;
  const auto status = fs::status(file, failed);
  if (!fs::exists(status)) {
    const bool absent = !failed || failed == std::errc::no_such_file_or_directory;
    refuse(file, absent ? "there is no such program" : failed.message());
  }
  if (fs::is_directory(status)) refuse(file, "this is a directory, not a program");
  if (access(file.c_str(), X_OK) != 0) {
    refuse(file, std::string(std::strerror(errno)) + "; is it a program (chmod +x)?");
  }
}

void require_preloadable(const fs::path& file) {
  constexpr int kernels_limit = 4;
  require_preloadable(file, kernels_limit);
}

}  // namespace unlatch::probe
