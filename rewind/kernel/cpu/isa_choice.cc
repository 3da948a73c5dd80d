// Chooses the instruction set once, when the first kernel is looked up.
#include <cstdlib>
#include <cstring>

#include "rewind/kernel/cpu/isa/arg_extreme.h"
#include "rewind/kernel/cpu/isa/gemm_direct.h"
#include "rewind/kernel/cpu/isa/isa.h"

namespace rw {

#define RW_DECLARE_ISA(name)                   \
  namespace name {                             \
  const ElementwiseLoops* elementwise_loops(); \
  const NnLoops* nn_loops();                   \
  const AttentionLoops* attention_loops();     \
  const WindowLoops* window_loops();           \
  const WinogradLoops* winograd_loops();       \
  const GemmBlocks* gemm_blocks();             \
  const DirectLoops* direct_loops();           \
  const ReduceRow* reduce_rows();              \
  const RandomLoops* random_loops();           \
  const ScatterRow* scatter_rows();            \
  const UpdateRow* update_rows();              \
  const ArgExtremeLoops* arg_extreme_loops();  \
  }
RW_DECLARE_ISA(isa_base)
#ifdef __x86_64__
RW_DECLARE_ISA(isa_v3)
RW_DECLARE_ISA(isa_v4)
#endif
#undef RW_DECLARE_ISA

namespace {

int best_level() {
  int level = 0;
#ifdef __x86_64__
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
    level = 1;
  if (level == 1 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512cd"))
    level = 2;
  if (const char* asked = std::getenv("REWIND_ISA")) {
    const int limit = std::strcmp(asked, "base") == 0 ? 0 : std::strcmp(asked, "v3") == 0 ? 1 : 2;
    if (limit < level) level = limit;
  }
#endif
  return level;
}

int level() {
  static const int chosen = best_level();
  return chosen;
}

}  // namespace

#define RW_LOOPS_OF(name)                                                                                   \
  IsaLoops {                                                                                                \
    .elementwise = name::elementwise_loops(), .nn = name::nn_loops(), .attention = name::attention_loops(), \
    .window = name::window_loops(), .winograd = name::winograd_loops(), .gemm = name::gemm_blocks(),        \
    .reduce = name::reduce_rows(), .random = name::random_loops(), .scatter = name::scatter_rows(),         \
    .update = name::update_rows(),                                                                          \
  }

const IsaLoops& isa_loops() {
  static const IsaLoops loops = [] {
#ifdef __x86_64__
    if (level() == 2) return RW_LOOPS_OF(isa_v4);
    if (level() == 1) return RW_LOOPS_OF(isa_v3);
#endif
    return RW_LOOPS_OF(isa_base);
  }();
  return loops;
}

const DirectLoops& direct_loops() {
#ifdef __x86_64__
  if (level() == 2) return *isa_v4::direct_loops();
  if (level() == 1) return *isa_v3::direct_loops();
#endif
  return *isa_base::direct_loops();
}

const ArgExtremeLoops* arg_extreme_loops() {
#ifdef __x86_64__
  if (level() == 2) return isa_v4::arg_extreme_loops();
  if (level() == 1) return isa_v3::arg_extreme_loops();
#endif
  return isa_base::arg_extreme_loops();
}

const char* isa_name() {
  static constexpr const char* kNames[] = {"base", "v3", "v4"};
  return kNames[level()];
}

}  // namespace rw
