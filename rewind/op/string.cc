// String ops: rows and shape rules.
#include "rewind/op/table.h"

namespace rw {

void register_string_ops(OpTable& t) {
  t.add(
       "AsString(input: T) -> (output: string); T: {float, double, int32, uint8, int16, int8, int64, "
       "bfloat16, uint16, "
       "half, uint32, uint64, complex64, complex128, bool, variant, string}; precision: int = -1; "
       "scientific: bool = false; "
       "shortest: bool = false; width: int = -1; fill: string = ''")
      .shape(same_shape_as_input)
      .elementwise()
      .tag("as_string");
  // Scalars join with every element; all others must have one shape.
  t.add("StringJoin(inputs: N * string) -> (output: string); N: int >= 0; separator: string = ''")
      .shape([](ShapeContext& ctx) {
        Shape shape;
        for (int i = 0; i < ctx.num_inputs(); ++i) {
          const Shape& s = ctx.input(i);
          if (s.rank() == 0) continue;
          if (shape.rank() > 0 && !shape.compatible_with(s))
            ctx.fail("strings must be scalars or have one shape: got " + shape.to_string() + " and " +
                     s.to_string());
          shape = s;
        }
        ctx.output(0, shape);
      })
      .elementwise()
      .tag("strings.join");
  t.add(
       "StringFormat(inputs: T) -> (output: string); T: list(type) >= 0; template: string = '%s'; "
       "placeholder: string = '%s'; summarize: int = 3")
      .shape(scalar_output)
      .tag("strings.format");
  t.add("StringLength(input: string) -> (output: int32); unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'")
      .shape(same_shape_as_input)
      .elementwise()
      .tag("strings.length");
  for (const char* name : {"StringLower", "StringUpper"}) {
    t.add(std::string(name) + "(input: string) -> (output: string); encoding: string = ''")
        .shape(same_shape_as_input)
        .elementwise();
  }
  t.add("StringStrip(input: string) -> (output: string)")
      .shape(same_shape_as_input)
      .elementwise()
      .tag("strings.strip");
  t.add(
       "StringToNumber(string_tensor: string) -> (output: out_type); "
       "out_type: {float, double, int32, int64, uint32, uint64} = float")
      .shape(same_shape_as_input)
      .elementwise()
      .tag("strings.to_number");
}

}  // namespace rw
