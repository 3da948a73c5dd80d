#include "rewind/graph/evaluate_small.h"

#include <cstring>
#include <string>

#include "rewind/base/error.h"
#include "rewind/base/float_mode.h"
#include "rewind/kernel/kernel.h"

namespace rw {
namespace {

constexpr int64_t kMostElements = 64;

bool small_integers(DType dtype, int64_t size) {
  return size >= 0 && size <= kMostElements && (is_integer(dtype) || dtype == DType::kBool);
}

// Shape, Size and Rank know their answer from the input's sizes alone.
HostTensor from_shape(const Op& op, const Attrs& attrs, const View& x) {
  const bool is_rank = op.name == "Rank";
  const bool is_size = op.name == "Size";
  if (!is_rank && !is_size && op.name != "Shape") return {};
  if (!(is_rank ? x.shape->has_rank() : x.shape->fully_known())) return {};
  const DType dtype = is_rank ? DType::kInt32 : attr_as<DType>(op, attrs, "out_type");
  SmallVector<int64_t, 8> list;
  if (is_rank) list.push_back(x.shape->rank());
  else if (is_size) list.push_back(x.shape->num_elements());
  else
    for (const int64_t d : *x.shape) list.push_back(d);
  HostTensor t = allocate_host(dtype, is_rank || is_size ? Shape{} : Shape{int64_t(list.size())});
  void* data = const_cast<void*>(t.data.get());
  for (size_t i = 0; i < list.size(); ++i) {
    if (dtype == DType::kInt32) static_cast<int32_t*>(data)[i] = int32_t(list[i]);
    else static_cast<int64_t*>(data)[i] = list[i];
  }
  return t;
}

class SmallHost final : public KernelHost {
 public:
  View allocate_output(int, Shape shape) override {
    result = allocate_host(dtype, shape);
    return {const_cast<void*>(result.data.get()), &result.shape, dtype, result.shape.num_elements()};
  }
  void* scratch(size_t bytes) override {
    scratch_.push_back(std::make_unique<char[]>(bytes));
    return scratch_.back().get();
  }
  View variable(int) override { fail_internal(__FILE__, __LINE__, "no variables among known values"); }

  DType dtype = DType::kInvalid;
  HostTensor result;

 private:
  std::vector<std::unique_ptr<char[]>> scratch_;
};

}  // namespace

HostTensor allocate_host(DType dtype, const Shape& shape) {
  const size_t count = size_t(shape.num_elements());
  HostTensor t{dtype, shape, nullptr};
  if (dtype == DType::kString) {
    t.data = std::shared_ptr<std::string[]>(new std::string[count]);
  } else {
    // At least one byte, so that an empty constant differs from no constant.
    t.data = std::shared_ptr<void>(::operator new(std::max<size_t>(1, count * size_of(dtype))),
                                   [](void* p) { ::operator delete(p); });
  }
  return t;
}

HostTensor evaluate_small(const Op& op, const Attrs& attrs, std::span<const View> inputs, DType dtype,
                          const Shape& shape) {
  if (op.name == "Const") return attr_as<HostTensor>(op, attrs, "value");
  if (inputs.size() == 1)
    if (HostTensor t = from_shape(op, attrs, inputs[0]); t.data) return t;
  if (inputs.empty() || (shape.fully_known() && !small_integers(dtype, shape.num_elements()))) return {};
  if (!small_integers(dtype, 1)) return {};
  for (const View& v : inputs)
    if (!v.data || v.size > kMostElements || is_host_only(v.dtype)) return {};
  SmallHost host;
  host.dtype = dtype;
  if (op.view) {
    if (!shape.fully_known()) return {};
    host.allocate_output(0, shape);
    std::memcpy(const_cast<void*>(host.result.data.get()), inputs[0].data,
                size_t(inputs[0].size) * size_of(dtype));
    return host.result;
  }
  const KernelEntry* kernel = find_kernel(op, DeviceType::kCpu);
  if (!kernel) return {};
  View out{nullptr, &shape, dtype, 0};
  if (shape.fully_known()) out = host.allocate_output(0, shape);
  KernelContext ctx(op, attrs, inputs, {&out, 1}, cpu_device(), host, kernel->data);
  const KernelFloatMode float_mode;
  try {
    kernel->run(ctx);
  } catch (const Error&) {
    return {};  // what fails here fails again when the node runs, if it runs
  }
  return host.result;
}

}  // namespace rw
