#include "rewind/saved/call_binding.h"

#include <algorithm>
#include <cmath>

#include "rewind/base/error.h"
#include "rewind/format/saved_model.h"

namespace rw::saved_model {
namespace {

std::vector<std::string> texts_of(const Value& value) {
  std::vector<std::string> out;
  if (const List* list = value.get_if<List>())
    for (const Value& v : list->elements)
      if (const auto* text = v.get_if<std::string>()) out.push_back(*text);
  return out;
}

std::string arguments_text(const std::vector<Value>& positional, const Dict& by_name) {
  std::string text = "(";
  for (const Value& v : positional) text += (text.size() > 1 ? ", " : "") + v.to_string();
  for (const auto& [name, v] : by_name) text += (text.size() > 1 ? ", " : "") + name + "=" + v.to_string();
  return text + ")";
}

// bool, int and float are numbers to Python, which compares them by value.
std::optional<double> number_in(const Value& v) {
  if (const auto* b = v.get_if<bool>()) return double(*b);
  if (const auto* i = v.get_if<int64_t>()) return double(*i);
  if (const auto* d = v.get_if<double>()) return *d;
  return std::nullopt;
}

bool same_python_value(const Value& a, const Value& b) {
  if (const auto* i = a.get_if<int64_t>())
    if (const auto* j = b.get_if<int64_t>()) return *i == *j;
  if (const auto x = number_in(a)) {
    const auto y = number_in(b);
    return y && *x == *y;
  }
  if (const auto* text = a.get_if<std::string>())
    return b.get_if<std::string>() && *b.get_if<std::string>() == *text;
  if (const auto* dtype = a.get_if<DType>()) return b.get_if<DType>() && *b.get_if<DType>() == *dtype;
  if (const auto* shape = a.get_if<Shape>()) return b.get_if<Shape>() && *b.get_if<Shape>() == *shape;
  return a.is_none() && b.is_none();
}

// A Python value as a tensor of the dtype, or undefined.
Tensor converted(const Value& value, DType dtype) {
  try {
    if (const auto* b = value.get_if<bool>())
      return dtype == DType::kBool ? tensor_from_bytes(b, DType::kBool, {}) : Tensor();
    if (const auto* text = value.get_if<std::string>())
      return dtype == DType::kString ? Tensor(*text) : Tensor();
    if (dtype == DType::kBool || dtype == DType::kString || dtype == DType::kResource ||
        dtype == DType::kVariant)
      return {};
    if (const auto* i = value.get_if<int64_t>()) return scalar_tensor(*i, dtype);
    if (const auto* d = value.get_if<double>())
      return is_floating(dtype) ? scalar_tensor(*d, dtype) : Tensor();
  } catch (const InvalidArgumentError&) {}  // a number that does not fit the dtype
  return {};
}

class Fitting {
 public:
  explicit Fitting(Fit how) : how_(how) {}
  std::vector<Tensor> tensors;

  bool fits(const Value& expected, const Value& given) {
    if (const auto* spec = expected.get_if<TensorSpec>()) return fits_spec(*spec, given);
    if (const List* list = expected.get_if<List>()) return fits_list(*list, given);
    if (const Dict* dict = expected.get_if<Dict>()) {
      const Dict* other = given.get_if<Dict>();
      if (!other || other->size() != dict->size()) return false;
      for (auto a = dict->begin(), b = other->begin(); a != dict->end(); ++a, ++b)
        if (a->first != b->first || !fits(a->second, b->second)) return false;
      return true;
    }
    if (const auto* composite = expected.get_if<Composite>()) return fits_composite(*composite, given);
    return same_python_value(expected, given);
  }

 private:
  bool fits_spec(const TensorSpec& spec, const Value& given) {
    Tensor t;
    if (const Tensor* tensor = given.get_if<Tensor>()) t = *tensor;
    else if (how_.convert) t = converted(given, spec.dtype);
    if (!t.defined() || t.dtype() != spec.dtype || !spec.shape.compatible_with(t.shape())) return false;
    tensors.push_back(std::move(t));
    return true;
  }

  bool fits_list(const List& list, const Value& given) {
    // A named tuple may be given by its names.
    if (const Dict* dict = given.get_if<Dict>(); dict && !list.names.empty()) {
      if (dict->size() != list.names.size()) return false;
      for (size_t i = 0; i < list.names.size(); ++i) {
        const auto it = dict->find(list.names[i]);
        if (it == dict->end() || !fits(list.elements[i], it->second)) return false;
      }
      return true;
    }
    const List* other = given.get_if<List>();
    if (!other || other->elements.size() != list.elements.size()) return false;
    if (how_.same_lists && other->tuple != list.tuple) return false;
    for (size_t i = 0; i < list.elements.size(); ++i)
      if (!fits(list.elements[i], other->elements[i])) return false;
    return true;
  }

  bool fits_composite(const Composite& composite, const Value& given) {
    const List* list = given.get_if<List>();
    if (!list || int64_t(list->elements.size()) != composite.components) return false;
    for (const Value& v : list->elements) {
      const Tensor* t = v.get_if<Tensor>();
      if (!t || !t->defined()) return false;
      tensors.push_back(*t);
    }
    return true;
  }

  Fit how_;
};

class Structuring {
 public:
  explicit Structuring(const std::vector<Tensor>& results) : results_(results) {}
  bool too_few = false;
  bool all_taken() const { return at_ == results_.size(); }

  Value build(const Value& signature) {
    if (signature.get_if<TensorSpec>()) return next();
    if (const auto* composite = signature.get_if<Composite>()) {
      List parts;
      for (int i = 0; i < composite->components && !too_few; ++i) parts.elements.push_back(next());
      return parts;
    }
    if (const List* list = signature.get_if<List>()) {
      List built{.elements = {}, .tuple = list->tuple, .type_name = list->type_name, .names = list->names};
      for (const Value& v : list->elements) built.elements.push_back(build(v));
      return built;
    }
    if (const Dict* dict = signature.get_if<Dict>()) {
      Dict built;
      for (const auto& [key, v] : *dict) built.emplace(key, build(v));
      return built;
    }
    return signature;
  }

 private:
  Value next() {
    if (at_ == results_.size()) {
      too_few = true;
      return {};
    }
    return results_[at_++];
  }
  const std::vector<Tensor>& results_;
  size_t at_ = 0;
};

}  // namespace

std::string BoundArguments::to_string() const { return arguments_text(positional, by_name); }

Parameters::Parameters(const format::FunctionSpec& proto) {
  const Value spec = proto.fullargspec ? from_structured_value(*proto.fullargspec) : Value();
  const List* tuple = spec.get_if<List>();
  if (!tuple || tuple->names.empty())
    fail_invalid("saved_model", "a function's parameters must be a FullArgSpec: got " + spec.to_string());
  names_ = texts_of(spec.at("args"));
  if (!names_.empty() && (proto.is_method || names_[0] == "self")) names_.erase(names_.begin());
  takes_more_ = !spec.at("varargs").is_none();
  takes_any_name_ = !spec.at("varkw").is_none();
  if (const List* defaults = spec.at("defaults").get_if<List>()) defaults_ = defaults->elements;
  if (defaults_.size() > names_.size())
    defaults_.erase(defaults_.begin(), defaults_.end() - std::ptrdiff_t(names_.size()));
  only_by_name_ = texts_of(spec.at("kwonlyargs"));
  if (const Dict* defaults = spec.at("kwonlydefaults").get_if<Dict>()) defaults_by_name_ = *defaults;
}

std::string Parameters::to_string() const {
  std::string text = "(";
  const auto add = [&](const std::string& part) { text += (text.size() > 1 ? ", " : "") + part; };
  const size_t required = names_.size() - defaults_.size();
  for (size_t i = 0; i < names_.size(); ++i)
    add(i < required ? names_[i] : names_[i] + "=" + defaults_[i - required].to_string());
  if (takes_more_) add("*args");
  else if (!only_by_name_.empty()) add("*");
  for (const std::string& name : only_by_name_) {
    const auto it = defaults_by_name_.find(name);
    add(it == defaults_by_name_.end() ? name : name + "=" + it->second.to_string());
  }
  if (takes_any_name_) add("**kwargs");
  return text + ")";
}

BoundArguments Parameters::bind(const std::string& function, std::vector<Value> positional,
                                Dict by_name) const {
  const auto fail = [&](const std::string& what) {
    fail_invalid(function, what + "; the function takes " + to_string());
  };
  if (positional.size() > names_.size() && !takes_more_) {
    const bool tensors = std::all_of(positional.begin(), positional.end(),
                                     [](const Value& v) { return v.get_if<Tensor>() != nullptr; });
    fail("takes " + std::to_string(names_.size()) + " positional arguments: got " +
         std::to_string(positional.size()) +
         (tensors ? " (a list of tensors is one argument: std::vector<rw::Tensor>{x, y})" : ""));
  }
  BoundArguments bound{.positional = std::move(positional), .by_name = {}};
  for (size_t i = 0; i < names_.size(); ++i) {
    const auto named = by_name.find(names_[i]);
    if (i < bound.positional.size()) {
      if (named != by_name.end()) fail("argument " + names_[i] + " was given twice, by position and by name");
      continue;
    }
    const size_t required = names_.size() - defaults_.size();
    if (named != by_name.end()) {
      bound.positional.push_back(std::move(named->second));
      by_name.erase(named);
    } else if (i >= required) {
      bound.positional.push_back(defaults_[i - required]);
    } else {
      fail("argument " + names_[i] + " is missing");
    }
  }
  for (const std::string& name : only_by_name_) {
    const auto named = by_name.find(name);
    const auto fallback = defaults_by_name_.find(name);
    if (named != by_name.end()) {
      bound.by_name.insert(by_name.extract(named));
    } else if (fallback != defaults_by_name_.end()) {
      bound.by_name.insert(*fallback);
    } else {
      fail("argument " + name + " is missing");
    }
  }
  if (!by_name.empty() && !takes_any_name_) fail("there is no argument " + by_name.begin()->first);
  bound.by_name.merge(by_name);
  return bound;
}

std::optional<std::vector<Tensor>> fit(const Value& signature, const BoundArguments& arguments, Fit how) {
  const List* parts = signature.get_if<List>();
  if (!parts || parts->elements.size() != 2) return std::nullopt;
  Fitting fitting(how);
  if (!fitting.fits(parts->elements[0], List{.elements = arguments.positional, .tuple = true}) ||
      !fitting.fits(parts->elements[1], arguments.by_name))
    return std::nullopt;
  return std::move(fitting.tensors);
}

Value structured(const Value& signature, const std::vector<Tensor>& results) {
  Structuring structuring(results);
  Value value = structuring.build(signature);
  if (structuring.too_few || !structuring.all_taken())
    fail_invalid("saved_model", "the results must be as the output signature says, " + signature.to_string() +
                                    ": got " + std::to_string(results.size()) + " tensors");
  return value;
}

std::string signature_text(const Value& signature) {
  const List* parts = signature.get_if<List>();
  if (!parts || parts->elements.size() != 2) return signature.to_string();
  const List* positional = parts->elements[0].get_if<List>();
  const Dict* by_name = parts->elements[1].get_if<Dict>();
  if (!positional || !by_name) return signature.to_string();
  return arguments_text(positional->elements, *by_name);
}

}  // namespace rw::saved_model
