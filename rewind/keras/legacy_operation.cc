#include "rewind/keras/legacy_operation.h"

#include "rewind/base/error.h"

namespace rw::keras {
namespace {

constexpr LegacyOperation kOperations[] = {
    {"math.add", "Add", "y"},
    {"__operators__.add", "Add", "y"},
    {"math.subtract", "Subtract", "y"},
    {"math.multiply", "Multiply", "y"},
    {"math.truediv", "TrueDivide", "y"},
    {"math.divide", "TrueDivide", "y"},
    {"math.floordiv", "FloorDivide", "y"},
    {"math.floormod", "Mod", "y"},
    {"math.pow", "Power", "y"},
    {"math.maximum", "Maximum", "y"},
    {"math.minimum", "Minimum", "y"},
    {"linalg.matmul", "Matmul", "b"},
    {"math.equal", "Equal", "y"},
    {"math.not_equal", "NotEqual", "y"},
    {"math.less", "Less", "y"},
    {"math.less_equal", "LessEqual", "y"},
    {"math.greater", "Greater", "y"},
    {"math.greater_equal", "GreaterEqual", "y"},
    {"math.negative", "Negative", nullptr},
    {"math.abs", "Absolute", nullptr},
    {"math.sign", "Sign", nullptr},
    {"math.square", "Square", nullptr},
    {"math.sqrt", "Sqrt", nullptr},
    {"math.rsqrt", "Rsqrt", nullptr},
    {"math.exp", "Exp", nullptr},
    {"math.log", "Log", nullptr},
    {"math.log1p", "Log1p", nullptr},
    {"math.floor", "Floor", nullptr},
    {"math.ceil", "Ceil", nullptr},
    {"math.sin", "Sin", nullptr},
    {"math.cos", "Cos", nullptr},
    {"math.tanh", "Tanh", nullptr},
    {"math.sigmoid", "Sigmoid", nullptr},
    {"math.softplus", "Softplus", nullptr},
    {"nn.relu", "Relu", nullptr},
    {"nn.relu6", "Relu6", nullptr},
    {"nn.elu", "Elu", nullptr},
    {"nn.selu", "Selu", nullptr},
    {"nn.silu", "Silu", nullptr},
    {"nn.softmax", "Softmax", nullptr},
    {"nn.log_softmax", "LogSoftmax", nullptr},
    {"nn.leaky_relu", "LeakyRelu", nullptr},
    {"stop_gradient", "StopGradient", nullptr},
    {"identity", "Identity", nullptr},
    {"cast", "Cast", nullptr},
    {"clip_by_value", "Clip", nullptr},
    {"math.reduce_mean", "Mean", nullptr},
    {"math.reduce_sum", "Sum", nullptr},
    {"math.reduce_max", "Max", nullptr},
    {"math.reduce_min", "Min", nullptr},
    {"math.reduce_prod", "Prod", nullptr},
    {"reshape", "Reshape", nullptr},
    {"expand_dims", "ExpandDims", nullptr},
    {"squeeze", "Squeeze", nullptr},
    {"compat.v1.transpose", "Transpose", nullptr},
    {"transpose", "Transpose", nullptr},
    {"concat", "Concatenate", nullptr},
    {"stack", "Stack", nullptr},
    {"tile", "Tile", nullptr},
    {"__operators__.getitem", "GetItem", nullptr},
};

// What Keras 3 calls the arguments of TensorFlow's functions.
const char* option_name(const std::string& name) {
  if (name == "shape") return "newshape";
  if (name == "perm") return "axes";
  if (name == "alpha") return "negative_slope";
  if (name == "clip_value_min") return "x_min";
  if (name == "clip_value_max") return "x_max";
  if (name == "multiples") return "repeats";
  for (const char* same : {"axis", "keepdims", "dtype"})
    if (name == same) return same;
  return nullptr;
}

// {"start": 1, "stop": 3, "step": null} among numbers.
Config key_of(const Config& spec) {
  Config::Array key;
  const Config::Array one{spec};
  for (const Config& c : spec.list() ? *spec.list() : one) {
    if (!c.members()) {
      key.push_back(c);
      continue;
    }
    Config slice;
    slice["class_name"] = "__slice__";
    slice["config"] = c;
    key.push_back(std::move(slice));
  }
  return key;
}

}  // namespace

bool is_legacy_operation(const Config& layer) {
  const Config* kind = layer.find("class_name");
  return kind && kind->text() && (*kind->text() == "TFOpLambda" || *kind->text() == "SlicingOpLambda");
}

const LegacyOperation& legacy_operation(const Config& layer) {
  const Config* options = layer.find("config");
  const Config* function = options ? options->find("function") : nullptr;
  if (!function || !function->text()) fail_config("TFOpLambda with the name of a function", layer);
  for (const LegacyOperation& row : kOperations)
    if (*function->text() == row.function) return row;
  const Config* name = layer.find("name");
  fail_unimplemented("from_config", "layer \"" + (name && name->text() ? *name->text() : "") +
                                        "\" of the model calls tf." + *function->text() +
                                        ", which is not supported; build the model with a layer for it");
}

void add_legacy_option(const LegacyOperation& operation, const std::string& name, const Config& value,
                       Config* options, Config::Array* extra) {
  if (value.is_null() || (value.boolean() && !*value.boolean())) return;
  if (name == "slice_spec") return extra->push_back(key_of(value));
  const char* known = option_name(name);
  if (!known)
    fail_unimplemented("from_config", std::string("the argument \"") + name + "\" of tf." +
                                          operation.function + " is not supported: got " + to_text(value));
  (*options)[known] = value;
}

}  // namespace rw::keras
