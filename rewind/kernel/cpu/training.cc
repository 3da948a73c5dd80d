// Optimizers' steps: checks, hyperparameters and threads around the loops of isa/update.cc. A sparse step
// runs the dense loop on each row that the indices name, in their order, so that a row named twice is stepped
// twice.
#include <algorithm>
#include <string_view>

#include "rewind/base/dispatch.h"
#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/indexing.h"
#include "rewind/kernel/cpu/isa/indexed.h"
#include "rewind/op/object.h"
#include "rewind/op/table.h"

namespace rw {
namespace {

constexpr int kMaxSlots = 4;
constexpr int kMaxHyper = 12;
constexpr int64_t kGrain = 4096;  // a square root and a division for each element

struct StepLoops {
  UpdateLoop by_variant[4][24] = {};
  bool sparse = false;
};

bool flag(const KernelContext& ctx, std::string_view name) {
  return ctx.op().find_attr(name) && ctx.attr<bool>(name);
}

// Everything about a call: variables in place, the gradient, the scalars.
struct Call {
  int num_slots = 0;
  View slots[kMaxSlots];
  const View* grad = nullptr;
  int indices_at = -1;
  alignas(64) double hyper_room[kMaxHyper] = {};  // of the type that the variable is computed in
  double lr_power = 0;

  void* at(int slot, int64_t offset) const {
    return static_cast<char*>(slots[slot].data) + offset * int64_t(size_of(slots[slot].dtype));
  }
};

// Each element's step reads all of its slots before it writes them: a variable in two of them would keep one
// of two results.
void check_distinct(KernelContext& ctx) {
  const auto cell = [&](int i) { return ctx.in(i).as<Ref<Object>>()->get(); };
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    if (ctx.in(i).dtype != DType::kResource) continue;
    for (int k = 0; k < i; ++k) {
      if (ctx.in(k).dtype != DType::kResource || cell(k) != cell(i)) continue;
      ctx.fail("variables must differ: " + ctx.op().inputs[size_t(k)].name + " and " +
               ctx.op().inputs[size_t(i)].name + " are both " + cell(i)->describe());
    }
  }
}

void read_call(KernelContext& ctx, Call* call) {
  check_distinct(ctx);
  int num_hyper = 0;
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    const std::string& name = ctx.op().inputs[size_t(i)].name;
    const View& in = ctx.in(i);
    if (in.dtype == DType::kResource) {
      call->slots[call->num_slots++] = ctx.variable(i);
    } else if (name == "grad" || name == "delta") {
      call->grad = &in;
    } else if (name == "indices") {
      call->indices_at = i;
    } else {
      dispatch<kFloatTypes>(in.dtype, [&]<class T>() {
        const auto value = static_cast<Compute<T>>(*in.as<T>());
        reinterpret_cast<Compute<T>*>(call->hyper_room)[num_hyper] = value;
        if (name == "lr_power") call->lr_power = double(value);
      });
      ++num_hyper;
    }
  }
  const View& var = call->slots[0];
  const View& grad = *call->grad;
  for (int k = 0; k < call->num_slots; ++k) {
    const View& slot = call->slots[k];
    const std::string& name = ctx.op().inputs[size_t(k)].name;
    if (slot.dtype != grad.dtype)
      ctx.fail("variables must have the gradient's type, " + std::string(name_of(grad.dtype)) + ": " + name +
               " is " + slot.describe());
    if (!(*slot.shape == *var.shape))
      ctx.fail("variables must have one shape: var is " + var.describe() + ", " + name + " is " +
               slot.describe());
  }
}

void run_dense(KernelContext& ctx, const Call& call, UpdateLoop loop) {
  const View& var = call.slots[0];
  if (!(*var.shape == *call.grad->shape))
    ctx.fail("the gradient must have the variable's shape: var is " + var.describe() + ", the gradient is " +
             call.grad->describe());
  parallel_for(var.size, kGrain, [&](int64_t begin, int64_t end) {
    void* slots[kMaxSlots] = {};
    for (int k = 0; k < call.num_slots; ++k) slots[k] = call.at(k, begin);
    const char* grad = static_cast<const char*>(call.grad->data) + begin * int64_t(size_of(var.dtype));
    loop(slots, grad, call.hyper_room, end - begin);
  });
}

void run_sparse(KernelContext& ctx, const Call& call, UpdateLoop loop) {
  const View& var = call.slots[0];
  const View& grad = *call.grad;
  const View& indices = ctx.in(call.indices_at);
  if (var.rank() < 1) ctx.fail("the variable must have at least one axis: got " + var.describe());
  bool fits = grad.rank() == var.rank() && grad.dim(0) == indices.dim(0);
  for (int d = 1; fits && d < var.rank(); ++d) fits = grad.dim(d) == var.dim(d);
  if (!fits)
    ctx.fail("grad must hold one row of the variable per index: var is " + var.describe() + ", grad is " +
             grad.describe() + ", indices is " + indices.describe());
  const int64_t rows = var.dim(0);
  const int64_t* index = checked_indices(ctx, call.indices_at, rows);
  if (grad.size == 0) return;
  const int64_t columns = grad.size / indices.size;
  parallel_scatter(
      rows, columns, grad.size * 2, [&](int64_t row_begin, int64_t row_end, int64_t begin, int64_t end) {
        for (int64_t k = 0; k < indices.size; ++k) {
          if (index[k] < row_begin || index[k] >= row_end) continue;
          void* slots[kMaxSlots] = {};
          for (int s = 0; s < call.num_slots; ++s) slots[s] = call.at(s, index[k] * columns + begin);
          const char* from =
              static_cast<const char*>(grad.data) + (k * columns + begin) * int64_t(size_of(var.dtype));
          loop(slots, from, call.hyper_room, end - begin);
        }
      });
}

void step(KernelContext& ctx) {
  const StepLoops& loops = ctx.data<StepLoops>();
  const DType dtype =
      ctx.in(ctx.num_inputs() - 1 - (loops.sparse && ctx.op().inputs.back().name == "indices")).dtype;
  if (!contains(kFloatTypes, dtype)) ctx.fail_dtype(dtype);
  Call call;
  read_call(ctx, &call);
  int variant = flag(ctx, "use_nesterov") || flag(ctx, "multiply_linear_by_lr") ||
                (ctx.op().find_attr("update_slots") && !flag(ctx, "update_slots"));
  if (ctx.op().find_attr("multiply_linear_by_lr") && call.lr_power != -0.5) variant += 2;
  const UpdateLoop loop = loops.by_variant[variant][size_t(dtype)];
  if (!loop) ctx.fail_dtype(dtype);
  if (loops.sparse) run_sparse(ctx, call, loop);
  else run_dense(ctx, call, loop);
}

}  // namespace

void register_training_cpu_kernels() {
  StepLoops* dense = nullptr;
  StepLoops* sparse = nullptr;
  std::string_view current;
  for (const UpdateRow* row = isa_loops().update; row->op; ++row) {
    if (current != row->op) {
      current = row->op;
      dense = new StepLoops;
      register_kernel(current, DeviceType::kCpu, step, dense);
      sparse = nullptr;
      const std::string name =
          "ResourceSparseApply" + std::string(current.substr(std::string_view("ResourceApply").size()));
      if (op_table().find(name)) {
        sparse = new StepLoops;
        sparse->sparse = true;
        register_kernel(name, DeviceType::kCpu, step, sparse);
      }
    }
    dense->by_variant[row->variant][size_t(row->dtype)] = row->loop;
    if (sparse) sparse->by_variant[row->variant][size_t(row->dtype)] = row->loop;
  }
}

}  // namespace rw
