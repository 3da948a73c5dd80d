// Attributes of an op call: an immutable, shared list of (name, value). Copying is one reference count; a
// call without attributes holds nothing. Attributes that follow from the inputs (T, N, Tidx) are never
// stored.
#pragma once

#include <concepts>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "rewind/base/dtype.h"
#include "rewind/base/intrusive.h"
#include "rewind/base/shape.h"

namespace rw {

// A constant that travels in an attribute: the value of Const.
struct HostTensor {
  DType dtype = DType::kInvalid;
  Shape shape;
  std::shared_ptr<const void> data;  // elements in row-major order
};

// The body of a function-valued attribute (then_branch, cond, f): a graph. What shape rules need of it.
class FunctionBody {
 public:
  virtual ~FunctionBody() = default;
  virtual const std::string& body_name() const = 0;
  virtual std::vector<DType> input_types() const = 0;
  virtual std::vector<DType> output_types() const = 0;
  virtual std::vector<Shape> output_shapes() const = 0;
};
using BodyRef = std::shared_ptr<const FunctionBody>;

class AttrValue {
 public:
  using Variant =
      std::variant<int64_t, double, bool, std::string, DType, Shape, HostTensor, BodyRef,
                   std::vector<int64_t>, std::vector<double>, std::vector<bool>, std::vector<std::string>,
                   std::vector<DType>, std::vector<Shape>, std::vector<BodyRef>>;

  template <class T>
    requires(std::integral<T> && !std::same_as<T, bool>)
  AttrValue(T v) : value_(int64_t(v)) {}  // NOLINT: attributes are written as plain C++ values
  template <std::floating_point T>
  AttrValue(T v) : value_(double(v)) {}                            // NOLINT
  AttrValue(bool v) : value_(v) {}                                 // NOLINT
  AttrValue(const char* v) : value_(std::string(v)) {}             // NOLINT
  AttrValue(std::string_view v) : value_(std::string(v)) {}        // NOLINT
  AttrValue(std::string v) : value_(std::move(v)) {}               // NOLINT
  AttrValue(DType v) : value_(v) {}                                // NOLINT
  AttrValue(Shape v) : value_(std::move(v)) {}                     // NOLINT
  AttrValue(HostTensor v) : value_(std::move(v)) {}                // NOLINT
  AttrValue(std::vector<int64_t> v) : value_(std::move(v)) {}      // NOLINT
  AttrValue(std::vector<double> v) : value_(std::move(v)) {}       // NOLINT
  AttrValue(std::vector<bool> v) : value_(std::move(v)) {}         // NOLINT
  AttrValue(std::vector<std::string> v) : value_(std::move(v)) {}  // NOLINT
  AttrValue(std::vector<DType> v) : value_(std::move(v)) {}        // NOLINT
  AttrValue(std::vector<Shape> v) : value_(std::move(v)) {}        // NOLINT
  AttrValue(BodyRef v) : value_(std::move(v)) {}                   // NOLINT
  AttrValue(std::vector<BodyRef> v) : value_(std::move(v)) {}      // NOLINT

  template <class T>
  const T* get_if() const {
    return std::get_if<T>(&value_);
  }
  const Variant& variant() const { return value_; }
  std::string to_string() const;

 private:
  Variant value_;
};

class Attrs {
 public:
  Attrs() = default;
  Attrs(std::initializer_list<std::pair<std::string_view, AttrValue>> list);
  explicit Attrs(const std::vector<std::pair<std::string, AttrValue>>& list);

  // nullptr when the call did not say.
  const AttrValue* find(std::string_view name) const;
  bool empty() const { return !list_; }
  size_t size() const { return list_ ? list_->items.size() : 0; }
  const std::pair<std::string, AttrValue>* begin() const { return list_ ? list_->items.data() : nullptr; }
  const std::pair<std::string, AttrValue>* end() const { return begin() + size(); }
  // A copy with one attribute set.
  Attrs with(std::string_view name, AttrValue value) const;
  // What the attributes name and do not hold (a function of the host program by its token) lives as long as
  // they and their copies do. Not for empty lists.
  Attrs keeping(std::shared_ptr<const void> object) const;
  const std::shared_ptr<const void>& kept() const;

 private:
  struct List : RefCounted {
    std::vector<std::pair<std::string, AttrValue>> items;
    std::shared_ptr<const void> kept;
    friend void destroy(List* list) { delete list; }
  };
  Ref<List> list_;
};

}  // namespace rw
