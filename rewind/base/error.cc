#include "rewind/base/error.h"

namespace rw {
namespace {

std::string tagged(std::string_view tag, std::string_view message) {
  std::string text;
  text.reserve(tag.size() + message.size() + 3);
  if (!tag.empty()) text.append("[").append(tag).append("] ");
  return text.append(message);
}

}  // namespace

void fail_invalid(std::string_view tag, std::string_view message) {
  throw InvalidArgumentError(tagged(tag, message));
}
void fail_out_of_range(std::string_view tag, std::string_view message) {
  throw OutOfRangeError(tagged(tag, message));
}
void fail_unimplemented(std::string_view tag, std::string_view message) {
  throw UnimplementedError(tagged(tag, message));
}
void fail_precondition(std::string_view tag, std::string_view message) {
  throw FailedPreconditionError(tagged(tag, message));
}
void fail_not_found(std::string_view tag, std::string_view message) {
  throw NotFoundError(tagged(tag, message));
}
void fail_exhausted(std::string_view tag, std::string_view message) {
  throw ResourceExhaustedError(tagged(tag, message));
}
void fail_internal(const char* file, int line, const char* condition) {
  throw InternalError(std::string("internal error at ") + file + ":" + std::to_string(line) + ": " +
                      condition + " does not hold; please report it");
}

}  // namespace rw
