// Characters, encodings and bytes of strings: rows and shape rules.
#include "rewind/op/table.h"

namespace rw {
namespace {

// The characters of all strings behind each other, with the row splits that separate them.
void decode_shape(ShapeContext& ctx) {
  const int64_t count = ctx.input(0).has_rank() ? ctx.input(0).num_elements() : Shape::kUnknown;
  ctx.output(0, Shape{count < 0 ? Shape::kUnknown : count + 1});
  for (int i = 1; i < ctx.num_outputs(); ++i) ctx.output(i, Shape{Shape::kUnknown});
}

void encode_shape(ShapeContext& ctx) {
  ctx.require_rank(0, 1);
  ctx.require_rank(1, 1);
  const Shape& splits = ctx.input(1);
  if (splits.has_rank() && splits[0] == 0) ctx.fail("input_splits must not be empty");
  ctx.output(0, Shape{splits.has_rank() && splits[0] > 0 ? splits[0] - 1 : Shape::kUnknown});
}

void decode_raw_shape(ShapeContext& ctx) {
  if (!ctx.input(0).has_rank()) return ctx.output(0, Shape::unknown_rank());
  Shape out = ctx.input(0);
  out.append(Shape::kUnknown);
  ctx.output(0, std::move(out));
}

void decode_padded_raw_shape(ShapeContext& ctx) {
  ctx.require_scalar(1);
  IntVector length;
  int64_t last = Shape::kUnknown;
  if (ctx.ints(1, &length)) {
    const auto width = int64_t(size_of(ctx.attr<DType>("out_type")));
    if (length[0] <= 0 || length[0] % width != 0)
      ctx.fail("fixed_length must be a positive multiple of the element's size, " + std::to_string(width) +
               ": got " + std::to_string(length[0]));
    last = length[0] / width;
  }
  if (!ctx.input(0).has_rank()) return ctx.output(0, Shape::unknown_rank());
  Shape out = ctx.input(0);
  out.append(last);
  ctx.output(0, std::move(out));
}

void fingerprint_shape(ShapeContext& ctx) {
  ctx.require_scalar(1);
  const Shape& data = ctx.input(0);
  if (data.has_rank() && data.rank() == 0) ctx.fail("data must have at least one axis: " + ctx.describe(0));
  ctx.output(0, Shape{data.has_rank() ? data[0] : Shape::kUnknown, 8});
}

}  // namespace

void register_unicode_ops(OpTable& t) {
  const std::string reading =
      "errors: {'strict', 'replace', 'ignore'} = 'replace'; replacement_char: int = 65533; "
      "replace_control_characters: bool = false";
  const std::string splits = "; Tsplits: {int32, int64} = int64";
  t.add(
       "UnicodeDecode(input: string) -> (row_splits: Tsplits, char_values: int32); input_encoding: string; " +
       reading + splits)
      .shape(decode_shape)
      .tag("strings.unicode_decode");
  t.add(
       "UnicodeDecodeWithOffsets(input: string) -> (row_splits: Tsplits, char_values: int32, "
       "char_to_byte_starts: int64); input_encoding: string; " +
       reading + splits)
      .shape(decode_shape)
      .tag("strings.unicode_decode_with_offsets");
  t.add(
       "UnicodeEncode(input_values: int32, input_splits: Tsplits) -> (output: string); "
       "errors: {'ignore', 'replace', 'strict'} = 'replace'; "
       "output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}; replacement_char: int = 65533" +
       splits)
      .shape(encode_shape)
      .tag("strings.unicode_encode");
  t.add(
       "UnicodeTranscode(input: string) -> (output: string); input_encoding: string; "
       "output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}; " +
       reading)
      .shape(same_shape_as_input)
      .elementwise()
      .tag("strings.unicode_transcode");
  t.add("UnicodeScript(input: int32) -> (output: int32)")
      .shape(same_shape_as_input)
      .elementwise()
      .tag("strings.unicode_script");
  t.add(
       "DecodeRaw(bytes: string) -> (output: out_type); out_type: {half, float, double, int32, uint16, "
       "uint8, "
       "int16, int8, int64, complex64, complex128, bool, bfloat16}; little_endian: bool = true")
      .shape(decode_raw_shape)
      .tag("io.decode_raw");
  t.add(
       "DecodePaddedRaw(input_bytes: string, fixed_length: int32) -> (output: out_type); out_type: {half, "
       "float, double, int32, uint16, uint8, int16, int8, int64, bfloat16}; little_endian: bool = true")
      .shape(decode_padded_raw_shape)
      .host({"fixed_length"})
      .tag("io.decode_raw");
  t.add("Fingerprint(data: T, method: string) -> (fingerprint: uint8); T: type")
      .shape(fingerprint_shape)
      .tag("fingerprint");
}

}  // namespace rw
