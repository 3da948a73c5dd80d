// Layers of text and categories; tests/interop/check_keras_text.py compares them with Keras.
#include <gtest/gtest.h>

#include "rewind/keras/keras.h"
#include "rewind/keras/layers.h"
#include "rewind/keras/saving.h"
#include "rewind/rewind.h"
#include "tests/support/temporary_folder.h"

namespace rw::keras {
namespace {

using Words = std::vector<std::string>;
using Numbers = std::vector<int64_t>;

const Words kTexts = {"The cat sat", "a cat, a dog!", ""};

TEST(TextLayers, VocabulariesAreLearned) {
  const StringLookup lookup;
  EXPECT_THROW(lookup(constant(Words{"a"})), FailedPreconditionError);
  lookup.adapt(constant(Words{"b", "a", "b", "c", "c", "b"}));
  EXPECT_EQ(lookup.get_vocabulary(), (Words{"[UNK]", "b", "c", "a"}));
  EXPECT_EQ(lookup(constant(Words{"a", "b", "x"})).to_vector<int64_t>(), (Numbers{3, 1, 0}));
  const IntegerLookup numbers({.max_tokens = 3});
  numbers.adapt(data::Dataset::from_tensor_slices(std::vector<int64_t>{7, 9, 7, 5, 9, 7}).batch(2));
  EXPECT_EQ(numbers.get_vocabulary(), (Numbers{-1, 7, 9}));
  lookup.adapt(constant(Words{"z"}));  // anew
  EXPECT_EQ(lookup.get_vocabulary(false), Words{"z"});
}

TEST(TextLayers, TextInFunctionsAndDatasets) {
  const TextVectorization vectorize({.output_sequence_length = 4});
  vectorize.adapt(constant(kTexts));
  EXPECT_EQ(vectorize.get_vocabulary(), (Words{"", "[UNK]", "cat", "a", "the", "sat", "dog"}));
  const Numbers want = {4, 2, 5, 0, 3, 2, 3, 6, 0, 0, 0, 0};
  const Tensor texts = constant(kTexts);
  EXPECT_EQ(vectorize(texts).to_vector<int64_t>(), want);
  auto f = function([&](const Tensor& t) { return vectorize(t); });
  EXPECT_EQ(f(texts).to_vector<int64_t>(), want);
  const auto mapped =
      data::Dataset::from_tensor_slices(texts).batch(3).map([&](const Tensor& t) { return vectorize(t); });
  for (const Tensor& element : mapped) EXPECT_EQ(element.to_vector<int64_t>(), want);
  const RaggedRows rows = vectorize.rows(texts);
  EXPECT_EQ(rows.values.to_vector<int64_t>(), (Numbers{4, 2, 5, 3, 2, 3, 6}));
  EXPECT_EQ(rows.row_splits.to_vector<int64_t>(), (Numbers{0, 3, 7, 7}));
  const TextVectorization own({.standardize_by = [](const Tensor& t) { return strings::upper(t); },
                               .split_by = [](const Tensor& t) { return strings::split(t, ","); }});
  own.adapt(texts);
  EXPECT_EQ(own.get_vocabulary(false), (Words{"THE CAT SAT", "A CAT", " A DOG!"}));
}

TEST(TextLayers, ModelsKeepTheirVocabularies) {
  const test::TemporaryFolder folder;
  const TextVectorization vectorize({.max_tokens = 9, .output_mode = "tf_idf", .pad_to_max_tokens = true});
  vectorize.adapt(constant(kTexts));
  const KerasTensor text = Input({1}, {.dtype = DType::kString}),
                    color = Input({1}, {.dtype = DType::kString});
  const StringLookup colors({.vocabulary = {"red", "green"}, .output_mode = "one_hot"});
  const KerasTensor joined = Concatenate()({vectorize(text), Rescaling(1.0)(colors(color))});
  const Model model({text, color}, {Dense(2)(joined)});
  const std::vector<Tensor> inputs = {constant({{"a cat"}, {"the sat unseen"}}),
                                      constant({{"red"}, {"blue"}})};
  const Tensor want = model(inputs);
  const std::string path = folder / "m.keras";
  model.save(path);
  const Model loaded = models::load_model(path);
  EXPECT_EQ(loaded(inputs).to_vector<float>(), want.to_vector<float>());
}

TEST(TextLayers, ConfigsRoundTrip) {
  const StringLookup lookup({.num_oov_indices = 2, .mask_token = "", .vocabulary = {"a", "b"}, .salt = {3}});
  const LayerRef again = saving::deserialize_keras_object<LayerRef>(saving::serialize_keras_object(lookup));
  EXPECT_EQ(format::to_text(again->get_config()), format::to_text(lookup.get_config()));
  const Tensor words = constant(Words{"a", "b", "", "x", "y", "z"});
  EXPECT_EQ((*again)(words).to_vector<int64_t>(), lookup(words).to_vector<int64_t>());
  const TextVectorization text({.ngram_widths = {2, 1}, .vocabulary = {"a", "a b"}});
  EXPECT_EQ(saving::deserialize_keras_object<LayerRef>(saving::serialize_keras_object(text))->get_config(),
            text.get_config());
  EXPECT_THROW(TextVectorization({.standardize_by = [](const Tensor& t) { return t; }}).get_config(),
               UnimplementedError);
}

TEST(TextLayers, WhatCannotBe) {
  EXPECT_THROW(StringLookup({.max_tokens = 1}), InvalidArgumentError);
  EXPECT_THROW(StringLookup({.pad_to_max_tokens = true}), InvalidArgumentError);
  EXPECT_THROW(StringLookup({.vocabulary = {"a", "a"}}), InvalidArgumentError);
  EXPECT_THROW(StringLookup({.mask_token = "m", .vocabulary = {"a", "m"}}), InvalidArgumentError);
  EXPECT_THROW(StringLookup({.max_tokens = 2, .vocabulary = {"a", "b"}}), InvalidArgumentError);
  EXPECT_THROW(StringLookup({.vocabulary = {"a"}, .output_mode = "tf_idf"}), InvalidArgumentError);
  EXPECT_THROW(StringLookup({.output_mode = "words"}), InvalidArgumentError);
  EXPECT_THROW(IntegerLookup({.salt = {1}}), InvalidArgumentError);
  const StringLookup given({.vocabulary = {"a"}});
  EXPECT_THROW(given.adapt(constant(Words{"b"})), FailedPreconditionError);
  EXPECT_THROW(given(constant({1, 2})), InvalidArgumentError);
  EXPECT_THROW(given.set_vocabulary_file("/no/such/file"), NotFoundError);
  EXPECT_THROW(StringLookup({.num_oov_indices = 0, .vocabulary = {"a"}})(constant(Words{"b"})),
               InvalidArgumentError);
  EXPECT_THROW(TextVectorization({.split = "lines"}), InvalidArgumentError);
  EXPECT_THROW(TextVectorization({.vocabulary = {"a"}})(constant({{"a", "b"}})), InvalidArgumentError);
  EXPECT_THROW(Discretization(DiscretizationOptions{}), InvalidArgumentError);
  EXPECT_THROW(Hashing(0), InvalidArgumentError);
  EXPECT_THROW(CategoryEncoding(0), InvalidArgumentError);
  EXPECT_THROW(HashedCrossing(3)(std::vector<Tensor>{constant({1, 2})}), InvalidArgumentError);
}

}  // namespace
}  // namespace rw::keras
