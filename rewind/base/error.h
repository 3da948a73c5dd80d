// Errors that reach the user, with TensorFlow's classes. A message reads "[op] rule: what was got; hint".
// Mistakes of the library itself are InternalError, raised by RW_CHECK with file and line.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace rw {

// Numbers are those of TensorFlow's error codes.
enum class ErrorCode {
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kDataLoss = 15,
};

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

template <ErrorCode kCode>
class ErrorOf : public Error {
 public:
  explicit ErrorOf(const std::string& message) : Error(kCode, message) {}
};

using InvalidArgumentError = ErrorOf<ErrorCode::kInvalidArgument>;
using NotFoundError = ErrorOf<ErrorCode::kNotFound>;
using AlreadyExistsError = ErrorOf<ErrorCode::kAlreadyExists>;
using ResourceExhaustedError = ErrorOf<ErrorCode::kResourceExhausted>;
using FailedPreconditionError = ErrorOf<ErrorCode::kFailedPrecondition>;
using AbortedError = ErrorOf<ErrorCode::kAborted>;
using OutOfRangeError = ErrorOf<ErrorCode::kOutOfRange>;
using UnimplementedError = ErrorOf<ErrorCode::kUnimplemented>;
using InternalError = ErrorOf<ErrorCode::kInternal>;
using DataLossError = ErrorOf<ErrorCode::kDataLoss>;

// Each throws; `tag` is the op or function that the user called.
[[noreturn]] void fail_invalid(std::string_view tag, std::string_view message);
[[noreturn]] void fail_out_of_range(std::string_view tag, std::string_view message);
[[noreturn]] void fail_unimplemented(std::string_view tag, std::string_view message);
[[noreturn]] void fail_precondition(std::string_view tag, std::string_view message);
[[noreturn]] void fail_not_found(std::string_view tag, std::string_view message);
[[noreturn]] void fail_exhausted(std::string_view tag, std::string_view message);
[[noreturn]] void fail_internal(const char* file, int line, const char* condition);

}  // namespace rw

#define RW_CHECK(condition) \
  (__builtin_expect(!!(condition), 1) ? void(0) : ::rw::fail_internal(__FILE__, __LINE__, #condition))
