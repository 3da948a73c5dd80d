// String functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rewind/tensor/operand.h"
#include "rewind/tensor/ops/ragged.h"

namespace rw::strings {

struct AsStringOptions {
  int precision = -1;
  bool scientific = false;
  bool shortest = false;
  int width = -1;
  std::string fill = "";
};
Tensor as_string(const Operand& input, const AsStringOptions& options = {});
Tensor join(const Operands& inputs, const std::string& separator = "");
// Tensors in the places of the placeholder: format("loss {} at {}", {loss, step}).
Tensor format(const std::string& pattern, const MixedOperands& inputs, const std::string& placeholder = "{}",
              int summarize = 3);
Tensor length(const Operand& input, const std::string& unit = "BYTE");
// Of ASCII's letters; of all characters with the encoding "utf-8".
Tensor lower(const Operand& input, const std::string& encoding = "");
Tensor upper(const Operand& input, const std::string& encoding = "");
Tensor strip(const Operand& input);
Tensor to_number(const Operand& input, DType out_type = DType::kFloat32);

// Patterns in RE2's syntax, whose time is linear in the text (docs/text.md). The rewrite's \\1 to \\9 stand
// for groups.
Tensor regex_replace(const Operand& input, const Operand& pattern, const Operand& rewrite,
                     bool replace_global = true);
Tensor regex_full_match(const Operand& input, const Operand& pattern);

// Numbers in [0, num_buckets).
Tensor to_hash_bucket(const Operand& input, int64_t num_buckets);
Tensor to_hash_bucket_fast(const Operand& input, int64_t num_buckets);
Tensor to_hash_bucket_strong(const Operand& input, int64_t num_buckets, const std::vector<int64_t>& key);

// The parts of each string of a list; at white space where the separator is empty.
RaggedRows split(const Operand& input, const Operand& sep = "", int64_t maxsplit = -1);
struct NGramsOptions {
  std::string separator = " ";
  std::string left_pad = "";
  std::string right_pad = "";
  int64_t padding_width = 0;  // -1: one less than the n-gram's width
  bool preserve_short_sequences = false;
};
RaggedRows ngrams(const RaggedRows& data, const std::vector<int64_t>& ngram_widths,
                  const NGramsOptions& options = {});
Tensor substr(const Operand& input, const Operand& pos, const Operand& len, const std::string& unit = "BYTE");
// Over all axes where none is given.
Tensor reduce_join(const Operand& input, const std::optional<std::vector<int32_t>>& axis = {},
                   bool keepdims = false, const std::string& separator = "");
Tensor unsorted_segment_join(const Operand& inputs, const Operand& segment_ids, const Operand& num_segments,
                             const std::string& separator = "");

// Encodings are UTF-8, UTF-16-BE, UTF-16-LE, UTF-32-BE, UTF-32-LE, US-ASCII and ISO-8859-1. `errors`, for
// what is no character: "replace", "ignore", or "strict", which throws.
struct UnicodeOptions {
  std::string errors = "replace";
  int32_t replacement_char = 65533;
  bool replace_control_characters = false;
};
RaggedRows unicode_decode(const Operand& input, const std::string& input_encoding,
                          const UnicodeOptions& options = {});
struct CharactersAt {
  RaggedRows characters, offsets;
};
CharactersAt unicode_decode_with_offsets(const Operand& input, const std::string& input_encoding,
                                         const UnicodeOptions& options = {});
Tensor unicode_encode(const RaggedRows& input, const std::string& output_encoding,
                      const std::string& errors = "replace", int32_t replacement_char = 65533);
Tensor unicode_transcode(const Operand& input, const std::string& input_encoding,
                         const std::string& output_encoding, const UnicodeOptions& options = {});
// ICU's numbers of the scripts that characters belong to.
Tensor unicode_script(const Operand& input);

}  // namespace rw::strings

namespace rw::io {

// In the alphabet of web addresses: - and _ for + and /.
Tensor encode_base64(const Operand& input, bool pad = false);
Tensor decode_base64(const Operand& input);
// The bytes of each string as numbers; all of one size, or cut and filled with zeros to fixed_length bytes.
Tensor decode_raw(const Operand& input, DType out_type, bool little_endian = true, int32_t fixed_length = 0);

}  // namespace rw::io

namespace rw {
// Of each data[i], 8 bytes.
Tensor fingerprint(const Operand& data, const std::string& method = "farmhash64");
using strings::as_string;
}  // namespace rw
