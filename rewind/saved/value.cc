#include "rewind/saved/value.h"

#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/format/structured_value.h"
#include "rewind/graph/attr_proto.h"
#include "rewind/graph/tensor_proto.h"
#include "rewind/runtime/constant.h"
#include "rewind/tensor/tensor_impl.h"

namespace rw::saved_model {
namespace {

using format::Box;

// Constants in signatures are a few numbers.
constexpr int64_t kMostBytes = 1 << 20;

[[noreturn]] void fail_kind(const char* wanted, const Value& got) {
  fail_invalid("saved_model", std::string("the value must be ") + wanted + ": got " + got.to_string());
}

Value list_of(const std::vector<format::StructuredValue>& protos, bool tuple) {
  List list{.elements = {}, .tuple = tuple};
  for (const auto& p : protos) list.elements.push_back(from_structured_value(p));
  return list;
}

Shape shape_of(const std::optional<format::TensorShapeProto>& proto) {
  return proto ? from_shape_proto(*proto) : Shape();
}

DType dtype_of(format::DataType type) {
  const DType d = to_dtype(type);
  if (d == DType::kInvalid)
    fail_invalid("saved_model", "a signature holds the type " + std::to_string(int32_t(type)) +
                                    ", which is not one of TensorFlow's that are known");
  return d;
}

struct Reader {
  Value operator()(std::monostate) const { return {}; }
  Value operator()(const format::NoneValue&) const { return {}; }
  Value operator()(double v) const { return v; }
  Value operator()(format::SInt64 v) const { return v.value; }
  Value operator()(const std::string& v) const { return v; }
  Value operator()(bool v) const { return v; }
  Value operator()(const format::TensorShapeProto& v) const { return from_shape_proto(v); }
  Value operator()(format::DataType v) const { return dtype_of(v); }
  Value operator()(const format::TensorSpecProto& v) const {
    return TensorSpec{shape_of(v.shape), dtype_of(v.dtype), v.name};
  }
  Value operator()(const format::BoundedTensorSpecProto& v) const {
    return TensorSpec{shape_of(v.shape), dtype_of(v.dtype), v.name};
  }
  Value operator()(const Box<format::TypeSpecProto>& v) const {
    return Composite{v->type_spec_class_name, v->num_flat_components};
  }
  Value operator()(const Box<format::StructuredList>& v) const { return list_of(v->values, false); }
  Value operator()(const Box<format::StructuredTuple>& v) const { return list_of(v->values, true); }
  Value operator()(const Box<format::StructuredDict>& v) const {
    Dict dict;
    for (const auto& [key, value] : v->fields) dict.emplace(key, from_structured_value(value));
    return dict;
  }
  Value operator()(const Box<format::StructuredNamedTuple>& v) const {
    List list{.elements = {}, .tuple = true, .type_name = v->name};
    for (const auto& pair : v->values) {
      list.names.push_back(pair.key);
      list.elements.push_back(pair.value ? from_structured_value(*pair.value) : Value());
    }
    return list;
  }
  Value operator()(const format::TensorProto& v) const {
    return make_tensor(as_value(from_tensor_proto(v, kMostBytes)));
  }
  Value operator()(const format::NumpyValue& v) const {
    return (*this)(static_cast<const format::TensorProto&>(v));
  }
};

std::string quoted(const std::string& text) { return "'" + text + "'"; }

struct Printer {
  std::string operator()(Nothing) const { return "None"; }
  std::string operator()(bool v) const { return v ? "True" : "False"; }
  std::string operator()(int64_t v) const { return std::to_string(v); }
  std::string operator()(double v) const { return general_text(v); }
  std::string operator()(const std::string& v) const { return quoted(v); }
  std::string operator()(DType v) const { return "tf." + std::string(name_of(v)); }
  std::string operator()(const Shape& v) const { return "TensorShape(" + v.to_string() + ")"; }
  std::string operator()(const TensorSpec& v) const { return v.to_string(); }
  std::string operator()(const Tensor& v) const {
    if (!v.defined()) return "an undefined tensor";
    return "Tensor(shape=" + v.shape().to_string() + ", dtype=" + std::string(name_of(v.dtype())) + ")";
  }
  std::string operator()(const List& v) const {
    std::string text = v.type_name + (v.tuple ? "(" : "[");
    for (size_t i = 0; i < v.elements.size(); ++i)
      text += (i ? ", " : "") + (v.names.empty() ? "" : v.names[i] + "=") + v.elements[i].to_string();
    if (v.tuple && v.names.empty() && v.elements.size() == 1) text += ",";
    return text + (v.tuple ? ")" : "]");
  }
  std::string operator()(const Dict& v) const {
    std::string text = "{";
    for (const auto& [key, value] : v)
      text += (text.size() > 1 ? ", " : "") + quoted(key) + ": " + value.to_string();
    return text + "}";
  }
  std::string operator()(const Composite& v) const {
    return v.name + " of " + std::to_string(v.components) + " tensors";
  }
};

void add_tensors(const Value& value, std::vector<Tensor>* out) {
  if (const Tensor* t = value.get_if<Tensor>()) out->push_back(*t);
  if (const auto* list = value.get_if<List>())
    for (const Value& v : list->elements) add_tensors(v, out);
  if (const auto* dict = value.get_if<Dict>())
    for (const auto& [key, v] : *dict) add_tensors(v, out);
}

}  // namespace

Value::Value(Tensor tensor) : value_(std::move(tensor)) {}
Value::Value(const Variable& variable) : value_(variable.value()) {}
Value::Value(TensorSpec spec) : value_(std::move(spec)) {}

const Tensor& Value::tensor() const {
  if (const Tensor* t = get_if<Tensor>()) return *t;
  fail_kind("a tensor", *this);
}

const Value& Value::at(const std::string& key) const {
  if (const Dict* dict = get_if<Dict>())
    if (const auto it = dict->find(key); it != dict->end()) return it->second;
  if (const List* list = get_if<List>())
    for (size_t i = 0; i < list->names.size(); ++i)
      if (list->names[i] == key) return list->elements[i];
  fail_kind(("a dict with the key " + quoted(key)).c_str(), *this);
}

const Value& Value::operator[](size_t index) const {
  const List* list = get_if<List>();
  if (list && index < list->elements.size()) return list->elements[index];
  fail_kind(("a list of more than " + std::to_string(index) + " elements").c_str(), *this);
}

std::vector<Tensor> Value::flat() const {
  std::vector<Tensor> out;
  add_tensors(*this, &out);
  return out;
}

std::string Value::to_string() const { return std::visit(Printer(), value_); }

Value from_structured_value(const format::StructuredValue& proto) { return std::visit(Reader(), proto.kind); }

}  // namespace rw::saved_model
