#include "rewind/base/symbolise.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "rewind/base/call_site.h"

namespace rw {
namespace {

TEST(Symbolise, TheLibrarysOwnFramesAreKnown) {
  EXPECT_TRUE(is_library_frame("rw::matmul(rw::Operand const&, rw::Operand const&)", ""));
  EXPECT_TRUE(is_library_frame("rw::Tensor rw::detail::call<int>(int)", ""));
  EXPECT_TRUE(is_library_frame(
      "decltype(auto) rw::Function<main::{lambda(rw::Tensor)#1}>::operator()<rw::Tensor&>(rw::Tensor&) const",
      ""));
  EXPECT_TRUE(is_library_frame("void std::__invoke_impl<void, f>(std::__invoke_other, f&&)", ""));
  EXPECT_TRUE(is_library_frame("rw::(anonymous namespace)::fail(rw::Shape const&) (.cold)", ""));
  EXPECT_TRUE(is_library_frame("rw::Tensor::operator bool() const", ""));
  EXPECT_TRUE(is_library_frame("rw::add(rw::Shape const&) [clone .part.0]", ""));
  EXPECT_TRUE(is_library_frame("operator()", "/usr/local/include/rewind/function/function.h:130"));
  EXPECT_TRUE(is_library_frame("push_back", "/usr/include/c++/12/bits/stl_vector.h:1200"));
}

TEST(Symbolise, TheUsersFramesAreNot) {
  EXPECT_FALSE(is_library_frame("main", ""));
  EXPECT_FALSE(is_library_frame("rw::Tensor (anonymous namespace)::layer<4>(rw::Tensor const&)", ""));
  EXPECT_FALSE(is_library_frame("rw::Tensor user::step(rw::Tensor)", ""));
  EXPECT_FALSE(is_library_frame("main::{lambda(rw::Tensor)#1}::operator()(rw::Tensor) const", ""));
  EXPECT_FALSE(is_library_frame("operator()", "/home/me/rewind/examples/train.cc:12"));
}

TEST(Symbolise, WithoutAToolTheLinkerKnowsSomeNames) {
  setenv("REWIND_SYMBOLIZER", "none", 1);
  EXPECT_EQ(symbolise(std::vector<uintptr_t>{reinterpret_cast<uintptr_t>(&getenv) + 4}), "a line in getenv");
  setenv("REWIND_SYMBOLIZER", "/no/such/tool", 1);
  // Not one that sanitizers replace, nor one that has two names.
  EXPECT_EQ(symbolise(std::vector<uintptr_t>{reinterpret_cast<uintptr_t>(&setenv) + 4}), "a line in setenv");
  unsetenv("REWIND_SYMBOLIZER");
  EXPECT_EQ(symbolise({}), "");
}

TEST(Symbolise, WhatWasLookedUpAheadIsKnown) {
  const std::string tool = ::testing::TempDir() + "/ahead.sh";
  std::ofstream(tool)
      << "#!/bin/sh\nshift 6\nfor a in \"$@\"; do echo $a; echo ahead; echo user.cc:7; done\n";
  std::filesystem::permissions(tool, std::filesystem::perms::owner_all);
  const std::vector<uintptr_t> frames{reinterpret_cast<uintptr_t>(&qsort) + 2,
                                      reinterpret_cast<uintptr_t>(&bsearch) + 2};
  setenv("REWIND_SYMBOLIZER", tool.c_str(), 1);
  symbolise_ahead(frames);
  setenv("REWIND_SYMBOLIZER", "none", 1);
  EXPECT_EQ(symbolise(std::vector<uintptr_t>{frames[1]}), "user.cc:7, in ahead");
  EXPECT_EQ(symbolise(frames), "user.cc:7, in ahead");
  unsetenv("REWIND_SYMBOLIZER");
}

TEST(CallSites, OnePlaceIsOneObject) {
  CallSites sites;
  std::vector<CallSiteRef> seen;
  for (int i = 0; i < 3; ++i) seen.push_back(sites.here(nullptr));
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[0], seen[2]);
  EXPECT_NE(sites.here(nullptr), seen[0]);
  EXPECT_GT(seen[0]->frames().size(), 1u);
}

TEST(CallSites, EndsAtTheGivenFrame) {
  const CallSite all = CallSite::here();
  const CallSite few = CallSite::here(__builtin_frame_address(0));
  EXPECT_LT(few.frames().size(), 3u);
  EXPECT_GT(all.frames().size(), few.frames().size());
}

}  // namespace
}  // namespace rw
