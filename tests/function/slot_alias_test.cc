// Update ops of which two slots are one variable: refused by name, and no lock is waited for twice.
#include <gtest/gtest.h>

#include <thread>

#include "rewind/function/function.h"
#include "rewind/op/table.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"

namespace rw {
namespace {

// Every update of several variables, with the inputs it takes.
template <class F>
void for_each_update(F f) {
  for (const Op* op : op_table().all()) {
    int resources = 0;
    bool scalars_and_arrays = op->name.starts_with("Resource") && op->stateful;
    for (const ArgDef& arg : op->inputs) resources += arg.dtype == DType::kResource;
    if (resources > 1 && scalars_and_arrays) f(*op);
  }
}

std::vector<Tensor> inputs_of(const Op& op, const std::vector<Variable>& slots) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const ArgDef& arg = op.inputs[i];
    if (arg.dtype == DType::kResource) inputs.push_back(slots[i].handle());
    else if (arg.name == "grad") inputs.push_back(fill({2, 3}, 0.5F));
    else if (arg.name == "indices") inputs.push_back(constant({1, 0}));
    else inputs.push_back(constant(arg.name == "lr_power" ? -0.5F : 0.25F));
  }
  return inputs;
}

std::vector<Variable> four_variables() {
  std::vector<Variable> list;
  for (int i = 0; i < 4; ++i) list.emplace_back(fill({2, 3}, 0.5F + float(i)));
  return list;
}

// Each way to put a few variables into n slots: digits below 4.
template <class F>
void for_each_pattern(size_t n, F f) {
  for (size_t code = 0; code < (size_t(1) << (2 * n)); ++code) {
    std::vector<size_t> pattern;
    for (size_t i = 0; i < n; ++i) pattern.push_back(code >> (2 * i) & 3);
    f(pattern);
  }
}

TEST(SlotAlias, EveryPatternOfEveryUpdateIsRunOrRefused) {
  int updates = 0, refused = 0, run = 0;
  const std::vector<Variable> variables = four_variables();
  for_each_update([&](const Op& op) {
    ++updates;
    size_t slots = 0;
    while (op.inputs[slots].dtype == DType::kResource) ++slots;
    for_each_pattern(slots, [&](const std::vector<size_t>& pattern) {
      std::vector<Variable> list;
      for (const size_t p : pattern) list.push_back(variables[p]);
      bool twice = false;
      for (size_t i = 0; i < slots; ++i)
        for (size_t k = 0; k < i; ++k) twice |= pattern[i] == pattern[k];
      try {
        apply(op, inputs_of(op, list), {});
        EXPECT_FALSE(twice) << op.name;
        ++run;
      } catch (const InvalidArgumentError& e) {
        EXPECT_TRUE(twice) << op.name << ": " << e.what();
        EXPECT_NE(std::string(e.what()).find("variables must differ: "), std::string::npos) << e.what();
        ++refused;
      }
    });
  });
  EXPECT_GE(updates, 20);
  EXPECT_GT(refused, 0);
  EXPECT_GT(run, 0);
}

TEST(SlotAlias, TheErrorNamesTheSlots) {
  const std::vector<Variable> v = four_variables();
  const Op& op = find_op("ResourceApplyCenteredRMSProp");
  expect_error<InvalidArgumentError>([&] { apply(op, inputs_of(op, {v[0], v[1], v[2], v[1]}), {}); },
                                     "variables must differ: mg and mom are both");
}

TEST(SlotAlias, InAFunctionToo) {
  const std::vector<Variable> v = four_variables();
  for_each_update([&](const Op& op) {
    const auto step = function([&] { apply(op, inputs_of(op, {v[0], v[0], v[0], v[1]}), {}); });
    expect_error<InvalidArgumentError>([&] { step(); }, "variables must differ: ");
  });
}

TEST(SlotAlias, ThreadsThatTakeTheSameSlotsInOtherOrdersGoOn) {
  const std::vector<Variable> v = four_variables();
  const Op& op = find_op("ResourceApplyCenteredRMSProp");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<Variable> mine;
      for (int i = 0; i < 4; ++i) mine.push_back(v[size_t((i * (t % 2 ? 1 : 3) + t) % 4)]);
      for (int i = 0; i < 500; ++i) apply(op, inputs_of(op, mine), {});
    });
  for (std::thread& t : threads) t.join();
}

}  // namespace
}  // namespace rw
