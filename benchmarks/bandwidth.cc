// Ops whose limit is memory: 64 Mi floats in warm buffers, beside plain loops over the same memory.
#include "benchmarks/workload.h"
#include "rewind/device/parallel.h"
#include "rewind/rewind.h"

namespace bench {
namespace {

constexpr int64_t kRows = 8192;
constexpr int64_t kCount = kRows * kRows;
constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

double gib_per_s(double bytes, double us) { return bytes / kGiB / (us * 1e-6); }

// STREAM-like loops on as many threads and on the same kind of pages: what the memory gives to two reads and
// a write, one of each, one read.
struct Stream {
  const rw::Tensor x = rw::fill({kCount}, 1.f), y = rw::fill({kCount}, 2.f), z = rw::fill({kCount}, 3.f);
  const float* a = x.data<float>().data();
  const float* b = y.data<float>().data();
  float* c = const_cast<float*>(z.data<float>().data());

  double add() const {
    return median_us(1, 7, [&] {
      rw::parallel_for(kCount, 4096, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) c[i] = a[i] + b[i];
      });
    });
  }
  double copy() const {
    return median_us(1, 7, [&] {
      rw::parallel_for(kCount, 4096, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) c[i] = a[i] * 3.f;
      });
    });
  }
  double read() const {
    return median_us(1, 7, [&] {
      rw::parallel_for(kCount, 4096, [&](int64_t begin, int64_t end) {
        float lanes[128] = {};
        for (int64_t i = begin; i + 128 <= end; i += 128)
          for (int64_t k = 0; k < 128; ++k) lanes[k] += a[i + k];
        for (int64_t k = 0; k < 128; ++k) c[begin + k] = lanes[k];
      });
    });
  }
};

void report(const std::string& work, double bytes, double us, double limit_us) {
  say(work, "rewind", "",
      {{"ms", us / 1e3}, {"GiB_per_s", gib_per_s(bytes, us)}, {"of_stream", limit_us / us}});
  say(work, "stream", "", {{"ms", limit_us / 1e3}, {"GiB_per_s", gib_per_s(bytes, limit_us)}});
}

void bandwidth() {
  const Stream stream;
  const rw::Tensor x = rw::fill({kRows, kRows}, 0.5f);
  const rw::Tensor y = rw::fill({kRows, kRows}, 0.25f);
  const double bytes = double(kCount) * 4;
  const auto time = [](const std::function<rw::Tensor()>& f) { return median_us(2, 7, [&] { f(); }); };
  report("add_64Mi", 3 * bytes, time([&] { return rw::add(x, y); }), stream.add());
  report("exp_64Mi", 2 * bytes, time([&] { return rw::exp(x); }), stream.copy());
  const double read = stream.read();
  report("sum_all_64Mi", bytes, time([&] { return rw::reduce_sum(x); }), read);
  report("sum_axis0_64Mi", bytes, time([&] { return rw::reduce_sum(x, 0); }), read);
  report("sum_axis1_64Mi", bytes, time([&] { return rw::reduce_sum(x, 1); }), read);
}

}  // namespace

std::vector<Workload> bandwidth_workloads() { return {{"bandwidth", bandwidth}}; }

}  // namespace bench
