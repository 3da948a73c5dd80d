#include "tests/support/case_tensors.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "rewind/tensor/apply.h"
#include "tests/support/test_body.h"

namespace rw::test {

Tensor to_tensor(const Array& a) {
  if (a.dtype == DType::kString) return tensor_from_strings(a.strings, Shape(a.dims));
  return tensor_from_bytes(a.bytes.data(), a.dtype, Shape(a.dims));
}

std::optional<Array> to_array(const Tensor& t) {
  if (!t.defined() || t.dtype() == DType::kResource || t.dtype() == DType::kVariant) return std::nullopt;
  // Sanitizers end the program where others throw.
  if (t.dtype() != DType::kString &&
      t.shape().num_elements() > (int64_t{1} << 30) / int64_t(size_of(t.dtype())))
    throw ResourceExhaustedError("[test] there is no room for a copy of the result");
  Array a;
  try {
    a = make_array(t.dtype(), {t.shape().begin(), t.shape().end()});
  } catch (const std::bad_alloc&) {
    throw ResourceExhaustedError("[test] there is no room for a copy of the result");
  }
  if (a.dtype == DType::kString) {
    auto view = t.data<std::string>();
    a.strings.assign(view.begin(), view.end());
  } else if (!a.bytes.empty()) {
    std::memcpy(a.bytes.data(), t.host_data(), a.bytes.size());
  }
  return a;
}

namespace {
HostTensor to_host_tensor(const Array& a) {
  HostTensor h{a.dtype, Shape(a.dims), nullptr};
  if (a.dtype == DType::kString) {
    auto owner = std::make_shared<std::vector<std::string>>(a.strings);
    h.data = std::shared_ptr<const void>(owner, owner->data());
  } else {
    auto owner = std::make_shared<std::string>(a.bytes);
    h.data = std::shared_ptr<const void>(owner, owner->data());
  }
  return h;
}

Shape to_shape(const std::optional<std::vector<int64_t>>& dims) {
  return dims ? Shape(*dims) : Shape::unknown_rank();
}
}  // namespace

AttrValue to_attr(const CaseAttr& a) {
  if (!a.list) {
    switch (a.kind) {
      case AttrKind::kInt: return a.ints.at(0);
      case AttrKind::kFloat: return a.floats.at(0);
      case AttrKind::kBool: return a.ints.at(0) != 0;
      case AttrKind::kString: return a.strings.at(0);
      case AttrKind::kType: return DType(a.ints.at(0));
      case AttrKind::kShape: return to_shape(a.shapes.at(0));
      case AttrKind::kTensor: return to_host_tensor(a.tensors.at(0));
      case AttrKind::kFunc: return test_body(a.strings.at(0));
    }
  }
  switch (a.kind) {
    case AttrKind::kInt: return a.ints;
    case AttrKind::kFloat: return a.floats;
    case AttrKind::kBool: return std::vector<bool>(a.ints.begin(), a.ints.end());
    case AttrKind::kString: return a.strings;
    case AttrKind::kType: {
      std::vector<DType> types;
      for (auto t : a.ints) types.push_back(DType(t));
      return types;
    }
    case AttrKind::kShape: {
      std::vector<Shape> shapes;
      for (auto& s : a.shapes) shapes.push_back(to_shape(s));
      return shapes;
    }
    case AttrKind::kFunc: {
      std::vector<BodyRef> bodies;
      for (auto& text : a.strings) bodies.push_back(test_body(text));
      return bodies;
    }
    case AttrKind::kTensor: break;
  }
  throw InvalidArgumentError("[test] an attribute cannot be a list of tensors");
}

Leaves::Leaves(const Case& c) {
  for (Input* in : leaves(const_cast<Call&>(c.call))) {
    Tensor value = to_tensor(in->value);
    Variable variable;
    if (in->kind == Input::kVariable) variable = Variable(value);
    tensors.push_back(variable.defined() ? variable.handle() : value);
    variables.push_back(variable);
  }
}

Attrs stated_attrs(const Call& call) {
  std::vector<std::pair<std::string, AttrValue>> attrs;
  for (auto& a : call.attrs)
    if (!a.inferred) attrs.emplace_back(a.name, to_attr(a));
  return Attrs(attrs);
}

namespace {
std::vector<Tensor> evaluate(const Call& call, const std::vector<Tensor>& leaf_tensors, size_t& next) {
  std::vector<Tensor> inputs;
  for (auto& in : call.inputs) {
    if (in.kind != Input::kCall) {
      inputs.push_back(leaf_tensors[next++]);
      continue;
    }
    auto outputs = evaluate(*in.call, leaf_tensors, next);
    if (in.output >= outputs.size())
      throw InvalidArgumentError("[test] " + in.call->op + " has no such output");
    inputs.push_back(outputs[in.output]);
  }
  return raw_op(call.op, inputs, stated_attrs(call));
}
}  // namespace

std::vector<Tensor> evaluate(const Case& c, const std::vector<Tensor>& leaf_tensors) {
  size_t next = 0;
  return evaluate(c.call, leaf_tensors, next);
}

Targets::Targets(const Case& c, const std::vector<Tensor>& outputs) {
  if (c.output_gradients.empty())
    for (auto& y : outputs)
      if (is_differentiable(y.dtype())) tensors.push_back(y);
  for (size_t k = 0; k < std::min(outputs.size(), c.output_gradients.size()); ++k) {
    if (!c.output_gradients[k]) continue;
    tensors.push_back(outputs[k]);
    gradients.push_back(to_tensor(*c.output_gradients[k]));
  }
}

const char* class_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kCancelled: return "CancelledError";
    case ErrorCode::kUnknown: return "UnknownError";
    case ErrorCode::kInvalidArgument: return "InvalidArgumentError";
    case ErrorCode::kNotFound: return "NotFoundError";
    case ErrorCode::kAlreadyExists: return "AlreadyExistsError";
    case ErrorCode::kPermissionDenied: return "PermissionDeniedError";
    case ErrorCode::kResourceExhausted: return "ResourceExhaustedError";
    case ErrorCode::kFailedPrecondition: return "FailedPreconditionError";
    case ErrorCode::kAborted: return "AbortedError";
    case ErrorCode::kOutOfRange: return "OutOfRangeError";
    case ErrorCode::kUnimplemented: return "UnimplementedError";
    case ErrorCode::kInternal: return "InternalError";
    case ErrorCode::kDataLoss: return "DataLossError";
  }
  return "UnknownError";
}

std::vector<std::optional<Array>> to_arrays(const std::vector<Gradient>& gradients) {
  std::vector<std::optional<Array>> arrays;
  for (auto& g : gradients) arrays.push_back(g.none() ? std::nullopt : to_array(g.tensor()));
  return arrays;
}

CaseTensors run(const Case& c, const Leaves& in, std::string& stage) {
  GradientTape tape({.watch_accessed_variables = false});
  std::vector<Tensor> sources;
  for (auto k : c.wanted) {
    in.watch(tape, k);
    sources.push_back(in.tensors[k]);
  }
  CaseTensors all;
  all.outputs = evaluate(c, in.tensors);
  const Targets targets(c, all.outputs);
  for (auto& v : in.variables)
    if (v.defined()) all.outputs.push_back(v.value());
  if (c.wanted.empty()) return all;
  stage = "gradient: ";
  all.gradients = tape.flat_gradient(targets.tensors, sources, {.output_gradients = targets.gradients});
  return all;
}

void store(const CaseTensors& from, Result& r) {
  for (auto& y : from.outputs) r.outputs.push_back(to_array(y));
  r.gradients = to_arrays(from.gradients);
}

}  // namespace rw::test
