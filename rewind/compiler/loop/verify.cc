// What a legal kernel is. Everything behind this file relies on it.
#include "rewind/base/error.h"
#include "rewind/compiler/loop/ir.h"
#include "rewind/compiler/loop/scalar_ops.h"
#include "rewind/compiler/loop/statement_text.h"

namespace rw::loop {
namespace {

constexpr int64_t kMostScratchBytes = int64_t{1} << 20;
constexpr DTypeSet kValueTypes = kRealTypes | set_of(DType::kBool);

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel)
      : kernel_(kernel),
        vars_(size_t(kernel.num_vars)),
        locals_(size_t(kernel.num_locals)),
        loops_(size_t(kernel.num_loops)) {}

  void run() {
    int64_t scratch = 0;
    for (const BufferDef& b : kernel_.buffers) {
      if (!contains(kValueTypes, b.dtype))
        fail_kernel("a buffer has the type " + std::string(name_of(b.dtype)));
      if (b.size < 0) fail_kernel("a buffer has a negative size");
      if (b.role == Role::kScratch) scratch += b.size * int64_t(size_of(b.dtype));
    }
    if (scratch > kMostScratchBytes) fail_kernel("scratch buffers take more than 1 MiB");
    for (const Stmt& s : kernel_.body) has_parallel_ |= s.kind == LoopKind::kParallel;
    block(kernel_.body);
  }

 private:
  struct VarState {
    DType dtype = DType::kInvalid;  // kInvalid: not assigned
    bool visible = false;
  };
  struct LocalState {
    DType dtype = DType::kInvalid;
    bool visible = false;
    int lanes_depth = 0;  // loops with independent iterations around its declaration
  };
  struct LoopState {
    int64_t extent = -1;  // -1: not seen
    bool open = false;
    bool lanes = false;  // its iterations go to lanes
  };

  [[noreturn]] void fail_kernel(const std::string& why) const {
    throw InternalError("[loop] " + why + " in " + kernel_.name);
  }
  [[noreturn]] void fail(const Stmt& s, const std::string& why) const {
    throw InternalError("[loop] " + why + ": " + statement_text(s) + ", in " + kernel_.name);
  }

  DType type_of(const Stmt& s, Var v) const {
    if (v < 0 || v >= kernel_.num_vars) fail(s, "value out of range");
    const VarState& state = vars_[size_t(v)];
    if (state.dtype == DType::kInvalid || !state.visible) fail(s, "undefined value %" + std::to_string(v));
    return state.dtype;
  }
  void expect_args(const Stmt& s, size_t count) const {
    if (s.args.size() != count) fail(s, "takes " + std::to_string(count) + " values");
    for (Var v : s.args) type_of(s, v);
  }
  void expect_type(const Stmt& s, DType got, DType want) const {
    if (got != want)
      fail(s, "type " + std::string(name_of(got)) + " where " + std::string(name_of(want)) + " is due");
  }

  void define(const Stmt& s, Var v, DType dtype) {
    if (v < 0 || v >= kernel_.num_vars) fail(s, "value out of range");
    if (!contains(kValueTypes, dtype)) fail(s, "no type of values: " + std::string(name_of(dtype)));
    if (vars_[size_t(v)].dtype != DType::kInvalid) fail(s, "a second assignment of %" + std::to_string(v));
    vars_[size_t(v)] = {dtype, true};
    scope_vars_.push_back(v);
  }

  // Puts out of sight what the block declared.
  void block(const Block& b) {
    const size_t vars = scope_vars_.size(), locals = scope_locals_.size();
    for (const Stmt& s : b) statement(s);
    leave(vars, locals);
  }
  void leave(size_t vars, size_t locals) {
    for (size_t i = vars; i < scope_vars_.size(); ++i) vars_[size_t(scope_vars_[i])].visible = false;
    for (size_t i = locals; i < scope_locals_.size(); ++i) locals_[size_t(scope_locals_[i])].visible = false;
    scope_vars_.resize(vars);
    scope_locals_.resize(locals);
  }

  void place(const Stmt& s, int64_t size) const {
    int64_t low = s.at.constant, high = s.at.constant;
    for (size_t i = 0; i < s.at.terms.size(); ++i) {
      const Affine::Term& t = s.at.terms[i];
      if (t.loop < 0 || t.loop >= kernel_.num_loops || !loops_[size_t(t.loop)].open)
        fail(s, "loop variable i" + std::to_string(t.loop) + " outside its loop");
      for (size_t j = 0; j < i; ++j)
        if (s.at.terms[j].loop == t.loop) fail(s, "a loop variable in two terms");
      const int64_t last = (loops_[size_t(t.loop)].extent - 1) * t.step;
      if (loops_[size_t(t.loop)].extent == 0) return;  // never runs
      (last < 0 ? low : high) += last;
    }
    if (s.at.dynamic >= 0) {
      expect_type(s, type_of(s, s.at.dynamic), DType::kInt64);
      return;  // whoever computes the value keeps it inside
    }
    if (size < 0) return;
    for (const LoopState& l : loops_)
      if (l.open && l.extent == 0) return;
    if (low < 0 || high >= size)
      fail(s,
           "places " + std::to_string(low) + " to " + std::to_string(high) + " of " + std::to_string(size));
  }

  void buffer(const Stmt& s) const {
    if (s.buffer < 0 || size_t(s.buffer) >= kernel_.buffers.size()) fail(s, "no such buffer");
    place(s, kernel_.buffers[size_t(s.buffer)].size);
  }

  void op(const Stmt& s) {
    if (s.args.empty()) fail(s, "takes values");
    const DType in = type_of(s, s.args[0]);
    if (s.op == "Cast") {
      expect_args(s, 1);
      if (!contains(kValueTypes, s.dtype)) fail(s, "no type of values");
    } else if (s.op == "Select") {
      expect_args(s, 3);
      expect_type(s, in, DType::kBool);
      expect_type(s, type_of(s, s.args[1]), s.dtype);
      expect_type(s, type_of(s, s.args[2]), s.dtype);
    } else {
      const ScalarOp* definition = find_scalar_op(s.op, in);
      if (!definition) fail(s, "no definition for " + std::string(name_of(in)));
      expect_args(s, size_t(definition->arity));
      for (Var v : s.args) expect_type(s, type_of(s, v), in);
      expect_type(s, s.dtype, definition->out);
    }
    define(s, s.result, s.dtype);
  }

  LocalState& local(const Stmt& s) {
    if (s.local < 0 || s.local >= kernel_.num_locals) fail(s, "local out of range");
    return locals_[size_t(s.local)];
  }
  LocalState& visible_local(const Stmt& s) {
    LocalState& l = local(s);
    if (!l.visible) fail(s, "undeclared local");
    expect_type(s, s.dtype, l.dtype);
    return l;
  }

  void store(const Stmt& s) {
    expect_args(s, 1);
    buffer(s);
    const BufferDef& b = kernel_.buffers[size_t(s.buffer)];
    if (b.role == Role::kIn) fail(s, "a store to an input");
    expect_type(s, type_of(s, s.args[0]), b.dtype);
    if (s.at.dynamic >= 0) return;
    for (size_t i = 0; i < loops_.size(); ++i) {
      const LoopState& l = loops_[i];
      if (!l.open || !l.lanes || l.extent < 2) continue;
      bool moves = false;
      for (const Affine::Term& t : s.at.terms) moves |= size_t(t.loop) == i && t.step != 0;
      if (!moves)
        fail(s,
             "a store that does not move with i" + std::to_string(i) + ", whose iterations are independent");
    }
  }

  void loop(const Stmt& s) {
    if (s.loop < 0 || s.loop >= kernel_.num_loops) fail(s, "loop out of range");
    LoopState& l = loops_[size_t(s.loop)];
    if (l.extent >= 0) fail(s, "a second loop of the same variable");
    if (s.extent < 0) fail(s, "negative extent");
    const bool reduce = s.code == Code::kReduce;
    if (s.kind == LoopKind::kParallel) {
      if (depth_ > 0 || reduce) fail(s, "a parallel loop is outermost");
      if (parallel_seen_) fail(s, "a second parallel loop");
      parallel_seen_ = true;
    }
    if (!reduce && s.kind == LoopKind::kVector && lanes_depth_ > 0)
      fail(s, "a vector loop where there are lanes");
    const bool lanes = reduce || s.kind == LoopKind::kVector;
    const bool independent = lanes || s.kind == LoopKind::kParallel;
    l = {s.extent, true, lanes};
    lanes_depth_ += lanes;
    independent_depth_ += independent;
    inside(s);
    lanes_depth_ -= lanes;
    independent_depth_ -= independent;
    loops_[size_t(s.loop)].open = false;
    for (const Reduction& r : s.reductions) define(s, r.result, r.dtype);
  }

  // The body of a loop; its reductions' values are looked at while they are visible.
  void inside(const Stmt& s) {
    ++depth_;
    const size_t vars = scope_vars_.size(), locals = scope_locals_.size();
    for (const Stmt& inner : s.body) statement(inner);
    for (const Reduction& r : s.reductions) {
      const DType value = type_of(s, r.value);
      const bool small = value == DType::kFloat16 || value == DType::kBfloat16;
      expect_type(s, r.dtype, small ? DType::kFloat32 : value);
      const bool logic = r.combine == Combine::kAny || r.combine == Combine::kAll;
      if (logic != (value == DType::kBool)) fail(s, "a reduction of another type");
    }
    leave(vars, locals);
    --depth_;
  }

  void control(const Stmt& s) {
    ++depth_;
    if (s.code == Code::kWhile) {
      const size_t vars = scope_vars_.size(), locals = scope_locals_.size();
      for (const Stmt& inner : s.condition) statement(inner);
      expect_args(s, 1);
      expect_type(s, type_of(s, s.args[0]), DType::kBool);
      leave(vars, locals);
      block(s.body);
    } else {
      expect_args(s, 1);
      expect_type(s, type_of(s, s.args[0]), DType::kBool);
      block(s.body);
      block(s.other);
    }
    --depth_;
  }

  void statement(const Stmt& s) {
    if (has_parallel_ && depth_ == 0 &&
        (s.code == Code::kStore || s.code == Code::kFail ||
         (s.code == Code::kFor && s.kind != LoopKind::kParallel) || s.code == Code::kWhile ||
         s.code == Code::kIf || s.code == Code::kReduce))
      fail(s, "beside the parallel loop only values");
    switch (s.code) {
      case Code::kConst: return define(s, s.result, s.dtype);
      case Code::kIndex:
        expect_type(s, s.dtype, DType::kInt64);
        place(s, -1);
        return define(s, s.result, DType::kInt64);
      case Code::kLoad:
        buffer(s);
        expect_type(s, s.dtype, kernel_.buffers[size_t(s.buffer)].dtype);
        return define(s, s.result, s.dtype);
      case Code::kStore: return store(s);
      case Code::kOp: return op(s);
      case Code::kLocal: {
        expect_args(s, 1);
        expect_type(s, type_of(s, s.args[0]), s.dtype);
        LocalState& l = local(s);
        if (l.dtype != DType::kInvalid) fail(s, "a second declaration of a local");
        l = {s.dtype, true, independent_depth_};
        scope_locals_.push_back(s.local);
        return;
      }
      case Code::kGet: visible_local(s); return define(s, s.result, s.dtype);
      case Code::kSet:
        expect_args(s, 1);
        expect_type(s, type_of(s, s.args[0]), s.dtype);
        if (visible_local(s).lanes_depth != independent_depth_)
          fail(s, "independent iterations set a local from outside");
        return;
      case Code::kFor:
      case Code::kReduce: return loop(s);
      case Code::kWhile:
      case Code::kIf: return control(s);
      case Code::kFail:
        if (lanes_depth_ > 0) fail(s, "a failure where there are lanes");
        if (s.literal == 0) fail(s, "status 0 is success");
        return;
    }
  }

  const Kernel& kernel_;
  std::vector<VarState> vars_;
  std::vector<LocalState> locals_;
  std::vector<LoopState> loops_;
  std::vector<Var> scope_vars_;
  std::vector<int32_t> scope_locals_;
  int depth_ = 0;              // statements around this one
  int lanes_depth_ = 0;        // vector loops and reductions around it
  int independent_depth_ = 0;  // these and the parallel loop
  bool has_parallel_ = false, parallel_seen_ = false;
};

}  // namespace

void verify(const Kernel& kernel) { Verifier(kernel).run(); }

}  // namespace rw::loop
