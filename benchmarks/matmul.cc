// A large matrix product, beside oneDNN called directly.
#include <chrono>
#include <thread>

#include "benchmarks/workload.h"
#include "rewind/rewind.h"

#ifdef REWIND_ONEDNN
#include <dnnl.hpp>
#endif

namespace bench {
namespace {

constexpr int64_t kN = 2048;

void matmul_2048() {
  const rw::Tensor m = rw::random::uniform({kN, kN});
#ifdef REWIND_ONEDNN
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const dnnl::memory::desc desc({kN, kN}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::ab);
  const dnnl::matmul raw(dnnl::matmul::primitive_desc({desc, desc, desc}, engine));
  std::vector<float> out(size_t(kN * kN));
  dnnl::memory a(desc, engine, const_cast<float*>(m.data<float>().data()));
  dnnl::memory b(desc, engine, const_cast<float*>(m.data<float>().data()));
  dnnl::memory c(desc, engine, out.data());
#endif
  // Alternating, so that both see the same machine.
  std::vector<double> ours, theirs;
  for (int i = 0; i < 12; ++i) {
    // The threads of either spin for a while behind their last loop.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    double start = now_us();
    { const rw::Tensor p = rw::matmul(m, m); }
    ours.push_back(now_us() - start);
#ifdef REWIND_ONEDNN
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    start = now_us();
    raw.execute(stream, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}});
    stream.wait();
    theirs.push_back(now_us() - start);
#endif
  }
  auto report = [](const char* peer, std::vector<double>& t) {
    if (t.empty()) return;
    std::sort(t.begin(), t.end());
    const double ms = t[t.size() / 2] / 1e3;
    say("matmul_2048", peer, "", {{"ms", ms}, {"gflops", 2.0 * kN * kN * kN / ms / 1e6}});
  };
  report("rewind", ours);
  report("oneDNN", theirs);
}

}  // namespace

std::vector<Workload> matmul_workloads() { return {{"matmul_2048", matmul_2048}}; }

}  // namespace bench
