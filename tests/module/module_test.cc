#include "rewind/module/module.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace rw
