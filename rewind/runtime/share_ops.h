// Share rules of slices, splits and unstacks: a part that lies in one piece is a view of the whole's memory.
// Small parts are copied all the same: a view would keep the whole alive, and make writes to a variable copy
// it.
#pragma once

namespace rw {

void register_share_rules();

}  // namespace rw
