// A function of one tensor, eagerly and staged, on several inputs: equal values and gradients, one trace.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "rewind/rewind.h"

namespace rw::autograph_test {

struct Case {
  std::string name;
  std::function<Tensor(Tensor)> f;
};
// Filled before main.
std::vector<Case>& cases();
struct Add {
  Add(std::string name, std::function<Tensor(Tensor)> f) {
    cases().push_back({std::move(name), std::move(f)});
  }
};

void check(const std::function<Tensor(Tensor)>& f);

}  // namespace rw::autograph_test
