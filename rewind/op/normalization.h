// A part of the nn family that has files of its own.
#pragma once

namespace rw {

class OpTable;
void register_normalization_ops(OpTable& t);

}  // namespace rw
