// Files: 1 GiB of variables to a checkpoint and back, in memory (/dev/shm) or in the folder of
// REWIND_BENCH_FOLDER.
#include <cstdlib>
#include <filesystem>

#include "benchmarks/workload.h"
#include "rewind/rewind.h"

namespace bench {
namespace {

constexpr int64_t kVariables = 64, kFloats = int64_t(1) << 22;

void checkpoint_1GiB() {
  const char* given = std::getenv("REWIND_BENCH_FOLDER");
  std::string folder = std::string(given ? given : "/dev/shm") + "/rewind-bench-XXXXXX";
  if (!mkdtemp(folder.data())) return;
  std::vector<rw::Variable> list;
  for (int64_t i = 0; i < kVariables; ++i) list.emplace_back(rw::fill({kFloats}, float(i)));
  const rw::train::Checkpoint checkpoint({{"list", list}});
  const double held = double(kVariables * kFloats) * sizeof(float) / (1 << 20);
  // The first file finds no memory of the file system's that is there already, for TensorFlow as for us.
  const double save = median_us(1, 3, [&] { checkpoint.write(folder + "/ckpt"); });
  const double load = median_us(1, 3, [&] { checkpoint.read(folder + "/ckpt").assert_consumed(); });
  std::filesystem::remove_all(folder);
  say("checkpoint_1GiB", "rewind", "",
      {{"save_s", save / 1e6}, {"load_s", load / 1e6}, {"beside_MiB", peak_rss_mib() - held}});
}

}  // namespace

std::vector<Workload> file_workloads() { return {{"checkpoint_1GiB", checkpoint_1GiB}}; }

}  // namespace bench
