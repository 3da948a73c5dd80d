// rewind-autograph: plain C++ control flow on tensors becomes graph control flow.
//
//   rewind-autograph file.cc -o out.cc -- flags of the compiler
//   rewind-autograph -p build file.cc [-o out.cc]
//   rewind-autograph --print file.cc [--function name] [-p build | -- flags]
//
// The exit status is 0, 1 for what is refused, 2 for arguments that are wrong, 3 where Clang cannot read the
// file.
#include <clang/Tooling/CompilationDatabase.h>

#include <iostream>

#include "flags.h"
#include "tool.h"

namespace {

constexpr const char* kUsage =
    "usage: rewind-autograph file.cc -o out.cc [--depfile out.d] [--line] [--flags file] -- flags of the "
    "compiler\n"
    "       rewind-autograph -p build file.cc [-o out.cc]\n"
    "       rewind-autograph --print file.cc [--function name] [-p build | -- flags]\n";

int fail(const std::string& message) {
  std::cerr << "rewind-autograph: error: " << message << "\n" << kUsage;
  return 2;
}

// The command of a compile_commands.json, without the file.
bool command_from(const std::string& build, rw::autograph_tool::Job& job) {
  std::string error;
  const auto database = clang::tooling::CompilationDatabase::loadFromDirectory(build, error);
  if (!database) {
    std::cerr << "rewind-autograph: error: " << error << "\n";
    return false;
  }
  const auto commands = database->getCompileCommands(job.file);
  if (commands.empty()) {
    std::cerr << "rewind-autograph: error: " << build << "/compile_commands.json says nothing of " << job.file
              << "\n";
    return false;
  }
  job.command.clear();
  for (const std::string& word : commands.front().CommandLine)
    if (word != commands.front().Filename && word != "--") job.command.push_back(word);
  job.directory = commands.front().Directory;
  job.file = commands.front().Filename;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  rw::autograph_tool::Job job;
  job.command = {"c++"};
  std::string build;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&](std::string& into) {
      if (i + 1 >= argc) return false;
      into = argv[++i];
      return true;
    };
    bool ok = true;
    if (word == "--") {
      for (++i; i < argc; ++i) job.command.emplace_back(argv[i]);
    } else if (word == "-o") {
      ok = value(job.output);
    } else if (word == "-p") {
      ok = value(build);
    } else if (word == "--depfile") {
      ok = value(job.depfile);
    } else if (word == "--function") {
      ok = value(job.function);
    } else if (word == "--flags") {
      std::string file;
      ok = value(file);
      if (ok && !rw::autograph_tool::read_flags(file, job.command)) return fail(file + " cannot be read");
    } else if (word == "--print") {
      job.print = true;
    } else if (word == "--line") {
      job.always_line = true;
    } else if (word == "--help" || word == "-h") {
      std::cout << kUsage;
      return 0;
    } else if (word.starts_with("-") || !job.file.empty()) {
      return fail("unexpected argument " + word);
    } else {
      job.file = word;
    }
    if (!ok) return fail("a value must follow " + word);
  }
  if (job.file.empty()) return fail("no file");
  if (!build.empty() && !command_from(build, job)) return 1;
  return rw::autograph_tool::run_job(job);
}
