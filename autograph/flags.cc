#include "flags.h"

#include <clang/Driver/Options.h>
#include <llvm/Option/ArgList.h>
#include <llvm/Option/OptTable.h>
#include <llvm/Option/Option.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/StringSaver.h>

#include <fstream>

namespace rw::autograph_tool {

namespace options = clang::driver::options;

static bool is_one_of(const llvm::opt::Option& option, std::initializer_list<unsigned> ids) {
  for (const unsigned id : ids)
    if (option.matches(id)) return true;
  return false;
}

std::vector<std::string> adapt_flags(const std::vector<std::string>& command) {
  // CMake hands Clang's precompiled headers over as "-Xclang -include-pch -Xclang FILE", the header behind
  // it.
  std::vector<const char*> words;
  for (size_t i = 1; i < command.size(); ++i) {
    if (command[i] == "-Xclang" && i + 1 < command.size()) {
      const std::string& word = command[i + 1];
      if (word == "-include-pch" || word == "-emit-pch") {
        i += word == "-include-pch" ? 3 : 1;
        continue;
      }
      if (word == "-include" && i + 3 < command.size()) {
        words.push_back("-include");
        words.push_back(command[i + 3].c_str());
        i += 3;
      } else {
        ++i;
      }
      continue;
    }
    if (command[i].starts_with("-fmodule-mapper") || command[i].starts_with("-fmodules") ||
        command[i] == "-fconcepts")
      continue;
    if (command[i] == "--param") {  // of GCC's
      ++i;
      continue;
    }
    words.push_back(command[i].c_str());
  }
  unsigned missing = 0, count = 0;
  const llvm::opt::InputArgList parsed = clang::driver::getDriverOptTable().ParseArgs(words, missing, count);
  std::vector<std::string> result{command.empty() ? "c++" : command[0]};
  for (const llvm::opt::Arg* arg : parsed) {
    const llvm::opt::Option& option = arg->getOption();
    if (option.getKind() == llvm::opt::Option::UnknownClass) continue;
    if (is_one_of(option, {options::OPT_W_Group,
                           options::OPT_o,
                           options::OPT_c,
                           options::OPT_S,
                           options::OPT_E,
                           options::OPT_M,
                           options::OPT_MM,
                           options::OPT_MD,
                           options::OPT_MMD,
                           options::OPT_MF,
                           options::OPT_MT,
                           options::OPT_MQ,
                           options::OPT_MP,
                           options::OPT_MG,
                           options::OPT_fpch_preprocess,
                           options::OPT_clang_ignored_f_Group,
                           options::OPT_clang_ignored_gcc_optimization_f_Group,
                           options::OPT_g_Group,
                           options::OPT_flto,
                           options::OPT_flto_EQ,
                           options::OPT_save_temps,
                           options::OPT_save_temps_EQ,
                           options::OPT_fprofile_arcs,
                           options::OPT_ftest_coverage,
                           options::OPT_coverage}))
      continue;
    llvm::opt::ArgStringList out;
    arg->renderAsInput(parsed, out);
    if (option.getKind() == llvm::opt::Option::InputClass) {
      for (const char* word : out) result.emplace_back(word);
      continue;
    }
    llvm::opt::ArgStringList words_of;
    arg->render(parsed, words_of);
    for (const char* word : words_of) result.emplace_back(word);
  }
  return result;
}

bool read_flags(const std::string& file, std::vector<std::string>& command) {
  constexpr std::string_view kShell = "SHELL:";
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(kShell)) {
      if (!line.empty()) command.push_back(line);
      continue;
    }
    llvm::BumpPtrAllocator memory;
    llvm::StringSaver saver(memory);
    llvm::SmallVector<const char*> words;
    llvm::cl::TokenizeGNUCommandLine(line.substr(kShell.size()), saver, words);
    command.insert(command.end(), words.begin(), words.end());
  }
  return in.eof();
}

}  // namespace rw::autograph_tool
