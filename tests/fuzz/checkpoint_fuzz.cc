// Any bytes as a checkpoint: an index, a data file and the state file "checkpoint" of the folder. Everything
// in it is read, and restored into objects that are there. library
#include <cstdlib>

#include "rewind/rewind.h"
#include "tests/fuzz/bundle_parts.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/parts.h"
#include "tests/fuzz/scratch.h"

namespace rw::fuzz {
namespace {

template <class F>
void attempt(F f) {
  try {
    f();
  } catch (const Error&) {}  // NOLINT(bugprone-empty-catch): what is damaged is refused
}

struct Inner : Module {
  Variable w{fill({300}, 1.0f), {.name = "w"}};
  RW_TRACK(w)
};

void read(std::string_view bytes) {
  static const Scratch folder("checkpoint");
  const auto parts = split_parts(bytes, 3);
  const std::string path = folder / "ckpt-1";
  folder.put("ckpt-1.index", parts[0]);
  folder.put("ckpt-1.data-00000-of-00001", parts[1]);
  folder.put("checkpoint", parts[2]);
  memory::set_budget("CPU:0", int64_t{64} << 20);
  attempt([&] {
    const train::CheckpointReader reader(path);
    for (const auto& [key, shape] : reader.get_variable_to_shape_map())
      attempt([&] {
        if (reader.get_tensor(key).shape() != shape) abort();
      });
  });
  attempt([&] {
    const Variable v(fill({300}, 1.0f)), text(constant({"x", "yy", ""})), step(int64_t{0});
    const auto inner = std::make_shared<Inner>();
    const train::Checkpoint ckpt({{"a", v}, {"text", text}, {"inner", *inner}, {"step", step}});
    const auto status = ckpt.restore(path);
    attempt([&] { status.assert_existing_objects_matched(); });
    attempt([&] { status.assert_consumed(); });
  });
  attempt([&] { train::latest_checkpoint(folder / ""); });
  attempt([&] {
    const Variable v(1.0f);
    const train::Checkpoint ckpt({{"a", v}});
    const train::CheckpointManager manager(ckpt, folder / "", {.max_to_keep = 3});
    (void)manager.latest_checkpoint();
  });
}

std::string mutate(std::string_view bytes, Random& random) {
  auto parts = split_parts(bytes, 3);
  if (below(random, 6) == 0) parts[2] = mutate_bytes(parts[2], random);
  else mutate_bundle(&parts[0], &parts[1], random);
  return join_parts(parts);
}

}  // namespace
}  // namespace rw::fuzz

REWIND_FUZZ_TARGET(checkpoint, rw::fuzz::read, rw::fuzz::mutate)
