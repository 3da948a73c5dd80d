// What a program registers replaces what the library has, or is refused, the same before and behind the first
// use of anything.   registration early|late
#include <rewind/kernel/kernel.h>
#include <rewind/rewind.h>

#include <cstdio>
#include <cstring>
#include <string>

namespace {

int failures = 0;
void expect(bool is, const char* what) {
  if (is) return;
  std::printf("%s: not so\n", what);
  ++failures;
}

void fill_with_seven(rw::KernelContext& ctx) {
  float* out = ctx.out(0).as<float>();
  for (int64_t i = 0; i < ctx.out(0).size; ++i) out[i] = 7;
}

bool refuses(const char* schema) {
  try {
    rw::op_table().add(schema);
  } catch (const rw::AlreadyExistsError&) { return true; }
  return false;
}

// Every kind of use, so that whatever the library does at a first time is behind it.
void use_everything() {
  (void)rw::tanh(rw::ones({3}));
  const auto f = rw::function([](const rw::Tensor& x) {
    return rw::while_loop([](const rw::Tensor& a) { return a < 10.0f; },
                          [](const rw::Tensor& a) { return a * 2.0f; }, x);
  });
  rw::GradientTape tape;
  const rw::Tensor x = rw::constant(1.0f);
  tape.watch(x);
  const rw::Tensor y = f(x) + rw::sin(x);
  (void)tape.gradient(y, x);
  (void)rw::vectorized_map([](const rw::Tensor& row) { return rw::cumsum(row); }, rw::ones({2, 3}));
  (void)rw::data::Dataset::range(3);
}

}  // namespace

int main(int argc, char** argv) {
  const bool late = argc > 1 && std::strcmp(argv[1], "late") == 0;
  if (late) use_everything();

  rw::register_kernel("Tanh", rw::DeviceType::kCpu, fill_with_seven);
  rw::register_gradient("Sin", rw::kNeedsNothing, [](rw::GradContext& g) { g.set(0, g.grad(0) * 5.0f); });
  rw::register_batching("Cumsum", [](rw::BatchContext& ctx) { ctx.set(0, ctx.input(0) * 3.0f); });
  rw::register_gradient("StatelessIf", rw::kNeedsNothing,
                        [](rw::GradContext& g) { g.set(1, g.grad(0) * 11.0f); });
  expect(refuses("MatMul(a: float) -> (b: float)"), "MatMul is the library's");
  expect(refuses("IteratorGetNext(a: float) -> (b: float)"), "IteratorGetNext is the library's");
  const size_t rows = rw::op_table().all().size();
  if (!late) use_everything();
  expect(rw::op_table().all().size() == rows, "the table is whole from the start");

  expect(rw::tanh(rw::ones({3}))[1].item<float>() == 7, "the kernel");
  const rw::Tensor x = rw::constant(1.0f);
  {
    rw::GradientTape tape;
    tape.watch(x);
    const rw::Tensor y = rw::sin(x);
    const rw::Tensor slope = tape.gradient(y, x);
    expect(slope.item<float>() == 5, "the gradient");
  }
  {
    const rw::Tensor sums =
        rw::vectorized_map([](const rw::Tensor& row) { return rw::cumsum(row); }, rw::ones({2, 3}));
    expect(sums[1][2].item<float>() == 3 && sums[1][0].item<float>() == 3, "the batching rule");
  }
  {
    const auto f = rw::function(
        [](const rw::Tensor& v) { return rw::cond(v > 0.0f, [&] { return v * 2.0f; }, [&] { return v; }); });
    rw::GradientTape tape;
    tape.watch(x);
    const rw::Tensor y = f(x);
    const rw::Tensor slope = tape.gradient(y, x);
    std::printf("branch %g\n", slope.item<float>());
  }
  if (failures == 0) std::puts("done");
  return failures;
}
