// The whole library.
#pragma once

// Macros of these names, as windows.h has them, are put aside until the end.
#pragma push_macro("min")
#pragma push_macro("max")
#undef min
#undef max

#include "rewind/autodiff/batching.h"
#include "rewind/autodiff/custom_gradient.h"
#include "rewind/autodiff/forward_accumulator.h"
#include "rewind/autodiff/gradient_operators.h"
#include "rewind/autodiff/gradient_tape.h"
#include "rewind/autodiff/recompute.h"
#include "rewind/autodiff/rule.h"
#include "rewind/base/dtype.h"
#include "rewind/base/error.h"
#include "rewind/base/shape.h"
#include "rewind/data/for_each.h"
#include "rewind/function/control_flow.h"
#include "rewind/function/function.h"
#include "rewind/function/functional.h"
#include "rewind/function/while_loop.h"
#include "rewind/module/module.h"
#include "rewind/module/saved_variables.h"
#include "rewind/report/memory_page.h"
#include "rewind/saved/checkpoint.h"
#include "rewind/saved/checkpoint_manager.h"
#include "rewind/saved/checkpoint_reader.h"
#include "rewind/saved/checkpoint_state.h"
#include "rewind/saved/decomposition.h"
#include "rewind/saved/loaded_model.h"
#include "rewind/saved/save_model.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/check_numerics.h"
#include "rewind/tensor/config.h"
#include "rewind/tensor/numpy.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/conv.h"
#include "rewind/tensor/ops/creation.h"
#include "rewind/tensor/ops/effect.h"
#include "rewind/tensor/ops/gather.h"
#include "rewind/tensor/ops/linalg.h"
#include "rewind/tensor/ops/matmul.h"
#include "rewind/tensor/ops/nn.h"
#include "rewind/tensor/ops/random.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/string.h"
#include "rewind/tensor/ops/training.h"
#include "rewind/tensor/ops/unary.h"
#include "rewind/tensor/tensor.h"
#include "rewind/tensor/tensor_array.h"
#include "rewind/tensor/variable.h"

#pragma pop_macro("max")
#pragma pop_macro("min")
