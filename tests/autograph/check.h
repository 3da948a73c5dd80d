// Programs of one tensor, in three ways: as the C++ that they are, converted and run eagerly, converted and
// staged. Values and gradients are equal, and there is one trace.
//
// Sources are compiled twice: as they stand, and rewritten with AUTOGRAPH_CONVERTED defined.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "rewind/rewind.h"

namespace rw::autograph_test {

using Program = std::function<Tensor(Tensor)>;
struct Ways {
  Program plain, converted;
};
// Filled before main, by name.
std::map<std::string, Ways>& programs();

template <bool kConverted>
struct AddTo {
  AddTo(const std::string& name, Program f) {
    Ways& ways = programs()[name];
    (kConverted ? ways.converted : ways.plain) = std::move(f);
  }
};
#ifdef AUTOGRAPH_CONVERTED
using Add = AddTo<true>;
#else
using Add = AddTo<false>;
#endif

// What differs; empty if nothing does.
std::string differences(const Ways& ways);

}  // namespace rw::autograph_test
