#include "rewind/base/symbolise.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "rewind/base/number_text.h"

extern char** environ;

namespace rw {
namespace {

constexpr int kPatienceMs = 20'000;  // debug information of large programs takes its time

struct Frame {
  std::string function;  // empty: unknown
  std::string file;      // with ":line"; empty: unknown
};
// Innermost first: what was inlined there, then the function itself.
using InlinedFrames = std::vector<Frame>;

struct Module {
  std::string path;
  uintptr_t address = 0;  // in the file
};

std::optional<Module> module_of(uintptr_t address) {
  struct Search {
    uintptr_t address;
    std::optional<Module> found;
  } search{address, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto& s = *static_cast<Search*>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
          if (segment.p_type != PT_LOAD || s.address < begin || s.address >= begin + segment.p_memsz)
            continue;
          s.found = Module{info->dlpi_name ? info->dlpi_name : "", s.address - info->dlpi_addr};
          return 1;
        }
        return 0;
      },
      &search);
  if (search.found && search.found->path.empty()) {
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
    if (length <= 0) return {};
    search.found->path.assign(path, size_t(length));
  }
  return search.found;
}

// What a program prints; empty if it cannot be run or fails.
std::string output_of(const std::vector<std::string>& command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t child = -1;
  const int failed = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  if (!failed) {
    pollfd waiting{ends[0], POLLIN, 0};
    char block[4096];
    while (true) {
      const int ready = poll(&waiting, 1, kPatienceMs);
      if (ready < 0 && errno == EINTR) continue;
      const ssize_t got = ready > 0 ? read(ends[0], block, sizeof(block)) : -1;
      if (got > 0) {
        text.append(block, size_t(got));
        continue;
      }
      if (got < 0) kill(child, SIGKILL);
      break;
    }
    int status = 0;
    if (waitpid(child, &status, 0) == child && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) text.clear();
  }
  close(ends[0]);
  return text;
}

std::string hex(uintptr_t address) { return "0x" + natural_text(address, 16); }

// Both tools print, for each address: the address, then a function and "file:line" for every frame there.
std::vector<InlinedFrames> read_frames(const std::string& text) {
  std::vector<InlinedFrames> all;
  size_t at = 0;
  const auto next_line = [&](std::string* line) {
    if (at >= text.size()) return false;
    const size_t end = std::min(text.find('\n', at), text.size());
    *line = text.substr(at, end - at);
    at = end + 1;
    return true;
  };
  for (std::string line; next_line(&line);) {
    if (line.starts_with("0x")) {
      all.emplace_back();
      continue;
    }
    Frame frame{line, {}};
    if (all.empty() || !next_line(&frame.file)) break;
    if (const size_t note = frame.file.find(" (discriminator"); note != std::string::npos)
      frame.file.resize(note);
    if (frame.file.starts_with("??") || frame.file.ends_with(":?") || frame.file.ends_with(":0"))
      frame.file.clear();
    if (frame.function == "??") frame.function.clear();
    all.back().push_back(std::move(frame));
  }
  return all;
}

std::vector<InlinedFrames> run_tool(const std::string& path, const std::vector<uintptr_t>& addresses) {
  const char* wish = getenv("REWIND_SYMBOLIZER");
  std::vector<std::string> tools{"llvm-symbolizer", "addr2line"};
  if (wish) tools = {wish};
  for (const std::string& tool : tools) {
    if (tool == "none" || tool.empty()) break;
    std::vector<std::string> command{tool};
    if (tool.find("symbolizer") != std::string::npos) command.emplace_back("--output-style=GNU");
    for (const char* option : {"-a", "-f", "-i", "-C", "-e"}) command.emplace_back(option);
    command.push_back(path);
    for (const uintptr_t a : addresses) command.push_back(hex(a));
    std::vector<InlinedFrames> frames = read_frames(output_of(command));
    if (frames.size() == addresses.size()) return frames;
  }
  return std::vector<InlinedFrames>(addresses.size());
}

std::string linker_name(uintptr_t address) {
  Dl_info info;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of code
  if (!dladdr(reinterpret_cast<void*>(address), &info) || !info.dli_sname) return {};
  int status = 0;
  char* readable = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
  std::string name = status == 0 && readable ? readable : info.dli_sname;
  free(readable);
  return name;
}

using KnownFrames = std::map<uintptr_t, InlinedFrames>;  // by address

void look_up(std::span<const uintptr_t> addresses, KnownFrames* known) {
  std::map<std::string, std::vector<std::pair<uintptr_t, uintptr_t>>> by_module;  // address here, in the file
  for (const uintptr_t a : addresses) {
    if (!known->try_emplace(a).second) continue;
    if (const auto module = module_of(a)) by_module[module->path].emplace_back(a, module->address);
  }
  for (const auto& [path, wanted] : by_module) {
    std::vector<uintptr_t> in_file;
    for (const auto& [here, there] : wanted) in_file.push_back(there);
    std::vector<InlinedFrames> named = run_tool(path, in_file);
    for (size_t k = 0; k < wanted.size(); ++k) (*known)[wanted[k].first] = std::move(named[k]);
  }
  for (const uintptr_t a : addresses) {
    InlinedFrames& frames = (*known)[a];
    if (frames.empty()) frames.push_back({});
    if (frames.back().function.empty()) frames.back().function = linker_name(a);
  }
}

std::string line_of(std::span<const uintptr_t> addresses, KnownFrames* known) {
  look_up(addresses, known);
  for (const uintptr_t a : addresses) {
    for (const Frame& f : (*known)[a]) {
      if ((f.function.empty() && f.file.empty()) || is_library_frame(f.function, f.file)) continue;
      if (f.file.empty()) return "a line in " + f.function;
      return f.file + (f.function.empty() ? "" : ", in " + f.function);
    }
  }
  return {};
}

}  // namespace

bool is_library_frame(const std::string& name_and_notes, const std::string& file) {
  if (!file.empty()) {
    static constexpr const char* kRooms[] = {
        "base",   "format",   "device",   "op",     "kernel", "graph", "runtime", "compiler",
        "tensor", "autodiff", "function", "report", "module", "data",  "saved",   "keras"};
    for (const char* room : kRooms)
      if (file.find(std::string("/rewind/") + room + "/") != std::string::npos) return true;
    return file.find("/include/c++/") != std::string::npos;
  }
  // Behind the name may stand what the compiler made of it: " (.cold)", " [clone .part.0]".
  std::string function = name_and_notes;
  for (const char* note : {" (.", " [clone"})
    if (const size_t end = function.find(note); end != std::string::npos) function.resize(end);
  // A template's name may begin with its result.
  size_t depth = 0;
  size_t start = 0;
  for (size_t i = 0; i < function.size(); ++i) {
    if (function[i] == '<' || function[i] == '(') ++depth;
    if ((function[i] == '>' || function[i] == ')') && depth > 0) --depth;
    if (function[i] == ' ' && depth == 0 && !function.substr(0, i).ends_with("operator") &&
        !function.substr(i + 1).starts_with("const") && function.find('(', i) != std::string::npos)
      start = i + 1;
  }
  const std::string_view name = std::string_view(function).substr(start);
  for (const char* space : {"rw::", "std::", "__gnu_cxx::", "_Unwind", "__libc_start"})
    if (name.starts_with(space)) return true;
  return false;
}

namespace {

struct Known {
  std::mutex mutex;
  KnownFrames frames;
  std::map<std::vector<uintptr_t>, std::string> lines;
};
Known& known() {
  static auto* known = new Known();
  return *known;
}

}  // namespace

std::string symbolise(std::span<const uintptr_t> frames) {
  std::vector<uintptr_t> key(frames.begin(), frames.end());
  const std::lock_guard lock(known().mutex);
  const auto [it, fresh] = known().lines.try_emplace(std::move(key));
  if (fresh) it->second = line_of(frames, &known().frames);
  return it->second;
}

void symbolise_ahead(std::span<const uintptr_t> addresses) {
  const std::lock_guard lock(known().mutex);
  look_up(addresses, &known().frames);
}

}  // namespace rw
