// For threads that run beside the library's own: while one of these lives, parallel_for runs on its caller,
// so that a pool of threads does not start a pool each.
#pragma once

namespace rw {

class SerialScope {
 public:
  SerialScope();
  ~SerialScope();
  SerialScope(const SerialScope&) = delete;
  SerialScope& operator=(const SerialScope&) = delete;

 private:
  bool outer_;
};

// Whether parallel_for would run on its caller here: inside a range, a SerialScope or a team of the user's.
bool runs_alone();

}  // namespace rw
