// GraphDefs in files, binary or as text.
#pragma once

#include <string>

#include "rewind/format/graph_def.h"

namespace rw::cli {

// The ending .pbtxt (or .txt) means text. A SavedModel's folder or saved_model.pb is refused.
format::GraphDef read_graph_def_file(const std::string& path);
void write_graph_def_file(const std::string& path, const format::GraphDef& graph);

}  // namespace rw::cli
