// SPDX-License-Identifier: Apache-2.0
//
// The C library is precompiled: what its functions read and write by their arguments is told to the
// machine before the call.

#include "context.hpp"

namespace unlatch::instrument {

using namespace llvm;
using lab::string_operation;

namespace {

/// One call, with its arguments by number.
class library_call {
 public:
  library_call(CallBase& call, context& in) : call_(call), in_(in) {}

  Value* argument(unsigned index) const { return call_.getArgOperand(index); }
  Value* count(unsigned index) const { return in_.emit.bytes(argument(index)); }
  Value* product(unsigned one, unsigned other) const {
    return in_.emit.builder().CreateMul(count(one), count(other));
  }
  bool copy(unsigned to, unsigned from, unsigned size) const {
    in_.emit.copy(argument(to), argument(from), count(size));
    return true;
  }
  bool reads(unsigned address, Value* size) const {
    in_.emit.read_range(argument(address), size);
    return true;
  }
  bool writes(unsigned address, Value* size) const {
    in_.emit.write_range(argument(address), size);
    return true;
  }
  bool writes(unsigned address, std::uint64_t size) const {
    return writes(address, in_.emit.bytes(size));
  }
  /// An out-parameter that may be null.
  bool writes_if_there(unsigned address, std::uint64_t size) const {
    IRBuilder<>& builder = in_.emit.builder();
    return writes(address, builder.CreateSelect(builder.CreateIsNull(argument(address)),
                                                builder.getInt64(0), builder.getInt64(size)));
  }
  bool scan(unsigned first, Value* limit = nullptr) const {
    in_.emit.string(string_operation::scan, argument(first), nullptr, limit);
    return true;
  }
  bool pair(string_operation operation, Value* limit = nullptr) const {
    in_.emit.string(operation, argument(0), argument(1), limit);
    return true;
  }
  bool find_byte() const {
    IRBuilder<>& builder = in_.emit.builder();
    Value* const byte = builder.CreateIntToPtr(in_.emit.bytes(argument(1)), builder.getPtrTy());
    in_.emit.string(string_operation::find_byte, argument(0), byte, argument(2));
    return true;
  }

 private:
  CallBase& call_;
  context& in_;
};

bool instrument_known(LibFunc function, const library_call& call) {
  switch (function) {
    case LibFunc_memcpy:
    case LibFunc_memmove:
    case LibFunc_mempcpy:
    case LibFunc_memcpy_chk:
    case LibFunc_memmove_chk:
    case LibFunc_mempcpy_chk:
      return call.copy(0, 1, 2);
    case LibFunc_memset:
    case LibFunc_memset_chk:
      return call.writes(0, call.count(2));
    case LibFunc_memcmp:
    case LibFunc_bcmp:
      return call.pair(string_operation::compare_bytes, call.argument(2));
    case LibFunc_memchr:
      return call.find_byte();
    case LibFunc_memrchr:
      return call.reads(0, call.count(2));
    case LibFunc_strlen:
    case LibFunc_strchr:
    case LibFunc_strrchr:
    case LibFunc_strdup:
    case LibFunc_atoi:
    case LibFunc_atol:
    case LibFunc_atoll:
    case LibFunc_atof:
      return call.scan(0);
    case LibFunc_strnlen:
    case LibFunc_strndup:
      return call.scan(0, call.argument(1));
    case LibFunc_strspn:
    case LibFunc_strcspn:
    case LibFunc_strpbrk:
    case LibFunc_strstr:
      return call.scan(0) && call.scan(1);
    case LibFunc_strcmp:
    case LibFunc_strcasecmp:
    case LibFunc_strcoll:
      return call.pair(string_operation::compare);
    case LibFunc_strncmp:
    case LibFunc_strncasecmp:
      return call.pair(string_operation::compare, call.argument(2));
    case LibFunc_strcpy:
    case LibFunc_stpcpy:
    case LibFunc_strcpy_chk:
    case LibFunc_stpcpy_chk:
      return call.pair(string_operation::copy);
    case LibFunc_strncpy:
    case LibFunc_stpncpy:
    case LibFunc_strncpy_chk:
    case LibFunc_stpncpy_chk:
      return call.pair(string_operation::copy_padded, call.argument(2));
    case LibFunc_strcat:
    case LibFunc_strcat_chk:
      return call.pair(string_operation::append);
    case LibFunc_strncat:
    case LibFunc_strncat_chk:
      return call.pair(string_operation::append, call.argument(2));
    case LibFunc_strtol:
    case LibFunc_strtoll:
    case LibFunc_strtoul:
    case LibFunc_strtoull:
      return call.scan(0) && call.writes_if_there(1, 8);
    case LibFunc_snprintf:
    case LibFunc_vsnprintf:
    case LibFunc_snprintf_chk:
    case LibFunc_vsnprintf_chk:
      return call.writes(0, call.count(1));
    case LibFunc_frexp:
    case LibFunc_frexpf:
    case LibFunc_frexpl:
      return call.writes(1, 4);
    case LibFunc_modf:
      return call.writes(1, 8);
    case LibFunc_modff:
      return call.writes(1, 4);
    case LibFunc_modfl:
      return call.writes(1, 16);
    case LibFunc_qsort:
      return call.writes(0, call.product(1, 2));
    case LibFunc_fread:
    case LibFunc_fread_unlocked:
      return call.writes(0, call.product(1, 2));
    case LibFunc_fwrite:
    case LibFunc_fwrite_unlocked:
      return call.reads(0, call.product(1, 2));
    case LibFunc_fgets:
    case LibFunc_fgets_unlocked:
      return call.writes(0, call.count(1));
    case LibFunc_read:
    case LibFunc_pread:
      return call.writes(1, call.count(2));
    case LibFunc_write:
    case LibFunc_pwrite:
      return call.reads(1, call.count(2));
    default:
      return false;
  }
}

/// Atomics that are too large for an instruction: __atomic_load(size, from, to, order) and so on,
/// and those with the size in their name, where only the expected value is passed by address.
bool instrument_atomic(StringRef name, const library_call& call) {
  if (!name.consume_front("__atomic_")) return false;
  if (name == "load") return call.copy(2, 1, 0);
  if (name == "store") return call.copy(1, 2, 0);
  if (name == "exchange") return call.copy(3, 1, 0) && call.copy(1, 2, 0);
  if (name == "compare_exchange") {
    return call.copy(1, 3, 0) && call.writes(2, call.count(0));
  }
  unsigned bytes = 0;
  if (name.substr(name.rfind('_') + 1).getAsInteger(10, bytes)) return false;
  if (name.starts_with("compare_exchange")) call.writes(1, bytes);
  return call.writes(0, bytes);
}

/// Functions of the C library whose memory the runtime takes care of, or that write none of ours.
bool is_taken_care_of(LibFunc function, const Function& callee, const TargetLibraryInfo& library) {
  static constexpr const char* names[] = {"malloc",
                                          "calloc",
                                          "realloc",
                                          "free",
                                          "aligned_alloc",
                                          "posix_memalign",
                                          "memalign",
                                          "valloc",
                                          "reallocf",
                                          "vec_malloc",
                                          "printf",
                                          "puts",
                                          "putchar",
                                          "fprintf",
                                          "fputs",
                                          "fputc",
                                          "fflush",
                                          "perror",
                                          "exit",
                                          "abort",
                                          "atexit",
                                          "__cxa_atexit",
                                          "fopen",
                                          "fclose",
                                          "getenv",
                                          "open",
                                          "open64",
                                          "fdopen",
                                          "unlink",
                                          "access",
                                          "rmdir",
                                          "mkdir",
                                          "rename",
                                          "opendir",
                                          "closedir",
                                          "remove",
                                          "gettimeofday",
                                          "stat",
                                          "fstat",
                                          "lstat",
                                          "fseek",
                                          "ftell",
                                          "feof",
                                          "ferror",
                                          "vfprintf",
                                          "vprintf",
                                          "putc",
                                          "fputs_unlocked",
                                          "fwrite_unlocked",
                                          "__cxa_guard_acquire",
                                          "__cxa_guard_release",
                                          "__cxa_guard_abort",
                                          "terminate"};
  const StringRef name = callee.getName();
  return is_contained(names, name) || name.starts_with("_Zn") || name.starts_with("_Zd") ||
         !library.has(function);
}

bool takes_address(const CallBase& call) {
  return any_of(call.args(),
                [](const Use& argument) { return argument->getType()->isPointerTy(); });
}

}  // namespace

bool instrument_library_call(CallBase& call, context& in) {
  const Function* const callee = call.getCalledFunction();
  if (callee == nullptr || !callee->isDeclaration()) return false;
  const library_call arguments(call, in);
  if (instrument_atomic(callee->getName(), arguments)) return true;
  LibFunc function;
  if (!in.library.getLibFunc(call, function)) return false;
  if (instrument_known(function, arguments)) return true;
  if (takes_address(call) && !call.onlyReadsMemory() &&
      !is_taken_care_of(function, *callee, in.library)) {
    in.warnings.report(call, "what " + callee->getName() + " accesses");
  }
  return false;
}

}  // namespace unlatch::instrument
