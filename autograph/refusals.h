// What staged code may not contain.
#pragma once

#include "functions.h"
#include "plan.h"

namespace rw::autograph_tool {

void find_refusals(const Source& source, const Facts& facts, const Function& function, const Plan& plan,
                   std::set<Refusal>& refusals);

}  // namespace rw::autograph_tool
