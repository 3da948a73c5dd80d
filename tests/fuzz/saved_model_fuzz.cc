// Any bytes as a SavedModel: saved_model.pb and the index and data of its variables. All of its functions
// become graphs, and those without loops run. library
#include "rewind/format/saved_model_fields.h"
#include "tests/fuzz/bundle_parts.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate_message.h"
#include "tests/fuzz/parts.h"
#include "tests/fuzz/run_function.h"
#include "tests/fuzz/scratch.h"

namespace rw::fuzz {
namespace {

template <class F>
void attempt(F f) {
  try {
    f();
  } catch (const Error&) {}  // NOLINT(bugprone-empty-catch): what is damaged is refused
}

// Missing ops are named on stderr.
struct Quiet {
  Quiet() : kept(dup(2)) {
    static FILE* const nowhere = std::fopen("/dev/null", "w");
    std::fflush(stderr);
    dup2(fileno(nowhere), 2);
  }
  ~Quiet() {
    std::fflush(stderr);
    dup2(kept, 2);
    close(kept);
  }
  int kept;
};

void read(std::string_view bytes) {
  static const Scratch folder("saved-model");
  const auto parts = split_parts(bytes, 3);
  folder.put("m/saved_model.pb", parts[0]);
  folder.put("m/variables/variables.index", parts[1]);
  folder.put("m/variables/variables.data-00000-of-00001", parts[2]);
  folder.put("m/assets/words.txt", "a\nb\nc\n");
  memory::set_budget("CPU:0", int64_t{64} << 20);
  attempt([&] {
    const auto model = [&] {
      const Quiet quiet;
      return saved_model::load(folder / "m");
    }();
    for (const auto& [key, signature] : model.signatures())
      attempt([&] { run_function(*signature.concrete_function()); });
    for (const std::string& name : model.function_names())
      attempt([&] {
        const auto f = model.function(name);
        (void)f.parameters();
        (void)f.traces();
        for (const auto& trace : f.concrete_functions()) attempt([&] { run_function(*trace); });
      });
    for (const std::string& name : model.child_names()) attempt([&] { (void)model.child(name).variables(); });
    (void)model.variables();
    (void)model.trainable_variables();
  });
}

std::string mutate(std::string_view bytes, Random& random) {
  auto parts = split_parts(bytes, 3);
  if (below(random, 5) == 0) mutate_bundle(&parts[1], &parts[2], random);
  else parts[0] = mutate_message<format::SavedModel>(parts[0], random);
  return join_parts(parts);
}

}  // namespace
}  // namespace rw::fuzz

REWIND_FUZZ_TARGET(saved_model, rw::fuzz::read, rw::fuzz::mutate)
