// Small graphs, built op by op, compiled and compared with the evaluator.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rewind/compiler/llvm/compile.h"
#include "rewind/compiler/passes/passes.h"
#include "rewind/compiler/pipeline.h"
#include "rewind/op/table.h"
#include "tests/support/graph_examples.h"

namespace rw::test {

class Building {
 public:
  Graph graph;
  std::vector<HostTensor> feeds;

  ValueId argument(const Shape& shape) {
    feeds.push_back(numbers(shape, int64_t(feeds.size()) + 1));
    return graph.add_argument(DType::kFloat32, shape);
  }
  ValueId op(const char* name, std::vector<ValueId> inputs, const Attrs& attrs = {}) {
    return graph.node(graph.add_node(find_op(name), attrs, inputs)).outputs[0];
  }
  ValueId conv(ValueId x, ValueId filter) {
    return op("Conv2D", {x, filter}, {{"strides", std::vector<int64_t>{1, 1, 1, 1}}, {"padding", "SAME"}});
  }

  // The program's text, after comparing its results with the evaluator's.
  std::string compiled() {
    std::vector<Shape> shapes;
    for (const HostTensor& f : feeds) shapes.push_back(f.shape);
    verify(fuse_epilogues(fuse(prune(graph))));
    const std::shared_ptr<const Program> program = compile(graph, shapes);
    const std::vector<HostTensor> want = run_graph(graph, feeds);
    for (int i = 0; i < 2; ++i) {
      const std::vector<HostTensor> got = run_graph(graph, feeds, [&](std::span<const Value* const> inputs) {
        ValueList results;
        program->run(inputs, &results);
        return results;
      });
      for (size_t k = 0; k < want.size(); ++k) EXPECT_TRUE(same_bits(want[k], got[k])) << "result " << k;
    }
    return program->to_string();
  }
};

inline bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

#define SKIP_WITHOUT_NATIVE_CODE \
  if (!loop::has_native_code()) GTEST_SKIP() << "kernels run one by one"

}  // namespace rw::test
