// Keras-style layers, models and training.
#pragma once

// Macros of these names, as windows.h has them, are put aside until the end.
#pragma push_macro("min")
#pragma push_macro("max")
#undef min
#undef max

#include "rewind/keras/backup_and_restore.h"
#include "rewind/keras/callbacks.h"
#include "rewind/keras/export.h"
#include "rewind/keras/layers.h"
#include "rewind/keras/loss_scale_optimizer.h"
#include "rewind/keras/losses.h"
#include "rewind/keras/metrics.h"
#include "rewind/keras/model.h"
#include "rewind/keras/model_checkpoint.h"
#include "rewind/keras/models.h"
#include "rewind/keras/optimizers.h"
#include "rewind/keras/plot_history.h"
#include "rewind/keras/progress_bar.h"
#include "rewind/keras/saving.h"
#include "rewind/keras/sequential.h"
#include "rewind/saved/checkpoint.h"
#include "rewind/saved/checkpoint_manager.h"

#pragma pop_macro("max")
#pragma pop_macro("min")
