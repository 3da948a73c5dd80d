// Constants and shapes to and from their messages.
#pragma once

#include <unordered_map>

#include "rewind/format/tensor_proto.h"
#include "rewind/op/attrs.h"

namespace rw {

format::TensorShapeProto to_shape_proto(const Shape& shape);
// Throws InvalidArgumentError for sizes below -1, more axes than a tensor may have, and more elements than
// fit 64 bits.
Shape from_shape_proto(const format::TensorShapeProto& proto);

// A value that repeats is written once, others as their bytes. Throws UnimplementedError for resources and
// variants: they live in a process.
format::TensorProto to_tensor_proto(const HostTensor& tensor);
// Throws InvalidArgumentError when the elements do not fit the shape, and ResourceExhaustedError beyond
// max_bytes: a few bytes of a file can ask for any number of equal elements.
HostTensor from_tensor_proto(const format::TensorProto& proto, int64_t max_bytes);

// The constants of one file, each made once, and of `max_bytes` in all.
class ConstantReader {
 public:
  explicit ConstantReader(int64_t max_bytes) : left_(max_bytes) {}
  // The message must stay where it is. Throws as from_tensor_proto does.
  HostTensor get(const format::TensorProto& proto);

 private:
  int64_t left_;
  std::unordered_map<const format::TensorProto*, HostTensor> made_;
};

}  // namespace rw
