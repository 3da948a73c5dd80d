// What layers have in a .keras archive beside their weights: files in assets/, and arrays by names of their
// own.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rewind/tensor/tensor.h"

namespace rw::keras {

class LayerAssets {
 public:
  virtual ~LayerAssets() = default;
  // File names and contents; none where the config says it all.
  virtual std::vector<std::pair<std::string, std::string>> assets() const = 0;
  // `read` gives the content of a file, or nothing where there is none.
  virtual void load_assets(
      const std::function<std::optional<std::string>(const std::string& name)>& read) = 0;
  virtual std::vector<std::pair<std::string, Tensor>> own_arrays() const { return {}; }
  // Comes before load_assets.
  virtual void load_own_arrays(const std::function<Tensor(const std::string& name)>& read) { (void)read; }
  // Where Keras has a part that saves the same again: "_lookup_layer".
  virtual std::string part_with_the_same() const { return {}; }
};

}  // namespace rw::keras
