// Tapes hear of every variable that is read, so that they can watch the trainable ones.
#pragma once

namespace rw {

class Variable;

// Installed by the autodiff room; called on reads while a recorder is active.
using VariableWatcher = void (*)(const Variable&);
void set_variable_watcher(VariableWatcher watcher);
void watch_variable(const Variable& variable);

}  // namespace rw
