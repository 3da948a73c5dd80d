// The structures of DLPack's C interface, version 0. Only dlpack.cc and tests include this: a program that
// uses DLPack brings its own dlpack.h.
#pragma once

#include <cstdint>

enum { kRwDlCpu = 1 };
enum { kRwDlInt = 0, kRwDlUint = 1, kRwDlFloat = 2, kRwDlBfloat = 4, kRwDlComplex = 5, kRwDlBool = 6 };

struct DLDevice {
  int32_t device_type;
  int32_t device_id;
};

struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;    // (ndim,)
  int64_t* strides;  // (ndim,), in elements; null: dense and row-major
  uint64_t byte_offset;
};

struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};
