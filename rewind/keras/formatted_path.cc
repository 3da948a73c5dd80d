// Paths with {epoch:02d} and {val_loss:.2f} in them.
#include <cmath>

#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/keras/model_checkpoint.h"
#include "rewind/tensor/float_text.h"

namespace rw::keras {
namespace {

// A field as Python's str.format knows it: {name:spec}.
struct Field {
  std::string name, spec;
};

class Formatter {
 public:
  Formatter(const std::string& pattern, int64_t epoch, std::optional<int64_t> batch, const Logs& logs)
      : pattern_(pattern), epoch_(epoch), batch_(batch), logs_(logs) {}

  std::string run() {
    std::string out;
    for (size_t at = 0; at < pattern_.size(); ++at) {
      const char c = pattern_[at];
      const bool twice = at + 1 < pattern_.size() && pattern_[at + 1] == c;
      if ((c == '{' || c == '}') && twice) {
        out += c;
        ++at;
      } else if (c == '{') {
        const size_t end = pattern_.find('}', at);
        if (end == std::string::npos) fail("a { without its }");
        out += text(field(pattern_.substr(at + 1, end - at - 1)));
        at = end;
      } else if (c == '}') {
        fail("a } without its {");
      } else {
        out += c;
      }
    }
    return out;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    fail_invalid("ModelCheckpoint", "failed to format the file path \"" + pattern_ + "\": " + why);
  }

  static Field field(const std::string& inside) {
    const size_t colon = inside.find(':');
    if (colon == std::string::npos) return {inside, {}};
    return {inside.substr(0, colon), inside.substr(colon + 1)};
  }

  std::string text(const Field& f) const {
    if (f.name == "epoch") return integer(epoch_ + 1, f.spec);
    if (f.name == "batch" && batch_) return integer(*batch_ + 1, f.spec);
    if (const std::optional<double> value = logs_.get(f.name)) return real(*value, f.spec);
    fail("there is no \"" + f.name + "\"; there are epoch" + (batch_ ? ", batch" : "") +
         (logs_.empty() ? "" : ", " + logs_.names()));
  }

  struct Spec {
    bool zeros = false;
    size_t width = 0;
    int precision = 6;
    bool precise = false;
    char type = 0;
  };
  Spec parsed(const std::string& text) const {
    constexpr size_t kWidest = 100;
    Spec s;
    size_t at = 0;
    const auto number = [&](size_t usual) {
      size_t n = usual;
      for (bool first = true; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, first = false)
        n = std::min(kWidest, (first ? 0 : n) * 10 + size_t(text[at] - '0'));
      return n;
    };
    if (at < text.size() && text[at] == '0') s.zeros = true;
    s.width = number(0);
    if (at < text.size() && text[at] == '.') {
      ++at;
      s.precise = true;
      s.precision = int(number(6));
    }
    if (at < text.size()) s.type = text[at++];
    if (at != text.size()) fail("the format \"" + text + "\" is not [0][width][.precision][d, f, e or g]");
    return s;
  }
  static std::string padded(std::string text, const Spec& s) {
    if (text.size() >= s.width) return text;
    const bool sign = s.zeros && text.starts_with('-');
    return text.insert(sign ? 1 : 0, s.width - text.size(), s.zeros ? '0' : ' ');
  }
  std::string integer(int64_t value, const std::string& spec) const {
    const Spec s = parsed(spec);
    if (s.type == 0 || s.type == 'd') return padded(std::to_string(value), s);
    return real(double(value), spec);
  }
  std::string real(double value, const std::string& spec) const {
    const Spec s = parsed(spec);
    switch (s.type) {
      case 'f': return padded(fixed_text(value, s.precision), s);
      case 'e': return padded(exponential_text(value, s.precision), s);
      case 'g': return padded(general_text(value, s.precision), s);
      case 0:
        return padded(s.precise ? general_text(value, s.precision) : scalar_text(value, DType::kFloat64), s);
      default: fail("\"" + spec + "\" is no format of a real number");
    }
  }

  const std::string& pattern_;
  int64_t epoch_;
  std::optional<int64_t> batch_;
  const Logs& logs_;
};

}  // namespace

std::string formatted_path(const std::string& pattern, int64_t epoch, std::optional<int64_t> batch,
                           const Logs& logs) {
  return Formatter(pattern, epoch, batch, logs).run();
}

}  // namespace rw::keras
