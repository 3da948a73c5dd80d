// Plain C++ control flow on tensors, as graph control flow: the code that rewind-autograph writes in place of
// if, while and for, and that can be written by hand. A body stays where it is, driven by an object that runs
// it as often as staging needs:
//
//   for (rw::autograph::If s(reduce_mean(x) > 0, rw::autograph::state(x), "x"); s.next();)
//     if (s.branch()) { x = x * 2; } else { x = x - 1; }
//
//   for (rw::autograph::While s(rw::autograph::state(n, k), "n, k"); s.open() && s.condition(n > 1);
//   s.step()) {
//     n = n / 2;
//     k = k + 1;
//   }
//
// Eagerly, and on conditions of the host's, this is plain control flow. While a function is traced, a
// condition that is a Tensor or a Variable is staged: both branches run once, each in a graph of its own and
// from the same state, and become an If; a loop's condition and body run once and become a While. `state`
// names the variables that the bodies change and that are read behind them; they hold the results then. It
// may name too many, never too few. Bodies must run to their end: no break, continue or return out of them,
// for which there are flags (Local<bool>) and a slot (Return). An exception leaves the variables as they
// were.
#pragma once

#include "rewind/function/autograph/if.h"
#include "rewind/function/autograph/logic.h"
#include "rewind/function/autograph/loop.h"
#include "rewind/function/autograph/options.h"
#include "rewind/function/autograph/return_slot.h"
#include "rewind/function/autograph/to_code.h"
