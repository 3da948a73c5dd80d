// Any bytes as the messages that files hold, binary and as text; what was read is written and read again.
#include "rewind/base/error.h"
#include "rewind/format/message.h"
#include "rewind/format/saved_model.h"
#include "tests/fuzz/fuzz.h"

namespace rw::fuzz {
namespace {

template <class M>
void read_as(std::string_view bytes, bool text) {
  try {
    const M m = text ? format::from_text<M>(bytes) : format::decode<M>(bytes);
    const std::string binary = format::encode(m);
    if (format::encode(format::decode<M>(binary)) != binary) abort();
    const std::string written = format::to_text(m);
    if (format::to_text(format::from_text<M>(written)) != written) abort();
  } catch (const Error&) {}  // NOLINT(bugprone-empty-catch): what is damaged is refused
}

void read(std::string_view bytes) {
  if (bytes.empty()) return;
  const auto kind = static_cast<unsigned char>(bytes[0]);
  bytes.remove_prefix(1);
  const bool text = kind & 1;
  switch ((kind >> 1) % 4) {
    case 0: return read_as<format::SavedModel>(bytes, text);
    case 1: return read_as<format::TrackableObjectGraph>(bytes, text);
    case 2: return read_as<format::StructuredValue>(bytes, text);
    default: return read_as<format::MetaGraphDef>(bytes, text);
  }
}

}  // namespace
}  // namespace rw::fuzz

REWIND_FUZZ_TARGET(message, rw::fuzz::read, rw::fuzz::mutate_bytes)
