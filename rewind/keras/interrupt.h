// Ctrl-C (SIGINT) while a model trains: the step at hand ends, callbacks run, fit returns.
//
// The program's own handler is called too, before that. Where the program has none, a second SIGINT that
// comes before fit has returned ends it, as without fit. A program that ignores SIGINT is left alone. The
// handler from before is back when the last fit of any thread has ended.
#pragma once

namespace rw::keras {

class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
  // Whether SIGINT came since the innermost scope of this thread began; false where there is none.
  static bool interrupted();

 private:
  bool stopped() const;
  const int begin_;              // the signals that had come before
  const InterruptScope* outer_;  // of this thread
};

}  // namespace rw::keras
