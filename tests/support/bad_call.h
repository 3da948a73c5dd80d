// A call in the ways a program makes it: each ends in results or in an rw::Error, whatever the call is.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "tests/support/case_io.h"

namespace rw::test {

enum class CallMode { kEager, kTape, kFunction, kFunctionTape, kVectorizedMap, kWhileBody, kGraphDef };
constexpr std::array kCallModes{CallMode::kEager,        CallMode::kTape,          CallMode::kFunction,
                                CallMode::kFunctionTape, CallMode::kVectorizedMap, CallMode::kWhileBody,
                                CallMode::kGraphDef};
std::string_view name_of(CallMode mode);

// `draw` chooses what a mode leaves open: what a trace knows of shapes, over which leaves a batch runs, ...
// Tapes follow every leaf that has a gradient.
Result run_call(const Case& c, CallMode mode, uint32_t draw);
// Whether the mode must refuse what eager execution refuses: it makes the call with these values.
bool refuses_alike(const Case& c, CallMode mode, uint32_t draw);

// "Fill(int32(2) {2, -3}, float32() {1}; index_type=int32)": everything that the call is.
std::string describe(const Case& c);

}  // namespace rw::test
