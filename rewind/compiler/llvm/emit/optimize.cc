// Loops that the emitter gave lanes need no more than their locals turned into values: instruction selection
// does the rest. Scalar loops go through LLVM's own: control flow to selects, invariants out, vectors.
#include "rewind/compiler/llvm/emit/optimize.h"

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/BasicAliasAnalysis.h>
#include <llvm/Analysis/BlockFrequencyInfo.h>
#include <llvm/Analysis/BranchProbabilityInfo.h>
#include <llvm/Analysis/DemandedBits.h>
#include <llvm/Analysis/LoopAccessAnalysis.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/MemorySSA.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ProfileSummaryInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/IndVarSimplify.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/SimpleLoopUnswitch.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>
#include <llvm/Transforms/Vectorize/LoopVectorize.h>

namespace rw::emit {
namespace {

// The analyses that the passes below ask for, and no more: registering all of LLVM's costs size and time.
class Analyses {
 public:
  explicit Analyses(llvm::TargetMachine& machine) {
    const auto instrument = [] { return llvm::PassInstrumentationAnalysis(); };
    functions.registerPass(instrument);
    loops.registerPass(instrument);
    modules.registerPass(instrument);
    modules.registerPass([] { return llvm::ProfileSummaryAnalysis(); });
    modules.registerPass([&] { return llvm::FunctionAnalysisManagerModuleProxy(functions); });
    functions.registerPass([&] { return llvm::ModuleAnalysisManagerFunctionProxy(modules); });
    functions.registerPass([&] { return llvm::LoopAnalysisManagerFunctionProxy(loops); });
    loops.registerPass([&] { return llvm::FunctionAnalysisManagerLoopProxy(functions); });
    loops.registerPass([] { return llvm::ShouldRunExtraSimpleLoopUnswitch(); });
    functions.registerPass([&] { return machine.getTargetIRAnalysis(); });
    functions.registerPass([] { return llvm::DominatorTreeAnalysis(); });
    functions.registerPass([] { return llvm::PostDominatorTreeAnalysis(); });
    functions.registerPass([] { return llvm::LoopAnalysis(); });
    functions.registerPass([] { return llvm::ScalarEvolutionAnalysis(); });
    functions.registerPass([] { return llvm::AssumptionAnalysis(); });
    functions.registerPass([] { return llvm::TargetLibraryAnalysis(); });
    functions.registerPass([] { return llvm::BasicAA(); });
    functions.registerPass([] {
      llvm::AAManager manager;
      manager.registerFunctionAnalysis<llvm::BasicAA>();
      return manager;
    });
    functions.registerPass([] { return llvm::MemorySSAAnalysis(); });
    functions.registerPass([] { return llvm::OptimizationRemarkEmitterAnalysis(); });
    functions.registerPass([] { return llvm::BranchProbabilityAnalysis(); });
    functions.registerPass([] { return llvm::BlockFrequencyAnalysis(); });
    functions.registerPass([] { return llvm::DemandedBitsAnalysis(); });
    functions.registerPass([] { return llvm::LoopAccessAnalysis(); });
    functions.registerPass([] { return llvm::ShouldRunExtraVectorPasses(); });
  }

  llvm::LoopAnalysisManager loops;  // outlives the functions' results, which refer to it
  llvm::FunctionAnalysisManager functions;
  llvm::ModuleAnalysisManager modules;
};

llvm::FunctionPassManager scalar_loop_passes() {
  llvm::FunctionPassManager passes;
  const auto tidy = llvm::SimplifyCFGOptions().convertSwitchRangeToICmp(true).hoistCommonInsts(true);
  passes.addPass(llvm::EarlyCSEPass(true));
  passes.addPass(llvm::SimplifyCFGPass(tidy));
  passes.addPass(llvm::InstCombinePass());
  llvm::LoopPassManager loop_passes;
  loop_passes.addPass(llvm::LoopRotatePass());
  loop_passes.addPass(llvm::LICMPass(llvm::LICMOptions()));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loop_passes), /*UseMemorySSA=*/true));
  passes.addPass(llvm::SimplifyCFGPass(tidy));
  passes.addPass(llvm::InstCombinePass());
  llvm::LoopPassManager counting;
  counting.addPass(llvm::IndVarSimplifyPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(counting)));
  passes.addPass(llvm::LoopVectorizePass());
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass(tidy));
  return passes;
}

}  // namespace

void optimize(const KernelFunction& kernel, llvm::TargetMachine& machine) {
  if (!kernel.locals.empty()) {
    llvm::DominatorTree tree(*kernel.function);
    llvm::PromoteMemToReg(kernel.locals, tree);
  }
  if (!kernel.scalar_loops) return;
  Analyses analyses(machine);
  scalar_loop_passes().run(*kernel.function, analyses.functions);
}

}  // namespace rw::emit
