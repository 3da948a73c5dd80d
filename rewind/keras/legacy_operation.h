// TensorFlow's functions in functional models of Keras 2 (TFOpLambda, SlicingOpLambda) as operations of
// keras.ops.
//
//   {"class_name": "TFOpLambda", "config": {"name": "tf.math.multiply", "function": "math.multiply", ...},
//    "inbound_nodes": [["dense", 0, 0, {"y": 2.0, "name": null}]]}
#pragma once

#include <string>

#include "rewind/keras/config_fields.h"

namespace rw::keras {

struct LegacyOperation {
  const char* function;   // "math.multiply"
  const char* operation;  // "Multiply"
  const char* second;     // the named argument that is a tensor, too; null: there is none
};

// Whether a layer of a graph is such a function.
bool is_legacy_operation(const Config& layer);
// Throws UnimplementedError, with the layer's name, for a function that has no such operation.
const LegacyOperation& legacy_operation(const Config& layer);
// What follows from a named argument of the function: an entry of the operation's options, or of its extra
// arguments.
void add_legacy_option(const LegacyOperation& operation, const std::string& name, const Config& value,
                       Config* options, Config::Array* extra);

}  // namespace rw::keras
