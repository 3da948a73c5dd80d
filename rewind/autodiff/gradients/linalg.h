// Parts of the linalg family's gradient rules.
#pragma once

namespace rw {

void register_linalg_factor_gradients();

}  // namespace rw
