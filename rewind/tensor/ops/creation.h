#pragma once

#include "rewind/tensor/operand.h"

namespace rw {}
