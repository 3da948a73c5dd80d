// Keras-style layers, models and training.
#pragma once

#include "rewind/keras/callbacks.h"
#include "rewind/keras/layers.h"
#include "rewind/keras/loss_scale_optimizer.h"
#include "rewind/keras/losses.h"
#include "rewind/keras/metrics.h"
#include "rewind/keras/model.h"
#include "rewind/keras/optimizers.h"
#include "rewind/keras/plot_history.h"
#include "rewind/keras/progress_bar.h"
#include "rewind/keras/sequential.h"
