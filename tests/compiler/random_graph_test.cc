// Random graphs by the reference evaluator and as compiled Programs: outputs and the variables' last values
// have the same bits. $REWIND_RANDOM_SCALE scales their number (1 = 20,000; default 0.05),
// $REWIND_RANDOM_SEED says where they start. A graph that differs is made small and printed.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "rewind/base/error.h"
#include "rewind/base/half.h"
#include "rewind/compiler/pipeline.h"
#include "rewind/kernel/random_streams.h"
#include "tests/support/graph_examples.h"
#include "tests/support/random_graph.h"

namespace rw::test {
namespace {

constexpr int kGraphs = 20000;
constexpr int kShards = 20;

int graphs_per_shard() {
  const char* text = std::getenv("REWIND_RANDOM_SCALE");
  return std::max(1, int(kGraphs * (text ? std::atof(text) : 0.05)) / kShards);
}
uint64_t first_seed() {
  const char* text = std::getenv("REWIND_RANDOM_SEED");
  return text ? uint64_t(std::atoll(text)) : 1;
}

struct Outcome {
  std::vector<HostTensor> values;
  std::string error;     // empty: it ran
  bool missing = false;  // no kernel for a type
};

template <class Run>
Outcome outcome(Run run) {
  forget_all_random();  // every run draws the same
  try {
    return {run(), ""};
  } catch (const Error& e) { return {{}, e.what(), e.code() == ErrorCode::kUnimplemented}; }
}

template <class T>
bool nan_at(const HostTensor& t, int64_t i) {
  return std::isnan(double(static_cast<const T*>(t.data.get())[i]));
}
// Not-a-numbers are all the same.
bool both_nan(const HostTensor& a, const HostTensor& b, int64_t i) {
  switch (a.dtype) {
    case DType::kFloat32: return nan_at<float>(a, i) && nan_at<float>(b, i);
    case DType::kFloat64: return nan_at<double>(a, i) && nan_at<double>(b, i);
    case DType::kFloat16: return nan_at<Half>(a, i) && nan_at<Half>(b, i);
    case DType::kBfloat16: return nan_at<Bfloat16>(a, i) && nan_at<Bfloat16>(b, i);
    default: return false;
  }
}

std::string compare(const HostTensor& want, const HostTensor& got) {
  if (want.dtype != got.dtype || !(want.shape == got.shape))
    return std::string(name_of(got.dtype)) + got.shape.to_string() + ", want " +
           std::string(name_of(want.dtype)) + want.shape.to_string();
  if (want.dtype == DType::kString) return same_bits(want, got) ? "" : "other strings";
  const size_t width = size_of(want.dtype);
  const int64_t n = want.shape.num_elements();
  const char* a = static_cast<const char*>(want.data.get());
  const char* b = static_cast<const char*>(got.data.get());
  for (int64_t i = 0; i < n; ++i) {
    const size_t at = size_t(i) * width;
    if (std::memcmp(a + at, b + at, width) != 0 && !both_nan(want, got, i)) {
      std::string text = "element " + std::to_string(i) + " differs:";
      for (const char* p : {b, a}) {
        text += p == b ? " 0x" : ", want 0x";
        for (size_t k = width; k-- > 0;) {
          char digits[3];
          std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(p[at + k]));
          text += digits;
        }
      }
      return text;
    }
  }
  return "";
}

std::string compare(const Outcome& want, const Outcome& got) {
  if (want.error.empty() != got.error.empty())
    return got.error.empty() ? "does not raise: " + want.error : "raises: " + got.error;
  for (size_t i = 0; i < want.values.size(); ++i)
    if (const std::string text = compare(want.values[i], got.values[i]); !text.empty())
      return "result " + std::to_string(i) + ": " + text;
  return "";
}

std::vector<Shape> shapes_of(const std::vector<HostTensor>& feeds, const Graph& graph) {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < feeds.size(); ++i)
    shapes.push_back(graph.value(graph.arguments[i]).dtype == DType::kResource ? Shape() : feeds[i].shape);
  return shapes;
}

// Whether the compiler may find that an op that fails is not needed: the results of a call, a branch or a
// loop that nobody uses, or a value of which only the shape is used.
bool may_need_less(const Graph& graph) {
  bool less = false;
  for (const Node& n : graph.nodes()) {
    for_each_body(n.attrs, [&](const BodyRef&) { less = true; });
    less |= n.op->name == "ZerosLike" || n.op->name == "OnesLike" || n.op->name == "Shape";
  }
  return less;
}

// What is wrong with the compiled graph; `raised` tells that the graph fails, as it should.
std::string difference(const GraphCase& c, bool* raised = nullptr) {
  const Outcome want = outcome([&] { return run_graph(*c.graph, c.feeds); });
  if (raised) *raised = !want.error.empty();
  if (want.missing) return "";
  std::shared_ptr<const Program> program;
  const Outcome compiled = outcome([&] {
    program = compile(*c.graph, shapes_of(c.feeds, *c.graph));
    return std::vector<HostTensor>();
  });
  // What is known to fail may fail early.
  if (!program) return want.error.empty() ? "compiling raises: " + compiled.error : "";
  const GraphRun run = [&](std::span<const Value* const> inputs) {
    ValueList results;
    program->run(inputs, &results);
    return results;
  };
  // Twice: the second run finds the first one's memory.
  for (const char* which : {"first run, ", "second run, "}) {
    const Outcome got = outcome([&] { return run_graph(*c.graph, c.feeds, run); });
    if (got.error.empty() && !want.error.empty() && may_need_less(*c.graph)) continue;
    if (const std::string text = compare(want, got); !text.empty()) return which + text;
  }
  return "";
}

class RandomGraphs : public ::testing::TestWithParam<int> {
 protected:
  void check(uint64_t seed, const GraphCase& c, bool* raised) {
    const std::string text = difference(c, raised);
    if (text.empty()) return;
    const GraphCase small = shrink(c, [](const GraphCase& s) { return !difference(s).empty(); });
    ADD_FAILURE() << "seed " << seed << ": " << difference(small) << "\n" << small.graph->to_string();
  }
};

TEST_P(RandomGraphs, CompiledAsEvaluated) {
  const int count = graphs_per_shard();
  int raised = 0;
  for (int i = 0; i < count; ++i) {
    const uint64_t seed = first_seed() + uint64_t(GetParam() * count + i);
    const GraphCase c = random_graph(seed);
    bool failed = false;
    check(seed, c, &failed);
    raised += failed;
    if (seed % 4 != 0) continue;
    if (const auto open = without_sizes(*c.graph)) check(seed, {open, c.feeds}, nullptr);
  }
  // A generator whose graphs mostly fail would test little.
  EXPECT_LE(raised, count / 10 + 2);
}

INSTANTIATE_TEST_SUITE_P(Shards, RandomGraphs, ::testing::Range(0, kShards));

}  // namespace
}  // namespace rw::test
