// Notices when other threads, of this process or of others, want the cores that the library's threads run on,
// and lets OpenMP's threads wait asleep while that is so.
//
// libgomp's threads spin for some milliseconds where they wait for each other. On free cores that is the
// fastest way; on shared ones it takes the time away from the very thread they wait for, and a loop of 50 us
// takes as long as the scheduler's turns. Its settings are read from the environment before the library's
// code runs, but it spins shortly while it manages more threads than there are cores. So on a crowded machine
// a few threads are made in an OpenMP team of their own, where they sleep.
#pragma once

namespace rw {

// To be called at the start of a loop for several threads. Always false where the environment says how OpenMP
// waits (OMP_WAIT_POLICY, GOMP_SPINCOUNT).
bool cores_are_crowded();

// Ends the sleeping team, and the watching.
void stop_watching_cores();

// In the child of a fork, which has none of its parent's threads.
void forget_crowd();

}  // namespace rw
