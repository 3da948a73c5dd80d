#include "rewind/tensor/dlpack.h"

#include <memory>
#include <vector>

#include "rewind/base/error.h"
#include "rewind/kernel/cpu/strided_copy.h"
#include "rewind/tensor/dlpack_abi.h"
#include "rewind/tensor/tensor_impl.h"

namespace rw {
namespace {

struct TypeRow {
  DType dtype;
  uint8_t code, bits;
};
constexpr TypeRow kTypes[] = {
    {DType::kFloat32, kRwDlFloat, 32},
    {DType::kFloat64, kRwDlFloat, 64},
    {DType::kFloat16, kRwDlFloat, 16},
    {DType::kBfloat16, kRwDlBfloat, 16},
    {DType::kInt8, kRwDlInt, 8},
    {DType::kInt16, kRwDlInt, 16},
    {DType::kInt32, kRwDlInt, 32},
    {DType::kInt64, kRwDlInt, 64},
    {DType::kUint8, kRwDlUint, 8},
    {DType::kUint16, kRwDlUint, 16},
    {DType::kUint32, kRwDlUint, 32},
    {DType::kUint64, kRwDlUint, 64},
    {DType::kBool, kRwDlBool, 8},
    {DType::kComplex64, kRwDlComplex, 64},
    {DType::kComplex128, kRwDlComplex, 128},
};

DType dtype_from(const DLDataType& type) {
  for (const TypeRow& row : kTypes)
    if (row.code == type.code && row.bits == type.bits && type.lanes == 1) return row.dtype;
  const std::string got = "code " + std::to_string(type.code) + ", " + std::to_string(type.bits) + " bits, " +
                          std::to_string(type.lanes) + " lanes";
  if (type.lanes != 1)
    fail_invalid("from_dlpack", "elements must be single numbers, with lanes 1: got " + got);
  fail_invalid("from_dlpack", "unsupported dtype: " + got);
}

// Refuses what cannot be read: these structures come from other libraries, and a field that they left out is
// a null pointer or any number.
Shape checked_shape(const DLTensor& t, DType dtype) {
  constexpr const char* kTag = "from_dlpack";
  if (t.ndim < 0) fail_invalid(kTag, "ndim must not be negative: got " + std::to_string(t.ndim));
  if (t.ndim > 0 && !t.shape)
    fail_invalid(kTag, "shape must not be null: the tensor has " + std::to_string(t.ndim) +
                           " axes; only scalars (ndim 0) have no sizes");
  const Shape shape = t.ndim == 0 ? Shape() : Shape(std::span<const int64_t>(t.shape, size_t(t.ndim)));
  for (const int64_t size : shape)
    if (size < 0) fail_invalid(kTag, "sizes must not be negative: got shape " + shape.to_string());
  int64_t count = 0;
  int64_t bytes = 0;
  if (!shape.checked_num_elements(&count) || __builtin_mul_overflow(count, int64_t(size_of(dtype)), &bytes))
    fail_invalid(kTag, "the size in bytes overflows int64: got shape " + shape.to_string());
  if (count > 0 && !t.data)
    fail_invalid(kTag, "data must not be null: shape " + shape.to_string() + " has " + std::to_string(count) +
                           " elements");
  return shape;
}

bool is_dense(const DLTensor& t) {
  if (!t.strides) return true;
  int64_t stride = 1;
  for (int k = t.ndim - 1; k >= 0; --k) {
    if (t.shape[k] != 1 && t.strides[k] != stride) return false;
    stride *= t.shape[k];
  }
  return true;
}

// What a given-away tensor keeps alive.
struct Given {
  DLManagedTensor managed{};
  Tensor tensor;
  std::vector<int64_t> dims, strides;
};

}  // namespace

Tensor from_dlpack(DLManagedTensor* managed) {
  if (!managed) fail_invalid("from_dlpack", "the pointer must not be null");
  const DLTensor& t = managed->dl_tensor;
  if (t.device.device_type != kRwDlCpu)
    fail_invalid("from_dlpack",
                 "the memory must be the CPU's: got device type " + std::to_string(t.device.device_type));
  const DType dtype = dtype_from(t.dtype);
  const Shape shape = checked_shape(t, dtype);
  const int64_t count = shape.num_elements();
  char* data = count > 0 ? static_cast<char*>(t.data) + t.byte_offset : nullptr;
  const bool aligned = reinterpret_cast<uintptr_t>(data) % size_of(dtype) == 0;
  const auto release = [managed](void*) {
    if (managed->deleter) managed->deleter(managed);
  };
  if (count > 0 && is_dense(t) && aligned) return from_blob(data, shape, dtype, release);
  Value value = Value::allocate(cpu_device(), dtype, shape);
  if (count > 0) {
    CopyAxes axes;
    int64_t dense = 1;
    for (int k = t.ndim - 1; k >= 0; --k) {
      axes.push_back({t.shape[k], dense, t.strides ? t.strides[k] : dense});
      dense *= t.shape[k];
    }
    strided_copy(dtype, value.data, data, std::move(axes));
  }
  release(nullptr);
  return make_tensor(std::move(value));
}

DLManagedTensor* to_dlpack(const Tensor& tensor) {
  void* data = const_cast<void*>(tensor.host_data());
  auto given = std::make_unique<Given>();
  DLTensor& t = given->managed.dl_tensor;
  for (const TypeRow& row : kTypes)
    if (row.dtype == tensor.dtype()) t.dtype = {row.code, row.bits, 1};
  if (t.dtype.lanes == 0)
    fail_invalid("to_dlpack", "elements must be numbers: got " + std::string(name_of(tensor.dtype())));
  given->tensor = tensor;
  given->dims.assign(tensor.shape().begin(), tensor.shape().end());
  given->strides.resize(given->dims.size(), 1);
  for (size_t k = given->dims.size(); k-- > 1;) given->strides[k - 1] = given->strides[k] * given->dims[k];
  t.data = data;
  t.device = {kRwDlCpu, 0};
  t.ndim = tensor.rank();
  t.shape = given->dims.data();
  t.strides = given->strides.data();
  given->managed.manager_ctx = given.get();
  given->managed.deleter = [](DLManagedTensor* self) { delete static_cast<Given*>(self->manager_ctx); };
  return &given.release()->managed;
}

}  // namespace rw
