#include "rewind/op/op.h"

#include <algorithm>
#include <span>

#include "rewind/base/error.h"

namespace rw {
namespace {

[[noreturn]] void fail_call(const Op& op, const std::string& message) { fail_invalid(op.tag, message); }

const AttrDef& known_attr(const Op& op, std::string_view name) {
  const AttrDef* def = op.find_attr(name);
  if (!def) fail_internal(__FILE__, __LINE__, (op.name + " has attribute " + std::string(name)).c_str());
  return *def;
}

bool has_kind(const AttrDef& def, const AttrValue& value) {
  if (def.list) {
    switch (def.type) {
      case AttrType::kInt: return value.get_if<std::vector<int64_t>>();
      case AttrType::kFloat: return value.get_if<std::vector<double>>();
      case AttrType::kBool: return value.get_if<std::vector<bool>>();
      case AttrType::kString: return value.get_if<std::vector<std::string>>();
      case AttrType::kType: return value.get_if<std::vector<DType>>();
      case AttrType::kShape: return value.get_if<std::vector<Shape>>();
      case AttrType::kFunc: return value.get_if<std::vector<BodyRef>>();
      default: return false;
    }
  }
  switch (def.type) {
    case AttrType::kInt: return value.get_if<int64_t>();
    case AttrType::kFloat: return value.get_if<double>();
    case AttrType::kBool: return value.get_if<bool>();
    case AttrType::kString: return value.get_if<std::string>();
    case AttrType::kType: return value.get_if<DType>();
    case AttrType::kShape: return value.get_if<Shape>();
    case AttrType::kTensor: return value.get_if<HostTensor>();
    case AttrType::kFunc: return value.get_if<BodyRef>();
  }
  return false;
}

void check_type_allowed(const Op& op, const AttrDef& def, DType dtype, std::string_view what) {
  if (def.allowed_types == 0 || contains(def.allowed_types, dtype)) return;
  fail_call(op, std::string(what) + " must be one of " + to_string(def.allowed_types & kAllTypes) + ": got " +
                    std::string(name_of(dtype)));
}

void check_attr(const Op& op, const AttrDef& def, const AttrValue& value) {
  static constexpr std::string_view kNames[] = {"an int",  "a float", "a bool",   "a string",
                                                "a dtype", "a shape", "a tensor", "a function"};
  if (!has_kind(def, value)) {
    fail_call(op, "attribute " + def.name + " must be " + (def.list ? "a list, each " : "") +
                      std::string(kNames[size_t(def.type)]) + ": got " + value.to_string());
  }
  if (const DType* d = value.get_if<DType>()) {
    if (*d == DType::kInvalid || !contains(kAllTypes, *d))
      fail_call(op, "attribute " + def.name + " must be a dtype: got " + std::string(name_of(*d)));
    check_type_allowed(op, def, *d, "attribute " + def.name);
  }
  if (const auto* s = value.get_if<std::string>(); s && !def.allowed_strings.empty()) {
    if (std::find(def.allowed_strings.begin(), def.allowed_strings.end(), *s) == def.allowed_strings.end()) {
      std::string all;
      for (const std::string& a : def.allowed_strings) all += (all.empty() ? "'" : ", '") + a + "'";
      fail_call(op, "attribute " + def.name + " must be one of " + all + ": got '" + *s + "'");
    }
  }
  if (def.minimum) {
    int64_t measure = *def.minimum;
    if (const auto* i = value.get_if<int64_t>()) measure = *i;
    std::visit(
        [&]<class V>(const V& v) {
          if constexpr (requires { v.capacity(); } && !std::is_same_v<V, std::string>)
            measure = int64_t(v.size());
        },
        value.variant());
    if (measure < *def.minimum) {
      fail_call(op, "attribute " + def.name + (def.list ? " must have at least " : " must be at least ") +
                        std::to_string(*def.minimum) + ": got " + value.to_string());
    }
  }
}

void check_attrs(const Op& op, const Attrs& attrs) {
  for (const auto& [name, value] : attrs) {
    const AttrDef* def = op.find_attr(name);
    if (!def) {
      std::string known;
      for (const AttrDef& a : op.attrs)
        if (!a.inferred) known += (known.empty() ? "" : ", ") + a.name;
      fail_call(op, "there is no attribute " + name + "; it has: " + (known.empty() ? "none" : known));
    }
    check_attr(op, *def, value);
  }
  for (const AttrDef& def : op.attrs) {
    if (!def.inferred && !def.default_value && !attrs.find(def.name))
      fail_call(op, "attribute " + def.name + " must be given");
  }
}

[[noreturn]] void fail_count(const Op& op, size_t got) {
  std::string names;
  for (const ArgDef& arg : op.inputs)
    names += (names.empty() ? "" : ", ") + arg.name + (arg.is_list() ? "..." : "");
  fail_call(op, "takes the inputs (" + names + "): got " + std::to_string(got) +
                    (got == 1 ? " tensor" : " tensors"));
}

// Types that attributes have by the inputs seen so far.
struct Bound {
  SmallVector<DType, 6> types;
  SmallVector<int64_t, 6> counts;  // of list arguments; empty for ops without
  explicit Bound(const Op& op) : types(op.attrs.size(), DType::kInvalid) {
    if (!op.simple) counts.resize(op.attrs.size(), -1);
  }
};

void check_input(const Op& op, const ArgDef& arg, DType dtype, Bound* bound) {
  if (arg.type_attr < 0) {
    if (arg.type_list_attr >= 0 || dtype == arg.dtype) return;
    fail_call(op, arg.name + " must be " + std::string(name_of(arg.dtype)) + ": got " +
                      std::string(name_of(dtype)) + "; rw::cast converts");
  }
  DType& t = bound->types[size_t(arg.type_attr)];
  if (t == dtype) return;
  if (t == DType::kInvalid) {
    check_type_allowed(op, op.attrs[size_t(arg.type_attr)], dtype, arg.name);
    t = dtype;
    return;
  }
  fail_call(op, "inputs must have one dtype: " + arg.name + " is " + std::string(name_of(dtype)) +
                    ", an earlier one is " + std::string(name_of(t)) + "; rw::cast converts");
}

DType output_type(const Op& op, const ArgDef& arg, const Attrs& attrs, const Bound& bound) {
  if (arg.type_attr < 0) return arg.dtype;
  if (const DType t = bound.types[size_t(arg.type_attr)]; t != DType::kInvalid) return t;
  return attr_as<DType>(op, attrs, op.attrs[size_t(arg.type_attr)].name);
}

// The types of the inputs that a list of types is inferred from; empty when no input has it.
std::span<const DType> input_types(const Op& op, int type_list_attr, const DType* inputs, size_t num_inputs,
                                   const Attrs& attrs) {
  const auto counts = split_inputs(op, num_inputs, attrs);
  size_t at = 0;
  for (size_t i = 0; i < counts.size(); at += size_t(counts[i++]))
    if (op.inputs[i].type_list_attr == type_list_attr) return {inputs + at, size_t(counts[i])};
  return {};
}

}  // namespace

const AttrDef* Op::find_attr(std::string_view attr_name) const {
  for (const AttrDef& a : attrs)
    if (a.name == attr_name) return &a;
  return nullptr;
}

const AttrValue& attr_value(const Op& op, const Attrs& attrs, std::string_view name) {
  if (const AttrValue* v = attrs.find(name)) return *v;
  const AttrDef& def = known_attr(op, name);
  if (def.default_value) return *def.default_value;
  fail_call(op, "attribute " + std::string(name) + " must be given");
}

#define RW_ATTR_AS(type, held)                                                                       \
  template <>                                                                                        \
  type attr_as<type>(const Op& op, const Attrs& attrs, std::string_view name) {                      \
    const AttrValue& value = attr_value(op, attrs, name);                                            \
    if (const auto* v = value.get_if<held>()) return static_cast<type>(*v);                          \
    fail_call(op, "attribute " + std::string(name) + " has a wrong type: got " + value.to_string()); \
  }
RW_ATTR_AS(bool, bool)
RW_ATTR_AS(int64_t, int64_t)
RW_ATTR_AS(int, int64_t)
RW_ATTR_AS(float, double)
RW_ATTR_AS(double, double)
RW_ATTR_AS(std::string, std::string)
RW_ATTR_AS(DType, DType)
RW_ATTR_AS(Shape, Shape)
RW_ATTR_AS(HostTensor, HostTensor)
RW_ATTR_AS(std::vector<int64_t>, std::vector<int64_t>)
RW_ATTR_AS(std::vector<double>, std::vector<double>)
RW_ATTR_AS(std::vector<std::string>, std::vector<std::string>)
RW_ATTR_AS(std::vector<DType>, std::vector<DType>)
RW_ATTR_AS(std::vector<Shape>, std::vector<Shape>)
RW_ATTR_AS(BodyRef, BodyRef)
RW_ATTR_AS(std::vector<BodyRef>, std::vector<BodyRef>)
#undef RW_ATTR_AS

SmallVector<int, 4> split_inputs(const Op& op, size_t num_inputs, const Attrs& attrs) {
  SmallVector<int, 4> counts(op.inputs.size(), 1);
  if (op.simple) {
    if (num_inputs != op.inputs.size()) fail_count(op, num_inputs);
    return counts;
  }
  // Lists whose length an attribute of the call says; the rest share what is left.
  size_t rest = num_inputs;
  int open_lists = 0;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const ArgDef& arg = op.inputs[i];
    if (!arg.is_list()) {
      if (rest == 0) fail_count(op, num_inputs);
      --rest;
      continue;
    }
    const int a = arg.number_attr >= 0 ? arg.number_attr : arg.type_list_attr;
    const AttrValue* said = attrs.find(op.attrs[size_t(a)].name);
    counts[i] = -1;
    if (said && said->get_if<int64_t>()) counts[i] = int(*said->get_if<int64_t>());
    if (said && said->get_if<std::vector<DType>>())
      counts[i] = int(said->get_if<std::vector<DType>>()->size());
    if (counts[i] < 0) ++open_lists;
    else if (size_t(counts[i]) > rest) fail_count(op, num_inputs);
    else rest -= size_t(counts[i]);
  }
  if (open_lists == 0 ? rest != 0 : rest % size_t(open_lists) != 0) fail_count(op, num_inputs);
  for (int& c : counts)
    if (c < 0) c = int(rest / size_t(open_lists));
  return counts;
}

void check_call(const Op& op, const DType* inputs, size_t num_inputs, const Attrs& attrs,
                DTypeVector* outputs) {
  Bound bound(op);
  if (op.simple) {
    if (num_inputs != op.inputs.size()) fail_count(op, num_inputs);
    for (size_t i = 0; i < num_inputs; ++i) check_input(op, op.inputs[i], inputs[i], &bound);
  } else {
    const auto counts = split_inputs(op, num_inputs, attrs);
    size_t at = 0;
    for (size_t i = 0; i < counts.size(); ++i) {
      const ArgDef& arg = op.inputs[i];
      if (arg.number_attr >= 0) {
        const AttrDef& n = op.attrs[size_t(arg.number_attr)];
        bound.counts[size_t(arg.number_attr)] = counts[i];
        if (n.minimum && counts[i] < *n.minimum)
          fail_call(op, arg.name + " must hold at least " + std::to_string(*n.minimum) + " tensors: got " +
                            std::to_string(counts[i]));
      }
      for (int j = 0; j < counts[i]; ++j) check_input(op, arg, inputs[at++], &bound);
    }
  }
  if (!op.attrs.empty()) check_attrs(op, attrs);
  outputs->clear();
  for (const ArgDef& arg : op.outputs) {
    if (arg.type_list_attr >= 0) {
      if (const auto list = input_types(op, arg.type_list_attr, inputs, num_inputs, attrs); !list.empty()) {
        for (const DType d : list) outputs->push_back(d);
        continue;
      }
      for (const DType d : attr_as<std::vector<DType>>(op, attrs, op.attrs[size_t(arg.type_list_attr)].name))
        outputs->push_back(d);
      continue;
    }
    int64_t count = 1;
    if (arg.number_attr >= 0) {
      count = bound.counts.empty() ? -1 : bound.counts[size_t(arg.number_attr)];
      if (count < 0) count = attr_as<int64_t>(op, attrs, op.attrs[size_t(arg.number_attr)].name);
      if (count > (1 << 24)) fail_call(op, "too many outputs: " + std::to_string(count));
    }
    const DType dtype = output_type(op, arg, attrs, bound);
    for (int64_t i = 0; i < count; ++i) outputs->push_back(dtype);
  }
}

bool ShapeContext::ints(int i, IntVector* values) const {
  const View& v = inputs_[i];
  if (!v.data && v.size != 0) return false;
  values->resize(size_t(v.size));
  for (int64_t k = 0; k < v.size; ++k) {
    switch (v.dtype) {
      case DType::kInt64: (*values)[size_t(k)] = v.as<int64_t>()[k]; break;
      case DType::kInt32: (*values)[size_t(k)] = v.as<int32_t>()[k]; break;
      case DType::kInt16: (*values)[size_t(k)] = v.as<int16_t>()[k]; break;
      case DType::kInt8: (*values)[size_t(k)] = v.as<int8_t>()[k]; break;
      case DType::kUint8: (*values)[size_t(k)] = v.as<uint8_t>()[k]; break;
      case DType::kUint16: (*values)[size_t(k)] = v.as<uint16_t>()[k]; break;
      case DType::kUint32: (*values)[size_t(k)] = v.as<uint32_t>()[k]; break;
      default: fail_internal(__FILE__, __LINE__, "the input holds integers");
    }
  }
  return true;
}

void ShapeContext::fail(const std::string& message) const { fail_invalid(op_.tag, message); }

void ShapeContext::require_rank(int i, int rank) const {
  if (!input(i).has_rank() || input(i).rank() == rank) return;
  fail(describe(i) + ", and must have rank " + std::to_string(rank));
}

int ShapeContext::axis(int64_t axis, int rank) const {
  if (axis < -rank || axis >= rank) {
    fail("axis must be in [" + std::to_string(-rank) + ", " + std::to_string(rank) + "): got " +
         std::to_string(axis));
  }
  return int(axis < 0 ? axis + rank : axis);
}

std::string ShapeContext::describe(int i) const {
  std::string name = "input " + std::to_string(i);
  if (op_.simple && size_t(i) < op_.inputs.size()) name = op_.inputs[size_t(i)].name;
  return name + " is " + std::string(name_of(dtype(i))) + input(i).to_string();
}

void same_shape_as_input(ShapeContext& ctx) {
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.output(i, ctx.input(0));
}

void broadcast_inputs(ShapeContext& ctx) {
  Shape shape = ctx.input(0);
  for (int i = 1; i < ctx.num_inputs(); ++i) {
    if (shape == ctx.input(i)) continue;
    Shape wider;
    if (!broadcast_shapes(shape, ctx.input(i), &wider)) {
      std::string all;
      for (int j = 0; j < ctx.num_inputs(); ++j) all += (j ? ", " : "") + ctx.describe(j);
      ctx.fail("shapes must broadcast together: " + all);
    }
    shape = std::move(wider);
  }
  ctx.output(0, std::move(shape));
}

void scalar_output(ShapeContext& ctx) {
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.output(i, Shape());
}
void no_output(ShapeContext&) {}
void unknown_output(ShapeContext& ctx) {
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.output(i, Shape::unknown_rank());
}

}  // namespace rw
