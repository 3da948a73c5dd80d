// Which layer of a model is where in Keras' files: objects by their paths, as Keras 3 walks a model.
//
//   vars                                         of the model itself
//   layers/dense/vars, layers/dense_1/vars       of a functional or Sequential model: classes in snake_case,
//                                                numbered in the order of layers()
//   layers/sequential/layers/dense/vars          of a model inside
//   layers/lstm/cell/vars, .../forward_layer/cell/vars, .../query_dense/vars
//                                                of layers that Keras makes of others
//   hidden/vars, blocks/dense/vars               of a class of the user's: members in the order of their
//                                                names, lists and maps by classes; those of a model that
//                                                come behind "layers" are in layers/
//   optimizer/vars                               of a compiled model
//
// An object that several paths lead to has the first. The .weights.h5 files and the model.weights.h5 of
// .keras archives have a group for each object with its variables, vars/0, vars/1, ...; assets of a layer
// lie under the same path.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rewind/keras/model.h"

namespace rw::keras {

struct LayerState;
class LayerAssets;

struct SavedObject {
  std::string path;                 // "layers/dense"; of the model ""
  std::string name;                 // "dense_7"
  std::vector<Variable> variables;  // trainable ones first
  bool optimizer = false;
  bool built = true;
  std::shared_ptr<LayerState> layer;  // nullptr: an optimizer, or a part that only Keras has
};

// What the object has beside its weights; null: nothing.
LayerAssets* assets_of(const SavedObject& object);
// Where that lies: "layers/lookup", and where Keras has a part that saves it again.
std::vector<std::string> asset_places(const SavedObject& object);

// The model comes first, objects before what is inside them.
std::vector<SavedObject> saved_objects(const Model& model);

}  // namespace rw::keras
