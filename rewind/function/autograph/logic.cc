#include "rewind/function/autograph/logic.h"

#include "rewind/base/error.h"
#include "rewind/function/autograph/contents.h"
#include "rewind/tensor/ops/shape.h"

namespace rw::autograph {

static void check_switch(const Tensor& value) {
  if (!is_integer(value.dtype()))
    fail_invalid("switch", "a tensor to switch on must hold an integer: it holds " +
                               std::string(name_of(value.dtype())) +
                               "; rw::cast converts, or write if and else");
  const Shape& shape = value.shape();
  if (shape.fully_known() && shape.num_elements() != 1)
    fail_invalid("switch", "a tensor to switch on must have one element: its shape is " + shape.to_string());
}
Tensor switch_on(const Tensor& value) {
  detail::at_users_line([&] { check_switch(value); });
  const Shape& shape = value.shape();
  return shape.has_rank() && shape.rank() == 0 ? value : reshape(value, Shape());
}

namespace detail {

Local<bool> staged_logic(const Local<bool>& left, bool wanted, FunctionRef<Local<bool>()> right) {
  const auto evaluate = [&](NestWriter& w) { Nest<Tensor>::write(right().as<bool>(), w); };
  const auto leave = [&](NestWriter& w) { Nest<Tensor>::write(constant(!wanted), w); };
  return Local<bool>::of(wanted ? rw::detail::stage_cond(left.tensor(), evaluate, leave)[0]
                                : rw::detail::stage_cond(left.tensor(), leave, evaluate)[0]);
}

}  // namespace detail
}  // namespace rw::autograph
