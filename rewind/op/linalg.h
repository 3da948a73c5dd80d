// Parts of the linalg family's rows.
#pragma once

namespace rw {

class OpTable;
void register_linalg_diag_ops(OpTable& t);

}  // namespace rw
