// The text of SavedModel and of the messages in it that other files hold by themselves.
#include "rewind/format/saved_model_fields.h"
#include "rewind/format/text_format.h"

namespace rw::format {

#define RW_INSTANTIATE(M)                 \
  template std::string to_text(const M&); \
  template M from_text(std::string_view);
RW_INSTANTIATE(SavedModel)
RW_INSTANTIATE(MetaGraphDef)
RW_INSTANTIATE(SignatureDef)
RW_INSTANTIATE(SavedObjectGraph)
RW_INSTANTIATE(TrackableObjectGraph)
RW_INSTANTIATE(StructuredValue)
RW_INSTANTIATE(FingerprintDef)
#undef RW_INSTANTIATE

}  // namespace rw::format
