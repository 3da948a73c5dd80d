// for (auto [x, y] : dataset) in staged functions: see function/autograph/loop.h. The loop carries an
// iterator as a resource; no gradient flows through it.
#pragma once

#include "rewind/data/dataset.h"
#include "rewind/function/autograph/loop.h"

namespace rw::autograph {
namespace detail {

template <class T>
class DatasetElements final : public Elements {
 public:
  explicit DatasetElements(const data::DatasetOf<T>& dataset)
      : dataset_(dataset), iterator_(data::make_iterator(dataset.made())) {}
  std::vector<Tensor> initial() override { return {}; }
  Tensor more(std::span<const Tensor>) override { return data::iterator_has_next(iterator_); }
  void take(std::span<const Tensor>) override {
    data::Element all = data::iterator_next(iterator_, specs());
    there_ = all[0];
    data::Element tensors;
    for (size_t i = 1; i < all.size(); ++i) tensors.push_back(all[i]);
    element_.emplace(dataset_.form()->read(tensors, dataset_.node()));
  }
  std::vector<Tensor> next() override { return {}; }
  bool asking_has_effects() const override { return true; }
  Tensor always() const override { return data::fully_known(specs()) ? Tensor() : there_; }
  bool relaxes_shapes() const override { return true; }
  const T& element() const { return *element_; }

 private:
  const data::Specs& specs() const { return dataset_.node().specs(); }
  const data::DatasetOf<T> dataset_;
  const Tensor iterator_;
  Tensor there_;
  std::optional<T> element_;
};

}  // namespace detail

template <class T>
struct Range<data::DatasetOf<T>> {
  static constexpr bool kStages = true;
  class Walk {
   public:
    explicit Walk(const data::DatasetOf<T>& dataset) : pass_(dataset.iterator()) {}
    // Takes the next element.
    bool more() {
      now_ = pass_.next();
      return now_.has_value();
    }
    T element() { return *now_; }
    void next() {}

   private:
    data::Iterator<T> pass_;
    std::optional<T> now_;
  };
  using Staged = detail::DatasetElements<T>;
  static std::unique_ptr<Staged> stage(const data::DatasetOf<T>& dataset) {
    return std::make_unique<Staged>(dataset);
  }
};

template <class T>
inline constexpr bool is_object<data::DatasetOf<T>> = true;
template <class T>
inline constexpr bool is_object<data::Iterator<T>> = true;

}  // namespace rw::autograph
