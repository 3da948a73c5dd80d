#include "rewind/base/call_site.h"

#include <unwind.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <typeinfo>

#include "rewind/base/dynamic_type.h"
#include "rewind/base/error_note.h"
#include "rewind/base/symbolise.h"

namespace rw {
namespace {

constexpr size_t kMostFrames = 32;

struct Walk {
  uintptr_t* frames;
  size_t count = 0;
  int skip = 0;
  uintptr_t end = 0;
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* data) {
  Walk& walk = *static_cast<Walk*>(data);
  if (walk.end != 0 && uintptr_t(_Unwind_GetCFA(context)) > walk.end) return _URC_END_OF_STACK;
  if (walk.skip-- > 0) return _URC_NO_REASON;
  const uintptr_t address = uintptr_t(_Unwind_GetIP(context));
  if (address == 0 || walk.count == kMostFrames) return _URC_END_OF_STACK;
  walk.frames[walk.count++] = address - 1;  // the call, not what comes behind it
  return _URC_NO_REASON;
}

using Frames = std::array<uintptr_t, kMostFrames>;

// Leaves itself and its caller out.
[[gnu::noinline]] size_t walk_stack(Frames& frames, const void* stack_end) {
  Walk walk{.frames = frames.data(), .skip = 2, .end = reinterpret_cast<uintptr_t>(stack_end)};
  _Unwind_Backtrace(visit, &walk);
  return walk.count;
}

uint64_t hash_of(const uintptr_t* frames, size_t count) {
  uint64_t h = count;
  for (size_t i = 0; i < count; ++i) h = (h ^ frames[i]) * 0x9e3779b97f4a7c15, h ^= h >> 29;
  return h;
}

// The text grows when it is read: what() of an error that is caught and dropped costs nothing.
struct LazyText {
  std::string text;
  std::vector<ErrorPlace> places;
  std::once_flag once;

  const char* get() {
    std::call_once(once, [&] {
      for (const ErrorPlace& p : places)
        if (const std::string where = p.site->describe(); !where.empty())
          text.append("\n  ").append(p.relation).append(" ").append(where);
    });
    return text.c_str();
  }
};

class HasPlaces {
 public:
  virtual ~HasPlaces() = default;
  virtual const std::vector<ErrorPlace>& places() const = 0;
};

template <ErrorCode kCode>
class ErrorWithPlaces final : public ErrorOf<kCode>, public HasPlaces {
 public:
  ErrorWithPlaces(const std::string& message, std::vector<ErrorPlace> places)
      : ErrorOf<kCode>(message), text_(std::make_shared<LazyText>()) {
    text_->text = message;
    text_->places = std::move(places);
  }
  const char* what() const noexcept override {
    try {
      return text_->get();
    } catch (...) { return std::runtime_error::what(); }
  }
  const std::vector<ErrorPlace>& places() const override { return text_->places; }

 private:
  std::shared_ptr<LazyText> text_;
};

// Without places.
const char* message_of(const Error& error) { return error.std::runtime_error::what(); }

// f.operator()<code>()
template <class F>
bool with_code(ErrorCode code, const F& f) {
  switch (code) {
#define RW_CASE(code) \
  case ErrorCode::code: return f.template operator()<ErrorCode::code>();
    RW_CASE(kCancelled)
    RW_CASE(kUnknown)
    RW_CASE(kInvalidArgument)
    RW_CASE(kNotFound)
    RW_CASE(kAlreadyExists)
    RW_CASE(kPermissionDenied)
    RW_CASE(kResourceExhausted)
    RW_CASE(kFailedPrecondition)
    RW_CASE(kAborted)
    RW_CASE(kOutOfRange)
    RW_CASE(kUnimplemented)
    RW_CASE(kInternal)
    RW_CASE(kDataLoss)
#undef RW_CASE
  }
  return false;
}

[[noreturn]] void throw_as(ErrorCode code, const std::string& message,
                           const std::vector<ErrorPlace>& places) {
  with_code(code, [&]<ErrorCode kCode>() -> bool {
    if (places.empty()) throw ErrorOf<kCode>(message);
    throw ErrorWithPlaces<kCode>(message, places);
  });
  throw Error(code, message);
}

// Not of a class of the user's, which carries what is its own.
bool is_plain(const Error& error) {
  return with_code(error.code(),
                   [&]<ErrorCode kCode>() { return same_class<Error>(error, ErrorOf<kCode>("")); });
}

}  // namespace

[[gnu::noinline]] CallSite CallSite::here(const void* stack_end) {
  Frames frames;
  const size_t count = walk_stack(frames, stack_end);
  return CallSite(std::vector<uintptr_t>(frames.begin(), frames.begin() + ptrdiff_t(count)));
}

[[gnu::noinline]] CallSiteRef CallSites::here(const void* stack_end) {
  Frames frames;
  const size_t count = walk_stack(frames, stack_end);
  const uint64_t hash = hash_of(frames.data(), count);
  const auto [from, to] = by_hash_.equal_range(hash);
  for (auto it = from; it != to; ++it) {
    const std::vector<uintptr_t>& known = it->second->frames();
    if (std::equal(known.begin(), known.end(), frames.begin(), frames.begin() + ptrdiff_t(count)))
      return it->second;
  }
  auto made = std::make_shared<const CallSite>(
      std::vector<uintptr_t>(frames.begin(), frames.begin() + ptrdiff_t(count)));
  by_hash_.emplace(hash, made);
  return made;
}

std::string CallSite::describe() const { return symbolise(frames_); }

void throw_with_places(const Error& error, std::vector<ErrorPlace> places) {
  std::erase_if(places, [](const ErrorPlace& p) { return !p.site; });
  if (places.empty() || dynamic_cast_to<const HasPlaces*>(&error)) throw;  // NOLINT: the caller's exception
  throw_as(error.code(), error.what(), places);
}

void throw_with_note(const Error& error, const std::string& note,
                     std::initializer_list<std::string_view> said) {
  const std::string message = message_of(error);
  const auto* placed = dynamic_cast_to<const HasPlaces*>(&error);
  if (!placed && !is_plain(error)) throw;  // NOLINT: the caller's exception
  for (const std::string_view text : said)
    if (message.find(text) != std::string::npos) throw;  // NOLINT
  throw_as(error.code(), message + note, placed ? placed->places() : std::vector<ErrorPlace>());
}

}  // namespace rw
