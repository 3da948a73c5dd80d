#include "rewind/saved/loaded_structure.h"

namespace rw::saved_model {
namespace {

using Kind = Structure::Kind;

class Numbering {
 public:
  size_t count() const { return next_; }
  Structure of(const Value& v) {
    if (v.get_if<TensorSpec>()) return Structure::tensor(next_++);
    if (const bool* b = v.get_if<bool>()) return {.kind = Kind::kBool, .integer = *b};
    if (const int64_t* i = v.get_if<int64_t>()) return {.kind = Kind::kInteger, .integer = *i};
    if (const double* d = v.get_if<double>()) return {.kind = Kind::kReal, .real = *d};
    if (const std::string* s = v.get_if<std::string>()) return {.kind = Kind::kText, .text = *s};
    if (const List* list = v.get_if<List>()) {
      Structure out{.kind = list->tuple ? Kind::kTuple : Kind::kList};
      for (const Value& e : list->elements) out.items.push_back(of(e));
      return out;
    }
    if (const Dict* dict = v.get_if<Dict>()) {
      Structure out{.kind = Kind::kDict};
      for (const auto& [key, value] : *dict) {
        out.keys.push_back(key);
        out.items.push_back(of(value));
      }
      return out;
    }
    if (const auto* composite = v.get_if<Composite>()) {
      Structure out{.kind = Kind::kTuple};
      for (int i = 0; i < composite->components; ++i) out.items.push_back(Structure::tensor(next_++));
      return out;
    }
    return {};
  }

 private:
  size_t next_ = 0;
};

}  // namespace

CallStructure call_structure(const Value& inputs, const Value& outputs, size_t num_arguments,
                             size_t num_results) {
  CallStructure out;
  const List* parts = inputs.get_if<List>();
  if (!parts || parts->elements.size() != 2) return {};
  Numbering arguments, results;
  const Structure positional = arguments.of(parts->elements[0]);
  const Structure keywords = arguments.of(parts->elements[1]);
  out.arguments.items = positional.items;
  if (keywords.is(Kind::kDict)) out.keywords = keywords;
  out.results = results.of(outputs);
  out.known = arguments.count() == num_arguments && results.count() == num_results;
  return out.known ? out : CallStructure();
}

}  // namespace rw::saved_model
