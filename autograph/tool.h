// One file through the rewriter.
#pragma once

#include <string>
#include <vector>

namespace rw::autograph_tool {

struct Job {
  std::string file, output, depfile, directory = ".";
  std::vector<std::string> command;  // of its compiler
  bool always_line = false;          // "#line 1" in front of files that stay as they are, too
  bool print = false;                // show functions instead of writing a file
  std::string function;              // only this one
};

// The exit status: 0, 1 for what is refused, or 3 where Clang cannot read the file. Errors go to stderr.
int run_job(const Job& job);

}  // namespace rw::autograph_tool
