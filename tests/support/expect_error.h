// Expects an exception of a class whose message says something.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace rw {

template <class E, class F>
void expect_error(F&& f, const std::string& part) {
  try {
    f();
    ADD_FAILURE() << "nothing was thrown; expected a message with: " << part;
  } catch (const E& e) { EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what(); }
}

}  // namespace rw
