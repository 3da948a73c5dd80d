// Breaks a good call in one or two places: inputs of the wrong dtype, rank, sizes, number or values;
// attributes of the wrong kind or out of range, missing, unknown. What comes out may still be a legal call.
#pragma once

#include <random>

#include "rewind/op/op.h"
#include "tests/support/case_io.h"

namespace rw::test {

struct Mutation {
  Case input;
  std::string what;       // "input 1: dtype string"
  std::string attribute;  // the attribute that was touched, or empty
};

// Even turns walk over the row's attributes, odd ones over the inputs and the call as a whole, so that
// consecutive turns reach all of them; the rng chooses what happens there.
Mutation mutate(const Case& c, const Op& op, size_t turn, std::mt19937& rng);

}  // namespace rw::test
