// Loads libraries as a program with plug-ins would.   host [--beside LIBRARY]... PLUGIN...
// What stands behind --beside is loaded for everyone's symbols (RTLD_GLOBAL), as a graphics driver loads its
// LLVM. The plug-ins run in turn, all of them while all are loaded, then alone after being loaded a second
// time.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <vector>

namespace {

void* open(const char* path, int mode) {
  void* library = dlopen(path, RTLD_NOW | mode);
  if (!library) std::printf("%s\n", dlerror());
  return library;
}

bool run(void* plugin, const char* path) {
  auto* entry = reinterpret_cast<int (*)()>(dlsym(plugin, "run_plugin"));
  const int result = entry ? entry() : -1;
  if (result != 0) std::printf("%s: run_plugin gave %d\n", path, result);
  return result == 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<const char*> plugins;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--beside") != 0) plugins.push_back(argv[i]);
    else if (++i == argc || !open(argv[i], RTLD_GLOBAL)) return 1;
  }
  std::vector<void*> loaded;
  for (const char* path : plugins) {
    loaded.push_back(open(path, RTLD_LOCAL));
    if (!loaded.back() || !run(loaded.back(), path)) return 1;
  }
  for (size_t i = 0; i < loaded.size(); ++i) {
    if (!run(loaded[i], plugins[i]) || dlclose(loaded[i]) != 0) return 1;
  }
  for (const char* path : plugins) {
    void* again = open(path, RTLD_LOCAL);
    if (!again || !run(again, path) || dlclose(again) != 0) return 1;
  }
  return 0;
}
