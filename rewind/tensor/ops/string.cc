#include "rewind/tensor/ops/string.h"

#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/gather.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/sizes.h"
#include "rewind/tensor/trace.h"

namespace rw::strings {

Tensor as_string(const Operand& input, const AsStringOptions& o) {
  return apply_one(RW_OP("AsString"), {&input.tensor()},
                   {{"precision", o.precision},
                    {"scientific", o.scientific},
                    {"shortest", o.shortest},
                    {"width", o.width},
                    {"fill", o.fill}});
}

Tensor join(const Operands& inputs, const std::string& separator) {
  return rw::apply(RW_OP("StringJoin"), inputs.tensors(), {{"separator", separator}})[0];
}

Tensor format(const std::string& pattern, const MixedOperands& inputs, const std::string& placeholder,
              int summarize) {
  return rw::apply(RW_OP("StringFormat"), inputs.tensors(),
                   {{"template", pattern}, {"placeholder", placeholder}, {"summarize", summarize}})[0];
}

Tensor length(const Operand& input, const std::string& unit) {
  return apply_one(RW_OP("StringLength"), {&input.tensor()}, {{"unit", unit}});
}
Tensor lower(const Operand& input, const std::string& encoding) {
  return apply_one(RW_OP("StringLower"), {&input.tensor()}, {{"encoding", encoding}});
}
Tensor upper(const Operand& input, const std::string& encoding) {
  return apply_one(RW_OP("StringUpper"), {&input.tensor()}, {{"encoding", encoding}});
}
Tensor strip(const Operand& input) { return apply_one(RW_OP("StringStrip"), {&input.tensor()}); }
Tensor to_number(const Operand& input, DType out_type) {
  return apply_one(RW_OP("StringToNumber"), {&input.tensor()}, {{"out_type", out_type}});
}

// ---- patterns and hashes

namespace {
// The text of an operand whose value is known, as attributes need it.
std::optional<std::string> known_text(const Operand& o) {
  if (is_symbol(o.tensor()) || o.tensor().rank() != 0 || o.dtype() != DType::kString) return {};
  return o.tensor().item<std::string>();
}
}  // namespace

Tensor regex_replace(const Operand& input, const Operand& pattern, const Operand& rewrite,
                     bool replace_global) {
  const auto p = known_text(pattern), r = known_text(rewrite);
  if (p && r)
    return apply_one(RW_OP("StaticRegexReplace"), {&input.tensor()},
                     {{"pattern", *p}, {"rewrite", *r}, {"replace_global", replace_global}});
  return apply_one(RW_OP("RegexReplace"), {&input.tensor(), &pattern.tensor(), &rewrite.tensor()},
                   {{"replace_global", replace_global}});
}
Tensor regex_full_match(const Operand& input, const Operand& pattern) {
  if (const auto p = known_text(pattern))
    return apply_one(RW_OP("StaticRegexFullMatch"), {&input.tensor()}, {{"pattern", *p}});
  return apply_one(RW_OP("RegexFullMatch"), {&input.tensor(), &pattern.tensor()});
}

Tensor to_hash_bucket(const Operand& input, int64_t num_buckets) {
  return apply_one(RW_OP("StringToHashBucket"), {&input.tensor()}, {{"num_buckets", num_buckets}});
}
Tensor to_hash_bucket_fast(const Operand& input, int64_t num_buckets) {
  return apply_one(RW_OP("StringToHashBucketFast"), {&input.tensor()}, {{"num_buckets", num_buckets}});
}
Tensor to_hash_bucket_strong(const Operand& input, int64_t num_buckets, const std::vector<int64_t>& key) {
  return apply_one(RW_OP("StringToHashBucketStrong"), {&input.tensor()},
                   {{"num_buckets", num_buckets}, {"key", key}});
}

// ---- parts

namespace {
// Where rows begin, of sorted numbers of rows.
Tensor splits_of(const Tensor& rows, const Size& count) {
  return searchsorted(rows, numbers_below(count + 1), "left", DType::kInt64);
}
}  // namespace

RaggedRows split(const Operand& input, const Operand& sep, int64_t maxsplit) {
  const Tensor& strings = input.tensor();
  const auto parts = rw::apply(RW_OP("StringSplitV2"), {&strings, &sep.tensor()}, {{"maxsplit", maxsplit}});
  const Tensor column = constant(int64_t{0}), axis = constant(1);
  const Tensor rows = apply_one(RW_OP("GatherV2"), {&parts[0], &column, &axis});
  return {parts[1], splits_of(rows, element_of(parts[2], 0))};
}

RaggedRows ngrams(const RaggedRows& data, const std::vector<int64_t>& ngram_widths, const NGramsOptions& o) {
  auto out = rw::apply(RW_OP("StringNGrams"), {&data.values, &data.row_splits},
                       {{"separator", o.separator},
                        {"ngram_widths", ngram_widths},
                        {"left_pad", o.left_pad},
                        {"right_pad", o.right_pad},
                        {"pad_width", o.padding_width},
                        {"preserve_short_sequences", o.preserve_short_sequences}});
  return {out[0], out[1]};
}

Tensor substr(const Operand& input, const Operand& pos, const Operand& len, const std::string& unit) {
  const DType type = !pos.weak() ? pos.dtype() : !len.weak() ? len.dtype() : DType::kInt32;
  return apply_one(RW_OP("Substr"), {&input.tensor(), &pos.tensor(type), &len.tensor(type)},
                   {{"unit", unit}});
}

Tensor reduce_join(const Operand& input, const std::optional<std::vector<int32_t>>& axis, bool keepdims,
                   const std::string& separator) {
  const Tensor& strings = input.tensor();
  const Tensor axes =
      axis ? constant(*axis)
           : reverse(numbers_below(Size(apply_one(RW_OP("Rank"), {&strings})), DType::kInt32), {0});
  return apply_one(RW_OP("ReduceJoin"), {&strings, &axes},
                   {{"keep_dims", keepdims}, {"separator", separator}});
}

Tensor unsorted_segment_join(const Operand& inputs, const Operand& segment_ids, const Operand& num_segments,
                             const std::string& separator) {
  return apply_one(RW_OP("UnsortedSegmentJoin"),
                   {&inputs.tensor(), &segment_ids.tensor(), &num_segments.tensor()},
                   {{"separator", separator}});
}

// ---- characters

namespace {
Attrs reading(const std::string& encoding, const UnicodeOptions& o) {
  return {{"input_encoding", encoding},
          {"errors", o.errors},
          {"replacement_char", int64_t{o.replacement_char}},
          {"replace_control_characters", o.replace_control_characters}};
}
}  // namespace

RaggedRows unicode_decode(const Operand& input, const std::string& input_encoding, const UnicodeOptions& o) {
  auto out = rw::apply(RW_OP("UnicodeDecode"), {&input.tensor()}, reading(input_encoding, o));
  return {out[1], out[0]};
}
CharactersAt unicode_decode_with_offsets(const Operand& input, const std::string& input_encoding,
                                         const UnicodeOptions& o) {
  auto out = rw::apply(RW_OP("UnicodeDecodeWithOffsets"), {&input.tensor()}, reading(input_encoding, o));
  return {{out[1], out[0]}, {out[2], out[0]}};
}
Tensor unicode_encode(const RaggedRows& input, const std::string& output_encoding, const std::string& errors,
                      int32_t replacement_char) {
  return apply_one(RW_OP("UnicodeEncode"), {&input.values, &input.row_splits},
                   {{"output_encoding", output_encoding},
                    {"errors", errors},
                    {"replacement_char", int64_t{replacement_char}}});
}
Tensor unicode_transcode(const Operand& input, const std::string& input_encoding,
                         const std::string& output_encoding, const UnicodeOptions& o) {
  return apply_one(RW_OP("UnicodeTranscode"), {&input.tensor()},
                   reading(input_encoding, o).with("output_encoding", output_encoding));
}
Tensor unicode_script(const Operand& input) {
  return apply_one(RW_OP("UnicodeScript"), {&input.tensor(DType::kInt32)});
}

}  // namespace rw::strings

namespace rw::io {

Tensor encode_base64(const Operand& input, bool pad) {
  return apply_one(RW_OP("EncodeBase64"), {&input.tensor()}, {{"pad", pad}});
}
Tensor decode_base64(const Operand& input) { return apply_one(RW_OP("DecodeBase64"), {&input.tensor()}); }
Tensor decode_raw(const Operand& input, DType out_type, bool little_endian, int32_t fixed_length) {
  const Attrs attrs{{"out_type", out_type}, {"little_endian", little_endian}};
  if (fixed_length == 0) return apply_one(RW_OP("DecodeRaw"), {&input.tensor()}, attrs);
  const Tensor length = constant(fixed_length);
  return apply_one(RW_OP("DecodePaddedRaw"), {&input.tensor(), &length}, attrs);
}

}  // namespace rw::io

namespace rw {
Tensor fingerprint(const Operand& data, const std::string& method) {
  const Tensor name(method);
  return apply_one(RW_OP("Fingerprint"), {&data.tensor(), &name});
}
}  // namespace rw
