#include "rewind/runtime/eager.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "rewind/base/error.h"
#include "rewind/base/float_mode.h"
#include "rewind/kernel/kernel.h"
#include "rewind/op/families.h"
#include "rewind/op/table.h"
#include "rewind/runtime/evaluate.h"
#include "rewind/runtime/holdings.h"
#include "rewind/runtime/host_function.h"
#include "rewind/runtime/kernel_host.h"
#include "rewind/runtime/list_ops.h"
#include "rewind/runtime/lookup_table.h"
#include "rewind/runtime/optional_ops.h"
#include "rewind/runtime/remake.h"
#include "rewind/runtime/share_ops.h"
#include "rewind/runtime/state_ops.h"
#include "rewind/runtime/touch.h"
#include "rewind/runtime/variable_cell.h"

namespace rw {
namespace {

std::atomic<bool> g_log_placement{false};

struct RuntimeEntry {
  RuntimeKernel run = nullptr;
  ShareRule share = nullptr;
  // Of elementwise ops, which have neither, for run_plain:
  bool plain = false;                       // one output, of the inputs' sizes; no state
  bool broadcasts = false;                  // one of the inputs may be a single number
  DType output = DType::kInvalid;           // a fixed type; else the inputs' own
  bool rounds_once = false;                 // an element is one rounded result, or chosen from the inputs
  mutable std::atomic<DTypeSet> types = 0;  // those that passed check_call
};

Value allocate_for(const Op& op, Device& device, DType dtype, Shape shape) {
  Value value = Value::allocate(device, dtype, std::move(shape));
  if (value.storage->buffer.bytes() > kListedFrom) name_maker(*value.storage, op);
  return value;
}

class EagerHost final : public KernelHost {
 public:
  EagerHost(const Op& op, Device& device, std::span<const Value* const> inputs, ValueList& outputs)
      : op_(op), device_(device), inputs_(inputs), outputs_(outputs) {}

  View allocate_output(int i, Shape shape) override {
    Value& value = outputs_[size_t(i)];
    value = allocate_for(op_, device_, value.dtype, std::move(shape));
    return value.view();
  }
  void* scratch(size_t bytes) override {
    if (bytes == 0) return nullptr;
    Buffer room(device_, bytes);  // throws before the list has a place for it
    return scratch_.emplace_back(std::move(room)).data();
  }
  View variable(int i) override { return writable_variable(inputs_[size_t(i)]->view(), op_); }

 private:
  const Op& op_;
  Device& device_;
  std::span<const Value* const> inputs_;
  ValueList& outputs_;
  SmallVector<Buffer, 2> scratch_;
};

// Runs the op's kernel on prepared outputs. Split from run_eager so that the host object, which has state to
// clean up, is built only where a kernel runs.
void run_kernel(const Op& op, const Attrs& attrs, std::span<const Value* const> inputs,
                std::span<const View> in, ValueList& outputs, Device& device) {
  SmallVector<View, 2> out;
  for (const Value& v : outputs) out.push_back(v.view());
  EagerHost host(op, device, inputs, outputs);
  VariableLocks locks;
  if (!inputs.empty() && op.stateful) locks.lock(in);
  const KernelEntry* kernel = find_kernel(op, device.type());
  if (!kernel) fail_unimplemented(op.tag, "there is no kernel for " + op.name + " on " + device.name());
  KernelContext ctx(op, attrs, in, {out.data(), out.size()}, device, host, kernel->data);
  kernel->run(ctx);
}

const RuntimeEntry* runtime_entry(const Op& op) {
  return static_cast<const RuntimeEntry*>(op.rule(RuleSlot::kRuntimeKernel));
}

// Memory in an empty value, with the sizes of one that exists. Not among the holdings.
void allocate_like(const Value& sizes, DType dtype, Device& device, Value& value) {
  const size_t bytes = size_t(sizes.size) * size_of(dtype);
  auto storage = Ref<Storage>::adopt(new Storage);
  storage->buffer = Buffer(device, bytes);
  value.dtype = dtype;
  value.shape = sizes.shape;
  value.data = storage->buffer.data();
  value.size = sizes.size;
  value.storage = std::move(storage);
}

void list_result(const Op& op, const Value& value) {
  if (value.storage->buffer.bytes() <= kListedFrom) return;
  list_holding({.storage = value.storage.get(), .op = &op, .dtype = value.dtype, .shape = value.shape});
}

// Setting the mode of kernels costs 10 ns, half of it the read of the register: too much beside a few
// additions. A result that is rounded once, to nearest, from zeros and numbers of middling size is the same
// in every mode: neither it nor what it comes from is a denormal.
constexpr int64_t kFewElements = 16;

bool rounds_once(std::string_view op) {
  for (const std::string_view one :
       {"AddV2", "Add", "Sub", "Mul", "RealDiv", "Neg", "Abs", "Maximum", "Minimum", "Less", "LessEqual",
        "Greater", "GreaterEqual", "Equal", "NotEqual"})
    if (op == one) return true;
  return false;
}

// By two sums that other modes round to their neighbours.
bool rounds_to_nearest() {
  static const volatile float one = 1;
  const float x = one;
  return x + 0x1p-25f == x && x - 0x1p-26f == x;
}

// Zeros, and numbers from 2^-e to 2^e: their products and quotients are at least 2^-2e, their sums zero or at
// least 2^-e-m for m bits of mantissa. (The results themselves are not looked at: what a vector has just
// stored cannot be loaded in parts without waiting for it.)
template <class Bits, Bits kLeast, Bits kMost>
bool middling_numbers(const Value& v) {
  typedef Bits Vector [[gnu::vector_size(16)]];
  constexpr int64_t kLanes = 16 / sizeof(Bits);
  const Bits* x = static_cast<const Bits*>(v.data);
  const auto outside = [](auto bits) {
    const auto magnitude = bits & (std::numeric_limits<Bits>::max() >> 1);
    return (magnitude - kLeast > kMost - kLeast) & (magnitude != 0);
  };
  if (v.size < kLanes) {
    for (int64_t i = 0; i < v.size; ++i)
      if (outside(x[i])) return false;
    return true;
  }
  auto any = outside(Vector{});
  for (int64_t i = 0; i < v.size; i += kLanes) {
    Vector some;
    std::memcpy(&some, x + std::min(i, v.size - kLanes), sizeof some);
    any |= outside(some);
  }
  uint64_t halves[2];
  std::memcpy(halves, &any, sizeof any);
  return (halves[0] | halves[1]) == 0;
}

bool middling_numbers(const Value& v) {
  switch (v.dtype) {
    case DType::kFloat32: return middling_numbers<uint32_t, (127u - 60) << 23, (127u + 60) << 23>(v);
    case DType::kFloat64:
      return middling_numbers<uint64_t, uint64_t{1023 - 400} << 52, uint64_t{1023 + 400} << 52>(v);
    default: return contains(kIntTypes | set_of(DType::kBool), v.dtype);
  }
}

const RuntimeEntry& make_plain_entry(const Op& op) {
  auto entry = std::make_unique<RuntimeEntry>();
  entry->rounds_once = rounds_once(op.name);
  entry->broadcasts = op.shape_rule == broadcast_inputs;
  entry->plain = (entry->broadcasts || op.shape_rule == same_shape_as_input) && op.simple && !op.view &&
                 op.outputs.size() == 1;
  if (entry->plain) {
    entry->output = op.outputs[0].dtype;
    const int type = op.inputs[0].type_attr;
    for (const ArgDef& input : op.inputs) entry->plain &= input.type_attr == type;
    if (entry->output == DType::kInvalid) entry->plain &= op.outputs[0].type_attr == type;
    if (is_host_only(entry->output))
      entry->plain = false;  // strings, which AsString gives, are made otherwise
  }
  const void* none = nullptr;
  if (op.rules[size_t(RuleSlot::kRuntimeKernel)].compare_exchange_strong(none, entry.get(),
                                                                         std::memory_order_acq_rel))
    return *entry.release();
  return *static_cast<const RuntimeEntry*>(none);
}

// Room of kernels that ask for some, which few elementwise ones do.
class PlainHost final : public KernelHost {
 public:
  explicit PlainHost(Device& device) : device_(device) {}
  View allocate_output(int, Shape) override {
    fail_internal(__FILE__, __LINE__, "the output's sizes are known");
  }
  void* scratch(size_t bytes) override {
    if (bytes == 0) return nullptr;
    return scratch_.emplace_back(Buffer(device_, bytes)).data();
  }
  View variable(int) override { fail_internal(__FILE__, __LINE__, "the op has no state"); }

 private:
  Device& device_;
  std::vector<Buffer> scratch_;
};

}  // namespace

void register_runtime_rules() {
  register_state_runtime_kernels();
  register_lookup_runtime_kernels();
  register_list_runtime_kernels();
  register_optional_runtime_kernels();
  register_share_rules();
  register_host_function_kernel();
  register_control_runtime_kernels();
}

void set_log_device_placement(bool enabled) { g_log_placement = enabled; }
bool log_device_placement() { return g_log_placement; }

void register_runtime_kernel(std::string_view op, RuntimeKernel kernel) {
  find_op(op).rules[size_t(RuleSlot::kRuntimeKernel)].store(new RuntimeEntry{.run = kernel},
                                                            std::memory_order_release);
}

void register_share_rule(std::string_view op, ShareRule rule) {
  find_op(op).rules[size_t(RuleSlot::kRuntimeKernel)].store(new RuntimeEntry{.share = rule},
                                                            std::memory_order_release);
}

bool runs_in_runtime(const Op& op) {
  if (!op.stateful && !op.runtime) return false;
  const RuntimeEntry* entry = runtime_entry(op);
  return entry && entry->run;
}

ValueList run_eager(const Op& op, const Attrs& attrs, std::span<const Value* const> inputs, bool remember) {
  const size_t n = inputs.size();
  SmallVector<View, 4> in(n);
  bool movable = remember;
  for (size_t i = 0; i < n; ++i) {
    in[i] = inputs[i]->view();
    movable |= inputs[i]->movable();
  }
  if (g_log_placement.load(std::memory_order_relaxed)) [[unlikely]]
    std::fputs(("Executing op " + op.name + " in device " + cpu_device().full_name() + "\n").c_str(), stderr);
  if (movable) [[unlikely]]
    return run_movable(op, attrs, inputs, remember);
  return run_eager_on(op, attrs, inputs, {in.data(), n});
}

bool run_plain(const Op& op, const Value& a, const Value* b, Value& result, bool remember) {
  const size_t n = b ? 2 : 1;
  if (op.inputs.size() != n) return false;
  if (op.stateful || op.runtime || op.shares) return false;  // what they have in the slot is registered
  Device& device = cpu_device();
  const KernelEntry* kernel = find_kernel(op, device.type());
  if (!kernel) return false;
  const void* slot = op.rule(RuleSlot::kRuntimeKernel);
  const RuntimeEntry& entry = slot ? *static_cast<const RuntimeEntry*>(slot) : make_plain_entry(op);
  const Value* wide = &a;
  if (b) {
    if (b->dtype != a.dtype) return false;
    if (!(b->shape == a.shape)) {
      if (!entry.broadcasts || (a.shape.rank() != 0 && b->shape.rank() != 0)) return false;
      if (a.shape.rank() == 0) wide = b;
    }
  }
  if (!entry.plain || is_host_only(a.dtype) || g_log_placement.load(std::memory_order_relaxed)) return false;
  if (!contains(entry.types.load(std::memory_order_relaxed), a.dtype)) [[unlikely]] {
    const DType types[] = {a.dtype, a.dtype};
    DTypeVector outputs;
    check_call(op, types, n, Attrs(), &outputs);
    entry.types.fetch_or(set_of(a.dtype), std::memory_order_relaxed);
  }
  const DType dtype = entry.output == DType::kInvalid ? a.dtype : entry.output;
  const Attrs defaults;
  View in[] = {a.view(), b ? b->view() : View()};
  auto compute = [&] {
    allocate_like(*wide, dtype, device, result);
    View out[] = {result.view()};
    PlainHost host(device);
    KernelContext ctx(op, defaults, {in, n}, out, device, host, kernel->data);
    if (entry.rounds_once && result.size <= kFewElements && rounds_to_nearest() && middling_numbers(a) &&
        (!b || middling_numbers(*b)))
      return kernel->run(ctx);
    const KernelFloatMode float_mode;
    kernel->run(ctx);
  };
  if (!remember && !a.movable() && !(b && b->movable())) {
    compute();
    list_result(op, result);
    return true;
  }
  const Value* const inputs[] = {&a, b};
  Touched touched({inputs, n});
  for (size_t i = 0; i < n; ++i) in[i].data = touched.data(i);
  compute();
  if (remember) write_down(op, defaults, {inputs, n}, {&result, 1}, touched);
  if (!result.movable()) list_result(op, result);
  return true;
}

ValueList run_eager_on(const Op& op, const Attrs& attrs, std::span<const Value* const> inputs,
                       std::span<const View> in) {
  const size_t n = inputs.size();
  DTypeVector types(n);
  for (size_t i = 0; i < n; ++i) types[i] = in[i].dtype;
  DTypeVector output_types;
  check_call(op, types.data(), n, attrs, &output_types);
  Device& device = cpu_device();

  SmallVector<Shape, 2> shapes(output_types.size());
  ShapeContext shape_ctx(op, attrs, in.data(), n, shapes.data(), shapes.size());
  op.shape_rule(shape_ctx);

  ValueList outputs;
  if (op.view) {
    Value& out = outputs.emplace_back(*inputs[0]);
    out.shape = std::move(shapes[0]);
    out.dtype = output_types[0];
    out.size = out.shape.num_elements();
    return outputs;
  }
  const KernelFloatMode float_mode;
  if (op.stateful || op.runtime) {
    if (const RuntimeEntry* entry = runtime_entry(op)) {
      entry->run(op, attrs, inputs, outputs);
      return outputs;
    }
  }
  if (op.shares) {
    const RuntimeEntry* entry = runtime_entry(op);
    if (entry && entry->share(op, attrs, inputs, {shapes.data(), shapes.size()}, outputs)) return outputs;
  }
  for (size_t i = 0; i < output_types.size(); ++i) {
    if (shapes[i].fully_known()) {
      outputs.emplace_back(allocate_for(op, device, output_types[i], std::move(shapes[i])));
    } else {
      Value& open = outputs.emplace_back();
      open.dtype = output_types[i];
      open.shape = std::move(shapes[i]);
    }
  }
  run_kernel(op, attrs, inputs, in, outputs, device);
  return outputs;
}

}  // namespace rw
