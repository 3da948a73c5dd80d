// How a value was made, so that it can be made again: one call of an op, with what it read. Recipes refer to
// the recipes of their inputs; values without a recipe (parameters' snapshots, user data) are leaves that
// they keep. A recipe is one block of memory: the header, its outputs, its inputs. Deep histories have many,
// so they are small: 112 bytes for a sum of two.
//
// All of this belongs to the history (runtime/history.h) and is read and written under its lock.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "rewind/op/op.h"
#include "rewind/runtime/storage.h"

namespace rw {

struct Recipe;

struct RecipeInput {
  union {
    Recipe* recipe;  // made by one of its outputs; counted
    Storage* leaf;   // counted
  };
  uint32_t form;
  uint32_t output : 31;
  uint32_t made : 1;  // by `recipe`
};

struct RecipeOutput {
  static constexpr uint32_t kNoForm = (uint32_t{1} << 28) - 1;  // an output that is not written down
  static constexpr size_t kMost = size_t{1} << 12;              // outputs of a recipe

  void* data;           // nullptr while it is dropped
  Storage* handle;      // of the tensors that hold it; nullptr when only recipes want it
  int32_t slot;         // in the history's list of loose values; -1: not there
  uint32_t used;        // the clock at its last use
  uint32_t pins : 20;   // readers right now
  uint32_t index : 12;  // of this output
  uint32_t form : 28;
  uint32_t fixed : 2;  // 1: never dropped; 2: besides, the memory is the handle's, which is counted
  uint32_t lost : 1;   // dropped, and a tensor holds it
  uint32_t filed : 1;  // a file holds a copy

  Recipe& recipe();
  bool written() const { return form != kNoForm; }
};

struct Recipe {
  uint32_t refs;
  uint16_t num_inputs;
  uint16_t num_outputs;
  const Op* op;
  Attrs attrs;
  double start;       // what its line cost before it
  float cost;         // what it costs itself, about nanoseconds
  float missing;      // while dropped: what making it again costs, with the inputs that were missing then
  float after;        // what the readers cost that would have to be made again from it, when last looked at
  uint32_t place;     // how many recipes were written before it, on its line
  Recipe* heir;       // of its readers, the one whose value left memory last
  uint16_t line;      // of the history
  uint8_t uses;       // calls that read it, up to 255
  uint8_t units;      // of memory in the store; 0: its own block
  bool in_cuts : 1;   // its output is on the history's list of cuts
  bool was_cut : 1;   // for long, and is no more
  bool backward : 1;  // made by a backward pass; `missing` is then a lower bound from the start

  double end() const { return start + double(cost); }
  RecipeOutput* outputs() { return reinterpret_cast<RecipeOutput*>(this + 1); }
  RecipeInput* inputs() { return reinterpret_cast<RecipeInput*>(outputs() + num_outputs); }
};

inline Recipe& RecipeOutput::recipe() { return *(reinterpret_cast<Recipe*>(this - index) - 1); }

// Where recipes lie: blocks by size, cut from large chunks.
class RecipeStore {
 public:
  // With one count. Inputs are not filled in.
  Recipe* allocate(const Op& op, const Attrs& attrs, size_t num_inputs, size_t num_outputs);
  void free(Recipe* recipe);
  void clear();  // when there are none; keeps a chunk

 private:
  static constexpr size_t kUnit = 16, kUnits = 32, kChunk = size_t{256} << 10;
  struct Free {
    Free* next;
  };
  Free* free_[kUnits + 1] = {};  // blocks of so many units
  char* at_ = nullptr;
  char* end_ = nullptr;
  std::vector<std::unique_ptr<char[]>> chunks_;
};

// Types, sizes and offsets of values, each listed once; recipes hold their numbers.
struct Form {
  Shape shape;
  DType dtype = DType::kInvalid;
  int64_t offset = 0;  // bytes from the start of the storage
  int64_t bytes = 0;
};

class Forms {
 public:
  uint32_t number_of(const Shape& shape, DType dtype, int64_t offset);
  const Form& operator[](uint32_t number) const { return list_[number]; }
  void clear();

 private:
  bool is(uint32_t number, const Shape& shape, DType dtype, int64_t offset) const;
  std::vector<Form> list_;
  std::unordered_multimap<size_t, uint32_t> by_hash_;
  uint32_t recent_[2] = {0, 0};
};

// An estimate from sizes alone, so that decisions do not depend on the clock.
double cost_of(const Op& op, std::span<const Value* const> inputs, std::span<const Value> outputs);

}  // namespace rw
