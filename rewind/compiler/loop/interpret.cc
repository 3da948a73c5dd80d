// Runs a kernel statement by statement: the meaning of the IR. Ops, casts and reductions are the eager
// kernels' own, on single values and on runs of a reduction.
#include <cstring>
#include <vector>

#include "rewind/base/error.h"
#include "rewind/compiler/loop/ir.h"
#include "rewind/compiler/loop/scalar_ops.h"
#include "rewind/kernel/cpu/isa/isa.h"
#include "rewind/kernel/cpu/isa/reduce.h"

namespace rw::loop {
namespace {

constexpr int64_t kRunBlock = 4096;  // elements that one partial result of a long reduction covers

// A statement with what its op means looked up.
struct Step {
  const Stmt* stmt;
  const ScalarOp* op = nullptr;
  CastFunction cast = nullptr;
  DType from = DType::kInvalid;  // of args[0]
  bool divides = false;
  std::vector<const ReduceRow*> reduce;
  std::vector<DType> reduced_types;  // of the values in the body
  std::vector<Step> condition, body, other;
};

struct Frame {
  std::vector<uint64_t> vars, locals;
  std::vector<int64_t> loops;
  std::vector<char*> buffers;
  int64_t begin, end;
  int64_t status = 0;
};

const char* row_name(Combine c) {
  static constexpr const char* kNames[] = {"Sum", "Prod", "Max", "Min", "Any", "All"};
  return kNames[size_t(c)];
}

const ReduceRow* find_row(Combine combine, DType dtype) {
  for (const ReduceRow* row = isa_loops().reduce; row->op; ++row)
    if (row->in == dtype && std::strcmp(row->op, row_name(combine)) == 0) return row;
  throw InternalError("[loop] no reduction for " + std::string(name_of(dtype)));
}

// values: n accumulators, one behind the other. The result lies in the first.
void reduce_values(const ReduceRow* row, char* values, int64_t n, int64_t item) {
  do {
    const int64_t blocks = n <= kRunBlock ? 1 : (n + kRunBlock - 1) / kRunBlock;
    for (int64_t b = 0; b < blocks; ++b) {
      const int64_t at = b * kRunBlock;
      uint64_t partial = 0;
      row->rows(values + at * item, 0, std::min(n - at, kRunBlock), 1, &partial);
      std::memcpy(values + b * item, &partial, size_t(item));
    }
    n = blocks;
  } while (n > 1);
}

class Interpreter final : public Executable {
 public:
  explicit Interpreter(const Kernel& kernel) : kernel_(kernel), types_(size_t(kernel.num_vars)) {
    verify(kernel_);
    steps_ = prepare(kernel_.body);
  }

  int64_t run(void* const* buffers, int64_t begin, int64_t end) const override {
    Frame f;
    f.vars.resize(size_t(kernel_.num_vars));
    f.locals.resize(size_t(kernel_.num_locals));
    f.loops.resize(size_t(kernel_.num_loops));
    f.begin = begin;
    f.end = end;
    std::vector<std::vector<char>> scratch;
    for (const BufferDef& b : kernel_.buffers) {
      if (b.role == Role::kScratch) {
        scratch.emplace_back(size_t(b.size) * size_of(b.dtype));
        f.buffers.push_back(scratch.back().data());
      } else {
        f.buffers.push_back(static_cast<char*>(*buffers++));
      }
    }
    run_block(steps_, f);
    return f.status;
  }

 private:
  std::vector<Step> prepare(const Block& block) {
    std::vector<Step> steps;
    for (const Stmt& s : block) {
      Step step{.stmt = &s};
      if (s.result >= 0) types_[size_t(s.result)] = s.dtype;
      if (s.code == Code::kOp) {
        step.from = types_[size_t(s.args[0])];
        if (s.op == "Cast") step.cast = find_cast(step.from, s.dtype);
        else if (s.op != "Select") step.op = find_scalar_op(s.op, step.from);
        step.divides = divides_integers(s.op, step.from);
      }
      step.condition = prepare(s.condition);
      step.body = prepare(s.body);
      step.other = prepare(s.other);
      for (const Reduction& r : s.reductions) {
        step.reduce.push_back(find_row(r.combine, r.dtype));
        step.reduced_types.push_back(types_[size_t(r.value)]);
        types_[size_t(r.result)] = r.dtype;
      }
      steps.push_back(std::move(step));
    }
    return steps;
  }

  int64_t place(const Affine& a, const Frame& f) const {
    int64_t at = a.constant;
    for (const Affine::Term& t : a.terms) at += t.step * f.loops[size_t(t.loop)];
    if (a.dynamic >= 0) at += int64_t(f.vars[size_t(a.dynamic)]);
    return at;
  }

  char* element(const Stmt& s, const Frame& f) const {
    const BufferDef& b = kernel_.buffers[size_t(s.buffer)];
    const int64_t at = place(s.at, f);
    RW_CHECK(at >= 0 && at < b.size);
    return f.buffers[size_t(s.buffer)] + at * int64_t(size_of(b.dtype));
  }

  static uint64_t arg(const Stmt& s, size_t i, const Frame& f) { return f.vars[size_t(s.args[i])]; }

  uint64_t evaluate(const Step& step, const Frame& f) const {
    const Stmt& s = *step.stmt;
    if (step.op) {
      uint64_t args[3] = {};
      for (size_t i = 0; i < s.args.size(); ++i) args[i] = arg(s, i, f);
      if (step.divides && args[1] == 0) args[1] = 1;
      return step.op->run(args);
    }
    if (step.cast) {
      const uint64_t x = arg(s, 0, f);
      uint64_t out = 0;
      step.cast(&x, &out, 1);
      return out;
    }
    return arg(s, 0, f) ? arg(s, 1, f) : arg(s, 2, f);
  }

  void run_block(const std::vector<Step>& steps, Frame& f) const {
    for (const Step& step : steps) {
      run_step(step, f);
      if (f.status != 0) return;
    }
  }

  void run_step(const Step& step, Frame& f) const {
    const Stmt& s = *step.stmt;
    switch (s.code) {
      case Code::kConst: f.vars[size_t(s.result)] = s.literal; return;
      case Code::kIndex: f.vars[size_t(s.result)] = uint64_t(place(s.at, f)); return;
      case Code::kLoad:
        f.vars[size_t(s.result)] = 0;
        std::memcpy(&f.vars[size_t(s.result)], element(s, f), size_of(s.dtype));
        return;
      case Code::kStore: std::memcpy(element(s, f), &f.vars[size_t(s.args[0])], size_of(s.dtype)); return;
      case Code::kOp: f.vars[size_t(s.result)] = evaluate(step, f); return;
      case Code::kLocal:
      case Code::kSet: f.locals[size_t(s.local)] = arg(s, 0, f); return;
      case Code::kGet: f.vars[size_t(s.result)] = f.locals[size_t(s.local)]; return;
      case Code::kFor: {
        const bool parallel = s.kind == LoopKind::kParallel;
        const int64_t end = parallel ? std::min(f.end, s.extent) : s.extent;
        for (int64_t i = parallel ? f.begin : 0; i < end && f.status == 0; ++i) {
          f.loops[size_t(s.loop)] = i;
          run_block(step.body, f);
        }
        return;
      }
      case Code::kReduce: return run_reduce(step, f);
      case Code::kWhile:
        while (f.status == 0) {
          run_block(step.condition, f);
          if (f.status != 0 || !arg(s, 0, f)) return;
          run_block(step.body, f);
        }
        return;
      case Code::kIf: return run_block(arg(s, 0, f) ? step.body : step.other, f);
      case Code::kFail: f.status = int64_t(s.literal); return;
    }
  }

  void run_reduce(const Step& step, Frame& f) const {
    const Stmt& s = *step.stmt;
    std::vector<std::vector<char>> values(s.reductions.size());
    for (size_t r = 0; r < values.size(); ++r)
      values[r].resize(size_t(std::max<int64_t>(s.extent, 1)) * size_of(s.reductions[r].dtype));
    for (int64_t i = 0; i < s.extent; ++i) {
      f.loops[size_t(s.loop)] = i;
      run_block(step.body, f);
      for (size_t r = 0; r < values.size(); ++r) {
        const Reduction& reduction = s.reductions[r];
        const int64_t item = int64_t(size_of(reduction.dtype));
        uint64_t value = f.vars[size_t(reduction.value)];
        if (step.reduced_types[r] != reduction.dtype) {
          const uint64_t narrow = value;
          find_cast(step.reduced_types[r], reduction.dtype)(&narrow, &value, 1);
        }
        std::memcpy(values[r].data() + i * item, &value, size_t(item));
      }
    }
    for (size_t r = 0; r < values.size(); ++r) {
      const int64_t item = int64_t(size_of(s.reductions[r].dtype));
      if (s.extent != 1) reduce_values(step.reduce[r], values[r].data(), s.extent, item);
      uint64_t& result = f.vars[size_t(s.reductions[r].result)];
      result = 0;
      std::memcpy(&result, values[r].data(), size_t(item));
    }
  }

  const Kernel kernel_;
  std::vector<DType> types_;
  std::vector<Step> steps_;
};

}  // namespace

std::shared_ptr<const Executable> interpret(const Kernel& kernel) {
  return std::make_shared<Interpreter>(kernel);
}

}  // namespace rw::loop
