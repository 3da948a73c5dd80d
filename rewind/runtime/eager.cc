#include "rewind/runtime/eager.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
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

const RuntimeEntry& make_plain_entry(const Op& op) {
  auto entry = std::make_unique<RuntimeEntry>();
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
  register_list_runtime_kernels();
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
