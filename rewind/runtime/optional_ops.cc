#include "rewind/runtime/optional_ops.h"

#include "rewind/base/dynamic_type.h"
#include "rewind/base/error.h"
#include "rewind/device/device.h"
#include "rewind/op/table.h"
#include "rewind/runtime/eager.h"

namespace rw {
namespace {

using Inputs = std::span<const Value* const>;

Value handle_of(Ref<OptionalObject> optional) {
  Value handle = Value::allocate(cpu_device(), DType::kVariant, {});
  *static_cast<Ref<Object>*>(handle.data) = Ref<Object>::adopt(optional.release());
  return handle;
}

const OptionalObject& optional_of(const Op& op, const Value& handle) {
  Object* const object = static_cast<Ref<Object>*>(handle.data)->get();
  if (const auto* optional = dynamic_cast_to<const OptionalObject*>(object)) return *optional;
  fail_invalid(op.tag,
               "the input must be an optional: got " + (object ? object->describe() : "an empty variant"));
}

void from_value(const Op&, const Attrs&, Inputs in, ValueList& out) {
  auto optional = Ref<OptionalObject>::adopt(new OptionalObject);
  for (const Value* value : in) optional->components.push_back(*value);
  out.push_back(handle_of(std::move(optional)));
}

void no_value(const Op&, const Attrs&, Inputs, ValueList& out) {
  out.push_back(handle_of(Ref<OptionalObject>::adopt(new OptionalObject)));
}

void has_value(const Op& op, const Attrs&, Inputs in, ValueList& out) {
  Value answer = Value::allocate(cpu_device(), DType::kBool, {});
  *static_cast<bool*>(answer.data) = !optional_of(op, *in[0]).components.empty();
  out.push_back(std::move(answer));
}

void get_value(const Op& op, const Attrs& attrs, Inputs in, ValueList& out) {
  const std::vector<Value>& components = optional_of(op, *in[0]).components;
  const auto types = attr_as<std::vector<DType>>(op, attrs, "output_types");
  const auto shapes = attr_as<std::vector<Shape>>(op, attrs, "output_shapes");
  if (components.empty()) fail_invalid(op.tag, "the optional has no value");
  if (components.size() != types.size())
    fail_invalid(op.tag, "the optional must hold " + std::to_string(types.size()) + " tensors: got " +
                             std::to_string(components.size()));
  for (size_t i = 0; i < components.size(); ++i) {
    const Value& value = components[i];
    if (value.dtype != types[i] || !shapes[i].compatible_with(value.shape))
      fail_invalid(op.tag, "component " + std::to_string(i) + " must be " + std::string(name_of(types[i])) +
                               shapes[i].to_string() + ": got " + value.view().describe());
    out.push_back(value);
  }
}

}  // namespace

std::string OptionalObject::describe() const {
  return "<Optional of " + std::to_string(components.size()) + " tensors>";
}

void register_optional_runtime_kernels() {
  register_runtime_kernel("OptionalFromValue", from_value);
  register_runtime_kernel("OptionalNone", no_value);
  register_runtime_kernel("OptionalHasValue", has_value);
  register_runtime_kernel("OptionalGetValue", get_value);
}

}  // namespace rw
