#include "rewind/function/autograph/elements.h"

#include "rewind/base/error.h"
#include "rewind/function/autograph/contents.h"
#include "rewind/function/staging.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/gather.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/unary.h"
#include "rewind/tensor/tensor_array.h"

namespace rw::autograph {

static void check_range(const Tensor& range) {
  if (range.rank() != 0) return;
  detail::at_users_line([] {
    fail_invalid("for", "the range must have an axis to go along: it is a scalar; rw::range(n) counts");
  });
}

Range<Tensor>::Walk::Walk(const Tensor& range) : range_(range) {
  check_range(range);
  count_ = range.dim(0);
}
Range<TensorArray>::Walk::Walk(const TensorArray& range)
    : range_(range), count_(cast(range.size(), DType::kInt64).item<int64_t>()) {}

namespace detail {
namespace {

// By a counter from 0.
class Counted : public TensorElements {
 public:
  std::vector<Tensor> initial() override { return {constant(0)}; }
  Tensor more(std::span<const Tensor> own) override { return own[0] < count_; }
  void take(std::span<const Tensor> own) override {
    at_ = own[0];
    element_ = pick(at_);
  }
  std::vector<Tensor> next() override { return {at_ + 1}; }

 protected:
  virtual Tensor pick(const Tensor& i) = 0;
  Tensor count_;  // int32

 private:
  Tensor at_;
};

class Rows final : public Counted {
 public:
  explicit Rows(Tensor range) : range_(std::move(range)) {
    const int64_t n = range_.shape().has_rank() ? range_.dim(0) : -1;
    count_ = n >= 0 ? constant(int32_t(n)) : shape(range_)[0];
  }

 private:
  Tensor pick(const Tensor& i) override { return gather(range_, i); }
  const Tensor range_;
};

class ArrayElements final : public Counted {
 public:
  explicit ArrayElements(const TensorArray& array) : array_(array) { count_ = array.size(); }

 private:
  Tensor pick(const Tensor& i) override { return array_.read(i); }
  const TensorArray array_;
};

// rw::range(start, limit, delta) without the array: the number itself is carried. A known step is a constant
// of the body, as somebody would write it.
class Numbers final : public TensorElements {
 public:
  Numbers(Tensor start, Tensor limit, Tensor delta)
      : start_(std::move(start)), limit_(std::move(limit)), delta_(std::move(delta)) {
    if (!value_is_known(delta_)) return;
    if (delta_.dtype() == DType::kInt64) step_ = delta_.item<int64_t>();
    if (delta_.dtype() == DType::kInt32) step_ = delta_.item<int32_t>();
  }
  std::vector<Tensor> initial() override { return {start_}; }
  Tensor more(std::span<const Tensor> own) override {
    const Tensor& i = own[0];
    if (step_) return *step_ > 0 ? i < limit_ : i > limit_;
    return logical_or(logical_and(delta_ > 0, i < limit_), logical_and(delta_<0, i> limit_));
  }
  void take(std::span<const Tensor> own) override { element_ = own[0]; }
  std::vector<Tensor> next() override { return {step_ ? element_ + *step_ : element_ + delta_}; }

 private:
  const Tensor start_, limit_, delta_;
  std::optional<int64_t> step_;
};

}  // namespace

std::unique_ptr<TensorElements> elements_of(const Tensor& range) {
  check_range(range);
  if (is_symbol(range)) {
    const auto& symbol = static_cast<const SymbolImpl&>(*range.impl());
    Trace& trace = *symbol.trace;
    const Node* maker = trace.graph().producer(symbol.value);
    if (maker && maker->op->name == "Range" && is_integer(range.dtype()))
      return std::make_unique<Numbers>(trace.symbol(maker->inputs[0]), trace.symbol(maker->inputs[1]),
                                       trace.symbol(maker->inputs[2]));
  }
  // Gradients of rows go through a list: every iteration adds one row, not a whole array.
  if (is_differentiable(range.dtype()) && range.rank() != 1)
    return std::make_unique<ArrayElements>(
        TensorArray(range.dtype(),
                    {.size = range.shape().has_rank() && range.dim(0) >= 0 ? Tensor(int32_t(range.dim(0)))
                                                                           : shape(range)[0],
                     .clear_after_read = false,
                     .element_shape =
                         [&] {
                           Shape s = range.shape();
                           if (s.has_rank()) s.erase(0);
                           return s;
                         }()})
            .unstack(range));
  return std::make_unique<Rows>(range);
}
std::unique_ptr<TensorElements> elements_of(const TensorArray& range) {
  return std::make_unique<ArrayElements>(range);
}

}  // namespace detail
}  // namespace rw::autograph
