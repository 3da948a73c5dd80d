#include "rewind/runtime/state_ops.h"

#include "rewind/base/error.h"
#include "rewind/op/object.h"
#include "rewind/runtime/eager.h"
#include "rewind/runtime/variable_cell.h"

namespace rw {
namespace {

using Inputs = std::span<const Value* const>;

void make_handle(const Op& op, const Attrs& attrs, Inputs, ValueList& outputs) {
  Value handle = Value::allocate(cpu_device(), DType::kResource, {});
  *static_cast<Ref<Object>*>(handle.data) =
      Ref<Object>::adopt(new VariableCell(attr_as<std::string>(op, attrs, "shared_name")));
  outputs.push_back(std::move(handle));
}

void read(const Op& op, const Attrs& attrs, Inputs inputs, ValueList& outputs) {
  VariableCell& cell = variable_of(inputs[0]->view(), op.tag);
  const std::lock_guard lock(cell.mutex);
  if (cell.value.dtype == DType::kInvalid)
    fail_precondition(op.tag, "variable " + cell.name + " has no value yet");
  const DType dtype = attr_as<DType>(op, attrs, "dtype");
  if (dtype != cell.value.dtype)
    fail_invalid(op.tag, "variable " + cell.name + " is " + std::string(name_of(cell.value.dtype)) + ", " +
                             std::string(name_of(dtype)) + " was asked for");
  outputs.push_back(cell.value);
}

void assign(const Op& op, const Attrs&, Inputs inputs, ValueList&) {
  VariableCell& cell = variable_of(inputs[0]->view(), op.tag);
  const std::lock_guard lock(cell.mutex);
  if (cell.value.dtype != DType::kInvalid && cell.value.dtype != inputs[1]->dtype)
    fail_invalid(op.tag, "variable " + cell.name + " is " + std::string(name_of(cell.value.dtype)) +
                             ", the value is " + std::string(name_of(inputs[1]->dtype)));
  cell.value = *inputs[1];
}

void is_initialized(const Op& op, const Attrs&, Inputs inputs, ValueList& outputs) {
  VariableCell& cell = variable_of(inputs[0]->view(), op.tag);
  const std::lock_guard lock(cell.mutex);
  Value flag = Value::allocate(cpu_device(), DType::kBool, {});
  *static_cast<bool*>(flag.data) = cell.value.dtype != DType::kInvalid;
  outputs.push_back(std::move(flag));
}

void variable_shape(const Op& op, const Attrs& attrs, Inputs inputs, ValueList& outputs) {
  VariableCell& cell = variable_of(inputs[0]->view(), op.tag);
  const std::lock_guard lock(cell.mutex);
  if (cell.value.dtype == DType::kInvalid)
    fail_precondition(op.tag, "variable " + cell.name + " has no value yet");
  const Shape& shape = cell.value.shape;
  const DType dtype = attr_as<DType>(op, attrs, "out_type");
  Value out = Value::allocate(cpu_device(), dtype, {shape.rank()});
  for (int i = 0; i < shape.rank(); ++i) {
    if (dtype == DType::kInt32) static_cast<int32_t*>(out.data)[i] = int32_t(shape[i]);
    else static_cast<int64_t*>(out.data)[i] = shape[i];
  }
  outputs.push_back(std::move(out));
}

}  // namespace

void register_state_runtime_kernels() {
  register_runtime_kernel("VarHandleOp", make_handle);
  register_runtime_kernel("ReadVariableOp", read);
  register_runtime_kernel("AssignVariableOp", assign);
  register_runtime_kernel("VarIsInitializedOp", is_initialized);
  register_runtime_kernel("VariableShape", variable_shape);
}

}  // namespace rw
