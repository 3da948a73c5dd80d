// Shape rules on what a trace knows: every call that the goldens make, their gradients' too, with sizes,
// ranks and values taken away in many ways. A rule must then say something that the real output fits, and
// must not refuse.
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <set>

#include "rewind/base/error.h"
#include "rewind/op/table.h"
#include "rewind/tensor/tensor_impl.h"
#include "rewind/tensor/thread_state.h"
#include "tests/support/case_run.h"
#include "tests/support/goldens.h"

namespace rw::test {
namespace {

// One call that ran: what a shape rule sees of it, and what came out.
struct RanCall {
  const Op* op;
  Attrs attrs;
  std::vector<Tensor> inputs;
  std::vector<Shape> outputs;
};

class Listener final : public Recorder {
 public:
  Listener() { push_recorder(*this); }
  ~Listener() override { remove_recorder(*this); }
  void record(const Op& op, TensorPointers inputs, const Attrs& attrs, Tensors& outputs) override {
    RanCall call{&op, attrs, {}, {}};
    for (const Tensor* t : inputs) call.inputs.push_back(*t);
    for (const Tensor& t : outputs) call.outputs.push_back(t.shape());
    calls.push_back(std::move(call));
  }
  void record_custom(std::span<const Tensor>, std::span<const Tensor>, const CustomBackward&) override {}
  bool follows(const Tensor&) const override { return false; }
  std::vector<RanCall> calls;
};

// How much is known of one input.
struct Known {
  Shape shape;
  bool value = true;
};
using Knowledge = std::vector<Known>;

Shape without_sizes(const Shape& s) { return Shape::unknown_of_rank(s.rank()); }

// Ways to know less, each with a name.
std::vector<std::pair<std::string, Knowledge>> ways(const RanCall& call) {
  Knowledge all;
  for (const Tensor& t : call.inputs) all.push_back({t.shape(), true});
  std::vector<std::pair<std::string, Knowledge>> list{{"everything", all}};
  Knowledge no_values = all, no_sizes, no_ranks, sizes_no_values;
  for (Known& k : no_values) k.value = false;
  for (const Known& k : all) {
    no_sizes.push_back({without_sizes(k.shape), k.shape.rank() == 0});
    no_ranks.push_back({Shape::unknown_rank(), false});
  }
  list.emplace_back("shapes but no values", no_values);
  list.emplace_back("ranks, and values of scalars", no_sizes);
  for (Known& k : no_sizes) k.value = false;
  list.emplace_back("ranks alone", no_sizes);
  list.emplace_back("nothing", no_ranks);
  for (size_t i = 0; i < all.size(); ++i) {
    const std::string name = "input " + std::to_string(i);
    for (const Knowledge& base : {all, no_values}) {
      Knowledge k = base;
      k[i].value = false;
      list.emplace_back(name + " without its value", k);
      for (int axis = 0; axis < all[i].shape.rank(); ++axis) {
        k[i].shape = all[i].shape;
        k[i].shape.set(axis, Shape::kUnknown);
        list.emplace_back(name + " without size " + std::to_string(axis), k);
      }
      k[i].shape = without_sizes(all[i].shape);
      list.emplace_back(name + " without sizes", k);
      k[i].shape = Shape::unknown_rank();
      list.emplace_back(name + " without rank", k);
    }
    Knowledge only = no_ranks;
    only[i] = all[i];
    list.emplace_back(name + " alone", only);
    only = no_sizes;
    only[i] = all[i];
    list.emplace_back(name + " and ranks", only);
  }
  return list;
}

std::string text_of(const Shape* shapes, size_t n) {
  std::string text;
  for (size_t i = 0; i < n; ++i) text += (i ? ", " : "") + shapes[i].to_string();
  return text;
}

// Empty when the rule holds.
std::string check(const RanCall& call, const Knowledge& known) {
  SmallVector<View, 4> views;
  for (size_t i = 0; i < known.size(); ++i) {
    const TensorImpl& t = *call.inputs[i].impl();
    views.push_back(
        {known[i].value ? t.data : nullptr, &known[i].shape, t.dtype, known[i].shape.num_elements()});
  }
  std::vector<Shape> out(call.outputs.size());
  try {
    ShapeContext ctx(*call.op, call.attrs, views.data(), views.size(), out.data(), out.size());
    call.op->shape_rule(ctx);
  } catch (const std::exception& e) { return std::string("throws ") + e.what(); }
  for (size_t i = 0; i < out.size(); ++i) {
    for (const int64_t d : out[i])
      if (d < Shape::kUnknown) return "says a size of " + std::to_string(d);
    if (!out[i].compatible_with(call.outputs[i]))
      return "says " + text_of(out.data(), out.size()) + ", and the result is " +
             text_of(call.outputs.data(), call.outputs.size());
  }
  return "";
}

class PartialShapes : public ::testing::TestWithParam<std::string> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PartialShapes);

TEST_P(PartialShapes, RulesHold) {
  int64_t calls = 0, checks = 0;
  std::map<std::string, std::set<std::string>> failures;  // of an op; a few are enough
  for (auto& golden : goldens(GetParam())) {
    if (golden.input.expect_error) continue;
    Listener listener;
    run_case(golden.input);
    const std::vector<RanCall> ran = std::move(listener.calls);
    for (const RanCall& call : ran) {
      ++calls;
      for (auto& [name, known] : ways(call)) {
        ++checks;
        const std::string text = check(call, known);
        auto& list = failures[call.op->name];
        if (text.empty() || list.size() >= 3) continue;
        std::string inputs;
        for (const Known& k : known) inputs += " " + k.shape.to_string() + (k.value ? "!" : "");
        list.insert(golden.input.name() + ", knowing " + name + ":" + inputs + ": " + text);
      }
    }
  }
  for (auto& [op, list] : failures)
    for (auto& text : list) ADD_FAILURE() << op << " in " << text;
  std::cout << calls << " calls, " << checks << " checks\n";
}

INSTANTIATE_TEST_SUITE_P(Goldens, PartialShapes, ::testing::ValuesIn(golden_families()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace rw::test
