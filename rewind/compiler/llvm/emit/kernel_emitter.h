// Translates one kernel of the loop IR. It decides only what the IR leaves open: how many lanes, and how
// tails run.
//
// A value is the same for all lanes (a scalar) until it meets one that is not.
#pragma once

#include "rewind/base/function_ref.h"
#include "rewind/compiler/llvm/emit/module_emitter.h"
#include "rewind/compiler/llvm/emit/values.h"

namespace rw::emit {

class KernelEmitter {
 public:
  KernelEmitter(ModuleEmitter& module, const loop::Kernel& kernel, llvm::Function* function);
  KernelFunction run();

 private:
  struct Lanes {
    int count = 0;          // 0: there are none
    int32_t loop = -1;      // the loop whose iterations they are
    Value* mask = nullptr;  // of the lanes that exist; null: all do
  };
  using Values = llvm::SmallVector<Value*, 2>;

  // statements
  void block(const loop::Block& block);
  void statement(const loop::Stmt& s);
  void load(const loop::Stmt& s);
  void store(const loop::Stmt& s);
  Value* op(const loop::Stmt& s);
  void index(const loop::Stmt& s);
  void serial_loop(const loop::Stmt& s);
  void vector_loop(const loop::Stmt& s);
  void while_loop(const loop::Stmt& s);
  void branch(const loop::Stmt& s);
  void fail(const loop::Stmt& s);

  // reductions
  void reduce(const loop::Stmt& s);
  void take_only(const loop::Stmt& s);
  void reduce_in_lanes(const loop::Stmt& s);
  Values reduce_range(const loop::Stmt& s, Value* base, int64_t n);
  Values reduce_block(const loop::Stmt& s, Value* base, int64_t n);
  Values reduce_buffered(const loop::Stmt& s, Value* base, int64_t n);
  Value* reduce_buffer(const loop::Reduction& r, Value* buffer, int64_t n);
  // chunk(offset, mask) gives the values of `lanes` elements from offset on, a vector each reduction.
  using Chunk = FunctionRef<Values(Value* offset, int lanes, Value* mask)>;
  Values reduce_chunks(llvm::ArrayRef<loop::Reduction> reductions, int lanes, int64_t n, bool short_body,
                       Chunk chunk);
  Values reduce_one_by_one(llvm::ArrayRef<loop::Reduction> reductions, int64_t n, Chunk chunk);
  Value* combine(const loop::Reduction& r, Value* a, Value* x);
  Value* finish(const loop::Reduction& r, Value* x);
  Value* identity(const loop::Reduction& r, int lanes);
  Value* fold(const loop::Reduction& r, Value* vector);

  // values and places
  Value* get(loop::Var v, int lanes);  // spread over lanes, 0: as it is
  bool has_lanes(loop::Var v) const { return values_[size_t(v)]->getType()->isVectorTy(); }
  Value* spread(Value* v, int lanes);
  Value* place(const loop::Affine& at);  // of lane 0, without a dynamic part that has lanes
  int64_t lane_step(const loop::Affine& at) const;
  Value* places(const loop::Affine& at);  // of each lane
  Value* lane_numbers(int lanes, llvm::Type* type);
  Value* all_or_mask();
  Value* first_lanes(int lanes, int64_t count);               // a constant mask
  Value* lanes_below(Value* offset, int lanes, int64_t end);  // offset + lane < end
  llvm::AllocaInst* local_slot(llvm::Type* type, bool promotable);
  Value* i64(int64_t v) { return b_.getInt64(uint64_t(v)); }

  // body(i) for i = begin, begin + step, ... below end; at least once, unless `may_be_empty`.
  void loop(Value* begin, Value* end, int64_t step, FunctionRef<void(Value*)> body,
            bool may_be_empty = false);
  void loop(int64_t count, FunctionRef<void(Value*)> body);
  llvm::BasicBlock* new_block(const char* name);

  ModuleEmitter& module_;
  const loop::Kernel& kernel_;
  llvm::Function* const function_;
  IrBuilder b_;
  ValueEmitter types_;
  llvm::Instruction* entry_end_ = nullptr;  // local slots go before it
  Lanes lanes_;
  std::vector<Value*> values_;  // by Var
  std::vector<DType> dtypes_;   // by Var
  std::vector<llvm::AllocaInst*> locals_;
  std::vector<Value*> loops_;  // by loop; of lane 0
  std::vector<Value*> buffers_;
  KernelFunction result_;
};

// Facts about blocks that decide the form of loops.
bool can_have_lanes(const loop::Block& block);
int statement_count(const loop::Block& block);
bool has_loops(const loop::Block& block);
int widest_element(const loop::Block& block, const loop::Kernel& kernel);  // bytes
int power_of_two_above(int64_t n);

}  // namespace rw::emit
