// Iterators as objects of checkpoints: their position, one string. TensorFlow keeps its own iterators' state
// in another value, ITERATOR_STATE, which only it can read.
#include "rewind/base/error.h"
#include "rewind/data/dataset.h"

namespace rw::data {
namespace {

class IteratorView final : public Trackable {
 public:
  explicit IteratorView(Ref<Pass> pass) : pass_(std::move(pass)) {}
  ObjectId id() const override { return {"iterator", uint64_t(reinterpret_cast<uintptr_t>(&*pass_))}; }
  std::vector<TrackableValue> values() const override {
    return {{.name = "POSITION",
             .full_name = {},
             .variable = {},
             .save = [pass = pass_] { return constant(pass->position()); },
             .restore =
                 [pass = pass_](const Tensor& value) {
                   if (value.dtype() != DType::kString || value.rank() != 0)
                     throw DataLossError("[restore] the position of an iterator must be a string: it is " +
                                         std::string(name_of(value.dtype())) + " " +
                                         value.shape().to_string());
                   pass->set_position(value.item<std::string>());
                 }}};
  }
  std::string describe() const override { return "iterator of a dataset"; }

 private:
  Ref<Pass> pass_;
};

}  // namespace

TrackablePtr trackable_of_pass(const Tensor& handle) {
  return std::make_shared<IteratorView>(pass_of(handle));
}

}  // namespace rw::data
