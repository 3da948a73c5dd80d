// Strings have no derivatives.
#include "rewind/autodiff/rule.h"

namespace rw {

void register_string_gradients() {
  for (const char* op : {"AsString",
                         "StringJoin",
                         "StringFormat",
                         "StringLength",
                         "StringLower",
                         "StringUpper",
                         "StringStrip",
                         "StringToNumber",
                         "RegexReplace",
                         "StaticRegexReplace",
                         "RegexFullMatch",
                         "StaticRegexFullMatch",
                         "StringToHashBucket",
                         "StringToHashBucketFast",
                         "StringToHashBucketStrong",
                         "DecodeBase64",
                         "EncodeBase64",
                         "StringSplit",
                         "StringSplitV2",
                         "StringNGrams",
                         "Substr",
                         "ReduceJoin",
                         "UnsortedSegmentJoin",
                         "UnicodeDecode",
                         "UnicodeDecodeWithOffsets",
                         "UnicodeEncode",
                         "UnicodeTranscode",
                         "UnicodeScript",
                         "DecodeRaw",
                         "DecodePaddedRaw",
                         "Fingerprint"})
    register_not_differentiable(op);
}

}  // namespace rw
