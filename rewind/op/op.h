// One row of the op table: an op's schema with TensorFlow's names, its traits and its shape rule. Rules of
// later rooms (kernels, gradients, batching) hang on the row in slots, so that finding one is a load.
#pragma once

#include <array>
#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rewind/base/dtype.h"
#include "rewind/base/small_vector.h"
#include "rewind/op/attrs.h"
#include "rewind/op/view.h"

namespace rw {

class ShapeContext;
using ShapeRule = void (*)(ShapeContext&);
using IntVector = SmallVector<int64_t, 6>;
using DTypeVector = SmallVector<DType, 4>;

enum class AttrType : uint8_t { kInt, kFloat, kBool, kString, kType, kShape, kTensor, kFunc };

struct AttrDef {
  std::string name;
  AttrType type = AttrType::kInt;
  bool list = false;
  std::optional<AttrValue> default_value;
  DTypeSet allowed_types = 0;  // 0: any
  std::vector<std::string> allowed_strings;
  std::optional<int64_t> minimum;  // of an int, or of a list's length
  bool inferred = false;           // follows from the inputs; never stored in Attrs
};

struct ArgDef {
  std::string name;
  DType dtype = DType::kInvalid;  // fixed type, or
  int type_attr = -1;             // the attribute (by position) that says it, or
  int type_list_attr = -1;        // a list of types: any number of tensors
  int number_attr = -1;           // this many tensors of one type
  bool host_memory = false;       // lives in host memory whatever the device: shapes, axes, predicates
  bool is_list() const { return number_attr >= 0 || type_list_attr >= 0; }
};

enum class RuleSlot {
  kCpuKernel,
  kNullKernel,
  kCudaKernel,
  kRuntimeKernel,
  kGradient,
  kForward,
  kBatching,
  kCount
};

struct Op {
  std::string name;
  std::string tag;  // how messages call it: the public function's name where there is one
  std::vector<ArgDef> inputs;
  std::vector<ArgDef> outputs;
  std::vector<AttrDef> attrs;
  bool stateful = false;
  bool commutative = false;
  bool aggregate = false;
  bool view = false;         // output 0 is input 0 under another shape: no kernel, shared storage
  bool shares = false;       // outputs may be parts of an input: see runtime/share_ops.h
  bool runtime = false;      // runs in the runtime itself, on values: control flow, calls, lists
  bool elementwise = false;  // each output element depends on the inputs' elements at its (broadcast) place
  bool simple = true;        // no list arguments: inputs and arguments are the same sequence
  ShapeRule shape_rule = nullptr;
  mutable std::array<std::atomic<const void*>, size_t(RuleSlot::kCount)> rules{};

  const void* rule(RuleSlot slot) const { return rules[size_t(slot)].load(std::memory_order_acquire); }
  const AttrDef* find_attr(std::string_view attr_name) const;
  std::string schema() const;  // the row as text, in the table's syntax
};

// The value of an attribute in a call: what was said, or the default. Throws InvalidArgumentError if there is
// neither, and InternalError when the row has no such attribute or it has another type.
const AttrValue& attr_value(const Op& op, const Attrs& attrs, std::string_view name);
template <class T>
T attr_as(const Op& op, const Attrs& attrs, std::string_view name);
template <>
bool attr_as(const Op&, const Attrs&, std::string_view);
template <>
int64_t attr_as(const Op&, const Attrs&, std::string_view);
template <>
int attr_as(const Op&, const Attrs&, std::string_view);
template <>
float attr_as(const Op&, const Attrs&, std::string_view);
template <>
double attr_as(const Op&, const Attrs&, std::string_view);
template <>
std::string attr_as(const Op&, const Attrs&, std::string_view);
template <>
DType attr_as(const Op&, const Attrs&, std::string_view);
template <>
Shape attr_as(const Op&, const Attrs&, std::string_view);
template <>
std::vector<int64_t> attr_as(const Op&, const Attrs&, std::string_view);
template <>
std::vector<double> attr_as(const Op&, const Attrs&, std::string_view);
template <>
std::vector<std::string> attr_as(const Op&, const Attrs&, std::string_view);
template <>
std::vector<DType> attr_as(const Op&, const Attrs&, std::string_view);
template <>
std::vector<Shape> attr_as(const Op&, const Attrs&, std::string_view);
template <>
BodyRef attr_as(const Op&, const Attrs&, std::string_view);
template <>
std::vector<BodyRef> attr_as(const Op&, const Attrs&, std::string_view);
template <>
HostTensor attr_as(const Op&, const Attrs&, std::string_view);

// Checks a call against the row: number and types of inputs, names, types and ranges of attributes. Gives the
// types of the outputs. Throws InvalidArgumentError.
void check_call(const Op& op, const DType* inputs, size_t num_inputs, const Attrs& attrs,
                DTypeVector* outputs);

// How many of the flat inputs (or outputs) belong to each argument.
SmallVector<int, 4> split_inputs(const Op& op, size_t num_inputs, const Attrs& attrs);

// What a shape rule works with.
class ShapeContext {
 public:
  ShapeContext(const Op& op, const Attrs& attrs, const View* inputs, size_t num_inputs, Shape* outputs,
               size_t num_outputs)
      : op_(op),
        attrs_(attrs),
        inputs_(inputs),
        num_inputs_(num_inputs),
        outputs_(outputs),
        num_outputs_(num_outputs) {}

  const Op& op() const { return op_; }
  const Attrs& attrs() const { return attrs_; }
  int num_inputs() const { return int(num_inputs_); }
  int num_outputs() const { return int(num_outputs_); }
  const Shape& input(int i) const { return *inputs_[i].shape; }
  DType dtype(int i) const { return inputs_[i].dtype; }
  const View& view(int i) const { return inputs_[i]; }
  template <class T>
  T attr(std::string_view name) const {
    return attr_as<T>(op_, attrs_, name);
  }
  // The value of an integer input of any rank, flattened; false while it is not known (in a trace).
  bool ints(int i, IntVector* values) const;
  void output(int i, Shape shape) { outputs_[i] = std::move(shape); }

  // Helpers that throw with a full message.
  [[noreturn]] void fail(const std::string& message) const;
  void require_rank(int i, int rank) const;  // unknown ranks pass
  void require_scalar(int i) const { require_rank(i, 0); }
  // An axis in [-rank, rank) as [0, rank).
  int axis(int64_t axis, int rank) const;
  // "x is float32(2, 3)", with the argument's name.
  std::string describe(int i) const;

 private:
  const Op& op_;
  const Attrs& attrs_;
  const View* inputs_;
  size_t num_inputs_;
  Shape* outputs_;
  size_t num_outputs_;
};

// Shape rules that many rows share.
void same_shape_as_input(ShapeContext& ctx);  // every output has input 0's shape
void broadcast_inputs(ShapeContext& ctx);     // output 0: all inputs broadcast together
void scalar_output(ShapeContext& ctx);
void no_output(ShapeContext& ctx);
void unknown_output(ShapeContext& ctx);  // the kernel decides: every output's rank is unknown

}  // namespace rw
