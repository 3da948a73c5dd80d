#include "rewind/tensor/variable_watch.h"

#include "rewind/tensor/thread_state.h"
#include "rewind/tensor/trace.h"

namespace rw {

void watch_variable(const Variable& variable) {
  auto tell = [&](Recorder* list) {
    for (Recorder* r = list; r; r = r->outer)
      if (!r->paused) r->on_variable_read(variable);
  };
  tell(thread_state().recorders);
  for (const Trace* t = thread_state().trace; t && t->part_of_outer; t = t->outer())
    tell(t->hidden_recorders());
}

}  // namespace rw
