// Writes and_, or_, not_, select and Assert in place of &&, ||, !, ?: and assert on tensors.
#pragma once

#include "edits.h"
#include "functions.h"
#include "plan.h"
#include "promotion.h"

namespace rw::autograph_tool {

// Those of one function, without those of functions in it.
void write_expressions(const Source& source, const Facts& facts, const Conditions& conditions,
                       const Promotion& promotion, const Function& function, Edits& edits,
                       std::set<Refusal>& refusals);
// Operands that a staged one decides about: behind && and ||, and of ?:.
std::vector<Range> staged_operands(const Source& source, const Conditions& conditions,
                                   const Function& function);
// Whether there are any; notes those that cannot be written.
bool check_expressions(const Source& source, const Facts& facts, const Conditions& conditions,
                       const Function& function, std::set<Refusal>& refusals);

}  // namespace rw::autograph_tool
