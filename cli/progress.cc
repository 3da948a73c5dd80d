#include "cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace rw::cli {

Progress::Progress(std::string what, double whole)
    : what_(std::move(what)), whole_(whole), visible_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (shown_) std::fprintf(stderr, "\r%*s\r", int(what_.size() + 8), "");
}

void Progress::at(double done) {
  done_ = done;
  if (!visible_ || whole_ <= 0) return;
  const auto now = Clock::now();
  if (now - begin_ < std::chrono::seconds(1) || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  shown_ = true;
  std::fprintf(stderr, "\r%s %3d%% ", what_.c_str(), int(100 * std::min(1.0, done / whole_)));
}

}  // namespace rw::cli
