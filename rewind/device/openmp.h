// The OpenMP runtime of the process, if there is one: oneDNN's, or that of the user's own loops. The
// library's loops do not run on it; it is only asked not to start threads under them.
#pragma once

namespace rw {

// Whether the calling thread is one of a team that shares out a loop of the user's.
bool in_openmp_team();

// While it lives, what asks OpenMP for threads on this thread gets none but the thread itself.
class OpenmpAlone {
 public:
  OpenmpAlone();
  ~OpenmpAlone();
  OpenmpAlone(const OpenmpAlone&) = delete;
  OpenmpAlone& operator=(const OpenmpAlone&) = delete;

 private:
  int before_;
};

}  // namespace rw
