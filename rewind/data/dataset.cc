#include "rewind/data/dataset.h"

#include "rewind/base/error.h"
#include "rewind/device/parallel.h"

namespace rw::data {

void fail_no_form() {
  fail_precondition("Dataset",
                    "the structure of the elements is not known: the dataset they come from is empty");
}

const Node& Dataset::node() const {
  if (!made_.node) fail_precondition("Dataset", "this dataset is undefined: it was default-constructed");
  return *made_.node;
}

std::vector<TensorSpec> Dataset::element_spec() const {
  std::vector<TensorSpec> specs;
  for (const LeafSpec& s : node().specs()) specs.push_back({s.shape, s.dtype});
  return specs;
}

std::optional<Specs> specs_of(const std::optional<std::vector<TensorSpec>>& signature) {
  if (!signature) return {};
  Specs specs;
  for (const TensorSpec& s : *signature) specs.push_back({s.dtype, s.shape, s.shape});
  return specs;
}

int64_t cores_if_autotune(int64_t n) { return n == kAutotune ? num_threads() : n; }

}  // namespace rw::data
