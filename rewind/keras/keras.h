// Keras-style layers and models.
#pragma once

#include "rewind/keras/layers/activation_layers.h"
#include "rewind/keras/layers/attention.h"
#include "rewind/keras/layers/conv.h"
#include "rewind/keras/layers/dense.h"
#include "rewind/keras/layers/dropout.h"
#include "rewind/keras/layers/embedding.h"
#include "rewind/keras/layers/input_layer.h"
#include "rewind/keras/layers/merging.h"
#include "rewind/keras/layers/normalization.h"
#include "rewind/keras/layers/pooling.h"
#include "rewind/keras/layers/preprocessing.h"
#include "rewind/keras/layers/reshaping.h"
#include "rewind/keras/layers/rnn.h"
#include "rewind/keras/layers/wrappers.h"
#include "rewind/keras/model.h"
#include "rewind/keras/sequential.h"
