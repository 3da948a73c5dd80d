// A part of the nn family's gradients that has a file of its own.
#pragma once

namespace rw {

void register_batch_norm_gradients();

}  // namespace rw
