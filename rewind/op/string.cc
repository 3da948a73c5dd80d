// String ops: rows and shape rules.
#include "rewind/op/table.h"

namespace rw {

void register_string_part_ops(OpTable& t);
void register_unicode_ops(OpTable& t);

namespace {

// Patterns are one for all strings.
void pattern_shape(ShapeContext& ctx) {
  for (int i = 1; i < ctx.num_inputs(); ++i) ctx.require_scalar(i);
  ctx.output(0, ctx.input(0));
}

}  // namespace

void register_string_ops(OpTable& t) {
  register_string_part_ops(t);
  register_unicode_ops(t);
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
  t.add(
       "RegexReplace(input: string, pattern: string, rewrite: string) -> (output: string); "
       "replace_global: bool = true")
      .shape(pattern_shape)
      .tag("strings.regex_replace");
  t.add(
       "StaticRegexReplace(input: string) -> (output: string); pattern: string; rewrite: string; "
       "replace_global: bool = true")
      .shape(same_shape_as_input)
      .elementwise()
      .tag("strings.regex_replace");
  t.add("RegexFullMatch(input: string, pattern: string) -> (output: bool)")
      .shape(pattern_shape)
      .tag("strings.regex_full_match");
  t.add("StaticRegexFullMatch(input: string) -> (output: bool); pattern: string")
      .shape(same_shape_as_input)
      .elementwise()
      .tag("strings.regex_full_match");
  t.add("StringToHashBucket(string_tensor: string) -> (output: int64); num_buckets: int >= 1")
      .shape(same_shape_as_input)
      .elementwise()
      .tag("strings.to_hash_bucket");
  t.add("StringToHashBucketFast(input: string) -> (output: int64); num_buckets: int >= 1")
      .shape(same_shape_as_input)
      .elementwise()
      .tag("strings.to_hash_bucket_fast");
  t.add("StringToHashBucketStrong(input: string) -> (output: int64); num_buckets: int >= 1; key: list(int)")
      .shape(same_shape_as_input)
      .elementwise()
      .tag("strings.to_hash_bucket_strong");
  t.add("DecodeBase64(input: string) -> (output: string)")
      .shape(same_shape_as_input)
      .elementwise()
      .tag("io.decode_base64");
  t.add("EncodeBase64(input: string) -> (output: string); pad: bool = false")
      .shape(same_shape_as_input)
      .elementwise()
      .tag("io.encode_base64");
}

}  // namespace rw
