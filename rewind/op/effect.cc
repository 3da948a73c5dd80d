// Effects: printing, assertions, checks, callbacks into the host program.
#include "rewind/op/table.h"

namespace rw {

void register_effect_ops(OpTable& t) {
  t.add("PrintV2(input: string) -> (); output_stream: string = 'stderr'; end: string = '\\n'; stateful")
      .shape([](ShapeContext& ctx) { ctx.require_scalar(0); })
      .tag("print");
  t.add("Assert(condition: bool, data: T) -> (); T: list(type) >= 1; summarize: int = 3; stateful")
      .shape([](ShapeContext& ctx) { ctx.require_scalar(0); })
      .host({"condition"})
      .tag("Assert");
  for (const char* name : {"CheckNumerics", "CheckNumericsV2"}) {
    t.add(std::string(name) +
          "(tensor: T) -> (output: T); T: {bfloat16, half, float, double}; message: string; stateful")
        .shape(same_shape_as_input)
        .elementwise()
        .tag("check_numerics");
  }
  t.add("NoOp() -> ()").shape(no_output);
  // The host program's functions; `token` names one in the runtime's registry.
  t.add(
       "EagerPyFunc(input: Tin) -> (output: Tout); token: string; is_async: bool = false; Tin: list(type) >= "
       "0; "
       "Tout: list(type) >= 0; stateful")
      .shape(unknown_output)
      .tag("host_function");
}

}  // namespace rw
