// How Keras wrote the inputs or the outputs of a model: one tensor, or lists and dictionaries of tensors, in
// any depth. Tensors are numbered as Keras flattens them: dictionaries by their keys.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rewind/keras/config_fields.h"

namespace rw::keras {

struct TensorStructure {
  // kPlain: one tensor; of a whole model also a list of several of which nothing else is known.
  enum class Kind : uint8_t { kPlain, kList, kDict };
  Kind kind = Kind::kPlain;
  std::vector<TensorStructure> items = {};
  std::vector<std::string> keys = {};  // of a dictionary, sorted, one per item

  // Whether lists or dictionaries are in lists or dictionaries.
  bool is_nested() const;
  // What Keras calls the tensors: by their keys, "u" and "u/v", and in lists by names of their own,
  // "u/dense".
  std::vector<std::string> paths(const std::vector<std::string>& names) const;
};

// [layer, call, result]: a tensor of a graph in a config.
bool is_tensor_leaf(const Config& c);
// `add` is called with each leaf, in order.
TensorStructure read_structure(const Config& c, const std::function<void(const Config& leaf)>& add);
// The way back: next(i) writes the i-th of `count` tensors.
Config structure_config(const TensorStructure& structure, size_t count,
                        const std::function<Config(size_t i)>& next);

}  // namespace rw::keras
