// Tapes hear of every variable that is read, so that they can watch the trainable ones.
#pragma once

namespace rw {

class Variable;

// Called on reads while a recorder is active. Every tape of this thread that is recording and made at this
// batching depth or outside hears of it.
void watch_variable(const Variable& variable);

}  // namespace rw
