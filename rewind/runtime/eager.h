// The eager executor: checks a call, finds the outputs' shapes, makes room, runs the kernel.
#pragma once

#include <span>

#include "rewind/op/op.h"
#include "rewind/runtime/storage.h"

namespace rw {

using ValueList = SmallVector<Value, 2>;

// `remember`: a memory budget is set and a tape listens, so that results may be dropped and made again later.
ValueList run_eager(const Op& op, const Attrs& attrs, std::span<const Value* const> inputs,
                    bool remember = false);
// The same for inputs that lie where `views` says.
ValueList run_eager_on(const Op& op, const Attrs& attrs, std::span<const Value* const> inputs,
                       std::span<const View> views);

// The short way for the calls that programs make most: an elementwise op, no attributes said, one or two
// inputs of one type, and of one shape unless one is a single number. Fills the empty `result` and returns
// true; or returns false with nothing done: the call is run_eager's. `b` is nullptr for ops of one input;
// `remember` as above.
bool run_plain(const Op& op, const Value& a, const Value* b, Value& result, bool remember = false);

// Kernels that deal in values rather than views: reading a variable shares its storage, assigning replaces
// it.
using RuntimeKernel = void (*)(const Op& op, const Attrs& attrs, std::span<const Value* const> inputs,
                               ValueList& outputs);
void register_runtime_kernel(std::string_view op, RuntimeKernel kernel);

// For ops with the trait `shares`: gives outputs that are parts of an input's memory and returns true, or
// returns false when the elements must be copied. `shapes` are the outputs' and may be moved from when it
// returns true.
using ShareRule = bool (*)(const Op& op, const Attrs& attrs, std::span<const Value* const> inputs,
                           std::span<Shape> shapes, ValueList& outputs);
void register_share_rule(std::string_view op, ShareRule rule);

// Whether a stateful op runs in the runtime itself (variables, host functions) rather than by a kernel.
bool runs_in_runtime(const Op& op);

// Prints "Executing op NAME in device ..." for every op to stderr.
void set_log_device_placement(bool enabled);
bool log_device_placement();

}  // namespace rw
