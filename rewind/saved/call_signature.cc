#include "rewind/saved/call_signature.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "rewind/graph/graph.h"
#include "rewind/graph/tensor_proto.h"

namespace rw::saved {
namespace {

using format::StructuredValue;
using Kind = Structure::Kind;

template <class T>
StructuredValue value_of(T v) {
  StructuredValue out;
  out.kind = std::move(v);
  return out;
}

// Indices of a dict's items in the order of their keys.
std::vector<size_t> sorted_items(const Structure& dict) {
  std::vector<size_t> order(dict.items.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return dict.keys[a] < dict.keys[b]; });
  return order;
}

// Walks a structure, gives its value and its tensors with names.
class Walk {
 public:
  using SpecOf = std::function<TensorSpec(const Structure&)>;
  Walk(SpecOf spec_of, size_t num_tensors, std::vector<FlatTensor>* flat)
      : spec_of_(std::move(spec_of)), num_tensors_(num_tensors), flat_(*flat) {}

  StructuredValue walk(const Structure& s, const std::string& name) {
    switch (s.kind) {
      case Kind::kTensor: {
        const TensorSpec spec = spec_of_(s);
        const std::string own = unique(spec.name.empty() ? name : spec.name);
        flat_.push_back({own, s.index});
        return tensor_spec_value(own, spec.dtype, spec.shape);
      }
      case Kind::kVariable: return variable(s, name);
      case Kind::kBool: return value_of(s.integer != 0);
      case Kind::kInteger: return value_of(format::SInt64{s.integer});
      case Kind::kReal: return value_of(s.real);
      case Kind::kText: return value_of(s.text);
      case Kind::kList:
      case Kind::kTuple: {
        std::vector<StructuredValue> items;
        for (size_t i = 0; i < s.items.size(); ++i)
          items.push_back(walk(s.items[i], name + "_" + std::to_string(i)));
        return s.is(Kind::kList) ? list_value(std::move(items)) : tuple_value(std::move(items));
      }
      case Kind::kDict: {
        format::StructuredDict dict;
        for (const size_t i : sorted_items(s))
          dict.fields[s.keys[i]] = walk(s.items[i], name + "_" + identifier(s.keys[i]));
        return dict_value(std::move(dict));
      }
      case Kind::kNone:
      case Kind::kObject: break;
    }
    return none_value();
  }

 private:
  StructuredValue variable(const Structure& s, const std::string& name) {
    const TensorSpec spec = spec_of_(s);
    flat_.push_back({unique(name), num_tensors_ + s.index});
    format::TypeSpecProto type;
    type.type_spec_class = format::TypeSpecClass::kVariable;
    type.type_spec_class_name = "VariableSpec";
    type.num_flat_components = 1;
    type.type_state =
        tuple_value({value_of(to_shape_proto(spec.shape)), value_of(format::DataType(spec.dtype)),
                     value_of(true), value_of(format::SInt64{int64_t(s.index)})});
    return value_of(format::Box<format::TypeSpecProto>(std::move(type)));
  }
  std::string unique(const std::string& wanted) {
    std::string name = wanted;
    for (int i = 1; !taken_.insert(name).second; ++i) name = wanted + "_" + std::to_string(i);
    return name;
  }

  SpecOf spec_of_;
  size_t num_tensors_;
  std::vector<FlatTensor>& flat_;
  std::set<std::string> taken_;
};

size_t count(const Structure& s, Kind kind) {
  size_t n = s.is(kind);
  for (const Structure& i : s.items) n += count(i, kind);
  return n;
}

// A graph without a C++ function takes and gives tensors.
CallStructure plain_structure(const ConcreteFunction& f) {
  CallStructure s;
  for (size_t i = 0; i < f.inputs().size(); ++i) s.arguments.items.push_back(Structure::tensor(i));
  const size_t results = f.outputs().size();
  if (results == 1) s.results = Structure::tensor(0);
  else s.results.kind = Kind::kTuple;
  for (size_t i = 0; results != 1 && i < results; ++i) s.results.items.push_back(Structure::tensor(i));
  return s;
}

// Names of results: a map's keys, else output_0, ...
void name_results(const Structure& s, CallSignature* out, const std::vector<TensorSpec>& specs) {
  std::vector<FlatTensor>& flat = out->results;
  const auto spec_of = [&](const Structure& t) {
    TensorSpec spec = specs[t.index];
    spec.name.clear();
    return spec;
  };
  Walk walk(spec_of, specs.size(), &flat);
  if (!s.is(Kind::kDict)) {
    out->structured_outputs = walk.walk(s, "output");
    for (size_t i = 0; i < flat.size(); ++i) flat[i].name = "output_" + std::to_string(i);
    return;
  }
  format::StructuredDict dict;
  for (const size_t i : sorted_items(s)) dict.fields[s.keys[i]] = walk.walk(s.items[i], s.keys[i]);
  out->structured_outputs = dict_value(std::move(dict));
}

void judge(const CallStructure& s, CallSignature* out) {
  if (count(s.arguments, Kind::kVariable) > 0) out->no_signature_because = "it takes variables";
  const auto plain = [](const Structure& r) {
    return r.is(Kind::kTensor) || ((r.is(Kind::kDict) || r.is(Kind::kList) || r.is(Kind::kTuple)) &&
                                   std::all_of(r.items.begin(), r.items.end(),
                                               [](const Structure& item) { return item.is(Kind::kTensor); }));
  };
  if (!plain(s.results)) out->no_signature_because = "its results are no tensors, list or map of tensors";
}

}  // namespace

StructuredValue none_value() { return value_of(format::NoneValue()); }

StructuredValue list_value(std::vector<StructuredValue> items) {
  return value_of(format::Box<format::StructuredList>(format::StructuredList{std::move(items)}));
}
StructuredValue tuple_value(std::vector<StructuredValue> items) {
  return value_of(format::Box<format::StructuredTuple>(format::StructuredTuple{std::move(items)}));
}
StructuredValue dict_value(format::StructuredDict fields) {
  return value_of(format::Box<format::StructuredDict>(std::move(fields)));
}
StructuredValue call_value(std::vector<StructuredValue> positional, format::StructuredDict by_keyword) {
  return tuple_value({tuple_value(std::move(positional)), dict_value(std::move(by_keyword))});
}

StructuredValue tensor_spec_value(const std::string& name, DType dtype, const Shape& shape) {
  return value_of(format::TensorSpecProto{
      .name = name, .shape = to_shape_proto(shape), .dtype = format::DataType(dtype)});
}

std::string identifier(const std::string& name) {
  std::string out = name;
  for (char& c : out)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))) c = '_';
  if (out.empty() || (out[0] >= '0' && out[0] <= '9')) out.insert(0, "arg_");
  return out;
}

CallSignature call_signature(const ConcreteFunction& f) {
  const CallStructure s = f.structure().known ? f.structure() : plain_structure(f);
  const std::vector<TensorSpec> specs = f.inputs();
  const size_t tensors = count(s.arguments, Kind::kTensor) + count(s.keywords, Kind::kTensor);
  // A trace for very variables holds them, and takes none.
  const bool takes_variables = tensors < specs.size();
  const Graph& graph = f.graph().ir();
  CallSignature out;
  const auto spec_of = [&](const Structure& t) {
    if (t.is(Kind::kTensor)) return specs[t.index];
    const auto& variable = graph.value(graph.arguments[tensors + t.index]).variable;
    return variable ? TensorSpec{variable->shape, variable->dtype} : TensorSpec();
  };
  Walk walk(spec_of, tensors, &out.arguments);
  std::vector<StructuredValue> positional;
  for (const Structure& item : s.arguments.items) {
    // Objects are part of the trace.
    if (item.is(Kind::kObject) || (item.is(Kind::kVariable) && !takes_variables)) continue;
    const size_t at = positional.size();
    std::string name = at < s.argument_names.size() ? s.argument_names[at] : "args_" + std::to_string(at);
    if (at >= s.argument_names.size() && item.is(Kind::kTensor) && !specs[item.index].name.empty())
      name = identifier(specs[item.index].name);
    positional.push_back(walk.walk(item, name));
    out.parameters.push_back(name);
  }
  format::StructuredDict keywords;
  for (const size_t i : sorted_items(s.keywords))
    keywords.fields[s.keywords.keys[i]] = walk.walk(s.keywords.items[i], identifier(s.keywords.keys[i]));
  out.canonical_inputs = call_value(std::move(positional), std::move(keywords));
  name_results(s.results, &out, f.outputs());
  judge(s, &out);
  return out;
}

format::FunctionSpec function_spec(const std::vector<std::string>& parameters, bool varargs,
                                   const std::vector<std::string>& keyword_only) {
  const auto names = [](const std::vector<std::string>& list) {
    std::vector<StructuredValue> values;
    for (const std::string& name : list) values.push_back(value_of(name));
    return list_value(std::move(values));
  };
  format::StructuredNamedTuple spec;
  spec.name = "FullArgSpec";
  spec.values = {{"args", names(varargs ? std::vector<std::string>() : parameters)},
                 {"varargs", varargs ? value_of(std::string("args")) : none_value()},
                 {"varkw", none_value()},
                 {"defaults", none_value()},
                 {"kwonlyargs", names(keyword_only)},
                 {"kwonlydefaults", none_value()},
                 {"annotations", value_of(format::Box<format::StructuredDict>())}};
  format::FunctionSpec out;
  out.fullargspec = value_of(format::Box<format::StructuredNamedTuple>(std::move(spec)));
  out.input_signature = none_value();
  return out;
}

}  // namespace rw::saved
