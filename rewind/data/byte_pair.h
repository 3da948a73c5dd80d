// GPT-2's byte-pair tokenizer, from its two vocabulary files.
//
// Text is cut into pieces (words with the space before them, numbers, signs, white space), each piece's bytes
// become letters of a byte alphabet, and pairs are merged in the order of the merges file.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rw::data {

class BytePairTokenizer {
 public:
  // vocab.json: {"token": number, ...}; merges.txt: a line "left right" each, best first. Throws
  // NotFoundError, and DataLossError with the file and the byte or line.
  BytePairTokenizer(const std::string& vocab_json, const std::string& merges_txt);
  ~BytePairTokenizer();
  BytePairTokenizer(BytePairTokenizer&&) noexcept;

  // Ordinary text: names of special tokens in it are letters like others. Throws InvalidArgumentError for a
  // byte that the vocabulary lacks.
  std::vector<int32_t> encode(std::string_view text) const;
  // Throws OutOfRangeError for a number that is no token.
  std::string decode(std::span<const int32_t> tokens) const;
  int64_t vocab_size() const;
  // -1 when there is no such entry, as it is written in vocab.json: token_id("<|endoftext|>").
  int32_t token_id(const std::string& entry) const;

 private:
  struct Tables;
  std::unique_ptr<const Tables> tables_;
};

// The pieces that are merged each for itself.
std::vector<std::string_view> split_gpt2(std::string_view text);

}  // namespace rw::data
