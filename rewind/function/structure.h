// The structure of a function's arguments and results without their C++ types: what stands where among lists,
// tuples and maps, and which of the flat tensors it is. It is what TensorFlow's files say of a trace.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rw {

struct Structure {
  // kObject: what has no value in a file (modules, pointers, generators). kSlices: a sparse gradient, three
  // tensors.
  enum class Kind : uint8_t {
    kNone,
    kTensor,
    kVariable,
    kBool,
    kInteger,
    kReal,
    kText,
    kList,
    kTuple,
    kDict,
    kObject
  };
  Kind kind = Kind::kNone;
  size_t index = 0;  // of a tensor: which of the flat ones; of a variable: which of the variables
  int64_t integer = 0;
  double real = 0;
  std::string text = {};
  std::vector<Structure> items = {};
  std::vector<std::string> keys = {};  // of a dict, one per item

  bool is(Kind k) const { return kind == k; }
  static Structure tensor(size_t index) { return {.kind = Kind::kTensor, .index = index}; }
};

// Of one trace.
struct CallStructure {
  Structure arguments = {.kind = Structure::Kind::kTuple};  // one item per argument of the C++ function
  Structure results = {};
  Structure keywords = {.kind = Structure::Kind::kDict};  // of functions from files
  std::vector<std::string> argument_names = {};           // where FunctionOptions says them
  bool known = false;                                     // false: a graph without a C++ function
};

}  // namespace rw
