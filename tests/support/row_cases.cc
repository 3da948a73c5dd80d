#include "tests/support/row_cases.h"

#include <cstring>

namespace rw::test {
namespace {

Input tensor(DType dtype, std::vector<int64_t> dims, const std::vector<double>& values = {}) {
  Input in;
  if (dtype == DType::kString) {
    in.value = make_array(dtype, std::move(dims));
    return in;
  }
  Array a = make_array(DType::kFloat64, std::move(dims));
  for (int64_t i = 0; i < a.size(); ++i)
    a.set_component(i, values.empty() ? double(i % 3) : values[size_t(i) % values.size()]);
  in.value = convert(a, dtype);
  return in;
}
Input floats(std::vector<int64_t> dims) { return tensor(DType::kFloat32, std::move(dims), {0.5, -1, 2}); }
Input ints(std::vector<int64_t> dims, const std::vector<double>& values) {
  return tensor(DType::kInt32, std::move(dims), values);
}
Input variable(std::vector<int64_t> dims) {
  Input in = floats(std::move(dims));
  in.kind = Input::kVariable;
  return in;
}

CaseAttr attr_int(const char* name, int64_t v) {
  CaseAttr a{.name = name};
  a.ints = {v};
  return a;
}
CaseAttr attr_type(const char* name, std::vector<DType> types, bool list) {
  CaseAttr a{.name = name, .kind = AttrKind::kType, .list = list};
  for (const DType t : types) a.ints.push_back(int64_t(t));
  return a;
}
CaseAttr attr_func(const char* name, std::vector<std::string> bodies, bool list = false) {
  CaseAttr a{.name = name, .kind = AttrKind::kFunc, .list = list};
  a.strings = std::move(bodies);
  return a;
}

Case make(const std::string& op, std::vector<Input> inputs, std::vector<CaseAttr> attrs = {}) {
  Case c;
  c.label = "row";
  c.call = {op, std::move(attrs), std::move(inputs)};
  return c;
}

Input made_by(const std::string& op, std::vector<Input> inputs, std::vector<CaseAttr> attrs = {}) {
  Input in;
  in.kind = Input::kCall;
  in.call = std::make_shared<Call>(Call{op, std::move(attrs), std::move(inputs)});
  return in;
}
// Three rows of two floats.
Input list_of_rows() { return made_by("TensorListFromTensor", {floats({3, 2}), ints({1}, {2})}); }

// Branches, loops and calls, with and without effects.
void add_control(const std::string& name, std::vector<Case>* all) {
  const bool stateless = name.starts_with("Stateless");
  const std::string row = stateless ? name.substr(9) : name;
  const CaseAttr one = attr_type("Tout", {DType::kFloat32}, true);
  const CaseAttr bool_out = attr_type("Tout", {DType::kBool}, true);
  if (row == "If")
    for (const DType t : {DType::kBool, DType::kInt32, DType::kFloat32, DType::kString})
      all->push_back(
          make(name, {tensor(t, {}, {1}), floats({2})},
               {one, attr_func("then_branch", {"add:float32"}), attr_func("else_branch", {"same:float32"})}));
  if (row == "Case")
    all->push_back(
        make(name, {ints({}, {1}), floats({2})},
             {one, attr_func("branches", {"add:float32", "same:float32", "index:float32"}, true)}));
  if (row == "While")
    all->push_back(
        make(name, {floats({}), ints({2}, {4})},
             {attr_func("cond", {"below:float32,int32"}), attr_func("body", {"add:float32,int32"})}));
  if (row.ends_with("PartitionedCall")) {
    all->push_back(make(name, {floats({2, 2})}, {one, attr_func("f", {"add:float32"})}));
    all->push_back(make(name, {floats({2})}, {one, attr_func("f", {"index:float32"})}));
    all->push_back(make(name, {floats({2})}, {bool_out, attr_func("f", {"below:float32"})}));
  }
}

void add_list(const std::string& name, std::vector<Case>* all) {
  const CaseAttr type = attr_type("element_dtype", {DType::kFloat32}, false);
  const auto add = [&](const char* row, std::vector<Input> inputs, std::vector<CaseAttr> attrs = {}) {
    if (name == row) all->push_back(make(row, std::move(inputs), std::move(attrs)));
  };
  const Input two = ints({1}, {2}), list = list_of_rows(), places = ints({3}, {0, 1, 2});
  add("EmptyTensorList", {two, ints({}, {-1})}, {type});
  add("TensorListReserve", {two, ints({}, {3})}, {type});
  add("TensorListPushBack", {list, floats({2})});
  add("TensorListSetItem", {list, ints({}, {1}), floats({2})});
  add("TensorListResize", {list, ints({}, {5})});
  add("TensorListFromTensor", {floats({3, 2}), two});
  add("TensorListScatter", {floats({3, 2}), places, two});
  add("TensorListScatterV2", {floats({3, 2}), places, two, ints({}, {3})});
  add("TensorListScatterIntoExistingList", {list, floats({3, 2}), places});
  add("TensorListSplit", {floats({4, 2}), ints({2}, {-1, 2}), tensor(DType::kInt64, {2}, {1, 3})});
  add("TensorListConcatLists", {list, list}, {type});
  const Input optional = made_by("OptionalFromValue", {floats({2})});
  add("OptionalHasValue", {optional});
  CaseAttr shapes{.name = "output_shapes", .kind = AttrKind::kShape, .list = true};
  shapes.shapes = {std::vector<int64_t>{2}};
  add("OptionalGetValue", {optional}, {attr_type("output_types", {DType::kFloat32}, true), shapes});
}

void add_versions(const std::string& name, std::vector<Case>* all) {
  const Input x = floats({1, 2, 2, 2}), channels = floats({2});
  if (name == "TopK") all->push_back(make(name, {floats({2, 3})}, {attr_int("k", 2)}));
  if (name == "FusedBatchNorm") all->push_back(make(name, {x, channels, channels, floats({0}), floats({0})}));
  if (name == "FusedBatchNormGrad" || name == "FusedBatchNormGradV2")
    all->push_back(make(name, {x, x, channels, channels, channels}));
}

DType allowed(const Op& op, const ArgDef& arg, uint32_t variant) {
  if (arg.dtype != DType::kInvalid) return arg.dtype;
  const int at = arg.type_attr >= 0 ? arg.type_attr : arg.type_list_attr;
  const DTypeSet set = at >= 0 ? op.attrs[size_t(at)].allowed_types : 0;
  std::vector<DType> types;
  for (const DType t : {DType::kFloat32, DType::kInt32, DType::kInt64, DType::kBool, DType::kString})
    if (set == 0 || contains(set, t)) types.push_back(t);
  return types.empty() ? DType::kFloat32 : types[variant % types.size()];
}

Input likely(const Op& op, const ArgDef& arg, uint32_t variant) {
  const std::vector<int64_t> dims[] = {{2, 3}, {2}, {}, {1, 2, 2, 2}};
  const auto& shape = dims[arg.host_memory ? 1 + variant % 2 : variant % 4];
  const DType t = allowed(op, arg, variant / 4);
  if (t == DType::kResource) return variable(shape);
  return t == DType::kVariant ? list_of_rows() : tensor(t, shape);
}

CaseAttr likely(const AttrDef& def, const std::string& types) {
  CaseAttr a{.name = def.name, .kind = AttrKind(def.type), .list = def.list};
  switch (a.kind) {
    case AttrKind::kInt:
    case AttrKind::kBool: a.ints = {std::max<int64_t>(1, def.minimum.value_or(1))}; break;
    case AttrKind::kFloat: a.floats = {0.5}; break;
    case AttrKind::kString: a.strings = {def.allowed_strings.empty() ? "x" : def.allowed_strings[0]}; break;
    case AttrKind::kType: a.ints = {int64_t(DType::kFloat32)}; break;
    case AttrKind::kShape: a.shapes = {std::vector<int64_t>{2}}; break;
    case AttrKind::kTensor: a.tensors = {floats({2}).value}; break;
    case AttrKind::kFunc: {
      const char* kind = def.name == "cond" ? "below:" : def.name == "body" ? "add:" : "same:";
      a.strings = {kind + types};
      break;
    }
  }
  return a;
}

Case from_text(const Op& op, uint32_t variant) {
  std::vector<Input> inputs;
  std::string types;
  for (const ArgDef& arg : op.inputs) {
    for (int n = arg.is_list() ? 2 : 1; n > 0; --n) {
      inputs.push_back(likely(op, arg, variant));
      if (inputs.back().kind == Input::kCall) continue;
      types += (types.empty() ? "" : ",") + std::string(name_of(inputs.back().value.dtype));
    }
  }
  std::vector<CaseAttr> attrs;
  for (const AttrDef& def : op.attrs)
    if (!def.inferred && !def.default_value) attrs.push_back(likely(def, types));
  return make(op.name, std::move(inputs), std::move(attrs));
}

}  // namespace

std::vector<Case> row_cases(const Op& op) {
  std::vector<Case> all;
  add_control(op.name, &all);
  add_list(op.name, &all);
  add_versions(op.name, &all);
  for (uint32_t variant = 0; variant < 8; ++variant) all.push_back(from_text(op, variant));
  return all;
}

}  // namespace rw::test
