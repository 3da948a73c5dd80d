// What the programs of this folder are written with. They stand outside of namespace rw, as users' code does.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <sstream>

#include "tests/autograph/check.h"

namespace user_code {

using rw::abs;
using rw::cast;
using rw::constant;
using rw::float32;
using rw::int32;
using rw::maximum;
using rw::Tensor;
using rw::Variable;
using rw::autograph_test::Add;

}  // namespace user_code
