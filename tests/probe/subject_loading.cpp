// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include "subject.hpp"

namespace unlatch::probe::testing {
namespace {

/// An object that is loaded while this lives.
class loaded {
 public:
  explicit loaded(Lmid_t space) : object_(dlmopen(space, UNLATCH_LOADED_SUBJECT, RTLD_NOW)) {
    if (object_ == nullptr) std::printf("%s\n", dlerror());
  }
  ~loaded() {
    if (object_ != nullptr) dlclose(object_);
  }
  loaded(const loaded&) = delete;
  loaded& operator=(const loaded&) = delete;

  [[nodiscard]] bool tells(const char* function) const {
    if (object_ == nullptr) return false;
    auto* const address = dlsym(object_, function);
    return address != nullptr && reinterpret_cast<bool (*)()>(address)();
  }

 private:
  void* object_;
};

/// Again after it has been unloaded: it may come to the same place.
bool loads_code_later() {
  for (int round = 0; round < 3; ++round) {
    const loaded object(LM_ID_BASE);
    for (int i = 0; i < 10; ++i) {
      if (!object.tells("loaded_subject_commits")) return false;
    }
  }
  return true;
}

bool loads_code_into_a_namespace_of_its_own() {
  return loaded(LM_ID_NEWLM).tells("loaded_subject_commits");
}

bool loads_code_that_asks_cpuid() {
  const bool first = loaded(LM_ID_BASE).tells("loaded_subject_sees_rtm");
  return first && loaded(LM_ID_NEWLM).tells("loaded_subject_sees_rtm");
}

}  // namespace

subject_cases loading_cases() {
  return {{"loads_code_later", loads_code_later},
          {"loads_code_into_a_namespace_of_its_own", loads_code_into_a_namespace_of_its_own},
          {"loads_code_that_asks_cpuid", loads_code_that_asks_cpuid}};
}

}  // namespace unlatch::probe::testing
