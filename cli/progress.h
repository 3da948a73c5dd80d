// A line on stderr that says how far long work is: "reading  45%". Only on a terminal, and not before the
// work has taken a second, so that scripts and short commands see nothing of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace rw::cli {

class Progress {
 public:
  Progress(std::string what, double whole);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void at(double done);
  void add(double more) { at(done_ + more); }

 private:
  using Clock = std::chrono::steady_clock;
  std::string what_;
  double whole_, done_ = 0;
  bool visible_, shown_ = false;
  Clock::time_point begin_ = Clock::now(), last_ = begin_;
};

}  // namespace rw::cli
