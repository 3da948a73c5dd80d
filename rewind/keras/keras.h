// Keras-style layers and models.
#pragma once

#include "rewind/keras/layers/activation_layers.h"
#include "rewind/keras/layers/dense.h"
#include "rewind/keras/layers/input_layer.h"
#include "rewind/keras/layers/reshaping.h"
#include "rewind/keras/model.h"
#include "rewind/keras/sequential.h"
