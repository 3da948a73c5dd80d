// How a value was made, so that it can be made again: one call of an op, with what it read. Recipes refer to
// the recipes of their inputs; values without a recipe (parameters' snapshots, user data) are leaves that
// they keep. A recipe is one block of memory: the header, its outputs, its inputs.
//
// All of this belongs to the history (runtime/history.h) and is read and written under its lock.
#pragma once

#include <cstdint>
#include <span>

#include "rewind/op/op.h"
#include "rewind/runtime/storage.h"

namespace rw {

struct Recipe;

struct RecipeInput {
  union {
    Recipe* recipe;  // made by one of its outputs; counted
    Storage* leaf;   // counted
  };
  const Shape* shape;    // the history's
  uint64_t offset : 40;  // bytes from the start of the storage
  uint64_t dtype : 8;
  uint64_t output : 15;
  uint64_t made : 1;  // by `recipe`
};

struct RecipeOutput {
  void* data;          // nullptr while it is dropped
  Storage* handle;     // of the tensors that hold it; nullptr when only recipes want it
  const Shape* shape;  // the history's; nullptr for an output that is not written down
  uint32_t pins;       // readers right now
  int32_t slot;        // in the history's list of loose values; -1: not there
  uint32_t used;       // the clock at its last use
  uint16_t index;      // of this output
  DType dtype;
  uint8_t fixed : 2;  // 1: never dropped; 2: besides, the memory is the handle's, which is counted
  uint8_t lost : 1;   // dropped, and a tensor holds it

  Recipe& recipe();
  size_t bytes() const { return size_t(shape->num_elements()) * size_of(dtype); }
};

struct Recipe {
  uint32_t refs;
  uint16_t num_inputs;
  uint16_t num_outputs;
  const Op* op;
  Attrs attrs;
  double start;    // what the history before it cost
  float cost;      // what it costs itself, about nanoseconds
  float missing;   // while dropped: what making it again costs, with the inputs that were missing then
  uint32_t place;  // how many recipes were written before it
  uint8_t uses;    // calls that read it, up to 255
  bool in_cuts;    // its output is on the history's list of cuts
  bool was_cut;    // for long, and is no more
  bool backward;   // made by a backward pass; `missing` is then a lower bound from the start

  double end() const { return start + double(cost); }
  RecipeOutput* outputs() { return reinterpret_cast<RecipeOutput*>(this + 1); }
  RecipeInput* inputs() { return reinterpret_cast<RecipeInput*>(outputs() + num_outputs); }

  // With one count. Inputs and outputs are not filled in.
  static Recipe* allocate(const Op& op, const Attrs& attrs, size_t num_inputs, size_t num_outputs);
  static void free(Recipe* recipe);
};

inline Recipe& RecipeOutput::recipe() { return *(reinterpret_cast<Recipe*>(this - index) - 1); }

// An estimate from sizes alone, so that decisions do not depend on the clock.
double cost_of(const Op& op, std::span<const Value* const> inputs, std::span<const Value> outputs);

}  // namespace rw
