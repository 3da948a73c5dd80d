// Weights in Keras' files: .weights.h5 with a group for each object (saved_objects.h), and the older layout
// with a group for each layer:
//
//   layer_names, backend, keras_version          attributes of the file, or of its group model_weights
//   dense                                        group of a layer; its attribute weight_names lists paths
//   dense/sequential/dense/kernel                arrays by these paths, trainable weights first
//   top_level_model_weights                      the same for the model's own
//   optimizer_weights                            beside model_weights, in a whole model's file
//
// Lists of names that are too long for an attribute are cut: layer_names0, layer_names1, ...
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rewind/format/hdf5.h"
#include "rewind/format/hdf5_writer.h"
#include "rewind/keras/saved_objects.h"

namespace rw::keras {

inline constexpr const char* kKerasVersion = "3.15.1";  // the one that files say they are of

enum class WeightsFormat { kArrays, kKeras, kLegacy, kArchive };
// .weights.h5 is Keras', other .h5 and .hdf5 the older one, .keras an archive.
WeightsFormat weights_format(const std::string& path);

// A tree to be written, with the values that it points to: snapshots, which share the variables' memory.
class WeightsTree {
 public:
  format::Hdf5Group root;
  void add(const std::string& path, const Variable& variable) { add(path, variable.value()); }
  void add(const std::string& path, const Tensor& value);

 private:
  std::deque<Tensor> values_;
};

// ---- Keras 3. All objects, the optimizer of a compiled model among them.
void put_weights(const Model& model, WeightsTree* tree);
// Loads all or nothing, or with skip_mismatch what fits: objects up to their first variable that does not.
// The optimizer is loaded if it has as many variables as the file, as in Keras; with training_state it must.
// Objects that only the file has are left alone: they are `unexpected` in the report. `path` is for messages.
LoadReport load_weights(const Model& model, const format::Hdf5Object& root, const std::string& path,
                        const LoadWeightsOptions& options);

// ---- the older layout
// Into the group "model_weights" of a whole model's file, or "" for one with weights alone.
void put_legacy_weights(const Model& model, const std::string& group, WeightsTree* tree);
void put_legacy_optimizer(const Optimizer& optimizer, WeightsTree* tree);
// From the file's root, or its group model_weights.
LoadReport load_legacy_weights(const Model& model, const format::Hdf5Object& group, const std::string& path,
                               const LoadWeightsOptions& options);
// Whether the file has an optimizer's variables, of which all fit.
bool load_legacy_optimizer(const Optimizer& optimizer, const format::Hdf5Object& root);

// A list of strings that may be cut into several attributes.
std::vector<std::string> read_string_list(const format::Hdf5Object& object, const std::string& name);
void put_string_list(const std::vector<std::string>& list, const std::string& name,
                     format::Hdf5Attributes* attributes);

// Variables and the arrays that they take, which fit: reads what may be damaged before it changes anything.
void assign_all(const std::vector<std::pair<Variable, format::Hdf5Object>>& pairs);
// "w.weights.h5 does not fit model "net": 2 objects could not be loaded: ..."
[[noreturn]] void fail_unfit(const Model& model, const std::string& path, const LoadReport& report);

// An array of numbers as Keras stores it: bfloat16 is two opaque bytes.
Tensor read_tensor(const format::Hdf5Object& array);

}  // namespace rw::keras
