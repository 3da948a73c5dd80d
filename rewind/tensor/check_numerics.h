// A search for the first op that makes a NaN or an infinity: with checks on, every op looks at its results.
//
//   rw::debugging::enable_check_numerics();
//   model.fit(x, y);   // [check_numerics] output 0 of Log, float32 (32, 10): 2 NaN, 0 infinite ... at
//   net.cc:12
//
// Eager ops throw at once; functions are traced anew, with a check behind each op, and throw from the run.
#pragma once

namespace rw::debugging {

// For all threads. An InvalidArgumentError names the op, its result, how many elements are bad, and the line
// of the program that asked for it where the program has debug information.
void enable_check_numerics();
void disable_check_numerics();
bool check_numerics_enabled();

}  // namespace rw::debugging
