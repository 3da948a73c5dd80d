// Ctrl-C while a model trains: the step at hand ends, callbacks run, fit returns. A second one ends the
// program.
#pragma once

namespace rw::keras {

class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
  static bool interrupted();
};

}  // namespace rw::keras
