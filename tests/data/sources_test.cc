// Datasets from C++ vectors and braces, and generators held to their signatures.
#include <gtest/gtest.h>

#include <optional>

#include "rewind/data/dataset.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"

namespace rw::data {
namespace {

template <class T>
std::vector<T> items(const DatasetOf<Tensor>& ds) {
  std::vector<T> out;
  for (const Tensor& t : ds) out.push_back(t.item<T>());
  return out;
}

TEST(Sources, AVectorOfNumbersOrStringsIsATensor) {
  EXPECT_EQ(items<int>(Dataset::from_tensor_slices(std::vector{8, 3, 0})), (std::vector{8, 3, 0}));
  EXPECT_EQ(items<double>(Dataset::from_tensor_slices(std::vector{8., 3.})), (std::vector{8., 3.}));
  EXPECT_EQ(items<float>(Dataset::from_tensor_slices(std::vector{8.f, 3.f})), (std::vector{8.f, 3.f}));
  EXPECT_EQ(items<bool>(Dataset::from_tensor_slices(std::vector{true, false})), (std::vector{true, false}));
  const std::vector<std::string> words{"a", "b"};
  EXPECT_EQ(items<std::string>(Dataset::from_tensor_slices(words)), words);
  EXPECT_EQ(items<std::string>(Dataset::from_tensor_slices(std::vector{"a", "b"})), words);
  EXPECT_EQ(Dataset::from_tensor_slices(std::vector<int>{}).cardinality(), 0);
}

TEST(Sources, SoAreVectorsOfThemAndBraces) {
  const std::vector<std::vector<int>> rows{{1, 2}, {3, 4}, {5, 6}};
  const auto ds = Dataset::from_tensor_slices(rows);
  EXPECT_EQ(ds.cardinality(), 3);
  EXPECT_EQ(ds.element_spec()[0].shape, (Shape{2}));
  EXPECT_EQ((*ds.begin()).to_vector<int>(), (std::vector{1, 2}));
  EXPECT_EQ(items<int>(Dataset::from_tensor_slices({8, 3, 0})), (std::vector{8, 3, 0}));
  EXPECT_EQ(items<std::string>(Dataset::from_tensor_slices({"a", "b"})),
            (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(Dataset::from_tensor_slices({{1., 2.}}).element_spec()[0].shape, (Shape{2}));
  EXPECT_EQ(Dataset::from_tensors(rows).element_spec()[0].shape, (Shape{3, 2}));
  EXPECT_EQ(Dataset::from_tensors({{1, 2}}).element_spec()[0].shape, (Shape{1, 2}));
  expect_error<InvalidArgumentError>(
      [] { Dataset::from_tensor_slices(std::vector<std::vector<int>>{{1}, {}}); }, "equally long");
}

TEST(Sources, InStructuresToo) {
  const auto ds = Dataset::from_tensor_slices(
      std::tuple{std::vector{1, 2}, std::vector<std::string>{"a", "b"}, constant({{1.}, {2.}})});
  std::string seen;
  for (const auto& [n, s, t] : ds)
    seen += std::to_string(n.item<int>()) + s.item<std::string>() + t.shape().to_string();
  EXPECT_EQ(seen, "1a(1,)2b(1,)");
  const auto named =
      Dataset::from_tensor_slices(std::map<std::string, std::vector<double>>{{"x", {1, 2}}, {"y", {3, 4}}});
  EXPECT_EQ((*named.begin()).at("y").item<double>(), 3);
  const auto pair = Dataset::from_tensor_slices(std::pair{std::vector{1, 2}, std::array{std::vector{3, 4}}});
  EXPECT_EQ((*pair.begin()).second[0].item<int>(), 3);
  const auto list = Dataset::from_tensor_slices(std::vector{constant({1, 2}), constant({3, 4})});
  EXPECT_EQ((*list.begin()).size(), 2u);  // a vector of tensors is a structure
}

using Signature = std::vector<TensorSpec>;

template <class E>
auto generate(E element, const std::optional<Signature>& signature) {
  return Dataset::from_generator(
      [element, left = 1]() mutable -> std::optional<E> {
        if (left-- == 0) return {};
        return element;
      },
      signature);
}
template <class E>
Tensor only(E element, const TensorSpec& spec) {
  const auto ds = generate(element, Signature{spec});
  return *ds.begin();
}

TEST(GeneratorSignature, CastsNumbersToItsTypes) {
  struct Case {
    Tensor given;
    DType wanted;
    double value;
  };
  for (const Case& c : {Case{constant(1.5, float64), float32, 1.5},
                        {constant(1.7), int32, 1},
                        {constant(-1), uint8, 255},
                        {constant(300), uint8, 44},
                        {constant(3), float16, 3},
                        {constant(true), float32, 1},
                        {constant(2.0), bool_, 1}}) {
    const Tensor t = only(c.given, {Shape{}, c.wanted});
    EXPECT_EQ(t.dtype(), c.wanted);
    EXPECT_EQ(cast(t, float64).item<double>(), c.value) << name_of(c.wanted);
  }
  EXPECT_EQ(only(1, {Shape{}, float32}).dtype(), float32);
  EXPECT_EQ(only(std::vector{1.5, 2.5}, {Shape{2}, float32}).to_vector<float>(), (std::vector{1.5f, 2.5f}));
  const auto batches = generate(constant({1., 2.}, float64), Signature{{Shape{-1}, float32}}).batch(1);
  EXPECT_EQ((*batches.begin()).dtype(), float32);
}

TEST(GeneratorSignature, RefusesWhatDoesNotFit) {
  const auto refused = [](auto element, const Signature& signature, const char* why) {
    const auto ds = generate(element, signature);
    expect_error<InvalidArgumentError>([&] { (void)ds.begin(); }, why);
  };
  const Tensor three = constant({1., 2., 3.});
  refused(three, {{Shape{2}, float32}}, "has shape (3,), the signature says (2,)");
  refused(three, {{Shape{-1, -1}, float32}}, "has shape (3,), the signature says (None, None)");
  refused(constant(1.0), {{Shape{1}, float32}}, "has shape (), the signature says (1,)");
  refused(constant("a"), {{Shape{}, float32}}, "is string, which does not convert to float32");
  refused(constant(1.0), {{Shape{}, string}}, "is float32, which does not convert to string");
  refused(std::tuple{three, three}, {{Shape{3}, float32}}, "has 2 tensors, the signature has 1");
  refused(three, {{Shape{3}, float32}, {Shape{3}, float32}}, "has 1 tensors, the signature has 2");
  refused(std::tuple{three, constant(1)}, {{Shape{3}, float32}, {Shape{2}, int32}}, "element 0 in tensor 1");
  refused(Tensor(), {{Shape{}, float32}}, "has 0 tensors, the signature has 1");
  EXPECT_EQ(only(three, {Shape{-1}, float32}).size(), 3);
  EXPECT_EQ(only(three, {Shape::unknown_rank(), float32}).size(), 3);
}

TEST(GeneratorSignature, NamesTheElementAndGoesOn) {
  const auto ds = Dataset::from_generator(
      [n = 0]() mutable -> std::optional<Tensor> {
        return ++n == 2 ? constant({1., 2.}) : constant(double(n));
      },
      Signature{{Shape{}, float32}});
  auto pass = ds.iterator();
  EXPECT_EQ(pass.next()->item<float>(), 1);
  expect_error<InvalidArgumentError>([&] { pass.next(); }, "element 1 has shape (2,)");
  EXPECT_EQ(pass.next()->item<float>(), 3);
}

}  // namespace
}  // namespace rw::data
