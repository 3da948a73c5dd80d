// Ops whose limit is memory: 64 Mi floats in warm buffers, beside plain loops over the same memory.
#include <algorithm>

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

  void add() const {
    rw::parallel_for(kCount, 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) c[i] = a[i] + b[i];
    });
  }
  void copy() const {
    rw::parallel_for(kCount, 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) c[i] = a[i] * 3.f;
    });
  }
  void read() const {
    rw::parallel_for(kCount, 4096, [&](int64_t begin, int64_t end) {
      float lanes[128] = {};
      for (int64_t i = begin; i + 128 <= end; i += 128)
        for (int64_t k = 0; k < 128; ++k) lanes[k] += a[i + k];
      for (int64_t k = 0; k < 128; ++k) c[begin + k] = lanes[k];
    });
  }
};

double median(std::vector<double>& times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// Op and plain loop take turns, so that both see the same machine.
void compare(const std::string& work, double bytes, const std::function<rw::Tensor()>& op,
             const std::function<void()>& loop) {
  std::vector<double> ours, limits;
  for (int i = 0; i < 13; ++i) {
    const double start = now_us();
    op();
    const double middle = now_us();
    loop();
    if (i >= 2) ours.push_back(middle - start), limits.push_back(now_us() - middle);
  }
  const double us = median(ours), limit_us = median(limits);
  say(work, "rewind", "",
      {{"ms", us / 1e3}, {"GiB_per_s", gib_per_s(bytes, us)}, {"of_stream", limit_us / us}});
  say(work, "stream", "", {{"ms", limit_us / 1e3}, {"GiB_per_s", gib_per_s(bytes, limit_us)}});
}

void bandwidth() {
  const Stream stream;
  const rw::Tensor x = rw::fill({kRows, kRows}, 0.5f);
  const rw::Tensor y = rw::fill({kRows, kRows}, 0.25f);
  const double bytes = double(kCount) * 4;
  const auto read = [&] { stream.read(); };
  compare("add_64Mi", 3 * bytes, [&] { return rw::add(x, y); }, [&] { stream.add(); });
  compare("exp_64Mi", 2 * bytes, [&] { return rw::exp(x); }, [&] { stream.copy(); });
  compare("sum_all_64Mi", bytes, [&] { return rw::reduce_sum(x); }, read);
  compare("sum_axis0_64Mi", bytes, [&] { return rw::reduce_sum(x, 0); }, read);
  compare("sum_axis1_64Mi", bytes, [&] { return rw::reduce_sum(x, 1); }, read);
}

}  // namespace

std::vector<Workload> bandwidth_workloads() { return {{"bandwidth", bandwidth}}; }

}  // namespace bench
