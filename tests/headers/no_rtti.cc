// A program compiled with -fno-rtti, on the library as it is: its classes derive from the library's and carry
// no type information.
#include <rewind/data/named.h>
#include <rewind/keras/keras.h>
#include <rewind/kernel/kernel.h>
#include <rewind/report/profiler.h>
#include <rewind/rewind.h>

#include <cstdio>
#include <filesystem>
#include <sstream>

#ifdef __cpp_rtti
#error "this file is compiled with -fno-rtti"
#endif

namespace {

namespace keras = rw::keras;

int failures = 0;
void expect(bool is, const char* what) {
  if (is) return;
  std::printf("%s: not so\n", what);
  ++failures;
}

struct Block : rw::Module {
  rw::Variable w{2.0f};
  rw::Tensor operator()(const rw::Tensor& x) const { return x * w; }
  RW_TRACK(w)
};

// With a Dense inside, a name by its class, and copies.
struct Doubled : keras::LayerOf<Doubled> {
  keras::layers::Dense inside{2, {.kernel_initializer = "ones"}};
  rw::Tensor call(const rw::Tensor& x, const keras::CallArgs&) override { return inside(x) * 2.0f; }
  RW_TRACK(inside)
};
struct Further : Doubled {};
// Without LayerOf.
struct Plain : keras::Layer {
  rw::Tensor call(const rw::Tensor& x, const keras::CallArgs&) override { return x + 1.0f; }
};
struct Net : keras::Model {
  Doubled first;
  keras::layers::Dense last{1};
  Block block;
  rw::Tensor call(const rw::Tensor& x, const keras::CallArgs&) override { return block(last(first(x))); }
  RW_TRACK(first, last, block)
};
struct Counting : keras::Callback {
  int* count;
  explicit Counting(int* c) : count(c) {}
  void on_epoch_end(int64_t, keras::Logs&) override { ++*count; }
};
struct OwnError : rw::InvalidArgumentError {
  OwnError() : rw::InvalidArgumentError("mine") {}
};

template <class E, class F>
bool throws(const F& f) {
  try {
    f();
  } catch (const E&) { return true; }
  return false;
}

void layers() {
  Doubled layer;
  expect(layer.name() == "doubled", "a layer's name");
  expect(layer(rw::ones({1, 3}))[0][0].item<float>() == 6, "a layer's call");
  expect(Further().clone() == nullptr, "a derived class is no copy of its base");
  expect(Doubled().clone() != nullptr, "a copy");
  expect(Plain()(rw::ones({2}))[0].item<float>() == 2, "a layer without LayerOf");
  expect(!Plain().name().empty(), "its name");
  Block block;
  expect(!block.name().empty() && block.variables().size() == 1, "a module");
}

void models() {
  int epochs = 0;
  keras::Sequential chain({keras::InputLayer({-1, 3}), Doubled(), keras::layers::Dense(1)});
  chain.compile({.optimizer = "sgd", .loss = "mse"});
  std::ostringstream out;
  chain.fit(rw::ones({4, 3}), rw::zeros({4, 1}),
            {.epochs = 3, .verbose = 0, .callbacks = {Counting(&epochs)}});
  chain.fit(
      rw::ones({4, 3}), rw::zeros({4, 1}),
      {.epochs = 1, .verbose = 1, .callbacks = {Counting(&epochs), keras::ProgressBar({.output = &out})}});
  expect(epochs == 4 && !out.str().empty(), "callbacks");
  expect(chain.summary_text().find("doubled") != std::string::npos, "a summary");

  Net net;
  net.compile({.optimizer = "sgd", .loss = "mse"});
  net.fit(rw::ones({4, 3}), rw::zeros({4, 1}), {.verbose = 0});
  expect(net.layers().size() == 2, "the layers of a model");
  expect(!net.summary_text().empty(), "its summary");
  const auto input = keras::Input({3});
  keras::Model outer(input, net(input));
  expect(outer(rw::ones({2, 3})).shape() == rw::Shape{2, 1}, "a model in a model");
  expect(!outer.summary_text({.expand_nested = true}).empty(), "the summary of both");
}

void functions() {
  Block block;
  const auto f = rw::function([&](const rw::Tensor& x) {
    return rw::cond(rw::reduce_sum(x) > 0.0f, [&] { return block(x); }, [&] { return x; });
  });
  rw::GradientTape tape;
  const rw::Tensor y = f(rw::constant(3.0f));
  const rw::Tensor slope = tape.gradient(y, block.w);
  expect(y.item<float>() == 6 && slope.item<float>() == 3, "a function");
  const auto mine = rw::function([](const rw::Tensor& x) -> rw::Tensor {
    if (x.rank() > 0) throw OwnError();
    return x;
  });
  expect(throws<OwnError>([&] { mine(rw::ones({2})); }), "an error of one's own");
  const auto plain = rw::function([](const rw::Tensor& x) -> rw::Tensor {
    if (x.rank() > 0) throw rw::InvalidArgumentError("plain");
    return x;
  });
  expect(throws<rw::InvalidArgumentError>([&] { plain(rw::ones({2})); }), "a plain error");
  const auto wrong = rw::function([](const rw::Tensor& x) { return rw::matmul(x, x); });
  expect(throws<rw::InvalidArgumentError>([&] { wrong(rw::ones({2, 3})); }), "an error of an op");
  float sum = 0;
  const auto numbers =
      rw::data::Dataset::range(4).map([](const rw::Tensor& t) { return rw::cast(t, rw::DType::kFloat32); });
  for (const rw::Tensor& t : numbers.batch(2)) sum += rw::reduce_sum(t).item<float>();
  expect(sum == 6, "a dataset");
  int left = 3;
  const auto made = rw::data::Dataset::from_generator([&left]() -> std::optional<rw::Tensor> {
    if (left-- == 0) return std::nullopt;
    return rw::constant(1.0f);
  });
  int elements = 0;
  for (const rw::Tensor& t : made) elements += t.item<float>() == 1;
  expect(elements == 3, "a dataset of a generator");
}

}  // namespace

int main() {
  layers();
  models();
  functions();
  if (failures == 0) std::puts("done");
  return failures;
}
