#include "rewind/compiler/llvm/emit/module_emitter.h"

#include <llvm/IR/Function.h>

#include "rewind/base/error.h"
#include "rewind/compiler/llvm/emit/float_ops.h"
#include "rewind/compiler/llvm/emit/kernel_emitter.h"
#include "rewind/compiler/llvm/emit/values.h"

namespace rw::emit {
namespace {

// From here on instruction selection goes statement by statement: it halves the time a chain of 3000 ops
// takes to compile and costs nothing where calls of functions dominate.
constexpr int kHugeBody = 1000;  // statements

}  // namespace

void ModuleEmitter::set_attributes(llvm::Function* function) const {
  function->addFnAttr("target-cpu", machine_.cpu);
  if (!machine_.features.empty()) function->addFnAttr("target-features", machine_.features);
  const std::string bits = std::to_string(8 * machine_.vector_bytes);
  function->addFnAttr("prefer-vector-width", bits);
  function->addFnAttr("min-legal-vector-width", bits);
  function->addFnAttr("no-trapping-math", "true");
  function->addFnAttr("denormal-fp-math", "dynamic,dynamic");  // the thread's mode says what becomes of them
  function->addFnAttr(llvm::Attribute::NoUnwind);
}

KernelFunction ModuleEmitter::add(const loop::Kernel& kernel, const std::string& symbol) {
  llvm::LLVMContext& context = module_.getContext();
  llvm::Type* i64 = llvm::Type::getInt64Ty(context);
  llvm::Type* pointer = llvm::PointerType::getUnqual(context);
  auto* function = llvm::Function::Create(llvm::FunctionType::get(i64, {pointer, i64, i64}, false),
                                          llvm::Function::ExternalLinkage, symbol, module_);
  set_attributes(function);
  // Vectors that wait on the stack during a call lie on lines of their own: without a frame pointer the stack
  // cannot be aligned for them, and a load from across two lines waits for the store.
  function->addFnAttr("frame-pointer", "all");
  if (statement_count(kernel.body) > kHugeBody) {
    function->addFnAttr(llvm::Attribute::OptimizeNone);
    function->addFnAttr(llvm::Attribute::NoInline);
  }
  return KernelEmitter(*this, kernel, function).run();
}

llvm::Function* ModuleEmitter::op_function(std::string_view op, DType dtype, int lanes,
                                           llvm::ArrayRef<Value*> args, llvm::Type* result) {
  // The 16-bit floats share float's.
  const bool is_float = is_floating(dtype), is_double = dtype == DType::kFloat64;
  const DType compute = is_float && !is_double ? DType::kFloat32 : dtype;
  const std::string name =
      std::string(op) + "." + std::string(name_of(compute)) + "x" + std::to_string(lanes);
  llvm::Function*& function = functions_[name];
  if (function) return function;
  llvm::SmallVector<llvm::Type*, 3> types;
  for (Value* a : args) types.push_back(a->getType());
  function = llvm::Function::Create(llvm::FunctionType::get(result, types, false),
                                    llvm::Function::InternalLinkage, name, module_);
  set_attributes(function);
  function->addFnAttr(llvm::Attribute::NoInline);
  function->addFnAttr(llvm::Attribute::WillReturn);
  function->setMemoryEffects(llvm::MemoryEffects::none());
  IrBuilder b(llvm::BasicBlock::Create(module_.getContext(), "entry", function));
  llvm::SmallVector<Value*, 3> parameters;
  for (llvm::Argument& a : function->args()) parameters.push_back(&a);
  if (is_float) {
    EmitScope scope(b, lanes);
    b.CreateRet(find_float_op(op)->emit[is_double](parameters.data()));
  } else {
    b.CreateRet(emit_integer_op(b, op, dtype, parameters.data()));
  }
  return function;
}

}  // namespace rw::emit
