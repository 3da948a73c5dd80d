// Neural network functions: softmax, losses, biases, normalisation.
#pragma once

#include "rewind/tensor/operand.h"

namespace rw::nn {

Tensor softmax(const Operand& logits, int axis = -1);
Tensor log_softmax(const Operand& logits, int axis = -1);
// The loss has the logits' shape without `axis`. Gradients flow to the labels too, as in TensorFlow 2.
Tensor softmax_cross_entropy_with_logits(const Operand& labels, const Operand& logits, int axis = -1);
// Labels are class numbers, of the logits' shape without the last axis.
Tensor sparse_softmax_cross_entropy_with_logits(const Operand& labels, const Operand& logits);
Tensor bias_add(const Operand& value, const Operand& bias, const std::string& data_format = "");
Tensor l2_loss(const Operand& t);

}  // namespace rw::nn
