// clang-format off
// Test cases and results as bytes: what the Python harness sends to capi.cc, and what tests/golden/*.bin hold.
// Little endian, no padding.
//
//   text    u32 length, bytes
//   tensor  u32 dtype (TensorFlow's number), u32 rank, i64 dims[rank], elements row-major
//           (strings: one text an element; bool: one byte; complex: real, imaginary)
//   maybe   u8 present, tensor if present
//   value   by kind: 0 int i64 | 1 float f64 | 2 bool u8 | 3 string text | 4 type u32 |
//           5 shape i32 rank (-1: unknown), i64 dims (-1: unknown) | 6 tensor
//   attr    text name, u8 inferred from the inputs, u8 kind, value; a list has kind 16 + k, u32 count, values
//   input   u8 0, tensor | u8 1, tensor: a resource variable that holds it | u8 2, call, u32 output index
//   call    text op, u32 count, attrs, u32 count, inputs (list arguments flattened)
//   case    text label, u32 flags, f64 ulp, abs_ulp, rtol, atol, gradient factor, u32 count, u8 checks[],
//           call, u32 count, maybe output gradients[], u32 count, u32 leaves to differentiate[]
//   flags   1 smooth | 2 TensorFlow raises | 4 differentiable | 8 scaled tolerance | 16 twice differentiable
//   result  u8 failed; if so text error class, text message;
//           else u32 count, maybe outputs[], u32 count, maybe gradients[]
//   golden  "RWG1", u32 count, then each: u32 size of the rest, case, result
//
// Leaves are the tensors and variables of the call, depth first. Outputs end with the variables' values after the
// call. Resources and variants are absent outputs. Gradients that are IndexedSlices stand there densified.
// clang-format on
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rewind/base/dtype.h"

namespace rw::test {

struct Array {
  DType dtype = DType::kInvalid;
  std::vector<int64_t> dims;
  std::string bytes;                 // elements of all types but strings
  std::vector<std::string> strings;  // elements of a string tensor

  int64_t size() const;
  // Numbers in it: a complex element counts twice.
  int64_t num_components() const;
  double component(int64_t i) const;
  void set_component(int64_t i, double value);
  std::string describe() const;  // "float32(2, 3)"
};

Array make_array(DType dtype, std::vector<int64_t> dims);
// The same numbers in another type.
Array convert(const Array& from, DType dtype);

// Functions are not in the bytes: tests write them as text, see test_body.h.
enum class AttrKind : uint8_t { kInt, kFloat, kBool, kString, kType, kShape, kTensor, kFunc };

// One vector holds the values, by kind: ints (int, bool, type), floats, strings (string, func), shapes,
// tensors. A scalar has one.
struct CaseAttr {
  std::string name;
  bool inferred = false;
  AttrKind kind = AttrKind::kInt;
  bool list = false;
  std::vector<int64_t> ints;
  std::vector<double> floats;
  std::vector<std::string> strings;
  std::vector<std::optional<std::vector<int64_t>>> shapes;
  std::vector<Array> tensors;
};

struct Call;
struct Input {
  enum Kind : uint8_t { kTensor, kVariable, kCall } kind = kTensor;
  Array value;
  std::shared_ptr<Call> call;  // shared by copies of a case: copy before writing
  uint32_t output = 0;
};

struct Call {
  std::string op;
  std::vector<CaseAttr> attrs;
  std::vector<Input> inputs;
};

enum class Check : uint8_t { kValues, kShape, kAbs };

struct Tolerance {
  double ulp = 16, abs_ulp = 1, rtol = 0, atol = 0, gradient = 4;
  bool scaled = false;
};

struct Case {
  std::string label;
  bool smooth = false;          // numeric derivatives make sense here
  bool expect_error = false;    // TensorFlow raises
  bool differentiable = false;  // TensorFlow gives a gradient for some leaf
  bool twice = false;           // and that gradient can be differentiated there again
  Tolerance tolerance;
  std::vector<Check> checks;  // one for all outputs, or one an output
  Call call;
  std::vector<std::optional<Array>>
      output_gradients;  // one an output; empty: ones for all differentiable outputs
  std::vector<uint32_t> wanted;

  std::string name() const { return call.op + " [" + label + "]"; }
};

struct Result {
  bool failed = false;
  std::string error, message;
  std::vector<std::optional<Array>> outputs, gradients;
};

struct Golden {
  Case input;
  Result want;
};

// Throw std::runtime_error when the bytes end early or hold an impossible number.
Case read_case(std::string_view bytes);
std::string write_result(const Result& result);
std::vector<Golden> read_goldens(const std::string& path);

// Tensors and variables of the call, depth first.
std::vector<Input*> leaves(Call& call);
// Ops of the call and of those that feed it.
std::vector<std::string> ops_of(const Call& call);
// A copy that shares nothing with the original.
Case clone(const Case& c);

}  // namespace rw::test
