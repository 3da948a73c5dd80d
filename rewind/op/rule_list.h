// Rules that a row of the op table has had. One that a later registration replaces stays, since a tape or a
// call may still be using it.
#pragma once

#include <deque>
#include <mutex>

#include "rewind/op/op.h"

namespace rw {

// Puts a rule into its slot; callers of Op::rule need no lock.
template <class Rule>
void set_rule(const Op& op, RuleSlot slot, Rule rule) {
  static std::mutex mutex;
  static auto* rules = new std::deque<Rule>;  // never destroyed: statics of users may still compute
  const std::lock_guard lock(mutex);
  op.rules[size_t(slot)].store(&rules->emplace_back(std::move(rule)), std::memory_order_release);
}

}  // namespace rw
