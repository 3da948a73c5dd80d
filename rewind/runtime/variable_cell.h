// What a variable's resource handle points to. The value is a snapshot that readers share; a write in place
// happens only when nobody else holds it (copy on write).
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "rewind/op/object.h"
#include "rewind/runtime/storage.h"

namespace rw {

class VariableCell final : public Object {
 public:
  explicit VariableCell(std::string name, DType dtype = DType::kInvalid, Shape shape = Shape::unknown_rank());
  ~VariableCell() override;
  std::string describe() const override { return "<ResourceHandle of variable " + name + ">"; }

  const std::string name;
  const DType dtype;  // what values must be; kInvalid and unknown where the maker did not say
  const Shape shape;
  std::mutex mutex;  // guards value
  Value value;       // dtype kInvalid before the first assignment

  // Requires the lock. Splits the value from other holders if there are any.
  void make_unique();
};

// The cell behind a resource tensor's element; throws InvalidArgumentError when it is something else.
VariableCell& variable_of(const View& handle, std::string_view op_tag);

// What the values of all variables take, but those that are being written right now.
int64_t variable_bytes();
// Those values with the names of their variables; the storages are for comparing only.
struct VariableHolding {
  const Storage* storage;
  std::string name;
};
std::vector<VariableHolding> variable_holdings();

}  // namespace rw
