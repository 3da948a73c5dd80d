#include "rewind/module/module.h"

#include <gtest/gtest.h>

#include "rewind/base/error.h"
#include "rewind/module/saved_variables.h"

namespace rw {
namespace {

struct Leaf : Module {
  Variable w, b;
  int not_tracked = 3;
  explicit Leaf(const std::string& name)
      : Module(name), w(1.0, {.name = "w"}), b(2.0, {.trainable = false, .name = "b"}) {}
  RW_TRACK(w, b, not_tracked)
};

struct Tree : Module {
  Variable z{3.0, {.name = "z"}};
  Leaf second{"second"};
  std::vector<std::shared_ptr<Leaf>> leaves{std::make_shared<Leaf>("l0"), std::make_shared<Leaf>("l1")};
  std::map<std::string, Variable> by_name{{"k", Variable(4.0, {.name = "k"})}};
  Leaf* shared = &second;
  RW_TRACK(z, second, leaves, by_name, shared)
};

struct Grown : Tree {
  Variable extra{5.0, {.name = "extra"}};
  RW_TRACK_WITH(Tree, extra)
};

std::vector<std::string> names(const std::vector<Variable>& list) {
  std::vector<std::string> out;
  for (const Variable& v : list) out.push_back(v.name());
  return out;
}

TEST(Module, FindsOwnVariablesFirstThenThoseBelowBreadthFirst) {
  Tree tree;
  EXPECT_EQ(names(tree.variables()),
            (std::vector<std::string>{"k:0", "z:0", "b:0", "w:0", "b:0", "w:0", "b:0", "w:0"}));
  EXPECT_EQ(names(tree.trainable_variables()), (std::vector<std::string>{"k:0", "z:0", "w:0", "w:0", "w:0"}));
  EXPECT_EQ(names(tree.non_trainable_variables()).size(), 3u);
}

TEST(Module, SharedChildrenCountOnce) {
  Tree tree;
  EXPECT_EQ(tree.submodules().size(), 3u);
}

TEST(Module, NameIsTheClassInSnakeCaseUnlessGiven) {
  Tree tree;
  EXPECT_EQ(tree.name(), "tree");
  EXPECT_EQ(tree.second.name(), "second");
}

TEST(Module, BaseMembersStayTracked) {
  Grown grown;
  EXPECT_EQ(grown.variables().size(), 9u);
}

TEST(Module, NameScopesPrefixVariables) {
  const NameScope scope("outer");
  const Variable v(1.0, {.name = "v"});
  EXPECT_EQ(v.name(), "outer/v:0");
}

// ---- classes that do not list their members

struct Unlisted : Module {
  Variable w{1.0, {.name = "w"}};
};
struct UnlistedWithOptional : Module {
  int number = 3;
  std::optional<Variable> w = Variable(1.0);
};
struct Activation : Module {
  double slope = 0.3;
  std::string text = "leaky";
};
template <class Part>
struct Around : Module {
  Part part;
  std::vector<std::shared_ptr<Part>> parts{std::make_shared<Part>()};
  RW_TRACK(part, parts)
};
struct Nothing : Module {
  double slope = 0.3;
  RW_TRACK()
};

template <class F>
void refuses(F f, const std::string& name) {
  try {
    f();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const FailedPreconditionError& e) {
    EXPECT_NE(std::string(e.what()).find("class " + name), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("RW_TRACK"), std::string::npos) << e.what();
  }
}

TEST(Module, AClassWithoutRwTrackIsRefused) {
  const Unlisted module;
  refuses([&] { module.variables(); }, "Unlisted");
  refuses([&] { module.trainable_variables(); }, "Unlisted");
  refuses([&] { module.non_trainable_variables(); }, "Unlisted");
  refuses([&] { save_weights(module, "unlisted.safetensors"); }, "Unlisted");
}

TEST(Module, ASubmoduleThatHidesAVariableIsRefused) {
  refuses([] { Around<Unlisted>().variables(); }, "Unlisted");
  refuses([] { Around<UnlistedWithOptional>().trainable_variables(); }, "UnlistedWithOptional");
}

TEST(Module, ModulesWithoutVariablesNeedNoList) {
  EXPECT_TRUE(Around<Activation>().variables().empty());
  EXPECT_TRUE(Module("plain").variables().empty());
  EXPECT_TRUE(Nothing().variables().empty());
}

}  // namespace
}  // namespace rw
