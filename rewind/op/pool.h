// Parts of the conv family that have files of their own.
#pragma once

namespace rw {

class OpTable;
void register_pool_ops(OpTable& t);
void register_resize_ops(OpTable& t);

}  // namespace rw
