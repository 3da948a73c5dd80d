// What a For walks over. A range that is a tensor, or holds tensors, is staged while a function is traced;
// others are the host's.
#pragma once

#include "rewind/function/nest.h"

namespace rw::autograph {
namespace detail {

// A staged range: what the loop carries for it, beside the user's variables.
class Elements {
 public:
  virtual ~Elements() = default;
  virtual std::vector<Tensor> initial() = 0;
  // In the condition's graph: whether there is an element.
  virtual Tensor more(std::span<const Tensor> own) = 0;
  // In the body's graph, at its begin and end: takes the element; what the next iteration gets.
  virtual void take(std::span<const Tensor> own) = 0;
  virtual std::vector<Tensor> next() = 0;
  // Whether asking for more has effects, so that it is asked only where the loop's other condition is true.
  virtual bool asking_has_effects() const { return false; }
  // Behind take(), defined: true whenever it runs. The rest of the body becomes a branch, which is compiled
  // for the sizes that come.
  virtual Tensor always() const { return {}; }
  // Whether states may take the elements' sizes.
  virtual bool relaxes_shapes() const { return false; }
};

// Elements that are tensors.
class TensorElements : public Elements {
 public:
  const Tensor& element() const { return element_; }

 protected:
  Tensor element_;
};
std::unique_ptr<TensorElements> elements_of(const Tensor& range);
std::unique_ptr<TensorElements> elements_of(const TensorArray& range);

}  // namespace detail

// How a For walks over an R: specialised for what can be staged. This one is the host's.
template <class R>
struct Range {
  static constexpr bool kStages = false;
};

// walk(range): on the host, element by element; stage(range): in a trace.
template <>
struct Range<Tensor> {
  static constexpr bool kStages = true;
  class Walk {
   public:
    explicit Walk(const Tensor& range);
    bool more() const { return at_ < count_; }
    Tensor element() const { return range_[at_]; }
    void next() { ++at_; }

   private:
    Tensor range_;
    int64_t at_ = 0, count_;
  };
  using Staged = detail::TensorElements;
  static std::unique_ptr<Staged> stage(const Tensor& range) { return detail::elements_of(range); }
};
template <>
struct Range<Variable> : Range<Tensor> {};
template <>
struct Range<TensorArray> {
  static constexpr bool kStages = true;
  class Walk {
   public:
    explicit Walk(const TensorArray& range);
    bool more() const { return at_ < count_; }
    Tensor element() const { return range_.read(at_); }
    void next() { ++at_; }

   private:
    TensorArray range_;
    int64_t at_ = 0, count_;
  };
  using Staged = detail::TensorElements;
  static std::unique_ptr<Staged> stage(const TensorArray& range) { return detail::elements_of(range); }
};

}  // namespace rw::autograph
