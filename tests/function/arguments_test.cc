// What a function takes and gives: tensors in structures, values, objects; and which of them make another
// trace.
#include <gtest/gtest.h>

#include "rewind/device/device.h"
#include "rewind/function/function.h"
#include "rewind/rewind.h"
#include "rewind/tensor/tensor_impl.h"

namespace rw {
namespace {

using Floats = std::vector<float>;
Tensor two() { return constant(2.0); }

struct Inner {
  Tensor scale;
  int times = 1;
};
struct Batch {
  Tensor x;
  std::optional<Tensor> weights;
  std::vector<Tensor> offsets;
  Inner inner;
  std::string note;
};
struct Out {
  Tensor y;
  std::map<std::string, Tensor> more;
  bool weighted = false;
  std::string note;
};

Out run(const Batch& b) {
  Tensor y = b.x;
  for (const Tensor& o : b.offsets) y = y + o;
  for (int i = 0; i < b.inner.times; ++i) y = y * b.inner.scale;
  if (b.weights) y = y * *b.weights;
  return {y, {{"sum", reduce_sum(y)}, {"first", y[0]}}, b.weights.has_value(), b.note + "!"};
}

TEST(FunctionArguments, NestedStructs) {
  auto f = function(run);
  Batch b{constant({1.0, 2.0}), {}, {constant(1.0), constant(10.0)}, {two(), 2}, "a"};
  for (int i = 0; i < 2; ++i) {
    const Out out = f(b);
    EXPECT_EQ(out.y.to_vector<float>(), (Floats{48, 52}));
    EXPECT_EQ(out.more.at("sum").item<float>(), 100);
    EXPECT_EQ(out.more.at("first").item<float>(), 48);
    EXPECT_FALSE(out.weighted);
    EXPECT_EQ(out.note, "a!");
  }
  EXPECT_EQ(f.tracing_count(), 1);
  b.x = constant({3.0, 4.0});
  b.inner.scale = constant(1.0);
  EXPECT_EQ(f(b).y.to_vector<float>(), (Floats{14, 15}));
  EXPECT_EQ(f.tracing_count(), 1);  // other tensors of the same kind
  b.weights = two();
  EXPECT_EQ(f(b).y.to_vector<float>(), (Floats{28, 30}));
  EXPECT_TRUE(f(b).weighted);
  EXPECT_EQ(f.tracing_count(), 2);
  b.inner.times = 0;
  f(b);
  EXPECT_EQ(f.tracing_count(), 3);
  b.note = "b";
  EXPECT_EQ(f(b).note, "b!");
  EXPECT_EQ(f.tracing_count(), 4);
  b.offsets.pop_back();
  EXPECT_EQ(f(b).y.to_vector<float>(), (Floats{8, 10}));
  EXPECT_EQ(f.tracing_count(), 5);
}

TEST(FunctionArguments, TuplesPairsMapsArraysAndVectors) {
  auto f = function([](const std::tuple<Tensor, int, std::pair<Tensor, bool>>& t,
                       const std::map<std::string, Tensor>& m, const std::array<Tensor, 2>& a,
                       const std::vector<std::vector<Tensor>>& v) {
    Tensor sum = std::get<0>(t) * double(std::get<1>(t));
    if (std::get<2>(t).second) sum = sum + std::get<2>(t).first;
    for (const auto& [name, tensor] : m) sum = sum + tensor * double(name.size());
    sum = sum + a[0] - a[1];
    for (const auto& list : v)
      for (const Tensor& e : list) sum = sum * e;
    return std::tuple(sum, std::vector<Tensor>{a[1], a[0]}, std::array<Tensor, 1>{sum * 2.0}, 7);
  });
  const std::map<std::string, Tensor> m{{"a", constant(1.0)}, {"bbb", constant(10.0)}};
  for (const double x : {1.0, 2.0}) {
    const auto [sum, swapped, twice, seven] =
        f(std::tuple(constant(x), 3, std::pair(constant(100.0), true)), m,
          std::array{constant(5.0), constant(x)},
          std::vector<std::vector<Tensor>>{{}, {two()}, {two(), two()}});
    EXPECT_EQ(sum.item<float>(), (3 * x + 100 + 1 + 30 + 5 - x) * 8);
    EXPECT_EQ(swapped[0].item<float>(), x);
    EXPECT_EQ(swapped[1].item<float>(), 5);
    EXPECT_EQ(twice[0].item<float>(), sum.item<float>() * 2);
    EXPECT_EQ(seven, 7);
  }
  EXPECT_EQ(f.tracing_count(), 1);
}

enum class Mode { kSum, kMean };

TEST(FunctionArguments, ValuesAreKeyedByValueAndType) {
  int traces = 0;
  auto f = function([&](const Tensor& x, auto value) {
    ++traces;
    if constexpr (std::is_same_v<decltype(value), Mode>)
      return value == Mode::kSum ? reduce_sum(x) : reduce_mean(x);
    else if constexpr (std::is_arithmetic_v<decltype(value)>) return x * double(value);
    else return x + double(std::string_view(value).size());
  });
  const Tensor x = constant({1.0, 3.0});
  EXPECT_EQ(f(x, Mode::kSum).item<float>(), 4);
  EXPECT_EQ(f(x, Mode::kMean).item<float>(), 2);
  EXPECT_EQ(f(x, Mode::kSum).item<float>(), 4);
  EXPECT_EQ(traces, 2);
  f(x, 1);
  f(x, true);
  f(x, 1.0);
  f(x, 1.0f);
  f(x, int64_t(1));
  EXPECT_EQ(traces, 7);  // 1, true, 1.0, 1.0f and 1L are five kinds
  f(x, 1);
  f(x, true);
  EXPECT_EQ(traces, 7);
  EXPECT_EQ(f(x, std::string("abc")).to_vector<float>(), (Floats{4, 6}));
  EXPECT_EQ(f(x, "abcd").to_vector<float>(), (Floats{5, 7}));
  const std::string same = "abcd";
  EXPECT_EQ(f(x, same.c_str()).to_vector<float>(), (Floats{5, 7}));
  EXPECT_EQ(f(x, std::string_view("x")).to_vector<float>(), (Floats{2, 4}));
  EXPECT_EQ(traces, 10);
}

TEST(FunctionArguments, AGenericCallableHasATraceForEachType) {
  struct Left {
    Tensor x;
  };
  struct Right {
    Tensor x;
  };
  auto f = function([]<class T>(const T& side) {
    if constexpr (std::is_same_v<T, Left>) return std::pair(side.x, 1);
    else return side.x * 2.0;
  });
  EXPECT_EQ(f(Left{two()}).second, 1);
  EXPECT_EQ(f(Right{two()}).template item<float>(), 4);
  EXPECT_EQ(f(Left{two()}).first.template item<float>(), 2);
  EXPECT_EQ(f.tracing_count(), 2);
}

TEST(FunctionArguments, AStructWithUnknownFieldsIsAnObject) {
  struct Config {
    std::function<Tensor(const Tensor&)> change;
    int unused = 0;
  };
  auto f = function([](const Config& c, const Tensor& x) { return c.change(x); });
  Config a{[](const Tensor& x) { return x * 2.0; }};
  Config b{[](const Tensor& x) { return x * 3.0; }};
  EXPECT_EQ(f(a, constant(1.0)).item<float>(), 2);
  EXPECT_EQ(f(b, constant(1.0)).item<float>(), 3);
  EXPECT_EQ(f(a, constant(2.0)).item<float>(), 4);
  EXPECT_EQ(f.tracing_count(), 2);
}

TEST(FunctionArguments, VariablesAreKnownByKindAndReadWhenRunning) {
  Variable a(1.0);
  Variable b(2.0);
  auto f = function([](const Variable& v, const Tensor& x) { return v * x; });
  EXPECT_EQ(f(a, constant(3.0)).item<float>(), 3);
  EXPECT_EQ(f(b, constant(3.0)).item<float>(), 6);
  a.assign(5.0);
  EXPECT_EQ(f(a, constant(3.0)).item<float>(), 15);
  EXPECT_EQ(f.tracing_count(), 1);
}

struct Dense : Module {
  Variable w;
  std::optional<Variable> bias;
  explicit Dense(double scale) : w(ones({2, 2}) * scale) {}
  Tensor operator()(const Tensor& x) {
    if (!bias) bias.emplace(zeros({2}));
    return matmul(x, w) + *bias;
  }
  Tensor scaled(const Tensor& x, double k) const { return matmul(x, w) * k; }
  RW_TRACK(w, bias)
};

TEST(FunctionArguments, ModulesMethodsAndFreeFunctionsAsCallables) {
  Dense layer(1.0);
  const Tensor x = ones({1, 2});
  auto by_reference = function(std::ref(layer));
  EXPECT_EQ(by_reference(x).to_vector<float>(), (Floats{2, 2}));
  ASSERT_TRUE(layer.bias.has_value());
  layer.bias->assign({1.0, 2.0});
  EXPECT_EQ(by_reference(x).to_vector<float>(), (Floats{3, 4}));
  auto method = function(&Dense::scaled);
  EXPECT_EQ(method(layer, x, 2.0).to_vector<float>(), (Floats{4, 4}));
  const Dense other(3.0);
  EXPECT_EQ(method(other, x, 2.0).to_vector<float>(), (Floats{12, 12}));
  EXPECT_EQ(method(&other, x, 2.0).to_vector<float>(), (Floats{12, 12}));
  EXPECT_EQ(method(std::make_shared<Dense>(4.0), x, 2.0).to_vector<float>(), (Floats{16, 16}));
  auto vector = function([](std::vector<Dense*> layers, Tensor y) {
    for (Dense* l : layers) y = (*l)(y);
    return y;
  });
  EXPECT_EQ(vector(std::vector{&layer, &layer}, x).to_vector<float>(), (Floats{8, 9}));
}

TEST(FunctionArguments, NothingInAndNothingOut) {
  Variable count(0.0);
  auto step = function([&] { count.assign_add(1.0); });
  for (int i = 0; i < 5; ++i) step();
  EXPECT_EQ(count.item<float>(), 5);
  auto undefined = function([](const Tensor& maybe) { return maybe.defined() ? maybe * 2.0 : Tensor(); });
  EXPECT_FALSE(undefined(Tensor()).defined());
  EXPECT_EQ(undefined(constant(2.0)).item<float>(), 4);
}

TEST(FunctionArguments, TheDeviceIsPartOfTheKey) {
  TraceKey here;
  TraceKey elsewhere;
  here.begin_argument();
  elsewhere.begin_argument();
  here.add_tensor(ones({2}));
  elsewhere.add_tensor(make_tensor(Value::allocate(null_device(), DType::kFloat32, {2})));
  EXPECT_FALSE(here == elsewhere);
  EXPECT_EQ(here.words().size(), elsewhere.words().size());
}

}  // namespace
}  // namespace rw
