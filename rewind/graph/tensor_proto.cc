#include "rewind/graph/tensor_proto.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <limits>

#include "rewind/base/error.h"
#include "rewind/graph/evaluate_small.h"

namespace rw {
namespace {

using format::TensorProto;

[[noreturn]] void fail_tensor_proto(const std::string& message) { fail_invalid("TensorProto", message); }

// Whether the list of values keeps every bit of the element, in text too, where all NaNs are one.
bool fits_value_list(const HostTensor& t) {
  switch (t.dtype) {
    case DType::kFloat32:
      return *static_cast<const float*>(t.data.get()) == *static_cast<const float*>(t.data.get());
    case DType::kFloat64: {
      const double v = *static_cast<const double*>(t.data.get());
      return v == v;
    }
    case DType::kComplex64:
    case DType::kComplex128: return false;
    default: return true;
  }
}

void put_one(const HostTensor& t, TensorProto* proto) {
  const void* p = t.data.get();
  switch (t.dtype) {
    case DType::kFloat32: proto->float_val = {*static_cast<const float*>(p)}; return;
    case DType::kFloat64: proto->double_val = {*static_cast<const double*>(p)}; return;
    case DType::kInt64: proto->int64_val = {*static_cast<const int64_t*>(p)}; return;
    case DType::kInt32: proto->int_val = {*static_cast<const int32_t*>(p)}; return;
    case DType::kInt16: proto->int_val = {*static_cast<const int16_t*>(p)}; return;
    case DType::kInt8: proto->int_val = {*static_cast<const int8_t*>(p)}; return;
    case DType::kUint8: proto->int_val = {*static_cast<const uint8_t*>(p)}; return;
    case DType::kUint16: proto->int_val = {*static_cast<const uint16_t*>(p)}; return;
    case DType::kUint32: proto->uint32_val = {*static_cast<const uint32_t*>(p)}; return;
    case DType::kUint64: proto->uint64_val = {*static_cast<const uint64_t*>(p)}; return;
    case DType::kBool: proto->bool_val = {*static_cast<const bool*>(p)}; return;
    case DType::kFloat16:
    case DType::kBfloat16: proto->half_val = {*static_cast<const uint16_t*>(p)}; return;
    default: fail_internal(__FILE__, __LINE__, "the dtype has a list of values");
  }
}

template <class T, class List>
void fill(void* data, int64_t count, const List& list) {
  T* out = static_cast<T*>(data);
  const int64_t given = std::min(count, int64_t(list.size()));
  for (int64_t i = 0; i < given; ++i) out[i] = T(list[size_t(i)]);
  std::fill(out + given, out + count, given ? out[given - 1] : T{});
}

template <class T>
std::vector<std::complex<T>> pairs(const std::vector<T>& parts) {
  if (parts.size() % 2)
    fail_tensor_proto("complex values are pairs: got " + std::to_string(parts.size()) + " numbers");
  std::vector<std::complex<T>> list(parts.size() / 2);
  for (size_t i = 0; i < list.size(); ++i) list[i] = {parts[2 * i], parts[2 * i + 1]};
  return list;
}

void fill_from_lists(const TensorProto& p, const HostTensor& t, int64_t n) {
  void* data = const_cast<void*>(t.data.get());
  switch (t.dtype) {
    case DType::kFloat32: return fill<float>(data, n, p.float_val);
    case DType::kFloat64: return fill<double>(data, n, p.double_val);
    case DType::kInt64: return fill<int64_t>(data, n, p.int64_val);
    case DType::kInt32: return fill<int32_t>(data, n, p.int_val);
    case DType::kInt16: return fill<int16_t>(data, n, p.int_val);
    case DType::kInt8: return fill<int8_t>(data, n, p.int_val);
    case DType::kUint8: return fill<uint8_t>(data, n, p.int_val);
    case DType::kUint16: return fill<uint16_t>(data, n, p.int_val);
    case DType::kUint32: return fill<uint32_t>(data, n, p.uint32_val);
    case DType::kUint64: return fill<uint64_t>(data, n, p.uint64_val);
    case DType::kBool: return fill<bool>(data, n, p.bool_val);
    case DType::kFloat16:
    case DType::kBfloat16: return fill<uint16_t>(data, n, p.half_val);
    case DType::kComplex64: return fill<std::complex<float>>(data, n, pairs(p.scomplex_val));
    case DType::kComplex128: return fill<std::complex<double>>(data, n, pairs(p.dcomplex_val));
    case DType::kString: return fill<std::string>(data, n, p.string_val);
    default: fail_internal(__FILE__, __LINE__, "the dtype has a list of values");
  }
}

// Strings in tensor_content: all lengths as varints, then all bytes.
void fill_strings(std::string_view content, const HostTensor& t, int64_t n) {
  auto* out = static_cast<std::string*>(const_cast<void*>(t.data.get()));
  std::vector<uint64_t> lengths(static_cast<size_t>(n));
  for (uint64_t& length : lengths) {
    for (int shift = 0;; shift += 7) {
      if (content.empty() || shift > 28)
        fail_tensor_proto("the lengths of strings in tensor_content are damaged");
      const auto byte = static_cast<unsigned char>(content[0]);
      content.remove_prefix(1);
      length |= uint64_t(byte & 0x7f) << shift;
      if (!(byte & 0x80)) break;
    }
  }
  for (const uint64_t length : lengths) {
    if (length > content.size()) fail_tensor_proto("tensor_content ends inside a string");
    *out++ = content.substr(0, length);
    content.remove_prefix(length);
  }
  if (!content.empty()) fail_tensor_proto("tensor_content is longer than its strings");
}

}  // namespace

format::TensorShapeProto to_shape_proto(const Shape& shape) {
  format::TensorShapeProto proto;
  proto.unknown_rank = !shape.has_rank();
  for (const int64_t d : shape) proto.dim.push_back({.size = d, .name = {}});
  return proto;
}

Shape from_shape_proto(const format::TensorShapeProto& proto) {
  if (proto.unknown_rank) return Shape::unknown_rank();
  std::vector<int64_t> dims;
  for (const auto& dim : proto.dim) {
    if (dim.size < Shape::kUnknown) fail_invalid("TensorShapeProto", "a size of " + std::to_string(dim.size));
    dims.push_back(dim.size);
  }
  Shape shape(dims);
  int64_t count = 0;
  if (shape.fully_known() && !shape.checked_num_elements(&count))
    fail_invalid("TensorShapeProto", shape.to_string() + " has too many elements to count");
  return shape;
}

format::TensorProto to_tensor_proto(const HostTensor& t) {
  if (t.dtype == DType::kResource || t.dtype == DType::kVariant)
    fail_unimplemented("TensorProto", "a " + std::string(name_of(t.dtype)) + " cannot be written to a file");
  TensorProto proto;
  proto.dtype = format::DataType(t.dtype);
  proto.tensor_shape = to_shape_proto(t.shape);
  const auto n = size_t(t.shape.num_elements());
  if (n == 0) return proto;
  if (t.dtype == DType::kString) {
    const auto* s = static_cast<const std::string*>(t.data.get());
    const bool repeats = std::all_of(s, s + n, [&](const std::string& x) { return x == s[0]; });
    proto.string_val.assign(s, s + (repeats ? 1 : n));
    return proto;
  }
  const size_t size = size_of(t.dtype);
  const char* bytes = static_cast<const char*>(t.data.get());
  // All elements are equal when the bytes are those one element further.
  if (std::memcmp(bytes, bytes + size, (n - 1) * size) == 0 && fits_value_list(t)) put_one(t, &proto);
  else proto.tensor_content.assign(bytes, n * size);
  return proto;
}

HostTensor from_tensor_proto(const format::TensorProto& proto, int64_t max_bytes) {
  const auto number = int32_t(proto.dtype);
  const DType dtype = number > 0 && number <= int32_t(DType::kUint64) ? DType(number) : DType::kInvalid;
  if (!contains(kAllTypes, dtype) || dtype == DType::kResource || dtype == DType::kVariant) {
    const std::string_view name = format::name_of(proto.dtype);
    fail_unimplemented("TensorProto",
                       "constants of type " + (name.empty() ? std::to_string(number) : std::string(name)));
  }
  const Shape shape = proto.tensor_shape ? from_shape_proto(*proto.tensor_shape) : Shape();
  if (!shape.fully_known()) fail_tensor_proto("a constant's sizes must be known: got " + shape.to_string());
  int64_t count = 0;
  if (!shape.checked_num_elements(&count) || count > max_bytes / int64_t(size_of(dtype)))
    fail_exhausted("TensorProto", "a constant of " + std::string(name_of(dtype)) + shape.to_string() +
                                      ", and " + std::to_string(max_bytes) + " bytes are left of the limit");
  const HostTensor t = allocate_host(dtype, shape);
  if (proto.tensor_content.empty()) {
    fill_from_lists(proto, t, count);
  } else if (dtype == DType::kString) {
    fill_strings(proto.tensor_content, t, count);
  } else {
    const size_t bytes = size_t(count) * size_of(dtype);
    if (proto.tensor_content.size() != bytes)
      fail_tensor_proto("tensor_content of a " + std::string(name_of(dtype)) + shape.to_string() + " has " +
                        std::to_string(bytes) + " bytes: got " + std::to_string(proto.tensor_content.size()));
    auto* data = static_cast<char*>(const_cast<void*>(t.data.get()));
    std::memcpy(data, proto.tensor_content.data(), bytes);
    if (dtype == DType::kBool)
      for (size_t i = 0; i < bytes; ++i) data[i] = char(data[i] != 0);
  }
  return t;
}

HostTensor ConstantReader::get(const format::TensorProto& proto) {
  if (const auto it = made_.find(&proto); it != made_.end()) return it->second;
  const HostTensor t = from_tensor_proto(proto, left_);
  left_ -= t.shape.num_elements() * int64_t(size_of(t.dtype));
  return made_.emplace(&proto, t).first->second;
}

}  // namespace rw
