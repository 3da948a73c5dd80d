// The text of GraphDef and of the messages in it that other files hold by themselves.
#include "rewind/format/graph_def_fields.h"
#include "rewind/format/text_format.h"

namespace rw::format {

#define RW_INSTANTIATE(M)                 \
  template std::string to_text(const M&); \
  template M from_text(std::string_view);
RW_INSTANTIATE(GraphDef)
RW_INSTANTIATE(NodeDef)
RW_INSTANTIATE(AttrValue)
RW_INSTANTIATE(TensorProto)
RW_INSTANTIATE(TensorShapeProto)
RW_INSTANTIATE(FunctionDef)
RW_INSTANTIATE(FunctionDefLibrary)
RW_INSTANTIATE(OpDef)
#undef RW_INSTANTIATE

}  // namespace rw::format
