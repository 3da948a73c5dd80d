// Any bytes as a file of tokens: lookup tables of all kinds of columns, and the vocabularies of layers. What
// is read keeps its tokens.
#include "rewind/keras/layers/text_vectorization.h"
#include "rewind/rewind.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/scratch.h"

namespace rw::fuzz {
namespace {

template <class F>
void expect_errors(F f) {
  try {
    f();
  } catch (const Error&) {}  // NOLINT(bugprone-empty-catch): what is damaged is refused
}

void run(std::string_view bytes) {
  static const Scratch scratch("vocabulary");
  const std::string path = scratch.put("vocabulary.txt", bytes);
  for (const DType type : {DType::kString, DType::kInt64}) {
    for (const int64_t key : {lookup::TextFileIndex::WHOLE_LINE, int64_t{0}, int64_t{1}}) {
      expect_errors([&] {
        const lookup::TextFileInitializer from(path, type, key, DType::kInt64,
                                               lookup::TextFileIndex::LINE_NUMBER);
        const lookup::StaticHashTable table(from, int64_t{-1});
        const auto [keys, values] = table.export_();
        const Tensor found = table.lookup(keys);
        if (found.to_vector<int64_t>() != values.to_vector<int64_t>()) abort();
      });
      expect_errors([&] {
        const lookup::TextFileInitializer from(path, type, key, DType::kFloat32, 1,
                                               {.vocab_size = 3, .delimiter = ","});
        (void)lookup::StaticHashTable(from, 0.0f);
      });
    }
  }
  expect_errors([&] {
    const keras::StringLookup layer;
    layer.set_vocabulary_file(path);
    const std::vector<std::string> tokens = layer.get_vocabulary(false);
    const std::vector<int64_t> numbers =
        layer(constant(tokens, {int64_t(tokens.size())})).to_vector<int64_t>();
    for (size_t i = 0; i < numbers.size(); ++i)
      if (numbers[i] != int64_t(i) + 1) abort();
  });
  expect_errors([&] { keras::IntegerLookup().set_vocabulary_file(path); });
  expect_errors([&] {
    keras::TextVectorization layer;
    layer.load_assets([&](const std::string&) { return std::optional<std::string>(bytes); });
  });
}

}  // namespace
}  // namespace rw::fuzz

REWIND_FUZZ_TARGET(vocabulary, rw::fuzz::run, rw::fuzz::mutate_bytes)
