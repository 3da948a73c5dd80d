#include "rewind/device/openmp.h"

#include <dlfcn.h>

#include <type_traits>

namespace rw {
namespace {

// Looked up, not linked: the runtime is the one that oneDNN or the program brings along, whichever that is.
struct Runtime {
  int (*in_parallel)() = nullptr;
  int (*max_threads)() = nullptr;
  void (*set_threads)(int) = nullptr;

  bool find(void* library) {
    const auto look_up = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    };
    look_up(in_parallel, "omp_in_parallel");
    look_up(max_threads, "omp_get_max_threads");
    look_up(set_threads, "omp_set_num_threads");
    if (in_parallel && max_threads && set_threads) return true;
    *this = {};
    return false;
  }
};

Runtime find_runtime() {
  Runtime runtime;
  if (runtime.find(RTLD_DEFAULT)) return runtime;
  // In a plug-in, whose libraries the program's names do not include.
  for (const char* name : {"libgomp.so.1", "libomp.so.5", "libiomp5.so"})
    if (void* const library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD))
      if (runtime.find(library)) return runtime;
  return runtime;
}

const Runtime& runtime() {
  static const Runtime runtime = find_runtime();
  return runtime;
}

}  // namespace

bool in_openmp_team() { return runtime().in_parallel && runtime().in_parallel() != 0; }

OpenmpAlone::OpenmpAlone() : before_(runtime().max_threads ? runtime().max_threads() : 1) {
  if (before_ != 1) runtime().set_threads(1);
}
OpenmpAlone::~OpenmpAlone() {
  if (before_ != 1) runtime().set_threads(before_);
}

}  // namespace rw
