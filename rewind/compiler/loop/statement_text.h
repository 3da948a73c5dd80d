// One statement of the loop IR as text, without the blocks inside it.
#pragma once

#include "rewind/compiler/loop/ir.h"

namespace rw::loop {

std::string statement_text(const Stmt& stmt);

}  // namespace rw::loop
