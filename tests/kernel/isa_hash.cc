// Prints a hash of the results of every elementwise op and every cast, one a line: compare_isa.sh runs it
// under each instruction set. NaNs count as one.
#include <cstdio>
#include <cstring>

#include "rewind/base/dispatch.h"
#include "rewind/base/error.h"
#include "rewind/op/table.h"
#include "rewind/rewind.h"

namespace rw {
namespace {

constexpr int64_t kCount = 4099;  // vector bodies and a tail

// Numbers of all sizes: both signs, near zero, large; integers are small and positive, so that they may
// divide.
Tensor values(DType dtype, int seed) {
  uint64_t state = uint64_t(seed) * 0x9e3779b97f4a7c15u + 1;
  auto next = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
  };
  Tensor t;
  dispatch<kRealTypes | set_of(DType::kBool)>(dtype, [&]<class T>() {
    std::vector<uint8_t> bytes(size_t(kCount) * sizeof(T));
    for (int64_t i = 0; i < kCount; ++i) {
      T v;
      if constexpr (std::is_same_v<T, bool>) {
        v = next() % 2;
      } else if constexpr (std::is_integral_v<T>) {
        v = T(1 + next() % 100);
      } else {
        const double unit = double(next() % 2000001) / 1e6 - 1;
        const double scales[] = {1, 1, 1, 10, 100, 1e-3, 1e4, 3e38, 3e-38, 3e-308, 1e-4};
        v = static_cast<T>(static_cast<Compute<T>>(unit * scales[i % 11]));
      }
      std::memcpy(bytes.data() + size_t(i) * sizeof(T), &v, sizeof(T));
    }
    t = tensor_from_bytes(bytes.data(), dtype, {kCount});
  });
  return t;
}

uint64_t hash_of(const Tensor& t) {
  uint64_t h = 14695981039346656037u;
  dispatch<kRealTypes | set_of(DType::kBool)>(t.dtype(), [&]<class T>() {
    for (T v : t.data<T>()) {
      if constexpr (is_float_element<T>)
        if (static_cast<Compute<T>>(v) != static_cast<Compute<T>>(v)) v = static_cast<T>(Compute<T>(0));
      unsigned char bytes[sizeof(T)];
      std::memcpy(bytes, &v, sizeof(T));
      for (const unsigned char b : bytes) h = (h ^ b) * 1099511628211u;
    }
  });
  return h;
}

void show(const std::string& name, const std::vector<Tensor>& inputs, const Attrs& attrs = {}) {
  try {
    for (const Tensor& t : raw_op(name, inputs, attrs))
      std::printf("%s %s %016llx\n", name.c_str(), std::string(name_of(inputs[0].dtype())).c_str(),
                  static_cast<unsigned long long>(hash_of(t)));
  } catch (const Error&) {  // no kernel for this dtype, an attribute that must be given
  }
}

void run() {
  constexpr DType kTypes[] = {float32, float64, float16, bfloat16, int8,   int16, int32,
                              int64,   uint8,   uint16,  uint32,   uint64, bool_};
  for (const Op* op : op_table().all()) {
    if (!op->elementwise || op->stateful || op->view) continue;
    for (const DType dtype : kTypes) {
      std::vector<Tensor> inputs;
      for (size_t i = 0; i < std::max<size_t>(op->inputs.size(), op->simple ? 0 : 3); ++i)
        inputs.push_back(values(op->inputs[0].dtype == DType::kBool && i == 0 ? bool_ : dtype, int(i) + 1));
      show(op->name, inputs);
    }
  }
  for (const DType from : kTypes)
    for (const DType to : kTypes) show("Cast", {values(from, 1)}, {{"DstT", to}});
}

}  // namespace
}  // namespace rw

int main() { rw::run(); }
