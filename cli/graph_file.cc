#include "cli/graph_file.h"

#include "rewind/base/error.h"
#include "rewind/format/atomic_file.h"
#include "rewind/format/message.h"
#include "rewind/format/read_file.h"

namespace rw::cli {

static bool is_text(const std::string& path) { return path.ends_with(".pbtxt") || path.ends_with(".txt"); }

format::GraphDef read_graph_def_file(const std::string& path) {
  const format::ReadFile file(path, "graph");
  const std::string bytes = file.read(0, size_t(file.size()));
  try {
    return is_text(path) ? format::from_text<format::GraphDef>(bytes)
                         : format::decode<format::GraphDef>(bytes);
  } catch (const Error& e) { throw DataLossError("[graph] " + path + " is no GraphDef: " + e.what()); }
}

void write_graph_def_file(const std::string& path, const format::GraphDef& graph) {
  const std::string bytes = is_text(path) ? format::to_text(graph) : format::encode(graph);
  format::AtomicFile file(path, "graph");
  file.write(bytes.data(), bytes.size());
  file.commit();
}

}  // namespace rw::cli
