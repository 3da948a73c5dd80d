#include "rewind/base/error.h"

#include "rewind/base/error_context.h"

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

void throw_like(const Error& error, const std::string& message) {
  switch (error.code()) {
    case ErrorCode::kInvalidArgument: throw InvalidArgumentError(message);
    case ErrorCode::kNotFound: throw NotFoundError(message);
    case ErrorCode::kAlreadyExists: throw AlreadyExistsError(message);
    case ErrorCode::kResourceExhausted: throw ResourceExhaustedError(message);
    case ErrorCode::kFailedPrecondition: throw FailedPreconditionError(message);
    case ErrorCode::kAborted: throw AbortedError(message);
    case ErrorCode::kOutOfRange: throw OutOfRangeError(message);
    case ErrorCode::kUnimplemented: throw UnimplementedError(message);
    case ErrorCode::kInternal: throw InternalError(message);
    case ErrorCode::kDataLoss: throw DataLossError(message);
    case ErrorCode::kCancelled:
    case ErrorCode::kUnknown:
    case ErrorCode::kPermissionDenied: break;
  }
  throw Error(error.code(), message);
}

}  // namespace rw
