#include "rewind/runtime/recipe.h"

#include <cmath>
#include <new>

namespace rw {

Recipe* Recipe::allocate(const Op& op, const Attrs& attrs, size_t num_inputs, size_t num_outputs) {
  void* room =
      ::operator new(sizeof(Recipe) + num_outputs * sizeof(RecipeOutput) + num_inputs * sizeof(RecipeInput));
  auto* r = ::new (room) Recipe{.refs = 1,
                                .num_inputs = uint16_t(num_inputs),
                                .num_outputs = uint16_t(num_outputs),
                                .op = &op,
                                .attrs = attrs,
                                .start = 0,
                                .cost = 0,
                                .missing = 0,
                                .place = 0,
                                .uses = 0,
                                .in_cuts = false,
                                .was_cut = false,
                                .backward = false};
  for (size_t i = 0; i < num_outputs; ++i)
    ::new (static_cast<void*>(r->outputs() + i)) RecipeOutput{.data = nullptr,
                                                              .handle = nullptr,
                                                              .shape = nullptr,
                                                              .pins = 0,
                                                              .slot = -1,
                                                              .used = 0,
                                                              .index = uint16_t(i),
                                                              .dtype = DType::kInvalid,
                                                              .fixed = 0,
                                                              .lost = 0};
  return r;
}

void Recipe::free(Recipe* recipe) {
  recipe->~Recipe();
  ::operator delete(recipe);
}

double cost_of(const Op& op, std::span<const Value* const> inputs, std::span<const Value> outputs) {
  double bytes = 0;
  double largest[2] = {0, 0};  // inputs, in elements
  for (const Value* v : inputs) {
    bytes += double(v->size) * double(size_of(v->dtype));
    const double size = double(v->size);
    if (size > largest[0]) largest[1] = std::exchange(largest[0], size);
    else if (size > largest[1]) largest[1] = size;
  }
  double made = 0;
  for (const Value& v : outputs) {
    bytes += double(v.size) * double(size_of(v.dtype));
    made = std::max(made, double(v.size));
  }
  double ns = 100 + bytes * 0.1;
  // A product of (m, k) and (k, n) is m k n steps: the root of the product of the three sizes. The same holds
  // of convolutions.
  if (!op.elementwise && largest[1] > 1) ns += 0.02 * std::sqrt(largest[0] * largest[1] * made);
  return ns;
}

}  // namespace rw
