// Small functions for attributes of ops, by a text: "kind:dtype,dtype,..." with the dtypes of the arguments.
//
//   same    gives its arguments            first   the first one           none   nothing
//   true    gives the bool true            add     the arguments, each number of them plus 1
//   below   whether the first argument has elements, all of them between -50 and 3: a loop that adds ends
//   index   rows of the first argument at places that may be outside
#pragma once

#include <string>

#include "rewind/op/attrs.h"

namespace rw::test {

// Texts that make no sense give functions without results.
BodyRef test_body(const std::string& text);

}  // namespace rw::test
