// Any bytes as a GraphDef: binary, or text if the first byte is 't'. What is one becomes a graph, by the
// reader of graphs and as a frozen graph, which runs if it has no loops. library
#include "rewind/format/graph_def_fields.h"
#include "rewind/format/message.h"
#include "rewind/graph/graph_def.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate_message.h"
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

void read(std::string_view bytes) {
  static const Scratch folder("graph-def");
  if (bytes.empty()) return;
  const bool text = bytes[0] == 't';
  bytes.remove_prefix(1);
  memory::set_budget("CPU:0", int64_t{64} << 20);
  attempt([&] {
    const auto def =
        text ? format::from_text<format::GraphDef>(bytes) : format::decode<format::GraphDef>(bytes);
    if (format::encode(format::decode<format::GraphDef>(format::encode(def))) != format::encode(def)) abort();
    const auto graph = from_graph_def(def, {.max_constant_bytes = 1 << 24});
    attempt([&] { (void)to_graph_def(*graph); });
  });
  attempt([&] { run_function(*saved_model::load_graph(folder.put(text ? "g.pbtxt" : "g.pb", bytes))); });
}

std::string mutate(std::string_view bytes, Random& random) {
  if (bytes.empty()) return mutate_bytes(bytes, random);
  const std::string kind(bytes.substr(0, 1));
  bytes.remove_prefix(1);
  if (kind == "t") return kind + mutate_bytes(bytes, random);
  return kind + mutate_message<format::GraphDef>(bytes, random);
}

}  // namespace
}  // namespace rw::fuzz

REWIND_FUZZ_TARGET(graph_def, rw::fuzz::read, rw::fuzz::mutate)
