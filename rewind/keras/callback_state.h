// What callbacks keep for a training that goes on elsewhere.
#pragma once

#include <optional>

#include "rewind/data/position.h"

namespace rw::keras {

void put_real(data::PositionWriter& to, double value);
void put_best(data::PositionWriter& to, const std::optional<double>& best);
double take_real(data::PositionReader& from);
std::optional<double> take_best(data::PositionReader& from);

}  // namespace rw::keras
