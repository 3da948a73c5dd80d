// Complex tensors as text. What TensorFlow 2.21 shows for the same values, but for print and StringFormat,
// where it writes ? for each complex number.
#include <gtest/gtest.h>

#include <complex>
#include <limits>

#include "rewind/rewind.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace rw {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
using Numbers = std::vector<std::complex<double>>;

template <class T>
Tensor complex_tensor(const Numbers& values, const Shape& shape) {
  const std::vector<std::complex<T>> list(values.begin(), values.end());
  return tensor_from_bytes(list.data(), sizeof(T) == 4 ? DType::kComplex64 : DType::kComplex128, shape);
}
template <class T>
Tensor list_of(const Numbers& values) {
  return complex_tensor<T>(values, {int64_t(values.size())});
}
template <class T>
std::string value_of(std::complex<double> x) {
  const std::string text = complex_tensor<T>({x}, {}).to_string();
  return text.substr(10, text.find(", shape") - 10);
}
template <class T>
std::string repr_of(std::complex<double> x) {
  const std::string text = complex_tensor<T>({x}, {}).repr();
  return text.substr(text.find("numpy=") + 6);
}
std::string array_of(const Tensor& x) {
  const std::string text = x.to_string();
  return text.substr(10, text.find(", shape") - 10);
}

const Numbers kValues{{1, 2}, {-0.5, -3.25}, {kNan, 1}, {kInf, -kInf}, {0.1, 1e-7},
                      {0, 0}, {-0.0, -0.0},  {1e10, 1}, {3.5, 0},      {1 / 3.0, 1e20}};

TEST(ComplexText, Scalars) {
  EXPECT_EQ(value_of<float>({1, 2}), "(1+2j)");
  EXPECT_EQ(value_of<float>({-0.5, -3.25}), "(-0.5-3.25j)");
  EXPECT_EQ(value_of<float>({kNan, kNan}), "(nan+nanj)");
  EXPECT_EQ(value_of<float>({-kInf, 2}), "(-inf+2j)");
  EXPECT_EQ(value_of<double>({0, kInf}), "infj");
  EXPECT_EQ(value_of<double>({0, -0.0}), "-0j");
  EXPECT_EQ(value_of<double>({-0.0, 1}), "(-0+1j)");
  EXPECT_EQ(value_of<float>({0.1, 1e-7}), "(0.1+1e-07j)");
  EXPECT_EQ(value_of<float>({1e6, 0}), "(1e+06+0j)");
  EXPECT_EQ(value_of<float>({123456.5, 0}), "(123456.5+0j)");
  EXPECT_EQ(value_of<double>({1e10, 1}), "(10000000000+1j)");
  EXPECT_EQ(value_of<double>({1e16, 9e-5}), "(1e+16+9e-05j)");
  EXPECT_EQ(repr_of<float>({0.1, 1e-7}), "(0.10000000149011612+1.0000000116860974e-07j)>");
  EXPECT_EQ(repr_of<float>({1e10, 1}), "(10000000000+1j)>");
  EXPECT_EQ(repr_of<double>({1 / 3.0, 1e20}), "(0.3333333333333333+1e+20j)>");
}

TEST(ComplexText, Arrays) {
  EXPECT_EQ(array_of(list_of<float>({{1, 2}, {3, -4}})), "[1.+2.j 3.-4.j]");
  EXPECT_EQ(array_of(list_of<double>({{0.1, 100}, {-25.25, -0.001}})), "[  0.1 +1.e+02j -25.25-1.e-03j]");
  EXPECT_EQ(array_of(list_of<double>({{0, 1e-9}, {1, 0}})), "[0.+1.e-09j 1.+0.e+00j]");
  EXPECT_EQ(array_of(list_of<float>({{kNan, kNan}, {1, 0}})), "[nan+nanj  1. +0.j]");
  EXPECT_EQ(array_of(list_of<float>({{kNan, kInf}, {2, 0}})), "[nan+infj  2. +0.j]");
  EXPECT_EQ(array_of(list_of<float>({})), "[]");
  EXPECT_EQ(array_of(complex_tensor<float>(kValues, {5, 2})),
            "\n"
            "[[ 1.0000000e+00+2.00e+00j -5.0000000e-01-3.25e+00j]\n"
            " [           nan+1.00e+00j            inf     -infj]\n"
            " [ 1.0000000e-01+1.00e-07j  0.0000000e+00+0.00e+00j]\n"
            " [-0.0000000e+00-0.00e+00j  1.0000000e+10+1.00e+00j]\n"
            " [ 3.5000000e+00+0.00e+00j  3.3333334e-01+1.00e+20j]]");
  EXPECT_EQ(complex_tensor<double>(kValues, {10}).repr(),
            "<tf.Tensor: shape=(10,), dtype=complex128, numpy=\n"
            "array([ 1.00000000e+00+2.00e+00j, -5.00000000e-01-3.25e+00j,\n"
            "                   nan+1.00e+00j,             inf     -infj,\n"
            "        1.00000000e-01+1.00e-07j,  0.00000000e+00+0.00e+00j,\n"
            "       -0.00000000e+00-0.00e+00j,  1.00000000e+10+1.00e+00j,\n"
            "        3.50000000e+00+0.00e+00j,  3.33333333e-01+1.00e+20j])>");
  EXPECT_EQ(list_of<float>({{1, 2}}).repr(),
            "<tf.Tensor: shape=(1,), dtype=complex64, numpy=array([1.+2.j], dtype=complex64)>");
}

TEST(ComplexText, LongArraysAreCutShort) {
  Numbers values;
  for (int i = 0; i < 1500; ++i) values.emplace_back(i, 0.5 * i);
  EXPECT_EQ(array_of(list_of<float>(values)),
            "\n"
            "[0.000e+00+0.000e+00j 1.000e+00+5.000e-01j 2.000e+00+1.000e+00j ...\n"
            " 1.497e+03+7.485e+02j 1.498e+03+7.490e+02j 1.499e+03+7.495e+02j]");
}

TEST(ComplexText, AsString) {
  const auto texts = [](const Tensor& x, const strings::AsStringOptions& o) {
    return strings::as_string(x, o).to_vector<std::string>();
  };
  using Texts = std::vector<std::string>;
  const Tensor x = list_of<float>({{1, 2}, {kNan, -kInf}, {1 / 3.0, 1e20}});
  EXPECT_EQ(texts(x, {}),
            (Texts{"(1.000000,2.000000)", "(nan,-inf)", "(0.333333,100000002004087734272.000000)"}));
  EXPECT_EQ(texts(x, {.precision = 2, .scientific = true}),
            (Texts{"(1.00e+00,2.00e+00)", "(nan,-inf)", "(3.33e-01,1.00e+20)"}));
  EXPECT_EQ(texts(x, {.shortest = true}), (Texts{"(1,2)", "(nan,-inf)", "(0.333333,1e+20)"}));
  const Tensor y = list_of<double>({{1, -2.5}, {kNan, kInf}});
  EXPECT_EQ(texts(y, {.width = 12, .fill = "0"}),
            (Texts{"(00001.000000,-0002.500000)", "(         nan,         inf)"}));
  EXPECT_EQ(texts(y, {.width = 12, .fill = "-"}),
            (Texts{"(1.000000    ,-2.500000   )", "(nan         ,inf         )"}));
  EXPECT_EQ(texts(y, {.fill = "+"}), (Texts{"(+1.000000,-2.500000)", "(+nan,+inf)"}));
}

template <class T>
void expect_prints() {
  const Tensor x = complex_tensor<T>({{1, 2}, {-0.5, 0.1}, {0, 1}, {kNan, -kInf}}, {2, 2});
  const std::string text = "[[(1+2j) (-0.5+0.1j)]\n [1j (nan-infj)]]";
  EXPECT_EQ(strings::format("a {} b", {x}).template item<std::string>(), "a " + text + " b");
  const test::TemporaryFolder folder;
  const std::string file = folder / "printed";
  const auto show = [&](const Tensor& t) {
    print(PrintOptions{.output_stream = "file://" + file}, t);
    debugging::Assert(less(size(t), 100), {t});
    return strings::format("{}", {t});
  };
  show(x);
  auto traced = function(show);
  EXPECT_EQ(traced(x).template item<std::string>(), text);
  EXPECT_EQ(test::read_bytes(file), text + "\n" + text + "\n");
  const auto fail = [](const Tensor& t) {
    debugging::Assert(less(size(t), 0), {t});
    return size(t);
  };
  expect_error<InvalidArgumentError>([&] { fail(x); }, "(1+2j), (-0.5+0.1j), 1j");
  auto traced_fail = function(fail);
  expect_error<InvalidArgumentError>([&] { traced_fail(x); }, "(1+2j), (-0.5+0.1j), 1j");
}

TEST(ComplexText, PrintFormatAndAssert) {
  expect_prints<float>();
  expect_prints<double>();
}

}  // namespace
}  // namespace rw
