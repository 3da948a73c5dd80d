#include "rewind/function/autograph/logic.h"

namespace rw::autograph::detail {

Local<bool> staged_logic(const Local<bool>& left, bool wanted, FunctionRef<Local<bool>()> right) {
  const auto evaluate = [&](NestWriter& w) { Nest<Tensor>::write(right().as<bool>(), w); };
  const auto leave = [&](NestWriter& w) { Nest<Tensor>::write(constant(!wanted), w); };
  return Local<bool>::of(wanted ? rw::detail::stage_cond(left.tensor(), evaluate, leave)[0]
                                : rw::detail::stage_cond(left.tensor(), leave, evaluate)[0]);
}

}  // namespace rw::autograph::detail
