// What graphs are made of: lists of ids, lists in chunks; and graphs that say the same.
#include "rewind/graph/equal.h"

#include <gtest/gtest.h>

#include <numeric>

#include "rewind/op/table.h"

namespace rw {
namespace {

std::shared_ptr<Graph> chain(int length, float factor, const Shape& shape = {3}) {
  auto g = std::make_shared<Graph>();
  ValueId x = g->add_argument(DType::kFloat32, shape, "x");
  const ValueId c = g->add_constant({DType::kFloat32, {}, std::make_shared<const float>(factor)});
  for (int i = 0; i < length; ++i)
    x = g->node(g->add_node(find_op("Mul"), {}, std::vector<ValueId>{x, c})).outputs[0];
  g->outputs.push_back(x);
  return g;
}

TEST(GraphShelf, EqualGraphsAreKeptOnce) {
  GraphShelf shelf;
  const auto first = shelf.share(chain(3, 2.0f));
  EXPECT_EQ(shelf.share(chain(3, 2.0f)), first);
  EXPECT_NE(shelf.share(chain(4, 2.0f)), first);
  EXPECT_NE(shelf.share(chain(3, 2.5f)), first);
  EXPECT_NE(shelf.share(chain(3, 2.0f, {4})), first);
  const auto other_line = chain(3, 2.0f);
  other_line->node(1).site = std::make_shared<int>(7);
  EXPECT_NE(shelf.share(other_line), first);
  const auto other_name = chain(3, 2.0f);
  other_name->node(1).name = std::string("scaled");
  EXPECT_NE(shelf.share(other_name), first);
  const auto other_result = chain(3, 2.0f);
  other_result->outputs.push_back(other_result->outputs[0]);
  EXPECT_NE(shelf.share(other_result), first);
}

TEST(IdList, HoldsFewInsideAndManyOutside) {
  EXPECT_EQ(sizeof(IdList), 16u);
  for (const int n : {0, 1, 3, 4, 5, 100}) {
    IdList list;
    for (int i = 0; i < n; ++i) list.push_back(i * i);
    ASSERT_EQ(int(list.size()), n);
    for (int i = 0; i < n; ++i) EXPECT_EQ(list[size_t(i)], i * i);
    IdList copy(list);
    EXPECT_EQ(copy, list);
    IdList moved(std::move(copy));
    EXPECT_EQ(moved, list);
    EXPECT_TRUE(copy.empty());  // NOLINT: what a move leaves
    copy.push_back(5);
    EXPECT_EQ(copy, IdList({5}));
    copy = moved;
    EXPECT_EQ(copy, list);
    moved = IdList{1, 2};
    EXPECT_EQ(moved, IdList({1, 2}));
    copy.insert(copy.begin(), -1);
    EXPECT_EQ(copy.front(), -1);
    copy.erase(copy.begin());
    EXPECT_EQ(copy, list);
    list.resize(2);
    EXPECT_EQ(list.size(), 2u);
  }
}

TEST(ChunkedList, GrowsCopiesAndLetsGo) {
  for (const size_t n : {0, 1, 5, 511, 512, 513, 2000}) {
    ChunkedList<std::shared_ptr<size_t>> list;
    std::vector<std::weak_ptr<size_t>> watched;
    for (size_t i = 0; i < n; ++i) {
      list.push_back(std::make_shared<size_t>(i));
      watched.push_back(list.back());
    }
    ASSERT_EQ(list.size(), n);
    size_t next = 0;
    for (const auto& element : list) EXPECT_EQ(*element, next++);
    EXPECT_EQ(next, n);
    {
      ChunkedList<std::shared_ptr<size_t>> copy(list);
      for (size_t i = 0; i < n; ++i) EXPECT_EQ(copy[i], list[i]);
      copy.push_back(nullptr);
      EXPECT_EQ(list.size(), n);
      list = std::move(copy);
      EXPECT_EQ(list.size(), n + 1);
    }
    list.release_before(n);
    for (size_t i = 0; i < n; ++i) EXPECT_EQ(watched[i].expired(), i < n / 512 * 512) << i << " of " << n;
    list = {};
    for (const auto& element : watched) EXPECT_TRUE(element.expired());
  }
}

}  // namespace
}  // namespace rw
