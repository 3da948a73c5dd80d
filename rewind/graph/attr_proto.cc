#include "rewind/graph/attr_proto.h"

#include <bit>
#include <charconv>
#include <cstring>

#include "rewind/base/error.h"
#include "rewind/graph/tensor_proto.h"

namespace rw {
namespace {

using format::Box;
using format::ListValue;
using format::NameAttrList;

// What the inputs say of the attribute at this position.
std::optional<AttrValue> inferred_value(const Op& op, int attr, std::span<const DType> inputs,
                                        const SmallVector<int, 4>& counts) {
  size_t at = 0;
  for (size_t i = 0; i < op.inputs.size(); at += size_t(counts[i++])) {
    const ArgDef& arg = op.inputs[i];
    const auto own = inputs.subspan(at, size_t(counts[i]));
    if (arg.number_attr == attr) return AttrValue(int64_t(counts[i]));
    if (arg.type_list_attr == attr) return AttrValue(std::vector<DType>(own.begin(), own.end()));
    if (arg.type_attr == attr && !own.empty()) return AttrValue(own[0]);
  }
  return {};
}

// Attributes are float32 in files. The double with the float's shortest decimal spelling is what was written
// in the source: 0.1, and not 0.10000000149.
double widen(float f) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, f).ptr;
  double d = f;
  std::from_chars(text, end, d);
  return float(d) == f ? d : double(f);
}

struct Encoder {
  const NameOfBody& name_of_body;
  format::AttrValue out;

  NameAttrList named(const BodyRef& body) const { return {.name = name_of_body(body), .attr = {}}; }
  ListValue& list() { return *out.value.emplace<Box<ListValue>>(); }

  void operator()(int64_t v) { out.value = v; }
  void operator()(double v) { out.value = float(v); }
  void operator()(bool v) { out.value = v; }
  void operator()(const std::string& v) { out.value = v; }
  void operator()(DType v) { out.value = format::DataType(v); }
  void operator()(const Shape& v) { out.value = to_shape_proto(v); }
  void operator()(const HostTensor& v) { out.value = Box<format::TensorProto>(to_tensor_proto(v)); }
  void operator()(const BodyRef& v) { out.value = Box<NameAttrList>(named(v)); }
  void operator()(const std::vector<int64_t>& v) { list().i = v; }
  void operator()(const std::vector<double>& v) {
    for (ListValue& l = list(); const double d : v) l.f.push_back(float(d));
  }
  void operator()(const std::vector<bool>& v) { list().b = v; }
  void operator()(const std::vector<std::string>& v) { list().s = v; }
  void operator()(const std::vector<DType>& v) {
    for (ListValue& l = list(); const DType d : v) l.type.push_back(format::DataType(d));
  }
  void operator()(const std::vector<Shape>& v) {
    for (ListValue& l = list(); const Shape& s : v) l.shape.push_back(to_shape_proto(s));
  }
  void operator()(const std::vector<BodyRef>& v) {
    for (ListValue& l = list(); const BodyRef& b : v) l.func.push_back(named(b));
  }
};

BodyRef body_of(const NameAttrList& f, const BodyOfName& body_of_name) {
  if (!f.attr.empty() && f.attr.begin()->first[0] != '_')
    fail_unimplemented("GraphDef", "function " + f.name + " with parameters (" + f.attr.begin()->first + ")");
  return body_of_name(f.name);
}

DType checked_dtype(const AttrDef& def, format::DataType type) {
  const DType d = to_dtype(type);
  if (d == DType::kInvalid)
    fail_unimplemented("GraphDef", "attribute " + def.name + " has the type " +
                                       (format::name_of(type).empty() ? std::to_string(int32_t(type))
                                                                      : std::string(format::name_of(type))));
  return d;
}

// Whether the list holds elements of no other type than the attribute's.
bool holds_only(const ListValue& list, AttrType type) {
  const auto fits = [&](AttrType own, const auto& elements) { return own == type || elements.empty(); };
  return fits(AttrType::kString, list.s) && fits(AttrType::kInt, list.i) && fits(AttrType::kFloat, list.f) &&
         fits(AttrType::kBool, list.b) && fits(AttrType::kType, list.type) &&
         fits(AttrType::kShape, list.shape) && fits(AttrType::kTensor, list.tensor) &&
         fits(AttrType::kFunc, list.func);
}

AttrValue list_from_proto(const AttrDef& def, const ListValue& list, const BodyOfName& body_of_name) {
  switch (def.type) {
    case AttrType::kInt: return list.i;
    case AttrType::kFloat: {
      std::vector<double> v;
      for (const float f : list.f) v.push_back(widen(f));
      return v;
    }
    case AttrType::kBool: return list.b;
    case AttrType::kString: return list.s;
    case AttrType::kType: {
      std::vector<DType> v;
      for (const format::DataType d : list.type) v.push_back(checked_dtype(def, d));
      return v;
    }
    case AttrType::kShape: {
      std::vector<Shape> v;
      for (const format::TensorShapeProto& s : list.shape) v.push_back(from_shape_proto(s));
      return v;
    }
    case AttrType::kFunc: {
      std::vector<BodyRef> v;
      for (const NameAttrList& f : list.func) v.push_back(body_of(f, body_of_name));
      return v;
    }
    case AttrType::kTensor: break;
  }
  fail_unimplemented("GraphDef", "attribute " + def.name + " is a list of tensors");
}

}  // namespace

AttrList complete_attrs(const Op& op, const Attrs& attrs, std::span<const DType> inputs) {
  const auto counts = split_inputs(op, inputs.size(), attrs);
  AttrList list;
  for (size_t a = 0; a < op.attrs.size(); ++a) {
    const AttrDef& def = op.attrs[a];
    if (const AttrValue* said = attrs.find(def.name)) list.emplace_back(def.name, *said);
    else if (auto found = inferred_value(op, int(a), inputs, counts))
      list.emplace_back(def.name, std::move(*found));
    else if (def.default_value) list.emplace_back(def.name, *def.default_value);
  }
  return list;
}

std::vector<int64_t> output_counts(const Op& op, const AttrList& complete) {
  const auto find = [&](int attr) -> const AttrValue* {
    for (const auto& [name, value] : complete)
      if (name == op.attrs[size_t(attr)].name) return &value;
    fail_internal(__FILE__, __LINE__, "an output's length is known");
  };
  std::vector<int64_t> counts;
  for (const ArgDef& arg : op.outputs) {
    if (arg.number_attr >= 0) counts.push_back(*find(arg.number_attr)->get_if<int64_t>());
    else if (arg.type_list_attr >= 0)
      counts.push_back(int64_t(find(arg.type_list_attr)->get_if<std::vector<DType>>()->size()));
    else counts.push_back(1);
  }
  return counts;
}

format::AttrValue to_attr_proto(const AttrValue& value, const NameOfBody& name_of_body) {
  Encoder encoder{name_of_body, {}};
  std::visit(encoder, value.variant());
  return std::move(encoder.out);
}

AttrValue from_attr_proto(const AttrDef& def, const format::AttrValue& proto, const BodyOfName& body_of_name,
                          ConstantReader* constants) {
  if (def.list) {
    const auto* v = std::get_if<Box<ListValue>>(&proto.value);
    if (v && holds_only(**v, def.type)) return list_from_proto(def, **v, body_of_name);
  } else {
    switch (def.type) {
      case AttrType::kInt:
        if (const auto* v = std::get_if<int64_t>(&proto.value)) return *v;
        break;
      case AttrType::kFloat:
        if (const auto* v = std::get_if<float>(&proto.value)) return widen(*v);
        break;
      case AttrType::kBool:
        if (const auto* v = std::get_if<bool>(&proto.value)) return *v;
        break;
      case AttrType::kString:
        if (const auto* v = std::get_if<std::string>(&proto.value)) return *v;
        break;
      case AttrType::kType:
        if (const auto* v = std::get_if<format::DataType>(&proto.value)) return checked_dtype(def, *v);
        break;
      case AttrType::kShape:
        if (const auto* v = std::get_if<format::TensorShapeProto>(&proto.value)) return from_shape_proto(*v);
        break;
      case AttrType::kTensor:
        if (const auto* v = std::get_if<Box<format::TensorProto>>(&proto.value)) return constants->get(**v);
        break;
      case AttrType::kFunc:
        if (const auto* v = std::get_if<Box<NameAttrList>>(&proto.value)) return body_of(**v, body_of_name);
        break;
    }
  }
  static constexpr const char* kKinds[] = {"an int", "a float", "a bool",   "a string",
                                           "a type", "a shape", "a tensor", "a function"};
  fail_invalid("GraphDef", "attribute " + def.name + " must hold " + (def.list ? "a list, each " : "") +
                               kKinds[size_t(def.type)]);
}

bool same_value(const AttrValue& a, const AttrValue& b) {
  if (a.variant().index() != b.variant().index()) return false;
  return std::visit(
      [&]<class T>(const T& x) {
        const T& y = *b.get_if<T>();
        if constexpr (std::is_same_v<T, HostTensor>) {
          if (x.dtype != y.dtype || !(x.shape == y.shape)) return false;
          const auto n = size_t(x.shape.num_elements());
          if (x.dtype == DType::kString)
            return std::equal(static_cast<const std::string*>(x.data.get()),
                              static_cast<const std::string*>(x.data.get()) + n,
                              static_cast<const std::string*>(y.data.get()));
          return std::memcmp(x.data.get(), y.data.get(), n * size_of(x.dtype)) == 0;
        } else if constexpr (std::is_same_v<T, double>) {
          return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y);
        } else {
          return x == y;
        }
      },
      a.variant());
}

DType to_dtype(format::DataType type) {
  const auto number = int32_t(type);
  const bool known = number > 0 && number <= int32_t(DType::kUint64) && contains(kAllTypes, DType(number));
  return known ? DType(number) : DType::kInvalid;
}

}  // namespace rw
