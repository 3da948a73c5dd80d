// The definitions of ops, as a MetaGraph holds them of those that it uses.
#pragma once

#include "rewind/format/saved_model.h"
#include "rewind/op/op.h"

namespace rw::saved {

format::OpDef op_def(const Op& op);
// Of the rows of the op table that the graph and its functions use, by name.
format::OpList used_ops(const format::GraphDef& graph);

}  // namespace rw::saved
